"""The log of a run, its bar and its trackers, which get the lines of the log."""

from __future__ import annotations

import json
import logging
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate import tracking
from accelerate.utils import LoggerType
from left_by_runs import log_lines

from t5punct.errors import ConfigError
from t5punct.training.checkpoint import TrainState
from t5punct.training.config import TrainConfig, ValidationConfig
from t5punct.training.loop import train as loop
from t5punct.training.loop.objective import Losses
from t5punct.training.loop.progress import RunLog
from t5punct.training.loop.train import train
from t5punct.training.loop.validation import Validator


def test_a_new_run_begins_its_log_anew_and_a_resumed_one_goes_on_to_its_last_step(
    config: TrainConfig, tmp_path: Path
) -> None:
    (tmp_path / "run.log.jsonl").write_text('{"step": 1, "words": 9}\n')
    train(config)
    path = tmp_path / "run.log.jsonl"
    assert [line["step"] for line in log_lines(tmp_path / "run")] == [2, 4]
    path.write_text(path.read_text() + '{"step": 6}\n{"st')  # of steps that no checkpoint has, and half a line
    train(replace(config, resume=True, optim=replace(config.optim, max_steps=7)))
    log = log_lines(tmp_path / "run")
    assert [line["step"] for line in log] == [2, 4, 6, 7]
    assert "text_loss" in log[-1]


def test_the_bar_moves_at_every_step_and_a_line_in_words_names_what_is_trained_and_the_time_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    losses = Losses(*map(torch.tensor, (1.0, 6.125, 0.0, 0.5, 0.0, 0.0)))
    with caplog.at_level(logging.INFO), RunLog(tmp_path / "run", 10, TrainState(), show=True) as progress:
        progress._began -= 20.0
        for step in (1, 2):
            progress.update(TrainState(step=step), losses, 0.25, every=2)
            assert progress.bar.tasks[0].completed == step
        progress.record({"step": 2, "micro_f1": 61.25})
    first, second = caplog.messages
    assert first.startswith("step 2 of 10, text_loss 6.125, tag_loss 0.5, lr 0.25, ")
    assert first.endswith(" words/s, 0:01:20 left")
    assert second == "step 2 of 10, micro_f1 61.25"
    assert progress._found == "  micro_f1 61.25"


def test_log__rate_without_factors(config: TrainConfig) -> None:
    optim = replace(config.optim, factors={"shared": 3.0, "encoder": 2.0}, schedule="constant_with_warmup", max_steps=3)
    log = log_lines(train(replace(config, optim=optim, log_every_steps=1)))
    assert [line["lr"] for line in log] == pytest.approx([optim.lr / 2, optim.lr, optim.lr])


def test_words_a_second_leave_out_validation_and_saving(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only they move, and each step by a second."""
    now, step, save = [0.0], loop.take_step, loop.save_checkpoint
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def later(seconds: float, value: object) -> object:
        now[0] += seconds
        return value

    monkeypatch.setattr(loop, "take_step", lambda *given: later(1.0, step(*given)))
    monkeypatch.setattr(loop, "save_checkpoint", lambda *given: later(500.0, save(*given)))
    line = {"validation_loss": 5.0}
    monkeypatch.setattr(Validator, "line", lambda *_: later(500.0, line))
    watched = replace(config, validation=ValidationConfig(every_steps=1), checkpoint_every_steps=3, log_every_steps=1)
    words = 0.0
    lines = [line for line in log_lines(train(watched)) if "words_per_second" in line]
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    for line in lines:
        assert line["words_per_second"] == pytest.approx(line["words"] - words)
        words = line["words"]
    validated = [line["words"] for line in log_lines(Path(config.output)) if "validation_loss" in line]
    assert validated == [line["words"] for line in lines], "a validation has its own words"


WRITER = """
import json
from pathlib import Path

class SummaryWriter:
    def __init__(self, folder):
        self.file = Path(folder) / "written.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)
    def write(self, *values):
        with self.file.open("a") as handle:
            handle.write(json.dumps(values) + chr(10))
    def add_hparams(self, values, metric_dict):
        self.write("settings", values)
    def add_scalar(self, name, value, global_step):
        self.write(name, value, global_step)
    def flush(self):
        pass
    def close(self):
        self.write("closed")
"""


@pytest.fixture
def writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package `tensorboardX`, which accelerate takes where there is no `tensorboard`."""
    (tmp_path / "site" / "tensorboardX").mkdir(parents=True)
    (tmp_path / "site" / "tensorboardX" / "__init__.py").write_text(WRITER)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(tracking, "_available_trackers", [LoggerType.TENSORBOARD])
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.delitem(sys.modules, "tensorboardX", raising=False)


@pytest.mark.usefixtures("writer")
def test_a_tracker_gets_the_settings_and_every_line_of_the_log(config: TrainConfig) -> None:
    config = replace(config, report_to="tensorboard", validation=ValidationConfig(every_steps=4))
    folder = train(config)
    written = Path(f"{folder}.trackers") / "t5punct" / "written.jsonl"
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert lines[0][0] == "settings"
    assert (lines[0][1]["optim.lr"], lines[0][1]["init_from"]) == (config.optim.lr, "None")
    assert lines[-1] == ["closed"]
    log = log_lines(folder)
    wanted = [[name, value, line["step"]] for line in log for name, value in line.items() if name != "step"]
    assert lines[1:-1] == wanted
    assert "validation_loss" in {name for name, *_ in wanted}


def test_a_tracker_that_is_not_there_is_named(config: TrainConfig) -> None:
    for name, message in (
        ("tensorbord", r"report_to 'tensorbord'; expected some of .*tensorboard.*; check report_to"),
        ("aim", r"report_to aim, which is not installed; .*; pip install aim"),
    ):
        with pytest.raises(ConfigError, match=message):
            train(replace(config, report_to=name))
