"""A run of four short steps, which the tests here change."""

from pathlib import Path

import pytest
from tiny import TINY_SHAPE

from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig


@pytest.fixture
def config(tmp_path: Path, tiny_data: Path, tiny_tokenizer_folder: Path) -> TrainConfig:
    return TrainConfig(
        output=str(tmp_path / "run"), tokenizer=str(tiny_tokenizer_folder), fresh=TINY_SHAPE,
        data=DataConfig(str(tiny_data), batch_tokens=600), optim=OptimConfig(lr=3e-3, warmup_steps=2, max_steps=4),
        loss=LossConfig(tagger_weight=0.5), log_every_steps=2,
    )  # fmt: skip
