"""Memory, threads and signals of a process: the command line sets them, a library must leave them to its user.

A network of this size is many small products, each shared out among threads.  If there are fewer processors than
threads (beside another process, or in a container with a quota), threads that spin while they wait take the processor
from those that work.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # glibc's malloc.h
WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")  # OpenMP's, GNU's, Intel's and LLVM's
_USUAL = gc.get_threshold()
_LARGEST = (2**30, 2**25)  # bytes; older ones take no threshold above 32 MiB


def keep_freed_memory() -> bool:
    """Tell glibc to keep the memory of freed tensors for the next ones; return whether it does.

    Without it each large tensor of a training step costs the zeroing of its pages: a fifth of the processor time
    (docs/results/speed.md).  `model.prepare_process` does as much for what is smaller than 32 MiB.  Nothing is
    done where the user has set `MALLOC_..._` variables, or where there is no glibc.
    """
    if any(name.startswith("MALLOC_") for name in os.environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no glibc
        return False
    # the largest threshold that this glibc takes.  If it takes none, nothing is set: else the threshold, which grows
    # as memory is freed, would stay at 128 KiB
    if not any(mallopt(_MMAP_THRESHOLD, size) for size in _LARGEST):
        return False
    return bool(mallopt(_TRIM_THRESHOLD, 2**31 - 1) and mallopt(_TOP_PAD, 2**26))


def collect_garbage_as_usual() -> None:
    """Collect garbage as often as Python's default, after `main` has made it rare; memory would grow otherwise."""
    gc.set_threshold(*_USUAL)


@contextmanager
def calling_at_signals(handler: Callable[[int, object], None], *names: str) -> Iterator[None]:
    """Call a function when one of these signals comes while the block runs.

    An ignored signal stays ignored: under `nohup` work goes on.
    """
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]  # Windows has no SIGHUP
    heeded = [number for number in signals if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, handler) for number in heeded}
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let SIGTERM or SIGHUP end the block by SystemExit, so that no half-written file is left behind.

    The same signal once more ends the process at once.
    """

    def end(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        sys.exit(128 + number)

    with calling_at_signals(end, "SIGTERM", "SIGHUP"):
        yield


def end_at_once() -> NoReturn:
    """End this process as finished, with all that it has printed, and without the teardown of the interpreter.

    In it, threads that torch has left of a process group may abort, once in many trainings
    (https://github.com/pytorch/pytorch/pull/179291).  The launcher would call a finished training failed.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def let_threads_sleep() -> bool:
    """Let threads sleep, not spin, while they wait; return whether that was still possible.

    OpenMP reads the variable when torch loads it: later it has no effect.  A user's own choice stays.
    """
    if "torch" in sys.modules or any(name in os.environ for name in WAITING):
        return False
    os.environ["OMP_WAIT_POLICY"] = "passive"
    return True


def use_threads(wanted: int | None) -> None:
    """Compute with `wanted` threads; None: torch's default, but no more than this process has processors."""
    import torch

    torch.set_num_threads(wanted or min(torch.get_num_threads(), available_processors()))


def available_processors(root: Path = Path("/sys/fs/cgroup"), groups: Path = Path("/proc/self/cgroup")) -> int:
    """Count the processors that this process may keep busy, by affinity and the quota of its cgroups; at least one.

    The quota is what its cgroup, and those around it, allow (Linux).  `groups` names the cgroup: `0::/user/talk`.
    """
    n_processors = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    try:
        names = [line[3:].strip("/") for line in groups.read_text().splitlines() if line.startswith("0::")]
    except (OSError, UnicodeDecodeError):
        names = []
    for name in names:
        for folder in (root / name, *(root / name).parents):
            with suppress(OSError, ValueError):  # no such file; `max`
                microseconds, period = (folder / "cpu.max").read_text().split()
                n_processors = min(n_processors, int(microseconds) / int(period))
    return max(1, math.floor(n_processors))
