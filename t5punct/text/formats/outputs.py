"""Where texts go: standard output or a file, which is written whole or not at all.

In: a path as the user gives it.  Out: a `Target`, checked before any work is done, and a way to write to it.

>>> target_of(Path("-"), ["talk.txt"]) is None
True
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ...errors import InputError
from ..words import readable
from .files import BOM, PACKED, STANDARD, writable, writing

Target = Path | None  # None: standard output
_FLUSHED_PIECES = 64  # a reader of standard output sees what was decided at the latest after so many more


def target_of(output: Path | None, sources: Sequence[str]) -> Target:
    """Where a path leads.  Raises InputError for one that cannot be written or would overwrite an input."""
    if output is None or str(output) in (STANDARD, "/dev/stdout"):
        return None
    if output.suffix in PACKED:
        raise InputError(f"output {output}", expected="one that is not packed", fix=f"drop {output.suffix}")
    return checked_target(output, sources)


def checked_target(target: Path, sources: Sequence[str]) -> Path:
    """The target, if it can be written and is not one of the inputs."""
    return checked_targets([target], sources)[0]


def checked_targets(targets: Iterable[Path], sources: Iterable[str], *, make: bool = False) -> list[Path]:
    """The same of many targets.  `make`: their folders may be missing."""
    inputs = {_identity(Path(source)) for source in sources if Path(source).exists()}
    found = list[Path]()
    for target in targets:
        path = target if make and not target.parent.is_dir() else writable(target)
        if path.is_file() and _identity(path) in inputs:
            raise InputError(f"{target} is an input", expected="another place to write to", fix="name another")
        found.append(target)
    return found


def _identity(path: Path) -> tuple[int, int]:
    """What two names of one file have in common."""
    found = path.stat()
    return found.st_dev, found.st_ino


@contextmanager
def opened(target: Path | None) -> Iterator[Callable[[Iterable[str]], None]]:
    """A function that writes the pieces of a text; each begins on a line of its own, and only the first with a BOM.

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
    """Standard output in UTF-8, whatever the locale, with line ends as they are.

    `errors`: the codec's error handler, for surrogates.
    """
    if sys.stdout is None:
        raise InputError("standard output is closed", expected="an open one", fix="name a file with -o")
    sys.stdout.reconfigure(encoding="utf-8", newline="", errors=errors)  # type: ignore[union-attr]
    return sys.stdout
