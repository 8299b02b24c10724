"""Two systems on the same text: the scores of both, and whether their difference is more than chance.

In: a data file and two punctuators.  Out: a `Comparison`, which `report` shows.

Both are given the same words and scored against the same marks: all that either of them knows.  A gain of 1.2 whose
interval is 0.4 to 2.1 and whose p is 0.004 is one that other documents of this kind would show, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..punctuator import Punctuator
from ..text.marks import Alphabet
from .counts import CLASS_MARKS
from .evaluate import Report, Told, alphabet_of, evaluate
from .references import Reference, references
from .scores import Scores, scores_of
from .significance import Interval, Statistic, gain_interval, paired_test

MICRO, BOUNDARY, CAPITALS = "micro", "boundary", "capitals"


@dataclass(frozen=True)
class Difference:
    """One score of both systems, in percent, and the gain of the second over the first."""

    name: str  # a class, `micro`, `boundary` (sentence ends) or `capitals`
    first: float | None
    second: float | None
    gain: Interval | None  # None for a single document, or where one has no score
    p_value: float | None


@dataclass(frozen=True)
class Comparison:
    """Two reports of one text, and their differences."""

    first: Report
    second: Report
    differences: tuple[Difference, ...]

    def of(self, name: str) -> Difference:
        """The difference of one score."""
        return next(one for one in self.differences if one.name == name)


def compare_file(
    path: str | Path,
    first: Punctuator,
    second: Punctuator,
    *,
    max_words: int | None = None,
    told: Told | None = None,
) -> Comparison:
    """Score two systems on one file, a pipe, or `-` for standard input.

    Raises ConfigError for a system that removes words.
    """
    alphabet = alphabet_of(first).union(alphabet_of(second))
    case = all(one.config.render.case for one in (first, second))
    documents = list(references(path, alphabet, case=case, max_words=max_words))
    n_words = sum(len(document.words) for document in documents)
    reports = [
        _report(documents, system, str(path), alphabet, max_words, told and _later(told, number * n_words))
        for number, system in enumerate((first, second))
    ]
    return compared(*reports)


def compared(first: Report, second: Report) -> Comparison:
    """Compare two reports of the same documents.  Raises InputError if they are of different ones."""
    return Comparison(first, second, tuple(_differences(first, second)))


def f1_of(name: str) -> Statistic:
    """A score in percent by its name in `Difference`, 0 where it is undefined; for intervals."""
    return lambda counts: score_of(scores_of(counts), name) or 0.0


def score_of(scores: Scores, name: str) -> float | None:
    """A score in percent: the F1 of a class, of all marks or of sentence ends, or the share of right capitals."""
    if name == CAPITALS:
        return scores.cased_accuracy
    found = {MICRO: scores.micro, BOUNDARY: scores.boundary, **scores.per_class}
    return found[name].f1


def _differences(first: Report, second: Report) -> Iterator[Difference]:
    for name in (*CLASS_MARKS, MICRO, BOUNDARY, CAPITALS):
        one, other = score_of(first.scores, name), score_of(second.scores, name)
        if one is None or other is None or len(first.counts) == 1:
            yield Difference(name, one, other, None, None)
            continue
        pair, statistic = (second.counts, first.counts), f1_of(name)
        tested = paired_test(*pair, statistic)
        yield Difference(name, one, other, gain_interval(*pair, statistic), tested.p_value)


def _report(
    documents: Sequence[Reference],
    system: Punctuator,
    data: str,
    alphabet: Alphabet,
    max_words: int | None,
    told: Told | None,
) -> Report:
    """A report whose signature says against which marks, where they are not the system's own."""
    found = evaluate(documents, system, data, max_words=max_words, told=told)
    if alphabet == system.model.task.alphabet:
        return found
    return replace(found, signature=f"{found.signature}|reference-marks:{alphabet.marks}")


def _later(told: Told, before: int) -> Told:
    """The same, for words that come after others."""
    return lambda n_words: told(before + n_words)
