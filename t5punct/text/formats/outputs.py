"""Where texts go: standard output, one file, or a file for each input; checked before any work is done.

In: the inputs' names and the output options.  Out: a `Target` for each input, and the texts written to them.

>>> targets(["talk.txt.gz", "-"], output_dir=Path("."), suffix=".json")
(PosixPath('talk.txt.json'), PosixPath('stdin.txt.json'))
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TextIO

from ...errors import InputError
from .files import STANDARD, unpacked_name, writable, writing

Target = Path | None  # None: standard output
_SPOOLED = 2**20  # characters for standard output that are kept in memory; more go to a temporary file


def targets(
    sources: Sequence[str], *, output: Path | None = None, output_dir: Path | None = None, suffix: str = ""
) -> tuple[Target, ...]:
    """The target of each input.  Raises InputError for one that cannot be written or would overwrite an input."""
    if output and output_dir:
        raise InputError("both -o and --output-dir", expected="one of them", fix="drop one")
    if output_dir:
        return _in_folder(sources, output_dir, suffix)
    if output is None or str(output) in (STANDARD, "/dev/stdout"):
        return (None,) * len(sources)
    return (_checked(output, sources),) * len(sources)


def write(places: Sequence[Target], texts: Iterable[Iterable[str]]) -> None:
    """Write each text, given in pieces, to its target.  Where several go to one target, each begins on its own line.

    A target appears when all its texts are complete; the pieces are not held in memory until then.
    """
    for target, group in groupby(zip(places, texts, strict=True), key=lambda pair: pair[0]):
        pieces = _joined(text for _, text in group)
        try:
            _write_one(target, pieces)
        except OSError as error:  # the error of a full disk does not name the file
            error.filename = str(target or "standard output")
            raise


def _in_folder(sources: Sequence[str], folder: Path, suffix: str) -> tuple[Path, ...]:
    if not folder.is_dir():
        raise InputError(f"no folder {folder}", expected="an existing folder", fix="create it first")
    names = ["stdin.txt" if source == STANDARD else unpacked_name(source) for source in sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InputError(
                f"two inputs for {folder / (name + suffix)}",
                expected="inputs of different names",
                fix="rename one or use two folders",
            )
    return tuple(_checked(folder / (name + suffix), sources) for name in names)


def _checked(target: Path, sources: Sequence[str]) -> Path:
    """The target, if it can be written and is not one of the inputs."""
    path = writable(target)
    if path.is_file() and any(Path(source).exists() and path.samefile(source) for source in sources):
        raise InputError(f"{target} is an input", expected="another place to write to", fix="name another")
    return target


def _write_one(target: Target, pieces: Iterable[str]) -> None:
    if target is not None:
        with writing(target) as handle:
            handle.writelines(pieces)
        return
    stdout = standard_output()
    with tempfile.SpooledTemporaryFile(_SPOOLED, "w+", encoding="utf-8", newline="") as made:
        made.writelines(pieces)
        made.seek(0)
        shutil.copyfileobj(made, stdout)
    stdout.flush()


def _joined(texts: Iterable[Iterable[str]]) -> Iterator[str]:
    """The pieces of all texts; a text without a line end at its end gets one before the next text."""
    last = ""
    for text in texts:
        if last and not last.endswith("\n"):
            yield "\n"
        last = ""
        for piece in text:
            last = piece or last
            yield piece


def standard_output(errors: str = "strict") -> TextIO:
    """Standard output in UTF-8, whatever the locale, with line ends as they are.

    `errors`: the codec's error handler, for surrogates.
    """
    if sys.stdout is None:
        raise InputError("standard output is closed", expected="an open one", fix="name a file with -o")
    sys.stdout.reconfigure(encoding="utf-8", newline="", errors=errors)  # type: ignore[union-attr]
    return sys.stdout
