"""A command, run in this process as a shell would run it; a pipe that it may read; a terminal that it writes to."""

import os
import pty
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]

Invoke = Callable[..., tuple[int, str, str]]  # its words -> the exit code, and what stands on standard output and error


@contextmanager
def pipe_of(content: bytes) -> Iterator[str]:
    """The path of a pipe that holds some bytes, for as long as it is open."""
    read_end, write_end = os.pipe()
    os.write(write_end, content)
    os.close(write_end)
    yield f"/dev/fd/{read_end}"
    os.close(read_end)


def on_a_terminal(command: list[str], given: bytes = b"") -> str:
    """Run a command whose standard output and error are one terminal; what that is sent, with plain line ends."""
    terminal, own = pty.openpty()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=own, stderr=own, env=os.environ | {"TERM": "xterm"}, cwd=ROOT
    ) as process:
        os.close(own)
        assert process.stdin
        process.stdin.write(given)
        process.stdin.close()
        sent = b""
        try:
            while piece := os.read(terminal, 65536):
                sent += piece
        except OSError:  # how Linux says that a terminal's last writer has gone
            pass
    os.close(terminal)
    assert process.returncode == 0, sent
    return sent.decode().replace("\r\n", "\n")
