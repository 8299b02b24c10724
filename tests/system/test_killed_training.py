"""A run that is killed again and again ends as one that was left alone (fault injection, with real processes).

SIGKILL leaves no time to tidy up, so it stands for a machine that is taken away.  Where a kill falls is drawn from a
seed: somewhere in the steps, or while a checkpoint is being written.  Of two processes first the launcher alone is
killed, with which they must end; later both and their launcher, one after the other.  `T5PUNCT_KILLS=20` asks for more
kills than the few that are enough for every day.
"""

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import torch
from processes import TORCHRUN, Output, finish_runs, is_over, started
from safetensors.torch import load_file

from t5punct import config as settings
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop.train import train

pytestmark = pytest.mark.long
EVERY = 3  # steps from one checkpoint to the next
STEPS_A_KILL = 12  # more than a kill needs
SPARE_KILLS = 2  # where those that should cut a checkpoint short came too late: this process had to wait
LAUNCHERS = {"one process": [sys.executable], "two processes": TORCHRUN}
N_KILLS = {"one process": 2, "two processes": 1}


def reached(output: Output) -> int:
    """The last step that was logged."""
    return max((int(line["step"]) for line in output.log), default=0)


def losses(output: Output) -> list[dict[str, float]]:
    return [{name: value for name, value in line.items() if name != "words_per_second"} for line in output.log]


def unfinished(output: Output) -> int:
    """When a checkpoint that is not whole was last written to, in nanoseconds; 0 where there is none."""
    try:
        return output.folder.with_name(output.folder.name + ".partial").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@dataclass(frozen=True)
class Moment:
    """When a run is killed: so many seconds after it logged a step, and, it may be, began the next checkpoint."""

    step: int
    at_checkpoint: bool
    delay: float

    def has_come(self, output: Output, left: int) -> bool:
        """`left`: the unfinished checkpoint that the last kill left."""
        return reached(output) >= self.step and (not self.at_checkpoint or unfinished(output) > left)


def _config(start: str, data: Path, n_steps: int) -> TrainConfig:
    """With dropout, and steps of two batches: the random state and the place in an epoch count."""
    return TrainConfig(
        init_from=start, data=DataConfig(str(data), batch_tokens=600), loss=LossConfig(tagger_weight=0.5),
        optim=OptimConfig(lr=3e-3, warmup_steps=3, max_steps=n_steps, accumulation_steps=2),
        validation=ValidationConfig(every_steps=2 * EVERY), checkpoint_every_steps=EVERY,
        log_every_steps=2,  # lines, and their means, must not depend on where a run was resumed
    )  # fmt: skip


def _changes(output: Output) -> list[str]:
    """The settings of a run that goes on from the last checkpoint if there is one."""
    return [f"output={output.folder}", f"resume={str(output.checkpoint is not None).lower()}"]


def _finish(launcher: list[str], settings_file: Path, *outputs: Output) -> None:
    """Let runs go on to their ends; those of one process in this one, on one thread as those that are killed."""
    if launcher == TORCHRUN:
        finish_runs(settings_file, *map(_changes, outputs))
        return
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for output in outputs:
        train(settings.load(TrainConfig, settings_file, _changes(output)))
    torch.set_num_threads(n_threads)


def _killed(
    process: subprocess.Popen[str], output: Output, moment: Moment, draw: random.Random, *, alone: bool
) -> bool:
    """Kill -9 a launcher alone, or all processes in any order.  Gives whether that cut a checkpoint short."""
    left = unfinished(output)
    while not moment.has_come(output, left):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.001)
    time.sleep(moment.delay)
    launcher = psutil.Process(process.pid)
    family = [launcher, *launcher.children(recursive=True)]
    for victim in [launcher] if alone else draw.sample(family, len(family)):
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.kill()
    process.wait()
    until = time.monotonic() + 120
    while not all(is_over(member) for member in family):
        assert time.monotonic() < until, "a process outlives its kill, or its launcher"
        time.sleep(0.01)
    process.communicate()
    return unfinished(output) > left


def _assert_whole(checkpoint: Path) -> int:
    """Read all of a checkpoint, and the best model; return its step."""
    for name in ("model", "tagger", "optimiser"):
        assert load_file(checkpoint / f"{name}.safetensors")
    state = json.loads((checkpoint / "state.json").read_text())
    if state["best"] is not None:
        assert load_file(checkpoint / "best" / "model.safetensors")
        score = json.loads((checkpoint / "best" / "score.json").read_text())
        assert score == {"step": state["best_step"], "loss": state["best"]}
    assert state["step"] % EVERY == 0
    return int(state["step"])


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_run_that_is_killed_again_and_again_has_the_losses_of_one_that_is_not(
    name: str, tmp_path: Path, tiny_data: Path, dropout_folder: str
) -> None:
    launcher, settings_file = LAUNCHERS[name], tmp_path / "train.yaml"
    n_kills = int(os.environ.get("T5PUNCT_KILLS", N_KILLS[name]))
    n_spare = SPARE_KILLS if n_kills > 1 else 0
    n_steps = (n_kills + n_spare) * STEPS_A_KILL
    settings.save(_config(dropout_folder, tiny_data, n_steps), settings_file)
    whole, broken = Output(tmp_path / "whole"), Output(tmp_path / "broken")
    draw, done, n_cut_checkpoints = random.Random(1), 0, 0
    for kill in range(n_kills + n_spare):
        if kill >= n_kills and n_cut_checkpoints:
            break
        at_checkpoint = kill >= n_kills or kill % 2 == (n_kills > 1)
        moment = Moment(reached(broken) + draw.randint(1, EVERY + 1), at_checkpoint, draw.uniform(0, 0.02))
        process = started(launcher, settings_file, *_changes(broken))
        n_cut_checkpoints += _killed(process, broken, moment, draw, alone=not kill)
        if broken.checkpoint is not None:
            before, done = done, _assert_whole(broken.checkpoint)
            assert done >= before, "no checkpoint is lost"
    assert n_cut_checkpoints or n_kills == 1, "else this test saw less than it says"
    assert done < n_steps
    _finish(launcher, settings_file, whole, broken)
    assert [line["step"] for line in whole.log if "text_loss" in line] == [
        step for step in range(1, n_steps + 1) if step % EVERY != 1
    ]
    assert losses(broken) == losses(whole)
    for file in ("model", "tagger", "optimiser"):
        files = [output.folder / f"{file}.safetensors" for output in (whole, broken)]
        assert files[0].read_bytes() == files[1].read_bytes(), file
    assert sorted(path.name for path in tmp_path.glob("broken*")) == ["broken", "broken.log.jsonl"]
