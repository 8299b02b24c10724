"""A `Report` of scores, or a `Comparison` of two, for people and for programs.

In: a `Report` or a `Comparison`.  Out: a rich table, or values for JSON with the published keys, in percent.
"""

from __future__ import annotations

from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, Any

from .comparison import Comparison, Difference
from .evaluate import Report

if TYPE_CHECKING:
    from rich.console import RenderableType

_ALIGNMENT_KEYS = ("windows", "distrusted_windows", "words", "inserted", "dropped", "changed")  # of AlignmentCounts


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as values for JSON."""
    scores = report.scores
    generated, interval = report.generated, report.micro_interval
    return {
        "data": report.data,
        "micro_f1": scores.micro.f1,
        "micro_precision": scores.micro.precision,
        "micro_recall": scores.micro.recall,
        "micro_f1_interval": None if interval is None else [interval.low, interval.high],
        "macro_f1": scores.macro_f1,
        "per_class": {name: asdict(class_scores) for name, class_scores in scores.per_class.items()},
        "slot_error_rate": scores.slot_error_rate,
        "boundary_f1": scores.boundary.f1,
        **({"disfluent": asdict(scores.disfluent)} if scores.disfluent.reference else {}),
        **({"opening": asdict(scores.opening)} if scores.opening.reference else {}),
        "multiple_exact": scores.multiple_exact,
        "case_accuracy": scores.case_accuracy,
        "cased_accuracy": scores.cased_accuracy,
        "words": scores.words,
        "words_changed": scores.words_changed,
        "generated_words": None if generated is None else dict(zip(_ALIGNMENT_KEYS, astuple(generated), strict=True)),
        "seconds": round(report.seconds, 3),
        "signature": report.signature,
    }


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return both reports, and the gain of the second over the first in each score, as values for JSON."""
    return {
        "data": comparison.first.data,
        "reports": [as_json(comparison.first), as_json(comparison.second)],
        "differences": {
            difference.name: {
                "scores": [difference.first, difference.second],
                "gain": difference.gain,
                "gain_interval": (
                    None if difference.interval is None else [difference.interval.low, difference.interval.high]
                ),
                "p_value": difference.p_value,
            }
            for difference in comparison.differences
        },
    }


def report_table(report: Report) -> RenderableType:
    """Return a table of scores by class, lines of single figures, and the signature."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    scores = report.scores
    classes = Table("class", "precision", "recall", "F1", "reference", title=report.data)
    rows = {**scores.by_name}
    if scores.disfluent.reference:
        rows["disfluent"] = scores.disfluent
    if scores.opening.reference:
        rows["opening ¿ ¡"] = scores.opening
    for name, row_scores in rows.items():
        values = (row_scores.precision, row_scores.recall, row_scores.f1)
        classes.add_row(name, *map(score_text, values), str(row_scores.reference))

    interval = report.micro_interval
    figures = {
        "micro F1, 95 % interval": "-" if interval is None else f"{interval.low:.1f} to {interval.high:.1f}",
        "macro F1": score_text(scores.macro_f1),
        "slot error rate": score_text(scores.slot_error_rate),
        "labels of 2+ marks exact": score_text(scores.multiple_exact),
        "case right, all words": score_text(scores.case_accuracy),
        "case right, capitals": score_text(scores.cased_accuracy),
        "words": str(scores.words),
        "words changed": str(scores.words_changed),
        "seconds": f"{report.seconds:.1f}",
    }
    generated = report.generated
    if generated is not None:
        counts = f"{generated.changed} changed, {generated.dropped} dropped, {generated.inserted} inserted"
        figures["generated, before aligning"] = f"{counts} of {generated.words}"
        figures["windows that aligned badly"] = f"{generated.distrusted} of {generated.windows}"
    lines = Text("\n".join(f"{name:<25} {text}" for name, text in figures.items()))
    return Group(classes, lines, one_line(report.signature))


def comparison_table(comparison: Comparison, names: tuple[str, str]) -> RenderableType:
    """Return a table of both systems' scores and the gains, and both signatures.  names: the systems'."""
    from rich.console import Group
    from rich.table import Table

    columns = ("F1 of", *names, "difference", "95 % interval", "p")
    differences = Table(*columns, title=f"{comparison.first.data}, {comparison.first.scores.words} words")
    for difference in comparison.differences:
        differences.add_row(difference.name, *difference_cells(difference))
    return Group(differences, one_line(comparison.first.signature), one_line(comparison.second.signature))


def one_line(signature: str) -> RenderableType:
    """Return a signature that fills one line in any terminal, for programs; to be printed with `crop=False`."""
    from rich.text import Text

    return Text(signature, style="dim", no_wrap=True, overflow="ignore")


def difference_cells(difference: Difference) -> tuple[str, str, str, str, str]:
    """Return the texts of both scores, the gain, its interval, and p."""
    gain = "-" if difference.gain is None else f"{difference.gain:+.1f}"
    interval = difference.interval
    limits = "-" if interval is None else f"{interval.low:+.1f} to {interval.high:+.1f}"
    p_text = "-"
    if difference.p_value is not None:  # 1000 samples cannot tell p of 0.001, the least that they give, from less
        p_text = "< 0.002" if difference.p_value < 0.002 else f"{difference.p_value:.3f}"
    return score_text(difference.first), score_text(difference.second), gain, limits, p_text


def score_text(value: float | None) -> str:
    """Return a score as text; a dash if it is undefined."""
    return "-" if value is None else f"{value:.1f}"
