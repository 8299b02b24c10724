"""How sure a score is, and the gain of one system over another: bootstrap intervals over documents, and paired tests.

In: counts per document.  Out: intervals and p-values, from the same counts that give the score.

With eight documents, `interval(documents, micro_f1)` draws eight of them with replacement again and again and
gives the range that holds 95 % of the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..config import check
from ..errors import InputError
from .counts import Counts
from .scores import scores_of

Statistic = Callable[[Counts], float]
Rows = npt.NDArray[np.int64]  # (n_documents, n_numbers)
Drawn = npt.NDArray[np.int64]  # (n_documents,), the rows that a sample has
_SEED = 1
_TAIL = 0.025  # of the replicates, on either side of a 95 % interval


@dataclass(frozen=True, slots=True)
class Interval:
    """A score and the range that holds 95 % of its bootstrap replicates."""

    score: float
    low: float
    high: float


def micro_f1(counts: Counts) -> float:
    """Return micro F1 in percent; 0 if neither side has a mark."""
    return scores_of(counts).micro.f1 or 0.0


def interval(documents: Sequence[Counts], statistic: Statistic = micro_f1, *, n_samples: int = 1000) -> Interval | None:
    """Return a percentile bootstrap over documents (Efron 1979); None for a single document, which shows no spread."""
    check(documents, "no documents", expected="at least one", fix="score something first", kind=InputError)
    rows, score = _rows(documents), _of_rows(statistic)
    return _bootstrap(lambda drawn: score(rows[drawn]), len(rows), n_samples)


def gain_interval(
    ours: Sequence[Counts], theirs: Sequence[Counts], statistic: Statistic = micro_f1, *, n_samples: int = 1000
) -> Interval | None:
    """Return a paired percentile bootstrap: each draw takes the same documents of both.  None for a single document."""
    our_rows, their_rows = _pair(ours, theirs)
    score = _of_rows(statistic)
    return _bootstrap(lambda drawn: score(our_rows[drawn]) - score(their_rows[drawn]), len(our_rows), n_samples)


def paired_test(
    ours: Sequence[Counts], theirs: Sequence[Counts], statistic: Statistic = micro_f1, *, n_samples: int = 1000
) -> float:
    """Return p, how often chance gives as large a gain; approximate randomisation (Noreen 1989), two-sided."""
    rng = np.random.default_rng(_SEED)
    our_rows, their_rows = _pair(ours, theirs)
    score = _of_rows(statistic)
    gain = score(our_rows) - score(their_rows)
    as_large = 0
    for _ in range(n_samples):
        is_swapped = rng.random(len(our_rows))[:, None] < 0.5  # (n_documents, 1)
        first = np.where(is_swapped, their_rows, our_rows)
        second = np.where(is_swapped, our_rows, their_rows)
        as_large += abs(score(first) - score(second)) >= abs(gain)
    return (as_large + 1) / (n_samples + 1)


def _bootstrap(score: Callable[[Drawn], float], n_documents: int, n_samples: int) -> Interval | None:
    """Return the score of all documents, and the range that holds 95 % of those of as many, drawn with replacement."""
    if n_documents == 1:
        return None
    rng = np.random.default_rng(_SEED)
    ordered = sorted(score(rng.integers(n_documents, size=n_documents)) for _ in range(n_samples))
    low = ordered[int(_TAIL * n_samples)]
    high = ordered[int((1.0 - _TAIL) * n_samples)]
    return Interval(score(np.arange(n_documents)), low, high)


def _pair(ours: Sequence[Counts], theirs: Sequence[Counts]) -> tuple[Rows, Rows]:
    """Return the counts of two systems.  Raises InputError unless they are of the same documents."""
    mistake, expected = f"{len(ours)} and {len(theirs)} documents", "the same documents for both"
    check(ours and len(ours) == len(theirs), mistake, expected=expected, fix="score both again", kind=InputError)
    return _rows(ours), _rows(theirs)


def _rows(documents: Sequence[Counts]) -> Rows:
    return np.array([counts.row() for counts in documents], dtype=np.int64)


def _of_rows(statistic: Statistic) -> Callable[[Rows], float]:
    """Return a function from documents' rows to the statistic of their sum; it remembers the sums that come back."""
    known: dict[bytes, float] = {}

    def score(rows: Rows) -> float:
        total = rows.sum(axis=0)
        key = total.tobytes()
        if key not in known:
            known[key] = statistic(Counts.of_row(total.tolist()))
        return known[key]

    return score
