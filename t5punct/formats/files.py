"""Reading text files safely and writing them whole or not at all.

In: a path (plain, .gz or .xz).  Out: decoded text, line by line.

>>> with writing("out.txt") as handle:  # doctest: +SKIP
...     handle.write("appears only if the block ends well")
"""

from __future__ import annotations

import gzip
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

from ..errors import InputError


def read_lines(path: str | Path) -> Iterator[str]:
    """Lines of a UTF-8 text file without their ends.  Raises InputError if it is missing or not text."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a text file", fix="name the files in it")
    if not path.is_file():
        raise InputError(f"no file {path}", expected="an existing text file", fix="check the path")
    with _open_binary(path) as handle:
        yield from decode_lines(handle, str(path))


def decode_lines(handle: IO[bytes], name: str) -> Iterator[str]:
    """Lines of a binary stream as UTF-8 text.  Raises InputError at bytes that are not UTF-8 text."""
    number = 0
    try:
        for number, line in enumerate(handle, start=1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            if "\0" in text:
                raise InputError(f"{name} holds zero bytes", expected="a text file", fix="it seems binary")
            yield text.removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} line {number} is not UTF-8 ({error.reason})",
            expected="UTF-8 text",
            fix="convert it, e.g. with iconv -f latin1 -t utf-8",
        ) from error
    except (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name} cannot be unpacked ({error})", expected="whole data", fix="copy anew") from error


def read_text(path: str | Path) -> str:
    """A whole text file."""
    return "\n".join(read_lines(path))


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A handle whose file appears under `path` when the block ends well, and not at all otherwise."""
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent}", expected="an existing folder", fix="create it first")
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a file to write", fix="name a file in it")
    if path.exists() and not path.is_file():  # /dev/null, /dev/stdout, a pipe: written to, never replaced
        with path.open("w", encoding="utf-8", newline="") as handle:
            yield handle
        return
    descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as handle:
            yield handle
        Path(partial).chmod(0o666 & ~_umask())
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _open_binary(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return cast(IO[bytes], lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")
