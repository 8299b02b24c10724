"""A run that is killed again and again ends as one that was left alone (fault injection, with real processes).

SIGKILL leaves no time to tidy up, so it stands for a machine that is taken away.  Where a kill falls is drawn from a
seed: somewhere in the steps, or while a checkpoint is being written.  Of two processes both are killed, and their
launcher, one after the other.  `T5PUNCT_KILLS=20` asks for more kills than the few that are enough for every day.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest
from safetensors.torch import load_file
from tiny import TINY_SHAPE

from t5punct import config as settings
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig

ROOT = Path(__file__).parents[2]
EVERY = 3  # steps from one checkpoint to the next
STEPS_A_KILL = 12  # more than a kill needs
TORCHRUN = [str(Path(sys.prefix) / "bin" / "torchrun"), "--standalone", "--nproc_per_node", "2"]
LAUNCHERS = {"one process": [sys.executable], "two processes": TORCHRUN}
N_KILLS = {"one process": 2, "two processes": 1}


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
    def reached(self) -> int:
        """The last step that was logged."""
        return max((int(line["step"]) for line in self.log), default=0)

    @property
    def losses(self) -> list[dict[str, float]]:
        return [{name: value for name, value in line.items() if name != "words_per_second"} for line in self.log]

    @property
    def unfinished(self) -> int:
        """When a checkpoint that is not whole was last written to, in nanoseconds; 0 where there is none."""
        try:
            return self.folder.with_name(self.folder.name + ".partial").stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    @property
    def checkpoint(self) -> Path | None:
        """The folder of the last whole checkpoint: in its place, or set aside between two renames."""
        aside = self.folder.with_name(self.folder.name + ".replaced")
        return next((path for path in (self.folder, aside) if (path / "state.json").is_file()), None)


@dataclass(frozen=True)
class Moment:
    """When a run is killed: so many seconds after it logged a step, and, it may be, began the next checkpoint."""

    step: int
    at_checkpoint: bool
    delay: float

    def has_come(self, output: Output, left: int) -> bool:
        """`left`: the unfinished checkpoint that the last kill left."""
        return output.reached >= self.step and (not self.at_checkpoint or output.unfinished > left)


def _config(tokenizer: Path, data: Path, n_steps: int) -> TrainConfig:
    """With dropout, and steps of two batches: the random state and the place in an epoch count."""
    return TrainConfig(
        tokenizer=str(tokenizer),
        fresh=replace(TINY_SHAPE, dropout_rate=0.1),
        data=DataConfig(str(data), batch_tokens=600),
        optim=OptimConfig(lr=3e-3, warmup_steps=3, max_steps=n_steps, accumulation_steps=2),
        loss=LossConfig(tagger_weight=0.5),
        validation=ValidationConfig(every_steps=2 * EVERY),
        checkpoint_every_steps=EVERY,
        keep=2,
        log_every_steps=2,  # lines, and their means, must not depend on where a run was resumed
    )


def _started(launcher: list[str], settings_file: Path, output: Output) -> subprocess.Popen[str]:
    """A run of train.py, which goes on from the last checkpoint if there is one."""
    resume = f"resume={str(output.checkpoint is not None).lower()}"
    command = [*launcher, "train.py", "--config", str(settings_file), f"output={output.folder}", resume]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # the same sums every time
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def _finished(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors


def _killed(process: subprocess.Popen[str], output: Output, moment: Moment, draw: random.Random) -> bool:
    """Kill -9, a launcher's processes in any order.  Gives whether that cut a checkpoint short."""
    left = output.unfinished
    while not moment.has_come(output, left):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.001)
    time.sleep(moment.delay)
    launcher = psutil.Process(process.pid)
    family = [launcher, *launcher.children(recursive=True)]
    draw.shuffle(family)
    for one in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    process.communicate()
    until = time.monotonic() + 60
    while not all(_is_over(one) for one in family):
        assert time.monotonic() < until, "a process outlives its kill"
        time.sleep(0.01)
    return output.unfinished > left


def _is_over(process: psutil.Process) -> bool:
    """Whether a process has ended; in a container nobody may have asked how."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _assert_whole(checkpoint: Path) -> int:
    """All of a checkpoint can be read, and of the one before it, and the best model; its step."""
    steps = []
    for folder in (checkpoint, *checkpoint.glob("checkpoint-*")):
        for name in ("model", "tagger", "optimiser"):
            assert load_file(folder / f"{name}.safetensors")
        steps.append(json.loads((folder / "state.json").read_text())["step"])
        assert steps[-1] % EVERY == 0
    state = json.loads((checkpoint / "state.json").read_text())
    if state["best"] is not None:
        assert load_file(checkpoint / "best" / "model.safetensors")
        score = json.loads((checkpoint / "best" / "score.json").read_text())
        assert score == {"step": state["best_step"], "loss": state["best"]}
    assert steps[1:] == ([steps[0] - EVERY] if steps[0] > EVERY else [])
    return int(steps[0])


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_run_that_is_killed_again_and_again_has_the_losses_of_one_that_is_not(
    name: str, tmp_path: Path, tiny_data: Path, tiny_tokenizer_folder: Path
) -> None:
    launcher, settings_file = LAUNCHERS[name], tmp_path / "train.yaml"
    n_kills = int(os.environ.get("T5PUNCT_KILLS", N_KILLS[name]))
    n_steps = n_kills * STEPS_A_KILL
    settings.save(_config(tiny_tokenizer_folder, tiny_data, n_steps), settings_file)
    whole, broken = Output(tmp_path / "whole"), Output(tmp_path / "broken")
    _finished(_started(launcher, settings_file, whole))
    draw, done, n_cut_checkpoints = random.Random(1), 0, 0
    for kill in range(n_kills):
        at_checkpoint = kill % 2 == (n_kills > 1)
        moment = Moment(broken.reached + draw.randint(1, EVERY + 1), at_checkpoint, draw.uniform(0, 0.02))
        n_cut_checkpoints += _killed(_started(launcher, settings_file, broken), broken, moment, draw)
        if broken.checkpoint is not None:
            reached, done = done, _assert_whole(broken.checkpoint)
            assert done >= reached, "no checkpoint is lost"
    assert n_cut_checkpoints or n_kills == 1, "else this test saw less than it says"
    assert done < n_steps
    _finished(_started(launcher, settings_file, broken))
    assert [line["step"] for line in whole.losses if "text_loss" in line] == [
        step for step in range(1, n_steps + 1) if step % EVERY != 1
    ]
    assert broken.losses == whole.losses
    for file in ("model", "tagger", "optimiser"):
        files = [output.folder / f"{file}.safetensors" for output in (whole, broken)]
        assert files[0].read_bytes() == files[1].read_bytes(), file
    assert sorted(path.name for path in tmp_path.glob("broken*")) == ["broken", "broken.log.jsonl"]
