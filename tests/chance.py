"""Marks and case by chance, in place of a model: what files of every format and texts are punctuated with in tests."""

import io
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

from t5punct.punctuator import Punctuator, PunctuatorConfig, SentencePosition
from t5punct.t5.task import TaskConfig
from t5punct.text.marks import DASH, DISFLUENT, NO_MARKS, OPENING, Alphabet, Case
from t5punct.text.render import REMOVE, AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.text.spelling_table import NO_SPELLINGS
from t5punct.text.words import Word, forbids_dash
from t5punct.transcripts.formats import Transcript, transcript_of
from t5punct.transcripts.items import Echo, Item, Kept, SpokenWord
from t5punct.windows.plan import View
from t5punct.windows.votes import Vote, normalise

LABELS = ("", ",", ".", "?!", "-")
_OPENINGS = (None, None, "", *OPENING)  # None: of a model that knows none
_CASES, _RENDER, _ALPHABET = (*Case,), RenderConfig(), Alphabet()
_MARKS_OF_VOTES = ("", "", ",", ".", "?", "!", ";", "-", "...", "?!", DISFLUENT)  # `JOHN:` would be a label


@lru_cache(maxsize=4)  # a check reads a file several times
def reading(text: str, name: str, alphabet: Alphabet | None = None) -> Transcript:
    """A file of a format."""
    return transcript_of(io.StringIO(text, newline="\n"), name, alphabet)


def spoken(items: Iterable[Item]) -> list[SpokenWord]:
    return [item for item in items if isinstance(item, SpokenWord)]


def said(text: str, name: str = "text") -> str:
    """The words of a file, with ` / ` where no sentence goes on."""
    return " / ".join(" ".join(word.text for word in words) for words in reading(text, name).texts)


def decided(
    text: str, name: str, decide: Callable[[], Decision], alphabet: Alphabet | None = None
) -> tuple[str, list[str]]:
    """The file with what is decided for each word, and its words as they are written."""
    transcript, words = reading(text, name, alphabet), list[AnnotatedWord]()
    read = [item.word for item in spoken(transcript.items)]
    for word, following in zip(read, [*read[1:], Word("")], strict=False):
        decision = decide()
        if forbids_dash(word, following):
            decision = replace(decision, marks=decision.marks.replace(DASH, ""))
        words.append(render_word(word, decision, _RENDER, _ALPHABET))
    return "".join(transcript.pieces(transcript.with_words(words))), [word.text for word in words]


def by_chance(text: str, name: str, seed: int, alphabet: Alphabet | None = None) -> tuple[str, list[str]]:
    """The file with marks and case by chance, and its words as they are written."""
    rng, opening_rng = random.Random(seed), random.Random(seed)

    def decide() -> Decision:
        opening = opening_rng.choice(_OPENINGS)
        return Decision(rng.choice(LABELS), rng.choice(_CASES), 1.0, 1.0, opening=opening)

    return decided(text, name, decide, alphabet)


def punctuated(text: str, name: str, seed: int) -> str:
    return by_chance(text, name, seed)[0]


def rewritten(text: str, name: str, new: Sequence[str] | None = None) -> str:
    """The file with its words written as `new`, or as they are."""
    transcript = reading(text, name)
    words = spoken(transcript.items)
    texts = [word.raw for word in words] if new is None else new
    said = (
        AnnotatedWord(word.word.text, as_new, "", "lower", 1.0, 1.0) for word, as_new in zip(words, texts, strict=True)
    )
    return "".join(transcript.pieces(transcript.with_words(said)))


def unchanged(transcript: Transcript) -> str:
    """What was read, as it stood there."""
    return "".join(item.text if isinstance(item, Kept) else item.raw + item.after for item in transcript.items)


def bare(text: str, name: str, alphabet: Alphabet | None = None) -> str:
    """The file without marks, in lower case: what no decision may change."""
    return "".join(map(_without_marks, reading(text, name, alphabet).items))


def _without_marks(item: Item) -> str:
    word = item.spoken if isinstance(item, Echo) and item.spoken else item
    if isinstance(word, Kept):
        return word.text
    plain = replace(word.word, dotted=False).with_opening("")  # `J.` may be `j.`
    return word.with_text(plain.with_marks(NO_MARKS).lower())


class PunctuatorByChance(Punctuator):
    """The whole way from text to text, with votes by chance in place of a model's; a slot's are the same every time."""

    def __init__(self, config: PunctuatorConfig, seed: int) -> None:
        self.config, self.seed = config, seed
        self.model = SimpleNamespace(task=TaskConfig(), spellings=NO_SPELLINGS)  # type: ignore[assignment]
        self._alphabet = self.model.task.alphabet
        self._removes = config.render.disfluencies == REMOVE
        self._pool_words = 4096
        self.first_sentence = SentencePosition(None if config.fragment else True)

    def window_votes(self, views: Sequence[View[Word]]) -> list[tuple[Vote, ...]]:
        votes = [[self.vote_on(view.window.start + index) for index in range(len(view.words))] for view in views]
        return [
            tuple(self.apply_known(view, index, vote) for index, vote in enumerate(own))
            for view, own in zip(views, votes, strict=True)
        ]

    def vote_on(self, place: int) -> Vote:
        rng = random.Random(self.seed * 1_000_003 + place)
        cases = normalise({case.value: rng.random() for case in Case})
        labels = rng.sample(_MARKS_OF_VOTES, 3)
        openings = normalise({mark: rng.random() for mark in ("", *OPENING)})
        return Vote(normalise({label: rng.random() for label in labels}), cases, openings=openings)
