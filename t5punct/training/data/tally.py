"""How many words the processes of a preparation have made chunks of, for whoever watches.

In: an empty place for a file, the number of processes.  Out: a count that all of them add to, told from time to time.

`with watched(Path("count"), 2, told) as file:` tells the sum of what `Tally(file, 0).add(80)` and
`Tally(file, 1).add(7)` count in this process or in others, five times a second.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

_EVERY_S = 0.2


@contextmanager
def watched(file: Path, n_processes: int, told: Callable[[int], None] | None) -> Iterator[str | None]:
    """A file for counts, by its name; None where nobody wants to be told."""
    if told is None:
        yield None
        return
    counts, ended = np.memmap(file, dtype=np.int64, mode="w+", shape=(n_processes,)), threading.Event()

    def watch() -> None:
        while not ended.wait(_EVERY_S):
            told(int(counts.sum()))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield str(file)
    finally:
        ended.set()
        watcher.join()
        told(int(counts.sum()))


class Tally:
    """One process's count, in a number of its own: no two of them write to the same."""

    def __init__(self, file: str, process: int) -> None:
        self._counts, self._process = np.memmap(file, dtype=np.int64, mode="r+"), process

    def add(self, n_words: int) -> None:
        self._counts[self._process] += n_words
