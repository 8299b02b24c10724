"""A run that is killed again and again ends as one that was left alone (fault injection, with real processes).

SIGKILL leaves no time to tidy up, so it stands for a machine that is taken away.  First the launcher alone is killed,
somewhere in the steps, and its processes must end with it; then all of them, while a checkpoint is being written; and
so on in turn.  `T5PUNCT_KILLS=20` asks for more kills than two.
"""

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from processes import TORCHRUN, Output, finish_runs, is_over, started
from safetensors.torch import load_file

from t5punct import config as settings
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig

pytestmark = pytest.mark.long
EVERY = 3  # steps from one checkpoint to the next
STEPS_A_KILL = 12  # more than a kill needs
LAUNCHERS = {"one process": [sys.executable], "two processes": TORCHRUN}


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


def _changes(output: Output) -> list[str]:
    """The settings of a run that goes on from the last checkpoint if there is one."""
    return [f"output={output.folder}", f"resume={str(output.checkpoint is not None).lower()}"]


def _kill(process: subprocess.Popen[str], output: Output, draw: random.Random, *, alone: bool) -> None:
    """Kill -9 a launcher alone, or all processes in any order, some steps on; then while it writes a checkpoint."""
    step = reached(output) + draw.randint(1, EVERY + 1)
    left = unfinished(output)
    while reached(output) < step or not (alone or unfinished(output) > left):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.001)
    time.sleep(draw.uniform(0, 0.02))
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
def test_a_killed_run_has_a_whole_runs_losses(name: str, tmp_path: Path, tiny_data: Path, dropout_folder: str) -> None:
    launcher, settings_file = LAUNCHERS[name], tmp_path / "train.yaml"
    n_kills = int(os.environ.get("T5PUNCT_KILLS", "2"))
    n_steps = n_kills * STEPS_A_KILL
    config = TrainConfig(  # with dropout, and steps of two batches: the random state and the place in an epoch count
        init_from=dropout_folder, data=DataConfig(str(tiny_data), batch_tokens=600), loss=LossConfig(tagger_weight=0.5),
        optim=OptimConfig(lr=3e-3, warmup_steps=3, max_steps=n_steps, accumulation_steps=2),
        validation=ValidationConfig(every_steps=2 * EVERY), checkpoint_every_steps=EVERY,
        log_every_steps=2,  # lines, and their means, must not depend on where a run was resumed
    )  # fmt: skip
    settings.save(config, settings_file)
    whole, broken = Output(tmp_path / "whole"), Output(tmp_path / "broken")
    draw = random.Random(1)
    done = 0
    for kill in range(n_kills):
        process = started(launcher, settings_file, *_changes(broken))
        _kill(process, broken, draw, alone=kill % 2 == 0)
        if broken.checkpoint is not None:
            before = done
            done = _assert_whole(broken.checkpoint)
            assert done >= before, "no checkpoint is lost"
    assert done < n_steps
    finish_runs(settings_file, *map(_changes, (whole, broken)), launcher=launcher)
    assert [line["step"] for line in whole.log if "text_loss" in line] == [
        step for step in range(1, n_steps + 1) if step % EVERY != 1
    ]
    assert losses(broken) == losses(whole)
    for file in ("model", "tagger", "optimiser"):
        files = [output.folder / f"{file}.safetensors" for output in (whole, broken)]
        assert files[0].read_bytes() == files[1].read_bytes(), file
    assert sorted(path.name for path in tmp_path.glob("broken*")) == ["broken", "broken.log.jsonl"]
