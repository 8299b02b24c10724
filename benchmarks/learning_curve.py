"""The learning curve of a chain of training stages, from their logs.

`python benchmarks/learning_curve.py runs/large-tag runs/large-write runs/large-read --output large.png`

Reads RUN.log.jsonl of each stage, draws text loss, tagger loss and validation F1 over all words seen, and prints the
same as a table.  Needs the extra `report`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from t5punct.training.loop.progress import log_of
from t5punct.training.report import read_log


@dataclass(frozen=True)
class Point:
    """One line of a log, with the words seen in all stages so far."""

    stage: str
    million_words: float
    text_loss: float | None
    tag_loss: float | None
    micro_f1: float | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=12, help="print one loss line in so many")
    options = parser.parse_args()
    points = read(options.runs)
    draw(points, options.output)
    print("| stage | million words | text loss | tagger loss | micro F1 |\n| --- | --- | --- | --- | --- |")
    for index, point in enumerate(points):
        if point.micro_f1 is not None or index % options.every == options.every - 1:
            values = (_number(value, 2) for value in (point.text_loss, point.tag_loss, point.micro_f1))
            print(f"| {point.stage} | {point.million_words:.2f} | {' | '.join(values)} |")


def read(runs: list[Path]) -> list[Point]:
    """Return all points in order; words of copied noise (a stage whose tagger loss is 0) count like others."""
    points: list[Point] = []
    before = 0.0
    for run in runs:
        seen = before
        for line in read_log(log_of(run)):
            seen = before + line["words"] / 1e6
            losses = line.get("text_loss"), line.get("tag_loss")
            points.append(Point(run.name, seen, *losses, line.get("micro_f1")))
        before = seen
    return points


def draw(points: list[Point], output: Path) -> None:
    """Losses on the left axis, F1 on the right."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, losses = pyplot.subplots(figsize=(8, 4.5))
    for name, label in (("text_loss", "text loss"), ("tag_loss", "tagger loss")):
        known = [(point.million_words, getattr(point, name)) for point in points if getattr(point, name) is not None]
        losses.plot(*zip(*known, strict=True), label=label, linewidth=1)
    losses.set(xlabel="million words seen, all stages", ylabel="mean cross-entropy, nats", yscale="log")
    scored = [(point.million_words, point.micro_f1) for point in points if point.micro_f1 is not None]
    if scored:
        f1 = losses.twinx()
        f1.plot(*zip(*scored, strict=True), "ko-", markersize=4, linewidth=1, label="micro F1, right axis")
        f1.set(ylabel="micro F1, %", ylim=(0, 80))
        f1.legend(loc="upper right")
    losses.legend(loc="upper center")
    figure.tight_layout()
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=110)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    main()
