"""Token classification: the tagger decides slots and case by itself, and no decoder is run (Nagy 2021).

In: windows of words.  Out: votes, one a slot, from one pass of the encoder.  It is the fastest decoder, and the
baseline for the others.  A slot has at most one mark.  Each slot and each case is decided alone, with three exceptions:

- A capital that only the start of a sentence explains is removed if no sentence starts there.
- A sentence that may end in either of two places ends once (`doubled_ends`).
- A sentence has an opening mark where it has the closing one (`paired_marks`).

With `delay_words` no decision depends on a word that is farther to the right (`t5/delay.py`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

import torch

from ..errors import ConfigError
from ..model import Model
from ..t5.delay import LEFT_WORDS, NOBODY, Delay, delayed_states, token_words
from ..t5.encoder import Encoder
from ..t5.tagger import TAGGED_CASES
from ..text.marks import DISFLUENT, NO_MARKS, OPENING, OTHER_SCRIPTS, Case, case_forms, ends_sentence
from ..text.spelling import precedes_name
from ..windows.votes import Distribution, Vote, normalise
from .inputs import DecodingConfig, WindowInput, batch_by_length, encoder_input
from .paired_marks import Pairs, WordScores, pair_marks

_log = logging.getLogger(__name__)
_UNMARKED = {NO_MARKS: 1.0}
_CASE_NAMES = tuple(case.value for case in TAGGED_CASES)  # read once: an enum's values are slow
# chosen on dev2012 (docs/results/large.md)
_NEAR_WORDS = 3
_MOST_OF_ONE = 1.1  # the sum of chances up to which two ends are one; those that exclude each other add up to 1
_LINKS = {",", ";", "-"}  # a sentence goes on behind them; behind a colon another may begin
_NEVER = -1e4  # a logit; finite, as parts of it are added up


@dataclass(frozen=True, slots=True)
class Tagged:
    """What a tagger says of the slots of some windows, one window's after the other; float32, on the CPU.

    marks (n_slots, n_classes): logits of the tagger's classes, with their odds; ends (n_slots,): the chance that a
    sentence ends in the slot; cases (n_slots, n_cases): logits of the ways to write the slot's word, `TAGGED_CASES`;
    openings: chances (n_slots, n_openings) of opening marks before the slot's word, None if the tagger knows none.
    """

    marks: torch.Tensor
    ends: torch.Tensor
    cases: torch.Tensor
    openings: torch.Tensor | None = None


class TagDecoder:
    """A model's encoder and tagger, ready to decode."""

    def __init__(self, model: Model, config: DecodingConfig | None = None) -> None:
        """Raises ConfigError for a model without a tagger, and ModelError for an encoder that can have no delay."""
        if model.tagger is None:
            expected = "a model trained with loss.tagger_weight above 0"
            raise ConfigError(f"{model.name}, which has no tagger", expected=expected, fix="use --decoder slots")
        self._model = model
        self._tagger = model.tagger
        self._config = config or DecodingConfig()
        n_words = self._config.delay_words
        task = model.task
        self.delay = None
        if n_words is not None:
            self.delay = Delay(n_words, task.delay_left_words or LEFT_WORDS, tuple(task.delay_layers))
            if task.delay_left_words is None:
                Encoder(model.network.encoder).check_delay()
                _log.warning("%s was not trained with a delay (data.delays); expect more wrong marks", model.name)
        self._marks = self._config.alphabet(model.task).marks
        self._log_odds = self._tagger.log_odds(self._config.odds(model.task), self._marks)
        self.mark_classes = self._tagger.mark_classes
        self._ends = torch.tensor([ends_sentence(mark) for mark in self.mark_classes])
        self._links = torch.tensor([OTHER_SCRIPTS.get(mark, mark) in _LINKS for mark in self.mark_classes])
        self._pairs = None  # of opening marks and ends, if the tagger knows any
        if self._tagger.openings is not None:
            closings = {
                number: self.mark_classes.index(OPENING[opening])
                for number, opening in enumerate(self._tagger.opening_classes)
                if OPENING.get(opening) in self.mark_classes
            }
            self._pairs = Pairs(tuple(self._ends.nonzero()[:, 0].tolist()), closings)
        # where nobody asks for the sign of disfluent words, it is as if there were none
        asks_for_sign = DISFLUENT in self._marks
        self._unasked = torch.tensor([mark == DISFLUENT and not asks_for_sign for mark in self.mark_classes])

    @torch.inference_mode()
    def votes(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[tuple[Vote, ...]]:
        """Return votes for each window, in order; with `n_slots`, only for its first so many slots."""
        sources = [window.source(self._model.tokenizer, self._config.style) for window in windows]
        votes: dict[int, tuple[Vote, ...]] = {}
        for batch in batch_by_length([len(source.ids) for source in sources], self._config.batch_tokens):
            batch_sources = [sources[index] for index in batch]
            input_ids, attention_mask = encoder_input(batch_sources, self._model)
            if self.delay is None:
                states = self._model.encode(input_ids, attention_mask)
            else:
                word_of_tokens = torch.full_like(input_ids, NOBODY)  # the number of each token's word; padding has none
                for row, source in zip(word_of_tokens, batch_sources, strict=True):
                    row[: len(source.ids)] = torch.tensor(token_words(source))
                states = delayed_states(self._model.network.encoder, input_ids, word_of_tokens, self.delay)
            batch_windows = [windows[index] for index in batch]
            tagged = self.tag(states, [source.word_ends for source in batch_sources], batch_windows)
            n_wanted = [len(windows[index].words) if n_slots is None else n_slots[index] for index in batch]
            votes |= zip(batch, self.votes_of(batch_windows, n_wanted, tagged), strict=True)
        return [votes[index] for index in range(len(windows))]

    @torch.inference_mode()
    def tag(self, states: torch.Tensor, places: Sequence[Sequence[int]], windows: Sequence[WindowInput]) -> Tagged:
        """Return what the tagger says of the slots behind some tokens, one window's slots after the other's.

        states: (n_batch, n_source, d_model); places: the tokens of each window.  Of two ends for one sentence the
        likelier stays (`doubled_ends`), and opening marks fit the ends of their sentences (`pair_marks`); not so with a
        delay, since slots would wait for later ones.
        """
        rows = [row for row, tokens in enumerate(places) for _ in tokens]  # each slot's window
        states = states[rows, [*chain.from_iterable(places)]]  # (n_slots, d_model)
        plain_marks, cases = self._tagger(states)
        plain_marks = plain_marks.float().cpu().masked_fill(self._unasked, float("-inf"))
        cases = cases.float().cpu()
        weighed = plain_marks + self._log_odds
        ends = plain_marks.softmax(-1)[:, self._ends].sum(-1)
        openings = None if self._pairs is None else self._tagger.opening_probabilities(states, self._marks)
        if self.delay is not None:
            return Tagged(weighed, ends, cases, openings)
        has_slot = torch.tensor([*chain.from_iterable(window.has_slot for window in windows)], dtype=torch.bool)
        is_end = self._ends[weighed.argmax(-1)] & has_slot
        is_doubled = torch.zeros(len(weighed), dtype=torch.bool)
        is_doubled[doubled_ends(ends.tolist(), is_end.tolist(), [len(window.words) for window in windows])] = True
        marks = torch.where(is_doubled[:, None] & self._ends, weighed.clamp(max=_NEVER), weighed)
        if openings is not None and self._pairs is not None:
            marks, openings = self._paired(self._pairs, marks, openings, windows)
        # an end that was dropped was likely, so it explains more of the next word's capital: its chance with the odds
        is_dropped = is_end & ~self._ends[marks.argmax(-1)]
        ends = torch.where(is_dropped, weighed.softmax(-1)[:, self._ends].sum(-1), ends)
        return Tagged(marks, ends, cases, openings)

    def _paired(
        self, pairs: Pairs, marks: torch.Tensor, openings: torch.Tensor, windows: Sequence[WindowInput]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return marks and openings with values exchanged in each row, so that what `pair_marks` chose has the highest.

        marks: logits (n_slots, n_mark_classes), openings: probabilities (n_slots, n_opening_classes), of one window
        after the other.
        """
        mark_logs = marks.log_softmax(-1).tolist()
        opening_chances = openings.tolist()
        marks = marks.clone()
        openings = openings.clone()
        begin = 0
        for window in windows:
            stop = begin + len(window.words)
            words = self._scores_of_words(window, mark_logs[begin:stop], opening_chances[begin:stop])
            if any(word.may_open for word in words):
                for row, choice in enumerate(pair_marks(words, pairs), start=begin):
                    _put_first(openings[row], choice.opening)
                    # `end` is the best mark if the text ends here, and is put above other ends; then `mark`, the
                    # chosen one, is put above all
                    if choice.end is not None:
                        _put_first(marks[row], choice.end, among=pairs.ends)
                    _put_first(marks[row], choice.mark)
            begin = stop
        return marks, openings

    def _scores_of_words(
        self, window: WindowInput, mark_logs: Sequence[Sequence[float]], opening_chances: Sequence[Sequence[float]]
    ) -> list[WordScores]:
        """Return what the tagger says of each word of a window, but where marks are kept, or none can stand.

        mark_logs: logarithms of probabilities (n_words, n_mark_classes); opening_chances: (n_words, n_opening_classes).
        """
        words = list[WordScores]()
        for index, has_slot in enumerate(window.has_slot):
            logs = mark_logs[index]
            chances = opening_chances[index]
            kept_marks = window.given[index] if window.given else NO_MARKS
            if kept_marks or not has_slot:  # the mark behind the word is certain
                # of several (`!?`) the one that can close a pair counts, else the first; NO_MARKS if there is none
                certain = next((mark for mark in kept_marks if mark in OPENING.values()), kept_marks[:1])
                logs = [0.0 if mark == certain else _NEVER for mark in self.mark_classes]
            if not has_slot:
                chances = [1.0] + [0.0] * (len(chances) - 1)  # the first class is no mark
            words.append(WordScores(logs, chances))
        return words

    def votes_of(
        self, windows: Sequence[WindowInput], n_slots: Sequence[int], tagged: Tagged
    ) -> list[tuple[Vote, ...]]:
        """Return votes on the first slots of windows, `n_slots[i]` of window i; `tagged`: a row for every word of all.

        `Vote.inside` is a word's case if no sentence begins with it.  A word that begins one has a capital, so
        p(capital) = p(begins) + p(capital and does not begin): p(begins), the chance that a sentence ends in the slot
        before, is taken from the capital's share.
        """
        marks = tagged.marks.softmax(-1).tolist()
        cases = tagged.cases.softmax(-1).tolist()
        ends = tagged.ends.tolist()
        # if no sentence ends there: whether the likeliest mark is a comma or the like
        is_link = self._links[tagged.marks.masked_fill(self._ends, -math.inf).argmax(-1)].tolist()
        openings = None if tagged.openings is None else tagged.openings.tolist()
        votes = list[tuple[Vote, ...]]()
        begin = 0
        for window, n in zip(windows, n_slots, strict=True):
            votes_of_window = []
            for index, row in enumerate(range(begin, begin + n)):
                allowed = case_forms(window.spellings[index]) if self._model.task.cased else (Case.LOWER,)
                inside = None
                if index and not precedes_name(window.words[index - 1]):  # no sentence begins behind `mr`
                    lower, capitalised, upper = cases[row]
                    begins = ends[row - 1]  # the chance that a sentence begins with the word
                    inside = restrict_case(allowed, (lower, max(0.0, capitalised - begins), upper))
                    if is_link[row - 1] and self._model.spellings.has_small(window.words[index]):
                        inside = {Case.LOWER.value: 1.0}
                slot = dict(zip(self.mark_classes, marks[row], strict=True)) if window.has_slot[index] else _UNMARKED
                opening = dict(zip(self._tagger.opening_classes, openings[row], strict=True)) if openings else None
                n_behind = len(window.words) - index - 1
                case = restrict_case(allowed, cases[row])
                votes_of_window.append(Vote(slot, case, 1.0, index, n_behind, inside, opening))
            votes.append(tuple(votes_of_window))
            begin += len(window.words)
        return votes


def doubled_ends(chances: Sequence[float], is_end: Sequence[bool], lengths: Sequence[int]) -> list[int]:
    """Return the slots with an end near a likelier end, at most `_NEAR_WORDS` slots away, if only one can be right.

    `chances`: that a sentence ends in a slot; `is_end`: whether one would be written; `lengths`: slots of each window.
    Where the tagger is sure of both ends, as in `yes. no.`, both stay (docs/design.md).

    >>> doubled_ends([0.1, 0.6, 0.4, 0.9, 0.95], [False, True, True, True, True], [3, 2])
    [2]
    """
    doubled = list[int]()
    begin = 0
    for length in lengths:
        staying = list[int]()
        ends = [index for index in range(begin, begin + length) if is_end[index]]
        for index in sorted(ends, key=lambda index: -chances[index]):
            near = [likelier for likelier in staying if abs(likelier - index) <= _NEAR_WORDS]
            if any(chances[index] + chances[likelier] <= _MOST_OF_ONE for likelier in near):
                doubled.append(index)
            else:
                staying.append(index)
        begin += length
    return doubled


def _put_first(row: torch.Tensor, chosen: int, among: Sequence[int] | None = None) -> None:
    """Exchange the values of the chosen class and the best one (of `among`), unless the chosen is ruled out (-inf)."""
    best = int(row.argmax()) if among is None else max(among, key=row.tolist().__getitem__)
    is_possible = row[chosen] > -math.inf
    if is_possible and row[chosen] < row[best]:
        row[[best, chosen]] = row[[chosen, best]]


def restrict_case(allowed: Collection[Case], chances: Sequence[float]) -> Distribution:
    """Return the distribution over the cases that a word can have.

    chances: of `TAGGED_CASES`, in their order; they need not add up to 1.  If only one is allowed, it is certain.
    """
    if len(allowed) == 1:
        return {case.value: 1.0 for case in allowed}
    cases = zip(TAGGED_CASES, _CASE_NAMES, chances, strict=True)
    return normalise({name: chance for case, name, chance in cases if case in allowed})
