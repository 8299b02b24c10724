"""A run of four short steps, which the tests here change."""

from pathlib import Path

import pytest

from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig


@pytest.fixture
def config(tmp_path: Path, tiny_data: Path, folder: str) -> TrainConfig:
    return TrainConfig(
        output=str(tmp_path / "run"), init_from=folder,
        data=DataConfig(str(tiny_data), batch_tokens=600), optim=OptimConfig(lr=3e-3, warmup_steps=2, max_steps=4),
        loss=LossConfig(tagger_weight=0.5), log_every_steps=2,
        validation=ValidationConfig(every_steps=0), checkpoint_every_steps=0,
    )  # fmt: skip
