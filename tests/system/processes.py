"""Training in processes of its own: how it is started, what it leaves, and whether it is over."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
BIN = Path(sys.prefix) / "bin"
TORCHRUN = [str(BIN / "torchrun"), "--standalone", "--nproc_per_node", "2"]
NEXT = "+"  # between the settings of runs


@dataclass(frozen=True)
class Output:
    """What a run writes: its checkpoint, what stands beside that for a moment, and its log."""

    folder: Path

    @property
    def log(self) -> list[dict[str, float]]:
        path = self.folder.with_name(self.folder.name + ".log.jsonl")
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []  # whole ones only
        return [json.loads(line) for line in lines]

    @property
    def validated(self) -> list[float]:
        return [line["validation_loss"] for line in self.log if "validation_loss" in line]

    @property
    def checkpoint(self) -> Path | None:
        """The folder of the last whole checkpoint: in its place, or set aside between two renames."""
        aside = self.folder.with_name(self.folder.name + ".replaced")
        return next((path for path in (self.folder, aside) if (path / "state.json").is_file()), None)


def started(launcher: list[str], settings_file: Path, *changes: str, script: str = "train.py") -> subprocess.Popen[str]:
    """A training with some settings changed; `runs.py` is a script that does several, one after the other."""
    command = [*launcher, script, "--config", str(settings_file), *changes]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACCELERATE_")}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}  # the same sums every time
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finish_runs(settings_file: Path, *runs: list[str], launcher: list[str] = TORCHRUN) -> str:
    """Do runs in the same processes, whose start takes longer than short runs; gives their standard error."""
    changes = [word for run in runs for word in (NEXT, *run)]
    process = started(launcher, settings_file, *changes, script=str(Path(__file__).with_name("runs.py")))
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return errors


def is_over(process: psutil.Process) -> bool:
    """Whether a process has ended; in a container nobody may have asked how."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
