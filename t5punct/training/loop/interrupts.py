"""What an interrupt (Ctrl-C) does to a run: it ends after the step that it falls in, and is saved.

In: SIGINT.  Out: a flag, which the loop reads between two steps.  The second interrupt ends the process as usual.

`with noting_interrupts() as interrupt: ...`, and later `interrupt.is_noted`.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_log = logging.getLogger(__name__)


@dataclass
class Interrupt:
    """Whether this process was interrupted; one of several processes may be so alone."""

    is_noted: bool = False


@contextmanager
def noting_interrupts(*, show: bool) -> Iterator[Interrupt]:
    """Note an interrupt instead of raising KeyboardInterrupt; `show` is for the process that says so.

    Signals reach the main thread only, and one that is ignored (`nohup`) or handled by others stays so.
    """
    interrupt = Interrupt()
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield interrupt
        return

    def note(number: int, frame: object) -> None:
        signal.signal(number, usual)
        interrupt.is_noted = True
        if show:
            with suppress(RuntimeError):  # where the interrupt falls into a write to the same stream
                _log.warning("interrupted: the run ends after this step and is saved; once more, and it ends at once")

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, usual)
