"""How a command that writes ends when it is told to: with the usual exit code, and without half a file."""

import array
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from t5punct.cli.process import ending_in_order

ROOT = Path(__file__).parents[2]
SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 120.0


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _n_unread(pipe: int) -> int:
    n_unread = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, n_unread)
    return n_unread[0]


def test_a_command_that_is_terminated_while_it_reads_leaves_no_file(folder: str, tmp_path: Path) -> None:
    """It waits for the rest of its input, half way through a file; what is written is written at once."""
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "talk.txt")
    pipe = os.open(tmp_path / "talk.txt", os.O_RDWR)  # open at both ends, so that nobody waits, and nothing ends it
    os.write(pipe, b"we know that\n")
    command = [sys.executable, "-m", "t5punct", "punctuate", "talk.txt", "-o", "out/talk.txt", "--model", folder]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, env=environment) as process:
        stop = time.monotonic() + _PATIENCE_S
        while process.poll() is None and time.monotonic() < stop:
            if not _n_unread(pipe):
                break
            time.sleep(0.05)
        process.terminate()
        _, err = process.communicate(timeout=_PATIENCE_S)
    os.close(pipe)
    assert (process.returncode, err) == (143, b"")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_block_and_the_same_once_more_the_process(number: signal.Signals) -> None:
    with pytest.raises(SystemExit) as stopped, ending_in_order():
        try:
            os.kill(os.getpid(), number)
            pytest.fail("nothing happened")
        finally:
            assert signal.getsignal(number) is signal.SIG_DFL
    assert stopped.value.code == 128 + number


def test_signals_are_as_before_afterwards_and_ignored_ones_throughout() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with ending_in_order():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGHUP)
    assert [signal.getsignal(number) for number in SIGNALS] == [signal.SIG_DFL, signal.SIG_IGN]


def test_an_interrupt_while_the_code_is_loaded_ends_the_process_without_a_word() -> None:
    code = """if True:
        import os, signal, sys

        class Interrupting:
            def find_spec(self, name, path=None, target=None):
                if name == 'typer':
                    os.kill(os.getpid(), signal.SIGINT)

        sys.meta_path.insert(0, Interrupting())
        from t5punct.__main__ import main

        main(["--version"])
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")
