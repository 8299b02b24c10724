"""What one window says about one slot.

In: what a decoder or the aligner found.  Out: `Vote`s, which `combine` turns into `Decision`s.

A distribution has the probability of each outcome, in order of first mention.

>>> vote = Vote({",": 0.8, "": 0.2}, {"lower": 1.0})
>>> most_probable(vote.labels), entropy(vote.cases)
(',', 0.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..text.marks import DISFLUENT, OTHER_SCRIPTS, ends_sentence

Distribution = Mapping[str, float]  # outcome -> probability; they sum to 1


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


def normalise(weights: Mapping[str, float]) -> dict[str, float]:
    """Return non-negative weights as a distribution; all zero weights give equal shares."""
    total = sum(weights.values())
    if total <= 0.0:
        return dict.fromkeys(weights, 1.0 / len(weights))
    return {outcome: weight / total for outcome, weight in weights.items()}


def most_probable(distribution: Distribution) -> str:
    """Return the most probable outcome; of equals, the one mentioned first."""
    return max(distribution, key=distribution.__getitem__)


def entropy(distribution: Distribution) -> float:
    """Return Shannon's entropy in nats."""
    return -sum(p * math.log(p) for p in distribution.values() if p > 0.0) or 0.0


def end_sentence(vote: Vote, marks: str) -> Vote:
    """Return the vote on a slot, given that a sentence ends there, in a text written with `marks`.

    Where there is no full stop among them, of any script, nothing is asked for: a statement does not end with `?`.
    A disfluent word ends it as well: `um~` is `um~.`.
    """
    stop = next((mark for mark in marks if OTHER_SCRIPTS.get(mark, mark) == "."), None)
    if stop is None:
        return vote
    chances = dict(vote.labels)
    if DISFLUENT in chances:
        chances[DISFLUENT + stop] = chances.get(DISFLUENT + stop, 0.0) + chances.pop(DISFLUENT)
        chances = normalise(chances)
    ends = [mark for mark in marks if ends_sentence(mark)]
    ending = {label: p for label, p in chances.items() if p > 0.0 and any(mark in label for mark in ends)}
    return replace(vote, labels=normalise(ending) if ending else {stop: 1.0})
