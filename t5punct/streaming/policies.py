"""When a slot is committed: after a fixed number of words, when the model is sure, or sentence by sentence.

In: a stream's state and the votes of its newest window.  Out: how many more slots are final.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..config import check, check_choice, check_range
from ..t5.delay import MOST_WORDS as MOST_DELAY
from ..windows.combine import choose_marks
from ..windows.plan import MOST_WORDS
from ..windows.votes import Vote, entropy
from .state import StreamState

POLICIES = ("fixed", "entropy", "sentence", "delay")
DECIDERS = ("seq2seq", "classify")
_NATS_PER_BIT = math.log(2.0)
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class StreamConfig:
    """A policy and its values; lengths are in words unless stated."""

    policy: str = "fixed"
    decide: str = "seq2seq"  # or `classify`, with a model that was trained for it
    window: int = 32  # w, seen at once
    lookahead: int = 4  # `fixed`, `delay`: l, words of right context
    l_min: int = 1  # `entropy`: the least and the most words of right context
    l_max: int = 6
    thresholds: list[float] = field(default_factory=lambda: [0.5])  # h in bits: one, or one for each lookahead
    every: int = 4  # `sentence`: F, words from one decoding of the buffer to the next
    after: int = 4  # `sentence`: T, words that must follow a sentence's end
    max_delay_ms: int | None = None  # a silence of this length commits everything

    def __post_init__(self) -> None:
        check_choice(self, "policy", POLICIES)
        check_choice(self, "decide", DECIDERS)
        check_range(self, "max_delay_ms", least=1, most=_DAY_MS)
        is_short = self.window <= MOST_WORDS
        check(is_short, f"a window of {self.window} words", expected=f"at most {MOST_WORDS}", fix="lower window")
        if self.policy == "delay":
            check(
                0 <= self.lookahead <= MOST_DELAY and self.decide == "seq2seq",
                f"policy delay with a lookahead of {self.lookahead} words, decide {self.decide}",
                expected=f"0 to {MOST_DELAY}, and no decide: the tagger decides", fix="check --lookahead and decide",
            )  # fmt: skip
        # of each policy, the settings whose words must fit into a window
        names = {"fixed": ("lookahead",), "entropy": ("l_min", "l_max"), "sentence": ("every", "after"), "delay": ()}
        for name in names[self.policy]:
            value = getattr(self, name)
            least = 1 if name == "every" else 0
            check(
                isinstance(value, int) and least <= value < self.window,
                f"{name} of {value!r} words in a window of {self.window}",
                expected=f"a whole number, {least} or more, and less than the window",
                fix=f"change {name} or the window",
            )
        if self.policy != "entropy":
            return
        mistake = f"l_min {self.l_min}, l_max {self.l_max}"
        check(self.l_min <= self.l_max, mistake, expected="l_min <= l_max", fix="check l_min and l_max")
        check(
            len(self.thresholds) in (1, self.l_max - self.l_min + 1),
            f"{len(self.thresholds)} thresholds for lookaheads from {self.l_min} to {self.l_max}",
            expected="one threshold, or one for each lookahead", fix="check threshold",
        )  # fmt: skip
        are_bits = all(0.0 <= threshold < math.inf for threshold in self.thresholds)
        check(are_bits, f"thresholds {self.thresholds}", expected="bits, 0 or more", fix="check threshold")


class Policy:
    """When the model reads a window, where that begins, and how many of the first waiting slots are then final."""

    min_lookahead: int  # words that must follow a slot before it may be final

    def n_candidates(self, state: StreamState) -> int:
        """Count the waiting slots that enough words follow: only these may become final now."""
        return max(0, state.n_waiting - self.min_lookahead)

    def is_due(self, state: StreamState) -> bool:
        """Return whether the model must read a window now that a word was heard."""
        return self.n_candidates(state) > 0

    def window_start(self, state: StreamState) -> int:
        """Return the index, in the stream, of the first word that the model reads."""
        return state.start

    def n_final(self, state: StreamState, votes: Sequence[Vote]) -> int:
        """Count the slots that are final now.  votes: of the candidates, one each."""
        return len(votes)


@dataclass(frozen=True)
class Fixed(Policy):
    """Commits each slot as soon as enough words after it were heard (Minixhofer 2021, section 4)."""

    min_lookahead: int


class Delayed(Fixed):
    """Commits as `Fixed` does.  Its model, which remembers, reads only the words that wait and the one before them."""

    def window_start(self, state: StreamState) -> int:
        return max(state.start, state.n_committed - 1)


@dataclass(frozen=True)
class Entropy(Policy):
    """Commits each slot when the model is sure of it, or after `max_lookahead` words (thesis 2021, algorithm 1)."""

    min_lookahead: int
    max_lookahead: int
    thresholds: Sequence[float]  # bits, one for each lookahead from the least to the most

    def n_final(self, state: StreamState, votes: Sequence[Vote]) -> int:
        for index, vote in enumerate(votes):
            lookahead = state.n_waiting - index - 1  # `min_lookahead` or more, as the slot is a candidate
            if lookahead >= self.max_lookahead:
                continue
            is_sure = entropy(vote.marks) / _NATS_PER_BIT <= self.thresholds[lookahead - self.min_lookahead]
            if not is_sure:
                return index  # the slots behind it wait for it
        return len(votes)


@dataclass(frozen=True)
class Sentence(Policy):
    """Commits, every few words, all sentences that enough words follow (Chen 2020, algorithm 1).

    The paper commits only the first of these sentences, so short ones could come faster than they are committed.  If a
    whole window of words waits and no sentence ends in it, all candidates are committed.
    """

    every: int  # words
    min_lookahead: int
    window: int  # words

    def is_due(self, state: StreamState) -> bool:
        is_time = state.n_seen % self.every == 0
        is_full = state.n_waiting >= self.window
        return (is_time or is_full) and self.n_candidates(state) > 0

    def window_start(self, state: StreamState) -> int:
        return max(state.start, state.sentence_start)

    def n_final(self, state: StreamState, votes: Sequence[Vote]) -> int:
        # votes are on candidates alone, which have `min_lookahead` words behind them
        waiting = state.words[state.n_committed - state.start :]
        n_ended = 0  # words up to the last sentence's end
        for index, vote in enumerate(votes):
            marks, _ = choose_marks([vote.marks], [1.0])  # mark by mark, as the slot will be decided
            if waiting[index].ends_sentence(marks):
                n_ended = index + 1
        if n_ended == 0 and state.n_waiting >= self.window:  # a sentence that is longer than the window
            return len(votes)
        return n_ended


def make_policy(config: StreamConfig) -> Policy:
    """Return the policy that a config names."""
    if config.policy == "entropy":
        n_lookaheads = config.l_max - config.l_min + 1
        thresholds = config.thresholds * n_lookaheads if len(config.thresholds) == 1 else config.thresholds
        return Entropy(config.l_min, config.l_max, thresholds)
    if config.policy == "sentence":
        return Sentence(config.every, config.after, config.window)
    return Delayed(config.lookahead) if config.policy == "delay" else Fixed(config.lookahead)
