"""Two systems on the same text: the scores of both, and whether their difference is more than chance.

In: a data file and two punctuators.  Out: a `Comparison`, which `score_table` shows.

Both are given the same words and scored against the same marks: all that either of them knows.  A gain of 1.2 whose
interval is 0.4 to 2.1 and whose p is 0.004 is one that other documents of this kind would show, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..punctuator import Punctuator
from .evaluate import OnProgress, Report, alphabet_of, evaluate, ignore
from .references import read_references
from .scores import Scores, scores_of
from .significance import Interval, Statistic, gain_interval, paired_test

CAPITALS = "capitals"


@dataclass(frozen=True)
class Difference:
    """One score of both systems, in percent, and the gain of the second over the first."""

    name: str  # a class, `micro`, `boundary` (sentence ends) or `capitals`
    first: float | None
    second: float | None
    interval: Interval | None  # of the gain; None for a single document, or where one has no score
    p_value: float | None

    @property
    def gain(self) -> float | None:
        """The gain in points of percent; None where one has no score."""
        return None if self.first is None or self.second is None else self.second - self.first


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
    on_progress: OnProgress = ignore,
) -> Comparison:
    """Score two systems on one file, a pipe, or `-` for standard input.

    Raises ConfigError for a system that removes words.
    """
    alphabet = alphabet_of(first).union(alphabet_of(second))
    case = all(system.config.render.case for system in (first, second))
    documents = list(read_references(path, alphabet, case=case, max_words=max_words))
    n_words = sum(len(document.words) for document in documents)
    reports = []
    for system, tell in ((first, on_progress), (second, lambda n_decided: on_progress(n_words + n_decided))):
        report = evaluate(documents, system, str(path), max_words=max_words, on_progress=tell)
        if alphabet != system.model.task.alphabet:  # the signature says so
            report = replace(report, signature=f"{report.signature}|reference-marks:{alphabet.marks}")
        reports.append(report)
    return compare_reports(*reports)


def compare_reports(first: Report, second: Report) -> Comparison:
    """Compare two reports of the same documents.  Raises InputError if they are of different ones."""
    differences = list[Difference]()
    for name in (*first.scores.by_name, CAPITALS):
        scores = score_of(first.scores, name), score_of(second.scores, name)
        gain = p_value = None
        if None not in scores and len(first.counts) > 1:
            gain = gain_interval(second.counts, first.counts, f1_of(name))
            p_value = paired_test(second.counts, first.counts, f1_of(name))
        differences.append(Difference(name, *scores, gain, p_value))
    return Comparison(first, second, tuple(differences))


def f1_of(name: str) -> Statistic:
    """Return a score in percent by its name in `Difference`, 0 where it is undefined; for intervals."""
    return lambda counts: score_of(scores_of(counts), name) or 0.0


def score_of(scores: Scores, name: str) -> float | None:
    """Return a score in percent: the F1 of a class, all marks or sentence ends, or the share of right capitals."""
    return scores.cased_accuracy if name == CAPITALS else scores.by_name[name].f1
