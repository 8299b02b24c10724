"""What a command says of its work on standard error: a progress bar, a training's log, which words were removed.

In: how much of the work is done.  Out: a bar, which is removed at the end; none if standard error is no terminal.

`with progress_bar("evaluating", 2000) as advance: advance(500)` shows a quarter of the bar, and `500 words`.

>>> summarise_removed({"um": 7, "i": 2}, 340)
'9 of 340 words removed: um 7, i 2'
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

import typer

from ..text.io.files import STANDARD

_SHOWN_WORDS = 20  # removed words that are listed
_log = logging.getLogger("t5punct")  # its level is ERROR after --quiet


class Advance(Protocol):
    """Show how much work is done.  total: in the same unit; None: as before.  n_words: None: `done` counts words."""

    def __call__(self, done: float, total: float | None = None, *, n_words: float | None = None) -> None: ...


def is_shown() -> bool:
    """Return whether somebody sees a bar: standard error is a terminal, and nobody has asked for silence."""
    return _log.isEnabledFor(logging.WARNING) and sys.stderr is not None and sys.stderr.isatty()


def be_quiet(is_asked: bool) -> None:
    """Turn off bars, notes and warnings; called for `--quiet`."""
    if is_asked:
        _log.setLevel(logging.ERROR)


def note(message: str) -> None:
    """Print a note on standard error."""
    if _log.isEnabledFor(logging.WARNING):
        typer.echo(f"t5punct: {message}", err=True)


def note_how_to_end(sources: Sequence[str]) -> None:
    """Print how to end standard input, if it is among the sources and a terminal."""
    if STANDARD in sources and sys.stdin is not None and sys.stdin.isatty():
        note("reading what you type; end it by Ctrl-D on a line of its own")


def output_is_file() -> bool:
    """Return whether standard output goes into a file, so that a bar on the terminal is drawn over no text."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # it is closed, or not a file of the system, as in a notebook
        return False


@contextmanager
def progress_bar(what: str, total: float | None, *, is_hidden: bool = False) -> Iterator[Advance]:
    """Show a bar, and yield the function that moves it.  total: all of the work; None: no time left is shown."""
    if is_hidden or not is_shown():
        yield lambda done, total=None, *, n_words=None: None
        return
    from rich.console import Console  # takes time to import
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn())
    # rich would take standard output over, and make a line of each piece that is written to it
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=total, speed="")

        def advance(done: float, total: float | None = total, *, n_words: float | None = None) -> None:
            seconds = bar.tasks[0].elapsed or 0.0
            n_words = done if n_words is None else n_words
            speed = f"{n_words:,.0f} words, {n_words / seconds:,.0f}/s" if seconds else ""
            bar.update(task, completed=min(done, total) if total else done, total=total, speed=speed)

        yield advance


@contextmanager
def log_to_stderr(name: str) -> Iterator[None]:
    """Write the log of `name` to standard error, unless a bar is shown there, or somebody has asked for silence.

    Warnings are left out, since the handler of `main` writes them.
    """
    if is_shown() or not _log.isEnabledFor(logging.WARNING):
        yield
        return
    logger = logging.getLogger(name)
    handler = logging.StreamHandler(sys.stderr)
    level = logger.level
    handler.addFilter(lambda record: record.levelno < logging.WARNING)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def summarise_removed(removed: Mapping[str, int], n_words: int) -> str:
    """Return how many words were removed, with the `_SHOWN_WORDS` most frequent ones and their counts."""
    total = sum(removed.values())
    ordered = sorted(removed.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{word} {count}" for word, count in ordered[:_SHOWN_WORDS])
    more = f", and {len(ordered) - _SHOWN_WORDS} others" if len(ordered) > _SHOWN_WORDS else ""
    return f"{total} of {n_words} words removed" + (f": {shown}{more}" if shown else "")
