"""A run is saved often enough for its length, and once more when it is interrupted."""

from __future__ import annotations

import os
import signal
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from left_by_runs import log_lines, weights
from tiny import TINY_SHAPE

from t5punct.training.checkpoint import TrainState, read_state
from t5punct.training.config import OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop import train as loop
from t5punct.training.loop.train import train


@pytest.fixture
def config(config: TrainConfig) -> TrainConfig:
    """Eight steps with dropout, so that the random state counts."""
    return replace(
        config,
        fresh={**asdict(TINY_SHAPE), "dropout_rate": 0.1},
        optim=OptimConfig(lr=3e-3, warmup_steps=2, max_steps=8),
    )


@pytest.fixture
def saved_steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps after which a checkpoint is written."""
    steps, save = list[int](), loop.save_checkpoint

    def note_and_save(*arguments: object) -> None:
        steps.extend(value.step for value in arguments if isinstance(value, TrainState))
        save(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "save_checkpoint", note_and_save)
    return steps


def interrupt_at(monkeypatch: pytest.MonkeyPatch, step: int, times: int) -> None:
    """Interrupt this process so many times while it takes a step."""
    take = loop.take_step

    def interrupt_and_take(run: loop.Run, batch: object) -> object:
        for _ in range(times if run.state.step == step - 1 else 0):
            os.kill(os.getpid(), signal.SIGINT)
        return take(run, batch)

    monkeypatch.setattr(loop, "take_step", interrupt_and_take)


@pytest.mark.parametrize("n_steps", [7, 34])
def test_a_short_run_is_validated_and_saved_ten_times_unless_it_has_fewer_steps(
    config: TrainConfig, saved_steps: list[int], n_steps: int
) -> None:
    optim = replace(config.optim, max_steps=n_steps)
    folder = train(replace(config, optim=optim, validation=ValidationConfig(), checkpoint_every_steps=None))
    validated = [line["step"] for line in log_lines(folder) if "validation_loss" in line]
    for steps in (validated, saved_steps):
        assert len(steps) >= min(10, n_steps)
        assert steps[0] == max(1, n_steps // 10)


def test_a_long_run_is_saved_every_thousand_steps_and_what_the_config_says_holds() -> None:
    assert [loop.interval(None, n_steps) for n_steps in (1, 5000, 9999, 10**6)] == [1, 500, 999, 1000]
    assert [loop.interval(every, 34) for every in (0, 100)] == [0, 100]


def test_an_interrupted_run_is_saved_and_goes_on_as_if_nothing_had_been(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole, parted = train(config), replace(config, output=str(tmp_path / "parted"))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, step=3, times=1)
        train(parted)
    assert read_state(tmp_path / "parted").step == 3
    assert caplog.messages == [
        "interrupted: the run ends after this step and is saved; once more, and it ends at once",
        f"stopped after step 3 of 8, saved in {tmp_path}/parted; resume=true goes on",
    ]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    resumed = train(replace(parted, resume=True))
    assert weights(resumed) == weights(whole)
    assert read_state(resumed) == read_state(whole)


def test_a_second_interrupt_ends_a_run_at_once(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(monkeypatch, step=3, times=2)
    with pytest.raises(KeyboardInterrupt):
        train(config)
    assert not Path(config.output).exists()


def test_an_interrupt_in_the_last_step_changes_nothing(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(monkeypatch, step=8, times=1)
    assert read_state(train(config)).step == 8
