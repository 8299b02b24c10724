"""A command, run in this process as a shell would run it; a pipe that it may read; a terminal that it writes to."""

import os
import pty
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
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


@contextmanager
def _terminal(sent: bytearray) -> Iterator[int]:
    """The end of a terminal that is written to; what it is sent, all of it when the block has ended."""
    terminal, own = pty.openpty()

    def read() -> None:
        with suppress(OSError):  # how Linux says that a terminal's last writer has gone
            while piece := os.read(terminal, 65536):
                sent.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield own
    finally:
        os.close(own)
        reader.join()
        os.close(terminal)


def on_a_terminal(command: list[str]) -> str:
    """Run a command whose standard output and error are one terminal; what that is sent, with plain line ends."""
    sent, environment = bytearray(), os.environ | {"TERM": "xterm"}
    with _terminal(sent) as own:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=own, stderr=own, env=environment, cwd=ROOT, check=True)
    return sent.decode().replace("\r\n", "\n")


def sent_to_a_terminal(run: Callable[[], object]) -> str:
    """The same of what runs in this process."""
    sent = bytearray()
    with _terminal(sent) as own:
        # each of a buffer of its own, as a process has them
        out, err = (os.fdopen(os.dup(own), "w", buffering=1) for _ in range(2))
        with out, err, redirect_stdout(out), redirect_stderr(err):
            run()
    return sent.decode().replace("\r\n", "\n")
