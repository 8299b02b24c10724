"""Two systems on the same text: the scores of both, and whether their difference is more than chance.

In: a data file and two punctuators.  Out: a `Comparison`, which `score_table` shows.  Both systems get the same words
and are scored against the same marks: those that at least one of them knows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..punctuator import Punctuator
from .evaluate import OnProgress, Report, alphabet_of, evaluate
from .references import read_references
from .scores import Scores, scores_of
from .significance import Interval, Statistic, gain_interval, paired_test

CAPITALS = "capitals"


@dataclass(frozen=True)
class Difference:
    """One score of both systems, in percent, and the gain of the second over the first."""

    name: str  # a class, `micro`, `boundary` (sentence ends) or `capitals`
    first: float | None  # None if the score is undefined
    second: float | None
    interval: Interval | None  # of the gain; None for a single document, or if a score is undefined
    p_value: float | None

    @property
    def gain(self) -> float | None:
        """The gain in percentage points; None if a score is undefined."""
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True)
class Comparison:
    """Two reports of one text, and their differences."""

    first: Report
    second: Report
    differences: tuple[Difference, ...]


def compare_file(
    path: str | Path,
    first: Punctuator,
    second: Punctuator,
    *,
    max_words: int | None = None,
    on_progress: OnProgress = lambda n_words: None,
) -> Comparison:
    """Score two systems on a file, a pipe, or `-` for standard input.  Raises ConfigError if one removes words."""
    alphabet = alphabet_of(first).union(alphabet_of(second))
    case = all(system.config.render.case for system in (first, second))
    documents = list(read_references(path, alphabet, case=case, max_words=max_words))
    n_words = sum(len(document.words) for document in documents)

    def report_of(system: Punctuator, on_system_progress: OnProgress) -> Report:
        report = evaluate(documents, system, str(path), max_words=max_words, on_progress=on_system_progress)
        if alphabet == system.model.task.alphabet:
            return report
        return replace(report, signature=f"{report.signature}|reference-marks:{alphabet.marks}")

    first_report = report_of(first, on_progress)
    return compare_reports(first_report, report_of(second, lambda n_decided: on_progress(n_words + n_decided)))


def compare_reports(first: Report, second: Report) -> Comparison:
    """Compare two reports of the same documents.  Raises InputError if the reports have different documents."""
    differences = list[Difference]()
    for name in (*first.scores.by_name, CAPITALS):
        first_score = score_of(first.scores, name)
        second_score = score_of(second.scores, name)
        gain = p_value = None
        have_scores = first_score is not None and second_score is not None
        if have_scores and len(first.counts) > 1:  # a single document shows no chance
            gain = gain_interval(second.counts, first.counts, f1_of(name))
            p_value = paired_test(second.counts, first.counts, f1_of(name))
        differences.append(Difference(name, first_score, second_score, gain, p_value))
    return Comparison(first, second, tuple(differences))


def f1_of(name: str) -> Statistic:
    """Return a function from counts to a score in percent by its name in `Difference`; 0 if the score is undefined."""
    return lambda counts: score_of(scores_of(counts), name) or 0.0


def score_of(scores: Scores, name: str) -> float | None:
    """Return a score in percent by its name in `Difference`: an F1, or the share of right capitals."""
    return scores.cased_accuracy if name == CAPITALS else scores.by_name[name].f1
