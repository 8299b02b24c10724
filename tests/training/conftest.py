"""A run of four short steps, which the tests here change; one that is cut short."""

from collections.abc import Callable
from pathlib import Path

import pytest

from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop import train as loop


@pytest.fixture
def config(tmp_path: Path, tiny_data: Path, folder: str) -> TrainConfig:
    return TrainConfig(
        output=str(tmp_path / "run"), init_from=folder,
        data=DataConfig(str(tiny_data), batch_tokens=600), optim=OptimConfig(lr=3e-3, warmup_steps=2, max_steps=4),
        loss=LossConfig(tagger_weight=0.5), log_every_steps=2,
        validation=ValidationConfig(every_steps=0), checkpoint_every_steps=0,
    )  # fmt: skip


@pytest.fixture
def cut_short(monkeypatch: pytest.MonkeyPatch) -> Callable[[TrainConfig], None]:
    """Trains until the first checkpoint is written, and no further."""

    def run(config: TrainConfig) -> None:
        save = loop.save_checkpoint

        def save_and_stop(*arguments: object) -> None:
            save(*arguments)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(loop, "save_checkpoint", save_and_stop)
            with pytest.raises(KeyboardInterrupt):
                loop.train(config)

    return run
