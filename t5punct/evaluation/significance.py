"""How certain a score, or the gain of one system over another, is: bootstrap intervals and paired tests.

In: the counts of each document.  Out: intervals and p-values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..config import check
from ..errors import InputError
from .counts import Counts
from .scores import scores_of

Statistic = Callable[[Counts], float]
Rows = npt.NDArray[np.int64]  # (n_documents, n_numbers), `Counts.row` of each document
Sample = npt.NDArray[np.int64]  # (n_documents,), the documents' indices in rows
_SEED = 1
_TAIL = 0.025  # of the samples, on either side of a 95 % interval


@dataclass(frozen=True, slots=True)
class Interval:
    """A score, and the range that holds 95 % of the bootstrap samples' scores."""

    score: float
    low: float
    high: float


def micro_f1(counts: Counts) -> float:
    """Return micro F1 in percent; 0 if neither side has a mark."""
    return scores_of(counts).micro.f1 or 0.0


def interval(documents: Sequence[Counts], statistic: Statistic = micro_f1, *, n_samples: int = 1000) -> Interval | None:
    """Return a percentile bootstrap over documents (Efron 1979); None for a single document, which shows no spread."""
    check(documents, "no documents", expected="at least one", fix="score something first", kind=InputError)
    rows = _rows(documents)
    return _bootstrap(lambda sample: _score(rows[sample], statistic), len(rows), n_samples)


def gain_interval(
    ours: Sequence[Counts], theirs: Sequence[Counts], statistic: Statistic = micro_f1, *, n_samples: int = 1000
) -> Interval | None:
    """Return a percentile bootstrap of our gain; a sample has the same documents of both.  None for one document."""
    our_rows, their_rows = _paired_rows(ours, theirs)

    def gain(sample: Sample) -> float:
        return _score(our_rows[sample], statistic) - _score(their_rows[sample], statistic)

    return _bootstrap(gain, len(our_rows), n_samples)


def paired_test(
    ours: Sequence[Counts], theirs: Sequence[Counts], statistic: Statistic = micro_f1, *, n_samples: int = 1000
) -> float:
    """Return p, how often chance gives as large a gain or loss: approximate randomisation (Noreen 1989)."""
    rng = np.random.default_rng(_SEED)
    our_rows, their_rows = _paired_rows(ours, theirs)
    gain = _score(our_rows, statistic) - _score(their_rows, statistic)
    n_as_large = 0
    for _ in range(n_samples):
        is_swapped = rng.random(len(our_rows))[:, None] < 0.5  # (n_documents, 1)
        mixed = np.where(is_swapped, their_rows, our_rows)
        mixed_others = np.where(is_swapped, our_rows, their_rows)
        n_as_large += abs(_score(mixed, statistic) - _score(mixed_others, statistic)) >= abs(gain)
    return (n_as_large + 1) / (n_samples + 1)


def _bootstrap(score: Callable[[Sample], float], n_documents: int, n_samples: int) -> Interval | None:
    if n_documents == 1:
        return None
    rng = np.random.default_rng(_SEED)
    scores = sorted(score(rng.integers(n_documents, size=n_documents)) for _ in range(n_samples))
    low = scores[int(_TAIL * n_samples)]
    high = scores[int((1.0 - _TAIL) * n_samples)]
    return Interval(score(np.arange(n_documents)), low, high)


def _paired_rows(ours: Sequence[Counts], theirs: Sequence[Counts]) -> tuple[Rows, Rows]:
    mistake, expected = f"{len(ours)} and {len(theirs)} documents", "the same documents for both"
    check(ours and len(ours) == len(theirs), mistake, expected=expected, fix="score both again", kind=InputError)
    return _rows(ours), _rows(theirs)


def _rows(documents: Sequence[Counts]) -> Rows:
    return np.array([counts.row() for counts in documents], dtype=np.int64)


def _score(rows: Rows, statistic: Statistic) -> float:
    return _score_of_sum(tuple(rows.sum(axis=0).tolist()), statistic)


@lru_cache(maxsize=4000)  # samples of few documents have the same sums
def _score_of_sum(row: tuple[int, ...], statistic: Statistic) -> float:
    return statistic(Counts.of_row(row))
