"""Words -> windows -> decoder -> votes -> decisions -> words with marks and capitals.

In: the words of texts.  Out: an `AnnotatedWord` for each.  Whole texts (`punctuator`), streams, evaluation and tuning
take the same steps:

    window_votes    views of words -> the votes of each window
    decide_words    words, and the votes of the windows over them -> decisions
    write_words     words and decisions -> annotated words

`Annotator(model).decisions([Word("how"), Word("are"), Word("you")])` decides `How are you?`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from .decoding.align import AlignConfig, AlignmentCounts
from .decoding.decoders import allow_disfluency_label, make_decoder, prepare_model
from .decoding.generate import GeneratingDecoder
from .decoding.inputs import DecodingConfig, WindowInput
from .model import Model
from .text.marks import DISFLUENT, NO_LABEL, Case
from .text.render import (
    KEEP,
    REMOVE,
    AnnotatedWord,
    Decision,
    RenderConfig,
    fit_opening,
    move_marks_of_removed_words,
    render_word,
    written_alternatives,
)
from .text.spelling import is_spoken
from .text.words import Word, readable
from .windows.combine import CombineConfig, WindowVotes, decide, rank_runners_up, votes_by_slot
from .windows.plan import View, WindowConfig, iter_pools, iter_views
from .windows.presets import DEFAULT_PRESET, load_preset
from .windows.sentences import apply_sentence_position, begins_next
from .windows.votes import Distribution, Vote, end_sentence

_POOL_BATCHES = 4  # windows with the words of about this many batches are sorted by length together


@dataclass(frozen=True)
class PunctuatorConfig:
    """Everything that can be chosen at run time."""

    windows: WindowConfig = field(default_factory=lambda: load_preset(DEFAULT_PRESET).windows)
    combine: CombineConfig = field(default_factory=lambda: load_preset(DEFAULT_PRESET).combine)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    render: RenderConfig = field(default_factory=RenderConfig)
    fragment: bool = False  # True: the text may begin and end inside a sentence
    align: AlignConfig = field(default_factory=AlignConfig)  # `generate` only

    @classmethod
    def of_preset(cls, name: str) -> PunctuatorConfig:
        chosen = load_preset(name)
        return cls(chosen.windows, chosen.combine)


class Annotator:
    """Decides the marks and capitals of words; never changes a word."""

    def __init__(self, model: Model, config: PunctuatorConfig | None = None) -> None:
        """Raises ConfigError for what the model cannot do."""
        self.config = config or PunctuatorConfig()
        self.decoding = allow_disfluency_label(self.config.decoding, model, self.config.render.disfluencies)
        self.model = model = prepare_model(model, self.config.decoding)
        model.task.prefix_for(self.config.decoding.style)  # an unknown style is said here, not at the first text
        self._alphabet = self.decoding.alphabet(model.task)
        self._decoder = make_decoder(model, self.decoding, self.config.align)

    def __repr__(self) -> str:
        style = self.model.task.style_or_default(self.config.decoding.style)
        return f"{type(self).__name__}({self.model.name!r}, precision={self.model.precision!r}, style={style!r})"

    def window_input(self, words: Sequence[Word]) -> WindowInput:
        """Return words as the model reads them; no more tokens than it can."""
        pauses = [word.pause for word in words] if self.model.task.pause_ms else []
        kept = [self._kept_marks(word) for word in words] if self.config.render.keep_marks else []
        cores, have_slots = [readable(word.core) for word in words], [word.takes_marks for word in words]
        window = WindowInput.of(cores, have_slots, pauses, kept)
        return window.fit_to_model(self.model.tokenizer, self.config.decoding.style)

    def window_votes(self, views: Iterable[View[Word]], *, whole: bool = False) -> Iterator[WindowVotes]:
        """Yield the votes of each window on its slots; lazily, some batches at a time.

        Masked slots on its right are left out, which saves time, unless the `whole` window is asked for.
        """
        for seen in iter_pools(views, _POOL_BATCHES * self.config.decoding.batch_tokens):
            for view, votes in zip(seen, self._votes(seen, whole), strict=True):
                yield WindowVotes(view, tuple(self.apply_known(view, place, vote) for place, vote in enumerate(votes)))

    def apply_known(self, view: View[Word], place: int, vote: Vote) -> Vote:
        """Return the vote on a window's slot, given the marks that are kept there, or that the text ends there."""
        kept = self._kept_marks(view.words[place])
        if kept:
            return replace(vote, labels=Distribution.certain(kept))
        ends = view.is_last and place == len(view.words) - 1 and not self.config.fragment
        return end_sentence(vote, self._alphabet.marks) if ends else vote

    @property
    def alignment(self) -> AlignmentCounts | None:
        """How all that was generated so far matches its words; None for a decoder that writes nothing else."""
        return self._decoder.alignment if isinstance(self._decoder, GeneratingDecoder) else None

    @property
    def begins_text(self) -> bool | None:
        """Whether a text's first word begins a sentence; None: that is not known of a fragment."""
        return None if self.config.fragment else True

    def decide_word(
        self,
        word: Word,
        votes: Sequence[Vote],
        begins: bool | None,
        combine: CombineConfig | None = None,
        opened: str = NO_LABEL,
    ) -> tuple[Decision, bool | None]:
        """Decide a word, given whether a sentence begins with it, and say whether one begins with the next.

        None: that is not known, as at the start of a fragment and behind `Inc.`.  `opened`: the mark that opened the
        sentence, `¿`; its end fits it.
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
        if decision.opening is not None:
            if not is_spoken(word.text):  # an emoji opens no sentence
                decision = replace(decision, opening=NO_LABEL)
            decision = fit_opening(decision, opened, ends=following is True, marks=self._alphabet.marks)
        # where the first word of a sentence is removed, the sentence begins with the next
        return decision, begins if is_removed and not following else following

    def decide_words(
        self, words: Iterable[Word], windows: Iterable[WindowVotes], combine: CombineConfig
    ) -> Iterator[Decision]:
        """Yield one decision a word, from the votes of the windows over them."""
        begins, opened = self.begins_text, NO_LABEL
        for word, votes in zip(words, votes_by_slot(windows), strict=True):
            decision, begins = self.decide_word(word, votes, begins, combine, opened)
            opened = NO_LABEL if begins else opened or decision.opening or NO_LABEL
            yield decision

    def decisions(self, words: Sequence[Word]) -> Iterator[Decision]:
        """Return one decision a word, in order, as soon as no later window can vote on it."""
        return self.decide_words(words, self.window_votes(iter_views(words, self.config.windows)), self.config.combine)

    def write_words(self, words: Iterable[Word], decisions: Iterable[Decision]) -> Iterator[AnnotatedWord]:
        """Yield words as they are written once they are decided; marks of removed words are with those before them."""
        if self.config.render.disfluencies == REMOVE:
            decisions = move_marks_of_removed_words(decisions)
        return itertools.starmap(self.write_word, zip(words, decisions, strict=True))

    def write_word(self, word: Word, decision: Decision) -> AnnotatedWord:
        """Return a word as it is written once its slot and case are decided."""
        config = self.config.render if self.model.task.cased else replace(self.config.render, case=False)
        written = render_word(word, decision, config, self.model.task.alphabet, self.model.spellings)
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

    def _kept_marks(self, word: Word) -> str:
        """The marks of a word that are kept."""
        return word.given if self.config.render.keep_marks else NO_LABEL

    def _votes(self, views: Sequence[View[Word]], whole: bool) -> list[tuple[Vote, ...]]:
        n_slots = None if whole else [view.window.keep_stop - view.window.start for view in views]
        return self._decoder.votes([self.window_input(view.words) for view in views], n_slots)
