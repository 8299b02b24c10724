"""What one window says about one slot.

In: what a decoder or the aligner found.  Out: `Vote`s, which `combine` turns into `Decision`s.

>>> vote = Vote(Distribution.certain(","), Distribution.certain("lower"))
>>> vote.labels.best, vote.labels.entropy
(',', 0.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..text.marks import DISFLUENT, OTHER_SCRIPTS, Case, ends_sentence


@dataclass(frozen=True, slots=True)
class Distribution:
    """Probabilities of outcomes (labels, or case names), in order of first mention; they sum to 1."""

    outcomes: tuple[str, ...]
    probabilities: tuple[float, ...]

    @classmethod
    def certain(cls, outcome: str) -> Distribution:
        return cls((outcome,), (1.0,))

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Distribution:
        """Normalise non-negative weights; all zero weights give equal shares."""
        total = sum(weights.values())
        if total <= 0.0:
            return cls(tuple(weights), (1.0 / len(weights),) * len(weights))
        return cls(tuple(weights), tuple(weight / total for weight in weights.values()))

    def among(self, allowed: Callable[[str], bool], default: str) -> Distribution:
        """Return the distribution over the allowed outcomes only; `default` if none of them has any probability."""
        left = {o: p for o, p in zip(self.outcomes, self.probabilities, strict=True) if allowed(o) and p > 0.0}
        return Distribution.of(left) if left else Distribution.certain(default)

    @property
    def best(self) -> str:
        """The most probable outcome; of equals, the one mentioned first."""
        return self.outcomes[self.probabilities.index(max(self.probabilities))]

    @property
    def entropy(self) -> float:
        """Shannon entropy in nats."""
        return -sum(p * math.log(p) for p in self.probabilities if p > 0.0) or 0.0

    def probability(self, outcome: str) -> float:
        return self.probabilities[self.outcomes.index(outcome)] if outcome in self.outcomes else 0.0


@dataclass(frozen=True, slots=True)
class Vote:
    """One window's distributions over the label of a slot and the case of the word before it."""

    labels: Distribution
    cases: Distribution  # outcomes are `Case` values
    weight: float = 1.0  # how much the vote counts; 0 where an alignment failed
    left_words: int = 0  # words of the window before this slot's word
    right_words: int = 0  # words of the window after it: the lookahead the vote was made with
    # where a sentence may begin with the word: its case if none does
    inside: Distribution | None = None
    openings: Distribution | None = None  # of the opening mark before the word; None: the model knows none


def begin_sentence(vote: Vote, *, may_be_upper: bool = True) -> Vote:
    """Return the vote on a word that can have a capital, given that a sentence begins with it.

    Lower case becomes capitalised; all capitals keep their probability.
    """
    upper = vote.cases.probability(Case.UPPER) if may_be_upper else 0.0
    return replace(vote, cases=Distribution.of({Case.CAPITALISED.value: 1.0 - upper, Case.UPPER.value: upper}))


def continue_sentence(vote: Vote) -> Vote:
    """Return the vote on a word, given that no sentence begins with it."""
    return vote if vote.inside is None else replace(vote, cases=vote.inside)


def end_sentence(vote: Vote, marks: str) -> Vote:
    """Return the vote on a slot, given that a sentence ends there, in a text written with `marks`.

    Where there is no full stop among them, of any script, nothing is asked for: a statement does not end with `?`.
    A disfluent word ends it as well: `um~` is `um~.`.
    """
    stop = next((mark for mark in marks if OTHER_SCRIPTS.get(mark, mark) == "."), None)
    if stop is None:
        return vote
    if DISFLUENT in vote.labels.outcomes:
        ended = DISFLUENT + stop
        chances = dict(zip(vote.labels.outcomes, vote.labels.probabilities, strict=True))
        chances[ended] = chances.get(ended, 0.0) + chances.pop(DISFLUENT)
        vote = replace(vote, labels=Distribution.of(chances))
    ends = [mark for mark in marks if ends_sentence(mark)]
    return replace(vote, labels=vote.labels.among(lambda label: any(mark in label for mark in ends), stop))
