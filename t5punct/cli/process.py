"""How a command's process treats memory: it keeps what it has, which is faster than giving it back and asking again.

In: nothing.  Out: a process whose allocator and garbage collector leave large and lasting things alone.

A library must not decide this for its user's process; a command may.  `keep_freed_memory()` is True where it is done.
"""

from __future__ import annotations

import ctypes
import gc

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # glibc's malloc.h
_SETTINGS = {_MMAP_THRESHOLD: 2**30, _TRIM_THRESHOLD: 2**31 - 1, _TOP_PAD: 2**26}  # bytes


def keep_freed_memory() -> bool:
    """Tell glibc to keep the memory of tensors that are gone for the next ones; False where there is no glibc.

    Without it each tensor of some megabytes costs a system call and the zeroing of its pages.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    taken = [mallopt(name, value) for name, value in _SETTINGS.items()]  # all of them, whichever is refused
    return all(taken)


def keep_objects() -> None:
    """Tell the garbage collector that what there is now (libraries, a model) stays."""
    gc.freeze()
