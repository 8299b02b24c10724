"""A folder made beside its place, and moved there once it is whole.

In: where the folder is to be.  Out: a path beside it, to write to.

>>> with partial_folder(Path("models/mine")) as folder:  # doctest: +SKIP
...     write_all(folder)  # to models/mine.partial, which is gone at the end of the block
...     move(folder, Path("models/mine"))
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .files import take_place


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """Give a path that nothing stands at, beside the folder; what was written to it is removed if it was not moved."""
    place = folder.absolute()
    beside = place.with_name(place.name + ".partial")
    shutil.rmtree(beside, ignore_errors=True)  # of a run that was killed
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def move(whole: Path, folder: Path, *, last: str = "") -> None:
    """Move a folder to its place in one step; or its files one by one, into a folder that is there already.

    `last`: the file by which others know that the folder is whole.
    """
    if not folder.exists():
        take_place(whole, folder)
        return
    for path in sorted(whole.iterdir(), key=lambda path: path.name == last):
        take_place(path, folder / path.name)
