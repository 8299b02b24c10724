"""FSDP with two real processes: what it trains, saves and resumes is what one process does with twice the batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file
from tiny import TINY_SHAPE

from t5punct import config as settings
from t5punct import model as models
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig

ROOT = Path(__file__).parents[2]
TORCHRUN = Path(sys.prefix) / "bin" / "torchrun"
N_STEPS = 6
TOLERANCE = 0.003  # of weights, as in test_several_processes.py

pytestmark = pytest.mark.skipif(not TORCHRUN.exists(), reason="torchrun is not in this environment")


def run(command: list[str], settings_file: Path, output: Path, *changes: str) -> Path:
    whole = [*command, "--config", str(settings_file), f"output={output}", *changes]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACCELERATE_")}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(whole, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return output


def log_of(folder: Path, name: str) -> list[float]:
    lines = map(json.loads, folder.with_name(folder.name + ".log.jsonl").read_text(encoding="utf-8").splitlines())
    return [line[name] for line in lines if name in line]


def test_two_processes_with_a_part_of_the_weights_each_give_what_one_gives(
    tmp_path: Path, tiny_data: Path, tiny_tokenizer_folder: Path
) -> None:
    config = TrainConfig(
        tokenizer=str(tiny_tokenizer_folder),
        fresh=replace(TINY_SHAPE, dropout_rate=0.0),
        data=DataConfig(str(tiny_data), batch_tokens=300),
        optim=OptimConfig(lr=3e-3, warmup_steps=2, schedule="constant_with_warmup", max_steps=N_STEPS),
        loss=LossConfig(tagger_weight=0.5),
        validation=ValidationConfig(every_steps=3),
        gradient_checkpointing=True,
        log_every_steps=3,
    )
    settings.save(config, tmp_path / "train.yaml")
    one = run([sys.executable, "train.py"], tmp_path / "train.yaml", tmp_path / "one", "optim.accumulation_steps=2")
    sharded = [str(TORCHRUN), "--standalone", "--nproc_per_node", "2", str(Path(__file__).with_name("sharded.py"))]
    first = run(sharded, tmp_path / "train.yaml", tmp_path / "two", "optim.max_steps=3")
    assert set(load_file(first / "optimiser.safetensors")) >= {"rng", "rng.1"}
    two = run(sharded, tmp_path / "train.yaml", tmp_path / "two", "resume=true")
    losses = log_of(one, "validation_loss")
    assert log_of(two, "validation_loss") == pytest.approx(losses, abs=TOLERANCE)
    assert losses[-1] < losses[0] - 10 * TOLERANCE, "else all would be within the tolerance"
    for name in ("model", "tagger"):
        wanted, found = (load_file(folder / f"{name}.safetensors") for folder in (one, two))
        assert wanted.keys() == found.keys()
        assert max(float((found[key] - wanted[key]).abs().max()) for key in wanted) < TOLERANCE
    moments = [load_file(folder / "optimiser.safetensors") for folder in (one, two)]
    assert {name: tensor.shape for name, tensor in moments[0].items()} == {
        name: tensor.shape for name, tensor in moments[1].items() if name != "rng.1"
    }
    assert models.load(two / "best").tagger is not None
