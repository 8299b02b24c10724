"""The whole way in one file: text -> words -> windows -> decoder -> votes -> combine -> text.

In: a text of any length.  Out: the same words with marks and capitals.

>>> Punctuator.from_pretrained().punctuate("how are you today")  # doctest: +SKIP
'How are you today?'
"""

from __future__ import annotations

import io
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from .decoding import align
from .decoding.decoders import allow_disfluency_label, make_decoder, prepare_model
from .decoding.generate import generate_texts
from .decoding.inputs import DecodingConfig, WindowInput
from .decoding.precision import computes_in_int8, on_device, with_precision
from .errors import InputError
from .model import Model, load
from .text.marks import DISFLUENT, NO_LABEL, Case
from .text.render import (
    KEEP,
    REMOVE,
    AnnotatedWord,
    Decision,
    RenderConfig,
    move_marks_of_removed_words,
    render_word,
    written_alternatives,
)
from .text.words import Word, checked_text, readable
from .transcripts.items import Item, SpokenWord, iter_pieces, leave_out_removed, texts_of, written_items
from .transcripts.speech import read_plain
from .windows.combine import CombineConfig, VoteAccumulator, decide, rank_runners_up
from .windows.plan import View, WindowConfig, iter_pools, iter_views
from .windows.presets import DEFAULT_PRESET, load_preset
from .windows.sentences import apply_sentence_position, begins_next
from .windows.votes import Distribution, Vote, end_sentence

_log = logging.getLogger(__name__)
_POOL_BATCHES = 4  # windows with the words of about this many batches are sorted by length together


@dataclass(frozen=True)
class PunctuatorConfig:
    """Everything that can be chosen at run time."""

    windows: WindowConfig = field(default_factory=lambda: load_preset(DEFAULT_PRESET).windows)
    combine: CombineConfig = field(default_factory=lambda: load_preset(DEFAULT_PRESET).combine)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    render: RenderConfig = field(default_factory=RenderConfig)
    fragment: bool = False  # True: the text may begin and end inside a sentence
    align: align.AlignConfig = field(default_factory=align.AlignConfig)  # `generate` only

    @classmethod
    def of_preset(cls, name: str) -> PunctuatorConfig:
        chosen = load_preset(name)
        return cls(chosen.windows, chosen.combine)


@dataclass(frozen=True, slots=True)
class WindowVotes:
    """A window and its votes, one a word; at least up to the last slot that the window may decide."""

    view: View[Word]
    votes: tuple[Vote, ...]


def votes_by_slot(windows: Iterable[WindowVotes]) -> Iterator[list[Vote]]:
    """Yield the windows' votes on each slot, of those that may decide it; memory is bounded by the windows' overlap."""
    accumulator = VoteAccumulator()
    for window_votes in windows:
        window = window_votes.view.window
        for slot in range(window.keep_start, window.keep_stop):
            accumulator.add(slot, window_votes.votes[slot - window.start])
        yield from accumulator.pop_settled(window_votes.view.n_settled)


