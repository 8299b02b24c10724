"""A command, run in this process as a shell would run it."""

from collections.abc import Callable

Invoke = Callable[..., tuple[int, str, str]]  # its words -> the exit code, and what stands on standard output and error
