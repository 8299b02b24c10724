"""Training in real processes: two give what one gives with twice the batch, with FSDP too, and end with a launcher."""

from __future__ import annotations

import json
import os
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
from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop.train import train

ROOT = Path(__file__).parents[2]
BIN = Path(sys.prefix) / "bin"
TORCHRUN = [str(BIN / "torchrun"), "--standalone", "--nproc_per_node", "2", "train.py"]
SHARDED = [*TORCHRUN[:-1], str(Path(__file__).with_name("sharded.py"))]
ACCELERATE_ONE = [str(BIN / "accelerate"), "launch", "--num_processes", "1", "--cpu", "train.py"]
N_STEPS, EVERY = 9, 3  # within an epoch: at its end two processes leave an odd batch out
# Adam divides by the size of gradients, which two processes sum in another order: near 0 that shows
LOSS_TOLERANCE, WEIGHT_TOLERANCE = 0.002, 0.003

needs_launchers = pytest.mark.skipif(
    not BIN.joinpath("torchrun").exists(), reason="torchrun is not in this environment"
)


@pytest.fixture(scope="module")
def settings_file(tmp_path_factory: pytest.TempPathFactory, tiny_data: Path, tiny_tokenizer_folder: Path) -> Path:
    path = tmp_path_factory.mktemp("launched") / "train.yaml"
    config = TrainConfig(
        tokenizer=str(tiny_tokenizer_folder),
        fresh=replace(TINY_SHAPE, dropout_rate=0.0),  # processes draw numbers of their own
        data=DataConfig(str(tiny_data), batch_tokens=300),
        optim=OptimConfig(lr=3e-3, warmup_steps=3, max_steps=N_STEPS),
        loss=LossConfig(tagger_weight=0.5),
        validation=ValidationConfig(every_steps=EVERY),
        checkpoint_every_steps=EVERY,
        log_every_steps=EVERY,
    )
    settings.save(config, path)
    return path


def launched(launcher: list[str], settings_file: Path, output: Path, *changes: str) -> subprocess.Popen[str]:
    command = [*launcher, "--config", str(settings_file), f"output={output}", *changes]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACCELERATE_")}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return errors


@dataclass(frozen=True)
class Made:
    """What a run left: its log, and its weights."""

    folder: Path

    @property
    def log(self) -> list[dict[str, float]]:
        path = self.folder.with_name(self.folder.name + ".log.jsonl")
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    @property
    def validated(self) -> list[float]:
        return [line["validation_loss"] for line in self.log if "validation_loss" in line]

    @property
    def pid(self) -> int:
        """The process that trains."""
        return int(self.folder.with_name(self.folder.name + ".lock").read_text())


@needs_launchers
def test_two_processes_give_what_one_gives_with_twice_the_batch(settings_file: Path, tmp_path: Path) -> None:
    errors = finished(launched(TORCHRUN, settings_file, tmp_path / "two"))
    assert "lr_scheduler" not in errors
    # this process, with twice the batch: two batches a step
    twice = ["optim.accumulation_steps=2", f"output={settings_file.with_name('one')}"]
    one_process, two = Made(train(settings.load(TrainConfig, settings_file, twice))), Made(tmp_path / "two")
    assert two.validated == pytest.approx(one_process.validated, abs=LOSS_TOLERANCE)
    assert two.validated[-1] < two.validated[0] - 10 * LOSS_TOLERANCE, "else all would be within the tolerance"
    # of two processes that both write, each would log all the steps
    steps = [line["step"] for line in two.log if "text_loss" in line]
    assert steps == list(range(EVERY, N_STEPS + 1, EVERY))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["two", "two.log.jsonl"]
    states = [json.loads((made.folder / "state.json").read_text()) for made in (one_process, two)]
    assert [state["step"] for state in states] == [N_STEPS, N_STEPS], "the last save"
    wanted, found = (load_file(made.folder / "model.safetensors") for made in (one_process, two))
    assert max(float((found[name] - wanted[name]).abs().max()) for name in wanted) < WEIGHT_TOLERANCE


@needs_launchers
def test_two_processes_with_a_part_of_the_weights_each_give_what_one_gives(settings_file: Path, tmp_path: Path) -> None:
    """FSDP: what it trains, saves and resumes."""
    steps = ["optim.warmup_steps=2", "optim.schedule=constant_with_warmup", "optim.max_steps=6"]
    changes = [*steps, "gradient_checkpointing=true", "checkpoint_every_steps=0"]
    twice = [*changes, "optim.accumulation_steps=2", f"output={tmp_path / 'one'}"]
    one, two = Made(train(settings.load(TrainConfig, settings_file, twice))), Made(tmp_path / "two")
    finished(launched(SHARDED, settings_file, two.folder, *changes))
    assert two.validated == pytest.approx(one.validated, abs=WEIGHT_TOLERANCE)
    assert one.validated[-1] < one.validated[0] - 10 * WEIGHT_TOLERANCE, "else all would be within the tolerance"
    for name in ("model", "tagger"):
        wanted, found = (load_file(made.folder / f"{name}.safetensors") for made in (one, two))
        assert wanted.keys() == found.keys()
        assert max(float((found[key] - wanted[key]).abs().max()) for key in wanted) < WEIGHT_TOLERANCE
    moments = [load_file(made.folder / "optimiser.safetensors") for made in (one, two)]
    assert set(moments[1]) >= {"rng", "rng.1"}
    assert {name: tensor.shape for name, tensor in moments[0].items()} == {
        name: tensor.shape for name, tensor in moments[1].items() if name != "rng.1"
    }
    assert models.load(two.folder / "best").tagger is not None


def begun(output: Path, process: subprocess.Popen[str]) -> int:
    """The process that trains, once it has made its first checkpoint."""
    while not (output / "state.json").is_file():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    return Made(output).pid


def is_over(process: psutil.Process) -> bool:
    """Whether a process has ended; in a container nobody may have asked how."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def kill(launcher: subprocess.Popen[str], trainer: psutil.Process) -> None:
    """Kill -9 a launcher, and wait for what it started to end."""
    launcher.kill()
    launcher.communicate()
    until = time.monotonic() + 20
    while not is_over(trainer):
        assert time.monotonic() < until, "it trains on"
        time.sleep(0.05)


@needs_launchers
def test_a_launcher_that_is_killed_leaves_nothing_that_trains(settings_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "run"
    process = launched(TORCHRUN, settings_file, output, "optim.max_steps=100000")
    trainer = psutil.Process(begun(output, process))
    assert trainer.pid != process.pid
    kill(process, trainer)


@needs_launchers
def test_a_run_beside_another_is_refused_and_goes_on_once_that_is_killed(settings_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "run"
    process = launched(ACCELERATE_ONE, settings_file, output, "optim.max_steps=100000")
    trainer = psutil.Process(begun(output, process))
    assert trainer.pid != process.pid
    config = settings.load(TrainConfig, settings_file, [f"output={output}", "resume=true"])
    with pytest.raises(
        ConfigError, match=f"in use by process {trainer.pid}; expected one run in a folder"
    ):
        train(config)
    assert process.poll() is None and not is_over(trainer)
    kill(process, trainer)
    output.with_name("run.partial").mkdir(exist_ok=True)  # as a kill in a checkpoint leaves it
    replaced = output.with_name("run.replaced")  # where a checkpoint lies while its successor takes its place
    last = output if (output / "state.json").is_file() else replaced
    step = json.loads((last / "state.json").read_text())["step"]
    train(replace(config, optim=replace(config.optim, max_steps=step + 2)))
    assert json.loads((output / "state.json").read_text())["step"] == step + 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run.log.jsonl"]
