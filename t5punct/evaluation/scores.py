"""Scores from counts.

In: `Counts`.  Out: `Scores`, each ratio in percent, None where there is nothing to divide by.

>>> from .counts import Slot, count
>>> scores_of(count([Slot("."), Slot(",")], [Slot("."), Slot("")])).micro.f1
66.66666666666667
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass

from .counts import CLASS_MARKS, ClassCounts, Counts


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Precision, recall and F1 of one class, in percent."""

    precision: float | None
    recall: float | None
    f1: float | None
    reference: int


@dataclass(frozen=True)
class Scores:
    """All scores of a text, in percent; None if a score is undefined."""

    per_class: Mapping[str, ClassScores]
    micro: ClassScores  # of the slots of all three classes together, as in IWSLT2011 papers
    macro_f1: float | None  # the mean F1 of the classes that occur, as in IWSLT2012 papers
    slot_error_rate: float | None  # (substitutions + insertions + deletions) / reference marks
    multiple_exact: float | None  # slots of two and more marks that are exactly right
    boundary: ClassScores  # sentence ends
    disfluent: ClassScores  # words to be left out
    opening: ClassScores  # marks before words, `¿` and `¡`
    case_accuracy: float | None  # on all words
    cased_accuracy: float | None  # on words that the reference does not write in lower case
    words: int
    words_changed: int  # how many were changed, inserted or dropped

    @property
    def by_name(self) -> dict[str, ClassScores]:
        """The scores of each class, of all marks and of sentence ends."""
        return {**self.per_class, "micro": self.micro, "boundary": self.boundary}


def scores_of(counts: Counts) -> Scores:
    """Return all scores of a document or a sum of documents."""
    per_class = {name: _class_scores(counts.classes[name]) for name in CLASS_MARKS}
    pooled = ClassCounts(*(sum(column) for column in zip(*map(astuple, counts.classes.values()), strict=True)))
    class_f1s = [scores.f1 for scores in per_class.values() if scores.f1 is not None]
    errors = counts.substitutions + counts.insertions + counts.deletions
    return Scores(
        per_class=per_class,
        micro=_class_scores(pooled),
        macro_f1=sum(class_f1s) / len(class_f1s) if class_f1s else None,
        slot_error_rate=_percent(errors, pooled.reference),
        multiple_exact=_percent(counts.multiple_exact, counts.multiple),
        boundary=_class_scores(counts.boundaries),
        disfluent=_class_scores(counts.disfluent),
        opening=_class_scores(counts.openings),
        case_accuracy=_percent(counts.case_correct, counts.case_words),
        cased_accuracy=_percent(counts.cased_correct, counts.cased_words),
        words=counts.words,
        words_changed=counts.words_changed + counts.words_inserted + counts.words_dropped,
    )


def _class_scores(counts: ClassCounts) -> ClassScores:
    return ClassScores(
        _percent(counts.correct, counts.predicted),
        _percent(counts.correct, counts.reference),
        # F1 = 2 tp / (2 tp + fp + fn), which stays defined where precision or recall alone is not
        _percent(2 * counts.correct, counts.predicted + counts.reference),
        counts.reference,
    )


def _percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None
