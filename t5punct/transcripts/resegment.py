"""New cues for a punctuated transcript: sentences, split where they are too long and joined where they are short.

In: the written items of a transcript whose words or cues have times.  Out: cues, as `cues` writes them.

>>> from ..text.render import AnnotatedWord
>>> from ..text.words import Word
>>> from .items import *
>>> so = AnnotatedWord("so", "So.", ".", "capitalised", 1, 1)
>>> words = [WrittenWord(SpokenWord(Word("so"), " ", start_ms=at, end_ms=at + 500), so) for at in (0, 9000)]
>>> [(cue.start_ms, cue.text) for cue in sentence_cues(words, ResegmentConfig())]
[(0, 'So.'), (9000, 'So.')]
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..errors import ConfigError, InputError
from ..text.marks import NO_LABEL, ends_sentence
from ..text.words import Word
from .cues import WrittenCue
from .items import Cue, Kept, Role, SpokenWord, WrittenItem


@dataclass(frozen=True)
class ResegmentConfig:
    """How large a cue may be."""

    max_chars: int = 84  # of a cue, line ends included
    max_lines: int = 2
    max_duration_ms: int = 7000
    min_chars: int = 24  # a shorter cue is joined with its neighbour where that is allowed
    max_gap_ms: int = 1500  # a longer silence always ends a cue

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_lines", "max_duration_ms"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} {getattr(self, name)}", expected="1 or more", fix="raise it")


@dataclass(slots=True)
class _Labelled:
    """A written word with the labels before it; `opens`: whether a speaker begins with it."""

    spoken: SpokenWord
    text: str
    label: str
    opens: bool


@dataclass(frozen=True, slots=True)
class _TimedPiece:
    """The same with its times."""

    text: str
    label: str
    start_ms: int
    end_ms: int
    opens: bool


def sentence_cues(written: Iterable[WrittenItem], config: ResegmentConfig) -> list[WrittenCue]:
    """Make new cues: sentences, split where they are too long and joined where they are short.

    Raises InputError for words without times in no cue with times.
    """
    cues = list[list[_TimedPiece]]()
    for sentence in _sentences(_timed(_label(written)), config):
        for part in _parts(sentence, config):
            if cues and _joins(cues[-1], part, config):
                cues[-1] = cues[-1] + part
            else:
                cues.append(part)
    return [
        WrittenCue(cue[0].start_ms, max(piece.end_ms for piece in cue), _lines(_joined(cue), config)) for cue in cues
    ]


def _label(written: Iterable[WrittenItem]) -> Iterator[_Labelled]:
    """Written words, each with the speaker labels and stage directions before it; the last also with those behind.

    A direction at the end of a line, or of a cue, goes with the word before it; one that has a cue to itself stays
    there.
    """
    kept, opens = list[Kept](), True  # since the last word
    held: _Labelled | None = None
    for item in written:
        if isinstance(item, Kept):
            kept += [item] if item.shown else []
            opens = opens or item.breaks
            continue
        alone, kept = _share_out(kept, held, item.spoken.cue)
        if held:
            n_behind = _n_behind(kept, held.spoken.cue, item.spoken.cue)
            held.text = " ".join([held.text, *(part.shown for part in kept[:n_behind])])
            kept = kept[n_behind:]
            yield held
        yield from _in_own_cues(alone)
        text = " ".join([*(part.shown for part in kept), item.annotated.text])
        held = _Labelled(item.spoken, text, item.separator, opens)
        kept, opens = [], False
    alone, kept = _share_out(kept, held, None)
    if held:
        held.text = " ".join([held.text, *(part.shown for part in kept)])
        yield held
        kept = []
    yield from _in_own_cues([*alone, *kept])


def _share_out(kept: Iterable[Kept], held: _Labelled | None, following: Cue | None) -> tuple[list[Kept], list[Kept]]:
    """Stage directions that no sentence goes on over and that have a cue to themselves; and what is with words."""
    alone, with_words = list[Kept](), list[Kept]()
    for part in kept:
        is_between = part.cue not in (held and held.spoken.cue, following)
        is_alone = part.role is Role.DIRECTION and part.breaks and is_between and part.cue and part.cue.has_times
        (alone if is_alone else with_words).append(part)
    return alone, with_words


def _in_own_cues(kept: Iterable[Kept]) -> Iterator[_Labelled]:
    """What is shown in cues without words, as a word that takes as long as its cue; without times it is left out."""
    for cue, group in groupby(kept, key=lambda part: part.cue):
        text = " ".join(part.shown for part in group)
        if cue is not None and cue.has_times:
            spoken = SpokenWord(Word(text), cue=cue, start_ms=cue.start_ms, end_ms=cue.end_ms)
            yield _Labelled(spoken, text, NO_LABEL, opens=True)


def _n_behind(kept: Sequence[Kept], cue: Cue | None, following: Cue | None) -> int:
    """How many labels and directions between two words, from the first on, go with the word before them."""

    def is_behind(part: Kept) -> bool:
        ends_cue = part.cue is not None and part.cue == cue != following
        return part.role is Role.DIRECTION and (ends_cue or "\n" in part.text)

    return next((number for number, part in enumerate(kept) if not is_behind(part)), len(kept))


@dataclass(slots=True)
class _Untimed:
    """Words whose end is not known yet, and where the first begins."""

    start_ms: int | None = None
    words: list[_Labelled] = field(default_factory=list)

    def until(self, end_ms: int | None) -> Iterator[_TimedPiece]:
        """Yield the words with times: they share out the time that there is by their letters."""
        words, start_ms = self.words, self.start_ms
        self.words, self.start_ms = [], end_ms
        if not words:
            return
        if start_ms is None or end_ms is None:
            raise InputError(
                f"no time for the word {words[0].spoken.raw!r}",
                expected="words or cues with times",
                fix="write another format",
            )
        total, place, span_ms = sum(len(word.text) + 1 for word in words), 0, end_ms - start_ms
        for word in words:
            begin, place = place, place + len(word.text) + 1
            times = start_ms + span_ms * begin // total, start_ms + span_ms * place // total
            yield _TimedPiece(word.text, word.label, *times, word.opens)


def _timed(shown: Iterable[_Labelled]) -> Iterator[_TimedPiece]:
    """Written words with times; those that have none share what their cue or their neighbours leave them."""
    untimed, cue = _Untimed(), None
    for word in shown:
        spoken = word.spoken
        if spoken.cue != cue:
            yield from untimed.until(cue.end_ms if cue else spoken.start_ms)
            cue = spoken.cue
            untimed.start_ms = cue.start_ms if cue else None
        if spoken.start_ms is not None:
            yield from untimed.until(spoken.start_ms)
        untimed.words.append(word)
        if spoken.end_ms is not None:
            yield from untimed.until(spoken.end_ms)
    yield from untimed.until(cue.end_ms if cue else None)


def _sentences(pieces: Iterable[_TimedPiece], config: ResegmentConfig) -> Iterator[list[_TimedPiece]]:
    held = list[_TimedPiece]()
    for piece in pieces:
        if held and (piece.opens or not _is_next(held[-1], piece, config)):
            yield held
            held = []
        held.append(piece)
        if ends_sentence(piece.label):
            yield held
            held = []
    if held:
        yield held


def _parts(sentence: list[_TimedPiece], config: ResegmentConfig) -> Iterator[list[_TimedPiece]]:
    """A sentence in parts that fit, cut behind a mark where there is one in the second half of what fits."""
    begin = 0
    while begin < len(sentence):
        end = _last_fitting(sentence, begin, config)
        if end < len(sentence):
            marked = [place for place in range((begin + end) // 2, end) if sentence[place].label]
            end = marked[-1] + 1 if marked else end
        yield sentence[begin:end]
        begin = end


def _last_fitting(sentence: Sequence[_TimedPiece], begin: int, config: ResegmentConfig) -> int:
    """Where the longest part of a sentence that begins there and fits ends; one word is always a part."""
    end, n_chars = begin + 1, len(sentence[begin].text)
    while end < len(sentence):
        n_chars += 1 + len(sentence[end].text)
        lasts_ms = sentence[end].end_ms - sentence[begin].start_ms
        if n_chars > config.max_chars or lasts_ms > config.max_duration_ms:
            break
        end += 1
    return end


def _joins(before: list[_TimedPiece], part: list[_TimedPiece], config: ResegmentConfig) -> bool:
    is_short = min(len(_joined(before)), len(_joined(part))) < config.min_chars
    is_next = _is_next(before[-1], part[0], config) and not part[0].opens
    return is_short and is_next and _fits(before + part, config)


def _is_next(before: _TimedPiece, piece: _TimedPiece, config: ResegmentConfig) -> bool:
    """Whether a piece follows without a long silence.  Where times go back, a new channel begins."""
    return piece.start_ms >= before.start_ms and piece.start_ms - before.end_ms <= config.max_gap_ms


def _fits(pieces: Sequence[_TimedPiece], config: ResegmentConfig) -> bool:
    lasts_ms = pieces[-1].end_ms - pieces[0].start_ms
    return len(_joined(pieces)) <= config.max_chars and lasts_ms <= config.max_duration_ms


def _joined(pieces: Sequence[_TimedPiece]) -> str:
    return " ".join(piece.text for piece in pieces)


def _lines(text: str, config: ResegmentConfig) -> str:
    """The text in as few lines as a cue of `max_chars` allows, about equally long."""
    width = -(-config.max_chars // config.max_lines)
    n_lines = min(config.max_lines, -(-len(text) // width))
    for columns in range(-(-len(text) // n_lines), len(text) + 1):
        lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
        if len(lines) <= n_lines:
            return "\n".join(lines)
    return text
