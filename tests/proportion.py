"""Whether work takes time in proportion to the length of a text: eight times as long, and squared it would be 64."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable

_SHORT, _LONG = 1_000, 8_000
_MOST_S = 60


def seconds(work: Callable[[str], object], text: str) -> float:
    """Processor time of work on a text; an error instead of a long wait where a pattern is exponential."""

    def stop(*_: object) -> None:
        raise AssertionError(f"not done within {_MOST_S} s: {text[:60]!r}")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_S)
    gc.disable()  # it would look through all that the tests have left
    try:
        started = time.process_time()
        work(text)
        return time.process_time() - started
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def is_linear(work: Callable[[str], object], run: str) -> bool:
    """Whether the best of some times is in proportion, on runs of a string; more than one is taken where need be."""
    short, long = (run * (size // len(run)) for size in (_SHORT, _LONG))
    most = 25 * min(seconds(work, short) for _ in range(2)) + 0.005
    return any(seconds(work, long) < most for _ in range(4))
