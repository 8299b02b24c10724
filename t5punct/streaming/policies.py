"""When a slot is committed: after a fixed number of words, when the model is sure, or sentence by sentence.

`delay` commits like `fixed`; its model reads each word once, instead of a window for each (`deciding.py`).

In: a stream's state and the votes of its newest window.  Out: how many more slots are final.

With `StreamConfig("fixed", lookahead=2)` the slot after `how` is committed when `how are you` has been heard.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..errors import ConfigError
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
    every: int = 4  # `sentence`: F, words between two looks at the buffer
    after: int = 4  # `sentence`: T, words that must follow a sentence's end
    max_delay_ms: int | None = None  # a silence of this length commits everything

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ConfigError(f"policy {self.policy!r}", expected=f"one of {', '.join(POLICIES)}", fix="check --policy")
        if self.decide not in DECIDERS:
            raise ConfigError(f"decide {self.decide!r}", expected=f"one of {', '.join(DECIDERS)}", fix="check decide")
        if self.policy == "delay":
            self._check_delay()
        if self.window > MOST_WORDS:
            raise ConfigError(f"a window of {self.window} words", expected=f"at most {MOST_WORDS}", fix="lower window")
        names = {"fixed": ("lookahead",), "entropy": ("l_min", "l_max"), "sentence": ("every", "after")}
        for name in names.get(self.policy, ()):
            value = getattr(self, name)
            if not isinstance(value, int) or not (name == "every") <= value < self.window:
                raise ConfigError(
                    f"{name} of {value} words in a window of {self.window}",
                    expected=f"{int(name == 'every')} or more, and less than the window",
                    fix=f"change {name} or the window",
                )
        if self.policy == "entropy":
            self._check_entropy()
        if self.max_delay_ms is not None and not 1 <= self.max_delay_ms <= _DAY_MS:
            raise ConfigError(
                f"max_delay_ms {self.max_delay_ms}", expected=f"1 to {_DAY_MS}, a day", fix="check --max-delay-ms"
            )

    def _check_delay(self) -> None:
        if not 0 <= self.lookahead <= MOST_DELAY or self.decide != "seq2seq":
            raise ConfigError(
                f"policy delay with a lookahead of {self.lookahead} words, decide {self.decide}",
                expected=f"0 to {MOST_DELAY}, and no decide: the tagger decides",
                fix="check --lookahead and decide",
            )

    def _check_entropy(self) -> None:
        if self.l_min > self.l_max:
            raise ConfigError(
                f"l_min {self.l_min}, l_max {self.l_max}", expected="l_min <= l_max", fix="check l_min and l_max"
            )
        if len(self.thresholds) not in (1, self.l_max - self.l_min + 1):
            raise ConfigError(
                f"{len(self.thresholds)} thresholds for lookaheads from {self.l_min} to {self.l_max}",
                expected="one threshold, or one for each lookahead",
                fix="check threshold",
            )
        if not all(0.0 <= threshold < math.inf for threshold in self.thresholds):
            raise ConfigError(f"thresholds {self.thresholds}", expected="bits, 0 or more", fix="check threshold")


class Policy(Protocol):
    """When the model reads a window, from where, and which slots are then final."""

    def is_due(self, state: StreamState) -> bool:
        """Return whether the word just heard can make a slot final."""

    def window_start(self, state: StreamState) -> int:
        """Return the place in the stream from which the model reads."""

    def n_asked(self, state: StreamState) -> int:
        """Count the waiting slots, from the first on, that could be final now."""

    def n_ready(self, state: StreamState, votes: Sequence[Vote]) -> int:
        """Count the slots that are final now; `votes` are those of the slots asked for."""


@dataclass(frozen=True)
class Fixed:
    """Commits each slot when exactly `lookahead` words after it were heard (Minixhofer 2021, section 4)."""

    lookahead: int

    def is_due(self, state: StreamState) -> bool:
        return state.n_waiting > self.lookahead

    def window_start(self, state: StreamState) -> int:
        return state.start

    def n_asked(self, state: StreamState) -> int:
        return max(0, state.n_waiting - self.lookahead)

    def n_ready(self, state: StreamState, votes: Sequence[Vote]) -> int:
        return len(votes)


@dataclass(frozen=True)
class Delayed(Fixed):
    """The same, of a model that remembers what it has read: it is shown the waiting words, and the one before them."""

    def window_start(self, state: StreamState) -> int:
        return max(state.start, state.n_committed - 1)


@dataclass(frozen=True)
class Entropy:
    """Commits each slot when the model is sure of it, or after `l_max` words (thesis 2021, algorithm 1).

    Slots are committed in order: one that the model is sure of waits for those before it.
    """

    l_min: int
    l_max: int
    thresholds: Sequence[float]  # bits, one for each lookahead from l_min to l_max

    def is_due(self, state: StreamState) -> bool:
        return state.n_waiting > self.l_min

    def window_start(self, state: StreamState) -> int:
        return state.start

    def n_asked(self, state: StreamState) -> int:
        return max(0, state.n_waiting - self.l_min)

    def n_ready(self, state: StreamState, votes: Sequence[Vote]) -> int:
        """Count the waiting slots, from the first on, that are sure enough or have waited long enough."""
        for index, vote in enumerate(votes):
            lookahead = state.n_waiting - index - 1
            if lookahead >= self.l_max:
                continue
            if entropy(vote.marks) / _NATS_PER_BIT > self.thresholds[lookahead - self.l_min]:
                return index
        return len(votes)


@dataclass(frozen=True)
class Sentence:
    """Commits, every few words, all sentences that enough words follow (Chen 2020, algorithm 1).

    The paper commits only the first of them; then short sentences could come faster than they are committed, so we
    commit all.  The buffer begins with a sentence.  It is bounded: when as many words wait as a window holds, all slots
    that enough words follow are committed.
    """

    every: int
    after: int
    window: int

    def is_due(self, state: StreamState) -> bool:
        return state.n_waiting > self.after and (state.n_seen % self.every == 0 or state.n_waiting >= self.window)

    def window_start(self, state: StreamState) -> int:
        return max(state.start, state.sentence_start)

    def n_asked(self, state: StreamState) -> int:
        return max(0, state.n_waiting - self.after)

    def n_ready(self, state: StreamState, votes: Sequence[Vote]) -> int:
        waiting = zip(state.words[state.n_committed - state.start :], votes, strict=False)
        ended = [
            n_words
            for n_words, (word, vote) in enumerate(waiting, 1)
            if word.ends_sentence(choose_marks([vote.marks], [1.0])[0])
        ]
        if ended:
            return ended[-1]
        return len(votes) if state.n_waiting >= self.window else 0


def make_policy(config: StreamConfig) -> Policy:
    """Return the policy that a config names."""
    if config.policy == "entropy":
        n_lookaheads = config.l_max - config.l_min + 1
        return Entropy(config.l_min, config.l_max, (config.thresholds * n_lookaheads)[:n_lookaheads])
    if config.policy == "sentence":
        return Sentence(config.every, config.after, config.window)
    return Delayed(config.lookahead) if config.policy == "delay" else Fixed(config.lookahead)
