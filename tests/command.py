"""A command, run in this process as a shell would run it; a pipe that it may read; a terminal that it writes to."""

import os
import pty
import subprocess
import sys
import termios
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


def sent_to_a_terminal(run: Callable[[], object]) -> str:
    """What a terminal is sent if it is the standard output and error of what runs in this process."""
    sent = bytearray()
    terminal, own = pty.openpty()
    termios.tcsetwinsize(own, (24, 100))

    def read() -> None:
        with suppress(OSError):  # how Linux says that a terminal's last writer has gone
            while piece := os.read(terminal, 65536):
                sent.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        # each of a buffer of its own, as a process has them
        out, err = (os.fdopen(os.dup(own), "w", buffering=1) for _ in range(2))
        with out, err, redirect_stdout(out), redirect_stderr(err):
            run()
    finally:
        os.close(own)
        reader.join()
        os.close(terminal)
    return sent.decode().replace("\r\n", "\n")


def on_a_terminal(command: list[str]) -> str:
    """The same of a command."""
    environment = os.environ | {"TERM": "xterm"}

    def run() -> None:
        out, err = sys.stdout, sys.stderr
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=ROOT, check=True)

    return sent_to_a_terminal(run)
