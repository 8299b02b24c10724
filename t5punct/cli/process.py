"""How a command's process treats memory: it keeps what it has, which is faster than giving it back and asking again.

In: nothing.  Out: a process whose allocator and garbage collector leave large and lasting things alone.

A library must not decide this for its user's process; a command may.  `keep_freed_memory()` is True where it is done.
"""

from __future__ import annotations

import ctypes
import gc
import os

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
