"""Where texts go: standard output or a file, which is written whole or not at all.

In: a path as the user gives it.  Out: a `Target`, checked before any work is done, and a way to write to it.

>>> target_of(Path("-"), ["talk.txt"]) is None
True
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ...errors import InputError
from ..words import readable
from .files import BOM, PACKED, STANDARD, check_replaceable, writable, writing

Target = Path | None  # None: standard output
_FLUSHED_PIECES = 64  # a reader of standard output sees what was decided at the latest after so many more


def target_of(output: Path | None, sources: Sequence[str]) -> Target:
    """Return the target of a path.  Raises InputError for one that cannot be written or would overwrite an input."""
    if output is None or str(output) in (STANDARD, "/dev/stdout"):
        return None
    if output.suffix in PACKED:
        raise InputError(f"output {output}", expected="one that is not packed", fix=f"drop {output.suffix}")
    check_targets([output], sources)
    return output


def check_targets(targets: Iterable[Path], sources: Iterable[str], *, make: bool = False) -> None:
    """Raise InputError for targets that cannot be written, or that are among the sources or in a folder among these.

    `make`: the targets' folders may be missing, and a file that is read-only is for its writer to refuse, since it may
    be up to date.
    """
    read = {_identity(Path(source)): source for source in sources if Path(source).exists()}
    around = dict[Path, str | None]()  # by the folder of targets: the source that it lies in
    for target in targets:
        path = writable(target) if target.parent.is_dir() or not make else target
        if not make:
            check_replaceable(path)
        if path.is_file() and _identity(path) in read:
            raise InputError(f"{target} is an input", expected="another place to write to", fix="name another")
        if path.parent not in around:
            _check_room(path.parent)
            around[path.parent] = _source_around(path.parent, read)
        if source := around[path.parent]:
            raise InputError(f"{target} is in {source}, which is read", expected="another folder", fix="name another")


def _check_room(folder: Path) -> None:
    """Raise InputError for a folder that neither is there nor can be made."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not nearest.is_dir():  # a file, or a link that leads nowhere
        raise InputError(f"{nearest} is no folder", expected="one, or nothing of this name", fix="name another folder")
    if not os.access(nearest, os.W_OK):
        raise InputError(f"folder {nearest} is read-only", expected="one to write in", fix="name another folder")


def _source_around(folder: Path, read: Mapping[tuple[int, int], str]) -> str | None:
    """The source that is a folder, or a folder above it; links are followed."""
    place = Path(os.path.realpath(folder))
    above = (_identity(path) for path in (place, *place.parents) if path.exists())
    return next((read[identity] for identity in above if identity in read), None)


def named_place(name: str | Path) -> Path:
    """Return the path of a name.  Raises InputError for an empty one, such as an unset variable: it is this folder's.

    >>> named_place("out")
    PosixPath('out')
    """
    if not str(name):
        raise InputError("an output without a name", expected="a file or a folder", fix="name one; `.` is this folder")
    return Path(name)


def _identity(path: Path) -> tuple[int, int]:
    """What two names of one file have in common."""
    status = path.stat()
    return status.st_dev, status.st_ino


@contextmanager
def open_writer(target: Path | None) -> Iterator[Callable[[Iterable[str]], None]]:
    """Give a function that writes the pieces of a text; each begins on its own line, and only the first with a BOM.

    A file appears when all its texts are complete; standard output has them as they are decided.  Half a character,
    which a json may hold (`"\\ud83d"`) and no file in UTF-8 can, becomes the replacement character.
    """
    last, is_first = "", True

    def put(pieces: Iterable[str]) -> None:
        nonlocal last, is_first
        if last and not last.endswith("\n"):
            handle.write("\n")
        last = ""
        for number, piece in enumerate(pieces):
            last = piece or last
            handle.write(readable(piece if is_first or number else piece.removeprefix(BOM)))
            is_first = False
            if target is None and not number % _FLUSHED_PIECES:
                handle.flush()

    if target is None:
        handle = standard_output()
        yield put
        handle.flush()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with writing(target) as handle:
        yield put


def standard_output(errors: str = "strict") -> TextIO:
    """Return standard output in UTF-8, whatever the locale, with line ends as they are.

    `errors`: the codec's error handler, for surrogates.
    """
    if sys.stdout is None:
        raise InputError("standard output is closed", expected="an open one", fix="name a file with -o")
    sys.stdout.reconfigure(encoding="utf-8", newline="", errors=errors)  # type: ignore[union-attr]
    return sys.stdout
