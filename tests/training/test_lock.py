"""One run in a folder at a time, with real processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from t5punct.errors import ConfigError, InputError
from t5punct.training.lock import lock_folder

HOLD = """
import sys, time
from pathlib import Path
from t5punct.training.lock import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("inside", flush=True)
    sys.stdin.read()
"""


def holding(folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=os.environ | environment,
    )  # fmt: skip
    process.first_line = process.stdout.readline().strip()  # type: ignore[attr-defined]
    return process


def test_a_second_run_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    first = holding(tmp_path / "run")
    refusal = rf"in use by process {first.pid}; expected one run .* kill {first.pid}$"
    with pytest.raises(ConfigError, match=refusal), lock_folder(tmp_path / "run"):
        pass
    with lock_folder(tmp_path / "other"):
        pass
    first.kill()
    first.communicate()
    assert (tmp_path / "run.lock").exists(), "and yet it locks nothing any more"
    with pytest.raises(ZeroDivisionError), lock_folder(tmp_path / "run"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == [], "it goes with an error, too"


def test_of_the_processes_of_a_run_the_first_has_the_lock(tmp_path: Path) -> None:
    first, second = (holding(tmp_path / "run", OMPI_COMM_WORLD_RANK=rank) for rank in "01")
    assert (first.first_line, second.first_line) == ("inside", "inside")  # type: ignore[attr-defined]
    assert (tmp_path / "run.lock").read_text() == f"{first.pid}\n"
    for process in (second, first):
        process.communicate()


def test_a_read_only_place_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the tests may run as root, who may write anywhere
    refusal = rf"^folder {tmp_path} is read-only; expected one to write in; name another folder$"
    with pytest.raises(InputError, match=refusal), lock_folder(tmp_path / "runs" / "mine"):
        pass
    (tmp_path / "file").touch()
    refusal = rf"^{tmp_path}/file is no folder; expected one, or nothing of this name; name another folder$"
    with pytest.raises(InputError, match=refusal), lock_folder(tmp_path / "file" / "mine"):
        pass