class Punctuator:
    """Puts marks and capitals into texts; never changes a word, and removes one only if that is asked for."""

    def __init__(self, model: Model, config: PunctuatorConfig | None = None) -> None:
        """Raises ConfigError for what the model cannot do."""
        self.config = config or PunctuatorConfig()
        self.decoding = allow_disfluency_label(self.config.decoding, model, self.config.render.disfluencies)
        self.model = model = prepare_model(model, self.config.decoding)
        self.alignment = align.AlignmentCounts()  # of everything `generate` has written so far
        model.task.prefix_for(self.config.decoding.style)  # an unknown style is said here, not at the first text
        self._alphabet = self.decoding.alphabet(model.task)
        self._decoder = make_decoder(model, self.decoding)

    @classmethod
    def from_pretrained(
        cls,
        source: str | Path | None = None,
        config: PunctuatorConfig | None = None,
        *,
        style: str | None = None,
        precision: str | None = None,
        device: str | None = None,
        revision: str | None = None,
    ) -> Punctuator:
        """Load the bundled model (no source), a folder or a hub id; `style` and so on replace the config's.

        Where neither says so, a GPU is used if there is one, and the precision is what `auto` takes.
        """
        config = config or PunctuatorConfig()
        named = {"style": style, "precision": precision, "device": device}
        chosen: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        config = replace(config, decoding=replace(config.decoding, **chosen))
        in_int8 = computes_in_int8(config.decoding.precision, config.decoding.device)
        model = load(source, revision=revision, to_infer=True, in_int8=in_int8)
        if not model.tuned:
            _log.warning("%s has no t5punct.yaml; a T5 that was never trained to punctuate writes nonsense", model.name)
        model = on_device(model, config.decoding.device or "auto")
        return cls(model if config.decoding.precision else with_precision(model, "auto"), config)

    def __reduce__(self) -> tuple[type[Punctuator], tuple[Model, PunctuatorConfig]]:
        """What is pickled, for worker processes: model and settings; what was kept of words is found anew."""
        return type(self), (self.model, self.config)

    def with_config(self, **changes: object) -> Punctuator:
        """Return a punctuator of the same model with other settings."""
        return Punctuator(self.model, replace(self.config, **changes))  # type: ignore[arg-type]

    def punctuate(self, text: str) -> str:
        """Return the text with marks and capitals; its words and white space as they were.

        Speaker labels (`JOHN:`) and stage directions (`[laughs]`) stay, and no sentence goes on over them.
        Raises InputError for anything but a string, and for one with lone surrogates.
        """
        return "".join(self.pieces(text))

    def punctuate_many(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield `punctuate` of each text, in order; windows of several are decoded together, which suits short ones.

        Texts are read some batches ahead of what is yielded.  Raises InputError as `punctuate` does, and for a str.
        """
        if isinstance(texts, str):  # whose letters would be the texts
            raise InputError("one text", expected="several, such as a list of them", fix="use punctuate(text)")
        waiting, decided = deque[tuple[list[Item], int]](), list[AnnotatedWord]()

        def read() -> Iterator[list[Word]]:
            for text in texts:
                items = self._read_items(text)
                waiting.append((items, sum(isinstance(item, SpokenWord) for item in items)))
                yield from texts_of(items)

        for word in self.annotate_texts(read()):
            decided.append(word)
            while waiting and len(decided) >= waiting[0][1]:
                items, n_words = waiting.popleft()
                yield "".join(self._write_items(items, decided[:n_words]))
                del decided[:n_words]
        for items, _ in waiting:  # the last texts, if they have no words
            yield "".join(self._write_items(items, ()))

    def pieces(self, text: str) -> Iterator[str]:
        """Return the output in pieces, as words are decided.  Raises InputError as `punctuate` does."""
        items = self._read_items(text)
        return self._write_items(items, self.annotate_texts(texts_of(items)))

    def annotate(self, text: str) -> tuple[AnnotatedWord, ...]:
        """Return each word with label, case and confidence.  Raises InputError as `punctuate` does."""
        return tuple(self.iter_annotate(text))

    def iter_annotate(self, text: str) -> Iterator[AnnotatedWord]:
        """Yield the words of `annotate` as they are decided."""
        return self.annotate_texts(texts_of(self._read_items(text)))

    def annotate_texts(self, texts: Iterable[Sequence[Word]]) -> Iterator[AnnotatedWord]:
        """Yield the words of all texts, one after the other; each text begins and ends with a sentence.

        The windows of several texts are decoded together, some batches ahead of what is yielded.
        """
        waiting = deque[Sequence[Word]]()

        def views() -> Iterator[View[Word]]:
            for text in texts:
                if text:  # else it has no window
                    waiting.append(text)
                    yield from iter_views(text, self.config.windows)

        windows = self.window_votes(views())
        for first in windows:
            words = waiting.popleft()
            decided = self.decided(words, _take_to_last(chain([first], windows)), self.config.combine)
            yield from map(self.written_word, words, self.settled(decided))

    def decisions(self, words: Sequence[Word]) -> Iterator[Decision]:
        """Return one decision a word, in order, as soon as no later window can vote on it."""
        return self.decided(words, self.window_votes(iter_views(words, self.config.windows)), self.config.combine)

    def decided(
        self, words: Iterable[Word], windows: Iterable[WindowVotes], combine: CombineConfig
    ) -> Iterator[Decision]:
        """Yield one decision a word, from the votes of the windows over them."""
        begins = self.begins_text
        for word, votes in zip(words, votes_by_slot(windows), strict=True):
            decision, begins = self.decision(word, votes, begins, combine)
            yield decision

    @property
    def begins_text(self) -> bool | None:
        """Whether a text's first word begins a sentence; None: that is not known of a fragment."""
        return None if self.config.fragment else True

    def decision(
        self, word: Word, votes: Sequence[Vote], begins: bool | None, combine: CombineConfig | None = None
    ) -> tuple[Decision, bool | None]:
        """Decide a word, given whether a sentence begins with it, and say whether one begins with the next.

        None: that is not known, as at the start of a fragment and behind `Inc.`.
        """
        here, combine = [apply_sentence_position(vote, word, begins) for vote in votes], combine or self.config.combine
        decision = decide(here, combine)
        if self.config.render.alternatives:
            rivals = rank_runners_up(here, combine, decision, self.config.render.alternatives)
            decision = replace(decision, alternatives=tuple(rival for rival in rivals if DISFLUENT not in rival.label))
        decision = decision.without_sign(word)
        is_removed = decision.disfluent and self.config.render.disfluencies == REMOVE
        label = self._kept_marks(word) or decision.label
        following = begins_next(begins, word, label, self.model.task.alphabet)
        # where the first word of a sentence is removed, the sentence begins with the next
        return decision, begins if is_removed and not following else following

    def settled(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """Return decisions on a text's words as they are written: marks of removed words are with those before them."""
        return move_marks_of_removed_words(decisions) if self.config.render.disfluencies == REMOVE else iter(decisions)

    def window_votes(self, views: Iterable[View[Word]], *, whole: bool = False) -> Iterator[WindowVotes]:
        """Yield the votes of each window on its slots; lazily, some batches at a time.

        Masked slots on its right are left out, which saves time, unless the `whole` window is asked for.
        """
        for seen in iter_pools(views, _POOL_BATCHES * self.config.decoding.batch_tokens):
            for view, votes in zip(seen, self._votes(seen, whole), strict=True):
                yield WindowVotes(view, tuple(self.known(view, place, vote) for place, vote in enumerate(votes)))

    def written(self, words: Iterable[Word], decided: Iterable[Decision]) -> list[AnnotatedWord]:
        """Return words as they are written once they are decided."""
        return [self.written_word(word, decision) for word, decision in zip(words, decided, strict=True)]

    def known(self, view: View[Word], place: int, vote: Vote) -> Vote:
        """Return the vote on a window's slot, given the marks that are kept there, or that the text ends there."""
        kept = self._kept_marks(view.words[place])
        if kept:
            return replace(vote, labels=Distribution.certain(kept))
        ends = view.is_last and place == len(view.words) - 1 and not self.config.fragment
        return end_sentence(vote, self._alphabet.marks) if ends else vote

    def _read_items(self, text: object) -> list[Item]:
        return list(read_plain(io.StringIO(checked_text(text), newline="\n"), self.model.task.alphabet))

    def _write_items(self, items: Iterable[Item], words: Iterable[AnnotatedWord]) -> Iterator[str]:
        written = written_items(items, words)
        return iter_pieces(leave_out_removed(written) if self.config.render.disfluencies == REMOVE else written)

    def _kept_marks(self, word: Word) -> str:
        """The marks of a word that are kept."""
        return word.given if self.config.render.keep_marks else NO_LABEL

    def written_word(self, word: Word, decision: Decision) -> AnnotatedWord:
        """Return a word as it is written once its slot and case are decided."""
        config = self.config.render if self.model.task.cased else replace(self.config.render, case=False)
        written = render_word(word, decision, config, self.model.task.alphabet)
        return AnnotatedWord(
            word.text,
            written.text,
            written.label,
            written.case.value,
            1.0 if self._kept_marks(word) else decision.label_confidence,
            1.0 if written.case is Case.VERBATIM else decision.case_confidence,
            written_alternatives(word, decision, config, self.model.task.alphabet),
            None if config.disfluencies == KEEP else decision.disfluent,
        )

    def window_input(self, words: Sequence[Word]) -> WindowInput:
        """Return words as the model reads them; no more tokens than it can."""
        pauses = [word.pause for word in words] if self.model.task.pause_ms else []
        kept = [self._kept_marks(word) for word in words] if self.config.render.keep_marks else []
        cores, have_slots = [readable(word.core) for word in words], [word.takes_marks for word in words]
        window = WindowInput.of(cores, have_slots, pauses, kept)
        return window.fit_to_model(self.model.tokenizer, self.config.decoding.style)

    def _votes(self, views: Sequence[View[Word]], whole: bool) -> list[tuple[Vote, ...]]:
        inputs = [self.window_input(view.words) for view in views]
        if self._decoder is not None:
            n_slots = None if whole else [view.window.keep_stop - view.window.start for view in views]
            return self._decoder.votes(inputs, n_slots)
        texts = generate_texts(self.model, inputs, self.decoding)
        task = self.model.task.alphabet
        alignments = [align.align(window.words, text, task) for window, text in zip(inputs, texts, strict=True)]
        config = self.config.align
        self.alignment = sum((align.AlignmentCounts.of(alignment, config) for alignment in alignments), self.alignment)
        return [align.votes(alignment, self._alphabet, config) for alignment in alignments]


def _take_to_last(windows: Iterator[WindowVotes]) -> Iterator[WindowVotes]:
    """The windows up to the one that ends a text; those of the next text are left where they are."""
    for window_votes in windows:
        yield window_votes
        if window_votes.view.is_last:
            return
