"""Whether work takes time in proportion to the length of a text: eight times as long, and squared it would be 64."""

import gc
import signal
import time
import tracemalloc
from collections.abc import Callable

_SHORT, _LONG = 1_000, 8_000
_MOST_S = 60
_TICKS_S = 0.012  # three of a clock of processor time


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
    """Whether work on a long run of a string takes about as long as eight times that on a short one, not 64 times.

    Both take long enough for a clock that ticks every few milliseconds; the best of some times counts.
    """
    short, long = (run * (size // len(run)) for size in (_SHORT, _LONG))

    def eight_times(text: str) -> None:
        for _ in range(_LONG // _SHORT):
            work(text)

    most = 3 * min(seconds(eight_times, short) for _ in range(2)) + _TICKS_S
    return any(seconds(work, long) < most for _ in range(4))


def peak_bytes(work: Callable[[], object]) -> int:
    """The most memory that work holds at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
