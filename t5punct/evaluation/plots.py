"""Plots of results, with matplotlib (the extra `report`).

In: trials.  Out: a picture file.

`draw_frontier(trials, find_frontier(trials), Path("tune.png"))` draws every trial, and a line through the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import check
from ..errors import ConfigError
from ..extras import way_to_install
from ..text.io.files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .tuning import Trial

_FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Raise ConfigError if a plot cannot be drawn.  Commands call this before the work that the plot will show."""
    names = ", ".join(_FORMATS)
    check(path.suffix in _FORMATS, f"plot {path}", expected=f"a name in {names}", fix="check --plot")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ConfigError("no matplotlib", expected="the extra `report`", fix=way_to_install("report")) from error


def draw_frontier(trials: Sequence[Trial], best: Sequence[Trial], path: Path) -> None:
    """Draw F1 against how often a word is read: a dot for each trial, a line through the `best`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5))
    axes = figure.add_subplot()
    for window in sorted({trial.strategy.windows.window for trial in trials}):
        same = [trial for trial in trials if trial.strategy.windows.window == window]
        axes.plot([t.reads for t in same], [t.micro_f1 for t in same], ".", label=f"windows of {window} words")
    axes.plot([t.reads for t in best], [t.micro_f1 for t in best], "k-", linewidth=1, label="the best for each cost")
    axes.set(xlabel="how often a word is read (w / s)", ylabel="micro F1, %")
    axes.legend()
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all, and make its folder if needed."""
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        figure.savefig(partial, dpi=110)
