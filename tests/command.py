"""A command, run in this process as a shell would run it; a pipe that it may read."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Invoke = Callable[..., tuple[int, str, str]]  # its words -> the exit code, and what stands on standard output and error


@contextmanager
def pipe_of(content: bytes) -> Iterator[str]:
    """The path of a pipe that holds some bytes, for as long as it is open."""
    read_end, write_end = os.pipe()
    os.write(write_end, content)
    os.close(write_end)
    yield f"/dev/fd/{read_end}"
    os.close(read_end)
