"""`python -m t5punct` and `t5punct` are the command line."""

from __future__ import annotations

import signal
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an interrupt while its code is loaded ends the process at once, and without a traceback."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where interrupts are ignored, as under `nohup`
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from . import cli

    signal.signal(signal.SIGINT, handler)
    cli.main(arguments)


if __name__ == "__main__":
    main()
