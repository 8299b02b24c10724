"""A run's log as points, and as a picture (with matplotlib, the extra `report`).

In: `RUN.log.jsonl`, beside the run's folder.  Out: `Point`s; a file such as `report.png`.

The line {"step": 50, "words": 102400, "text_loss": 6.1, "lr": 0.001, "words_per_second": 2900.0} is
`Point(step=50, words=102400, text_loss=6.1, lr=0.001, words_per_second=2900.0)`; what it does not have is None.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path

LOSSES = {  # by field, and what a picture calls them
    "text_loss": "text loss",
    "tag_loss": "tagger loss",
    "validation_loss": "validation, text loss",
    "validation_tag_loss": "validation, tagger loss",
}


@dataclass(frozen=True, slots=True)
class Point:
    """A line of the log.  Losses are means in nats, scores are in percent."""

    step: int
    words: int = 0  # trained on by then, all processes together
    text_loss: float | None = None
    tag_loss: float | None = None
    lr: float | None = None
    words_per_second: float | None = None
    validation_loss: float | None = None
    validation_tag_loss: float | None = None
    micro_f1: float | None = None


def log_of(run: Path) -> Path:
    """Return the path of a run's log."""
    run = run.absolute()  # `.` has no name
    return run.with_name(run.name + ".log.jsonl")


def read_log(path: Path) -> tuple[Point, ...]:
    """Return the points of a log, in order.  None without a log.

    Validations of older versions do not say how many words, and get those of the line before.  A loss of 0 is one that
    was not trained, and is left out.
    """
    if not path.is_file():
        return ()
    names, points, words = {field.name for field in fields(Point)}, list[Point](), 0
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            values = json.loads(line)
        except ValueError:  # half a line, of a run that was killed
            continue
        words = values.get("words", words)
        known = {name: value for name, value in values.items() if name in names and (value or name not in LOSSES)}
        points.append(Point(**known | {"words": words}))
    return tuple(points)


def seconds_of(points: Sequence[Point]) -> float:
    """Return the seconds of training, without validation and saving: words by words a second, line by line."""
    seconds = before = 0.0
    for point in points:
        if point.words_per_second:
            seconds += (point.words - before) / point.words_per_second
            before = float(point.words)
    return seconds


def draw_curves(points: Sequence[Point], path: Path) -> bool:
    """Draw losses, and scores where there are any, by million words; False, and nothing drawn, without matplotlib."""
    if find_spec("matplotlib") is None or not points:
        return False
    from matplotlib.figure import Figure

    from ...evaluation.plots import save

    figure = Figure(figsize=(10, 4))
    scored = _series(points, "micro_f1")
    losses, *score_axes = figure.subplots(1, 2 if scored else 1, squeeze=False)[0]
    for name, label in LOSSES.items():
        series = _series(points, name)
        if series:
            losses.plot(*zip(*series, strict=True), "o-" if len(series) < 15 else "-", markersize=3, label=label)
    losses.set(xlabel="million words", ylabel="mean cross-entropy, nats")
    if losses.lines:
        losses.legend()
    for axes in score_axes:
        axes.plot(*zip(*scored, strict=True), "ko-", markersize=3)
        axes.set(xlabel="million words", ylabel="micro F1 while training, %")
    save(figure, path)
    return True


def _series(points: Sequence[Point], name: str) -> list[tuple[float, float]]:
    """Million words and values, where there is a value."""
    return [(point.words / 1e6, getattr(point, name)) for point in points if getattr(point, name) is not None]
