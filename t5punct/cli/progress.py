"""A progress bar on standard error: what is done, words a second, time left.

In: how far the work is.  Out: a bar that goes when the work is done; nothing where standard error is no terminal.

`with progress_bar("evaluating", 2000) as advance: advance(500, 500)` shows a quarter of the bar, and `500 words`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
    """Told how much of the work is done, how many units were worked on and, where it is known later, the whole."""

    def __call__(self, done: float, n_units: float, total: float | None = None) -> None: ...


def is_shown() -> bool:
    """Return whether somebody sees a bar: standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_bar(what: str, total: float | None, unit: str = "words") -> Iterator[Advance]:
    """Give a function that is called with how far the work is.  Without a total, no time left is shown."""
    if not is_shown():
        yield lambda done, n_units, total=None: None
        return
    from rich.console import Console  # only where it is seen
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, speed="")

        def advance(done: float, n_units: float, total: float | None = total) -> None:
            seconds = bar.tasks[0].elapsed or 0.0
            speed = f"{n_units:,.0f} {unit}, {n_units / seconds:,.0f}/s" if seconds else ""
            bar.update(task, completed=min(done, total) if total else done, total=total, speed=speed)

        yield advance


@contextmanager
def log_to_stderr(name: str) -> Iterator[None]:
    """Write what is logged under `name` to standard error, a line each, where nobody sees a bar."""
    if is_shown():
        yield
        return
    logger, handler = logging.getLogger(name), logging.StreamHandler(sys.stderr)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
