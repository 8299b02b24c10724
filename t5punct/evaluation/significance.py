"""How sure a score is: bootstrap intervals over documents, and paired tests between two systems.

In: counts per document.  Out: intervals and p-values, from the same counts that give the score.

With eight documents each, `interval(documents, micro_f1)` draws eight of them with replacement again and again and
gives the range that holds 95 % of the scores.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import InputError
from .counts import Counts
from .scores import scores_of

Statistic = Callable[[Counts], float]


@dataclass(frozen=True, slots=True)
class Interval:
    """A score and the range that holds `level` of its bootstrap replicates."""

    score: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The gain of one system over another, and how often chance alone gives as much."""

    gain: float
    p_value: float


def micro_f1(counts: Counts) -> float:
    """Micro F1 in percent; 0 where no side has a mark."""
    return scores_of(counts).micro.f1 or 0.0


def interval(
    documents: Sequence[Counts],
    statistic: Statistic = micro_f1,
    *,
    n_samples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
) -> Interval:
    """Percentile bootstrap over documents (Efron 1979)."""
    if not documents:
        raise InputError("no documents", expected="at least one", fix="score something first")
    rng = random.Random(seed)
    draws = sorted(statistic(_total(rng.choices(documents, k=len(documents)))) for _ in range(n_samples))
    tail = (1.0 - level) / 2.0
    low, high = draws[int(tail * n_samples)], draws[min(n_samples - 1, int((1.0 - tail) * n_samples))]
    return Interval(statistic(_total(documents)), low, high, level)


def paired_test(
    ours: Sequence[Counts],
    theirs: Sequence[Counts],
    statistic: Statistic = micro_f1,
    *,
    n_samples: int = 1000,
    seed: int = 1,
) -> PairedTest:
    """Approximate randomisation over documents (Noreen 1989), two-sided."""
    if len(ours) != len(theirs) or not ours:
        raise InputError(
            f"{len(ours)} and {len(theirs)} documents", expected="the same documents for both", fix="score both anew"
        )
    rng = random.Random(seed)
    gain = statistic(_total(ours)) - statistic(_total(theirs))
    as_large = 0
    for _ in range(n_samples):
        swapped = [pair if rng.random() < 0.5 else pair[::-1] for pair in zip(ours, theirs, strict=True)]
        one, other = _total([pair[0] for pair in swapped]), _total([pair[1] for pair in swapped])
        as_large += abs(statistic(one) - statistic(other)) >= abs(gain)
    return PairedTest(gain, (as_large + 1) / (n_samples + 1))


def _total(documents: Sequence[Counts]) -> Counts:
    return sum(documents, Counts())
