"""A text that is written once and read as often as need be, without being held in memory.

In: pieces of a text.  Out: a `Spool`; each of its readers goes through the text on its own.

A small text stays in memory; a larger one goes to a temporary file without a name, so that nothing is left of it
whatever becomes of the process.

>>> spool = Spool.of(["so\\n", "what\\n"])
>>> one, two = spool.reader(), spool.reader()
>>> one.readline(), two.read(), one.readline()
('so\\n', 'so\\nwhat\\n', 'what\\n')
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from tempfile import SpooledTemporaryFile
from typing import IO

_IN_MEMORY_BYTES = 2**20
_BLOCK_CHARS = 2**14
_ERRORS = "surrogatepass"  # json may hold halves of characters


class Spool:
    """A text in a file of its own.  All readers must be asked in one thread."""

    def __init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115  (lives as long as we)

    @classmethod
    def of(cls, pieces: Iterable[str]) -> Spool:
        spool = cls()
        spool.write(pieces)
        return spool

    def write(self, pieces: Iterable[str]) -> None:
        """Add pieces; to be done before anything is read.  Raises OSError where the disk is full."""
        block, n_chars = list[str](), 0
        for piece in pieces:
            block.append(piece)
            n_chars += len(piece)
            if n_chars >= _BLOCK_CHARS:
                self._file.write("".join(block).encode(errors=_ERRORS))
                block, n_chars = [], 0
        self._file.write("".join(block).encode(errors=_ERRORS))

    def reader(self) -> io.TextIOWrapper:
        """The text from its start, its line ends as they are."""
        return io.TextIOWrapper(io.BufferedReader(_Reader(self._file)), "utf-8", _ERRORS, newline="")


class _Reader(io.RawIOBase):
    """One of several readers of a file, each of which has a place of its own in it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._place = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._file.seek(self._place)
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)
