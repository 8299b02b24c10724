"""A progress bar on standard error: files, words a second, time left.

In: how far the work is.  Out: a bar that goes when the work is done; nothing where standard error is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[float, float], None]


@contextmanager
def progress_bar(what: str, total: float | None, unit: str = "words") -> Iterator[Advance]:
    """Give a function that is told how much of `total` is done, and how many units were worked on."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, n_units: None
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

        def advance(done: float, n_units: float) -> None:
            seconds = bar.tasks[0].elapsed or 0.0
            speed = f"{n_units:,.0f} {unit}, {n_units / seconds:,.0f}/s" if seconds else ""
            bar.update(task, completed=min(done, total) if total else done, speed=speed)

        yield advance
