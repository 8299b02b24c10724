"""Reading text safely, and writing files whole or not at all.

In: a path (plain, .gz or .xz), a pipe, or `-` for standard input.  Out: decoded text, whole or line by line.

>>> with writing("out.txt") as handle:  # doctest: +SKIP
...     handle.write("appears only if the block ends without an error")
"""

from __future__ import annotations

import gzip
import lzma
import os
import platform
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

from ...errors import InputError

_PARTIAL = ".t5punct"
_SUFFIX_CHARS = 8
STANDARD = "-"  # standard input or output, in the place of a path
PACKED = (".gz", ".xz")
BOM = "\ufeff"  # a byte order mark, which some editors write at the start of a file


def read_lines(path: str | Path) -> Iterator[str]:
    """Lines of a UTF-8 text file without line ends.  Raises InputError if it is missing or not text."""
    if _is_special(Path(path)):
        raise InputError(f"{path} is a pipe", expected="a file, which can be read again", fix="save it to one first")
    yield from source_lines(path)


def source_lines(source: str | Path) -> Iterator[str]:
    """Lines, without line ends, of anything that can be read once: a file, a pipe, or `-` for standard input."""
    for line in source_lines_with_ends(source):
        yield line.removesuffix("\n")


def source_text(source: str | Path) -> str:
    """The whole text of a file, a pipe, or `-` for standard input, with its last line end."""
    return "".join(source_lines_with_ends(source))


def check_source(source: str | Path) -> None:
    """Raise InputError if there is nothing to read; to be called before a model is loaded."""
    path = Path(source)
    if str(source) == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a text file", fix="name the files in it")
    if not path.exists():
        raise InputError(f"no file {path}", expected="an existing text file", fix="check the path")


def decode(handle: IO[bytes], name: str, *, keep_bom: bool = False) -> Iterator[str]:
    """Lines of a binary stream as UTF-8 text.  Raises InputError at bytes that are not UTF-8 text.

    `keep_bom`: whether a byte order mark at the start is given, too.
    """
    number = 0
    try:
        for number, line in enumerate(handle, start=1):
            text = line.decode("utf-8-sig" if number == 1 and not keep_bom else "utf-8")
            if "\0" in text:
                raise InputError(f"{name} holds zero bytes", expected="a text file", fix="it seems binary")
            yield text
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} line {number} is not UTF-8 ({error.reason})",
            expected="UTF-8 text",
            fix="convert it, e.g. with iconv -f latin1 -t utf-8",
        ) from error
    except (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{name} cannot be unpacked ({error})", expected="a complete file", fix="copy it again"
        ) from error


def unpacked_name(path: str | Path) -> str:
    """A file's name without .gz or .xz."""
    path = Path(path)
    return path.stem if path.suffix in PACKED else path.name


def writable(path: str | Path) -> Path:
    """The file that a path leads to, links followed.  Raises InputError if it cannot be written."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a file to write", fix="name a file in it")
    if _is_special(path):
        return path
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent}", expected="an existing folder", fix="create it first")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"folder {path.parent} is read-only", expected="one to write in", fix="name another folder")
    return path


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """Open a file for writing; it appears under `path` only if the block ends without an error."""
    path = writable(path)
    if _is_special(path):  # /dev/null, a pipe: written to, never replaced
        with path.open("w", encoding="utf-8", newline="") as handle:
            yield handle
        return
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as handle:
        yield handle


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """An empty file beside `path`, with its suffix, which takes its place if the block ends without an error."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else new_file_mode()
    suffix = path.suffix if len(path.suffix) <= _SUFFIX_CHARS else ""  # what follows `Vol.` in a title may be long
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_partial_prefix(os.getpid()), suffix=suffix)
    os.close(descriptor)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(mode)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)  # a signal may come when it has taken its place
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove what `whole_file` left below a folder in processes of this machine that were killed."""
    for path in folder.rglob(f"{_PARTIAL}-{platform.node()}-*"):
        number = path.name.removeprefix(f"{_PARTIAL}-{platform.node()}-").partition("-")[0]
        if number.isdecimal() and not _is_running(int(number)):
            path.unlink(missing_ok=True)


def _partial_prefix(process: int) -> str:
    """How the name of a file begins that a process has not finished; of this machine, since folders may be shared."""
    return f"{_PARTIAL}-{platform.node()}-{process}-"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def new_file_mode() -> int:
    """The permissions of a new file, as the user's umask leaves them."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _is_special(path: Path) -> bool:
    """Whether a path is a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def source_lines_with_ends(source: str | Path, *, keep_bom: bool = False) -> Iterator[str]:
    """The lines of a file, a pipe, or `-` for standard input, with their ends.  Raises InputError as `decode` does."""
    if str(source) == STANDARD:
        if sys.stdin is None:
            raise InputError("standard input is closed", expected="text on it", fix="name a file")
        yield from decode(sys.stdin.buffer, "standard input", keep_bom=keep_bom)
        return
    check_source(source)
    with _open_binary(Path(source)) as handle:
        yield from decode(handle, str(source), keep_bom=keep_bom)


def _open_binary(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return cast(IO[bytes], lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")
