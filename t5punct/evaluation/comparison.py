"""Two systems on the same text: the scores of both, and whether their difference is more than chance.

In: a data file and two punctuators.  Out: a `Comparison`, which `score_table` shows.

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
from .evaluate import OnProgress, Report, alphabet_of, evaluate
from .references import Reference, read_references
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
        """Return the difference of one score."""
        return next(difference for difference in self.differences if difference.name == name)


def compare_file(
    path: str | Path,
    first: Punctuator,
    second: Punctuator,
    *,
    max_words: int | None = None,
    on_progress: OnProgress | None = None,
) -> Comparison:
    """Score two systems on one file, a pipe, or `-` for standard input.

    Raises ConfigError for a system that removes words.
    """
    alphabet = alphabet_of(first).union(alphabet_of(second))
    case = all(system.config.render.case for system in (first, second))
    documents = list(read_references(path, alphabet, case=case, max_words=max_words))
    n_words = sum(len(document.words) for document in documents)
    reports = [
        _report(
            documents,
            system,
            str(path),
            alphabet,
            max_words,
            on_progress and _shift_progress(on_progress, number * n_words),
        )
        for number, system in enumerate((first, second))
    ]
    return compare_reports(*reports)


def compare_reports(first: Report, second: Report) -> Comparison:
    """Compare two reports of the same documents.  Raises InputError if they are of different ones."""
    return Comparison(first, second, tuple(_iter_differences(first, second)))


def f1_of(name: str) -> Statistic:
    """Return a score in percent by its name in `Difference`, 0 where it is undefined; for intervals."""
    return lambda counts: score_of(scores_of(counts), name) or 0.0


def score_of(scores: Scores, name: str) -> float | None:
    """Return a score in percent: the F1 of a class, all marks or sentence ends, or the share of right capitals."""
    if name == CAPITALS:
        return scores.cased_accuracy
    classes = {MICRO: scores.micro, BOUNDARY: scores.boundary, **scores.per_class}
    return classes[name].f1


def _iter_differences(first: Report, second: Report) -> Iterator[Difference]:
    for name in (*CLASS_MARKS, MICRO, BOUNDARY, CAPITALS):
        first_score, second_score = score_of(first.scores, name), score_of(second.scores, name)
        if first_score is None or second_score is None or len(first.counts) == 1:
            yield Difference(name, first_score, second_score, None, None)
            continue
        pair, statistic = (second.counts, first.counts), f1_of(name)
        tested = paired_test(*pair, statistic)
        yield Difference(name, first_score, second_score, gain_interval(*pair, statistic), tested.p_value)


def _report(
    documents: Sequence[Reference],
    system: Punctuator,
    data: str,
    alphabet: Alphabet,
    max_words: int | None,
    on_progress: OnProgress | None,
) -> Report:
    """A report whose signature says against which marks, where they are not the system's own."""
    report = evaluate(documents, system, data, max_words=max_words, on_progress=on_progress)
    if alphabet == system.model.task.alphabet:
        return report
    return replace(report, signature=f"{report.signature}|reference-marks:{alphabet.marks}")


def _shift_progress(on_progress: OnProgress, before: int) -> OnProgress:
    """The same, for words that come after others."""
    return lambda n_words: on_progress(before + n_words)
