"""What a resumed run may change, and what is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from datasets import load_from_disk

from t5punct import config as settings
from t5punct.errors import ConfigError
from t5punct.training.checkpoint import TrainState, check_same_run
from t5punct.training.config import DataConfig, TrainConfig
from t5punct.training.loop.train import build, train


@pytest.fixture
def begun(config: TrainConfig) -> TrainConfig:
    train(replace(config, optim=replace(config.optim, max_steps=2)))
    return config


def resumed(begun: TrainConfig, *changes: str) -> TrainConfig:
    return settings.load(TrainConfig, Path(begun.output, "train.yaml"), ["resume=true", *changes])


def test_other_settings_are_refused_with_both_values(begun: TrainConfig) -> None:
    refusals = {
        "seed=7": r"seed 7 for a run that began with 1",
        "data.batch_tokens=300": r"data\.batch_tokens 300 for a run that began with 600",
        "data.path=elsewhere": r"data\.path 'elsewhere' for a run",
        "data.noise.share=0.5": r"data\.noise\.share 0\.5 for a run that began with 0\.0",
        "data.styles.chat=2": r"data\.styles\.chat 2\.0 for a run that began with None",
        "optim.lr=0.1": r"optim\.lr 0\.1 for",
        "fresh.d_ff=32": r"fresh\.d_ff 32 for",
        "task.marks=',.'": r"task.* for a run that began with",
        "fit.copier_words=5": r"fit\.copier_words 5 for",
    }
    for override, message in refusals.items():
        with pytest.raises(ConfigError, match=message):
            build(resumed(begun, override))


def test_how_long_and_how_it_is_watched_may_change(begun: TrainConfig) -> None:
    watched = ("validation.every_steps=3", "checkpoint_every_steps=1", "log_every_steps=1")
    build(resumed(begun, "optim.max_steps=9", "loss.tagger_weight=1", *watched))


def test_another_number_of_processes_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"1 processes for a run that began with 2; expected 2 processes; launch 2"):
        check_same_run(TrainState(processes=2), TrainState(processes=1), "data")
    check_same_run(TrainState(processes=2), TrainState(processes=2), "data")
    check_same_run(TrainState(), TrainState(processes=3), "data")  # an older version's checkpoint does not say


def test_a_data_set_made_anew_at_the_same_path_is_refused(config: TrainConfig, tmp_path: Path, tiny_data: Path) -> None:
    data, first = tmp_path / "data", replace(config.optim, max_steps=2)
    shutil.copytree(tiny_data, data)
    config = replace(config, data=DataConfig(str(data), batch_tokens=600))
    train(replace(config, optim=first))
    again = replace(config, resume=True)
    build(again)
    shutil.rmtree(data / "train")
    shutil.copytree(tiny_data / "train", tmp_path / "kept")
    load_from_disk(str(tmp_path / "kept")).shuffle(seed=5).save_to_disk(str(data / "train"))  # as many chunks
    with pytest.raises(ConfigError, match=rf"other chunks in {data} than the run began with; expected .*; put it back"):
        build(again)
    file = Path(config.output) / "state.json"
    state = json.loads(file.read_text())
    assert len(state.pop("data")) == 16
    file.write_text(json.dumps(state))  # as older versions wrote it
    build(again)
