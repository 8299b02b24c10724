"""What a command decides for its process, and a library must not for its user's: memory, and how it ends.

In: nothing.  Out: a process that keeps the memory it has, which is faster than giving it back and asking again, and
that clears up when it is told to end.

`keep_freed_memory()` is True where it is done.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # glibc's malloc.h
_NEW_OBJECTS = 50_000
_USUAL = gc.get_threshold()
_LARGEST = (2**30, 2**25)  # bytes; older ones take no threshold above 32 MiB


def keep_freed_memory() -> bool:
    """Tell glibc to keep the memory of tensors that are gone for the next ones; False where it is not told.

    Without it each tensor of some megabytes costs a system call and the zeroing of its pages.  Whoever has set
    `MALLOC_..._` variables is left alone.
    """
    if any(name.startswith("MALLOC_") for name in os.environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    # the others alone would do harm: they freeze the threshold where it is, at 128 KiB
    if not any(mallopt(_MMAP_THRESHOLD, size) for size in _LARGEST):
        return False
    return bool(mallopt(_TRIM_THRESHOLD, 2**31 - 1) and mallopt(_TOP_PAD, 2**26))


def collect_seldom() -> None:
    """Tell the garbage collector to look for cycles once in 50,000 new objects; Python does after some hundreds.

    For the start: a command makes 400,000 objects before it is ready, libraries' for the most part, and all of them
    stay.  Later, what is dropped must go, or memory grows: `collect_as_usual`.
    """
    gc.set_threshold(_NEW_OBJECTS)


def collect_as_usual() -> None:
    """Look for cycles as often as Python does by itself."""
    gc.set_threshold(*_USUAL)


def keep_objects() -> None:
    """Tell the garbage collector that what there is now (libraries, a model) stays, and to work as usual again."""
    gc.freeze()
    collect_as_usual()


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let a termination or a hang-up end the block as an error does, so that no half-written file is left behind.

    The same signal once more ends the process at once.  One that is ignored stays so: under `nohup` work goes on.
    """

    def end(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        sys.exit(128 + number)

    signals = [
        getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
    ]  # Windows has no hang-up
    heeded = [number for number in signals if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, end) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
