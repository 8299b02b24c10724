"""Trackers get the lines of the log; a writer in TensorBoard's place writes them down."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from accelerate import tracking
from accelerate.utils import LoggerType

from t5punct.errors import ConfigError
from t5punct.training.config import TrainConfig, ValidationConfig
from t5punct.training.loop.train import train

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
    log = [json.loads(line) for line in Path(f"{folder}.log.jsonl").read_text().splitlines()]
    wanted = [[name, value, line["step"]] for line in log for name, value in line.items() if name != "step"]
    assert lines[1:-1] == wanted
    assert "validation_loss" in {name for name, *_ in wanted}


def test_a_tracker_that_is_not_there_is_named(config: TrainConfig) -> None:
    with pytest.raises(ConfigError, match=r"report_to 'tensorbord'; expected some of .*tensorboard.*; check report_to"):
        train(replace(config, report_to="tensorbord"))
    with pytest.raises(ConfigError, match=r"report_to aim, which is not installed; .*; pip install aim"):
        train(replace(config, report_to="aim"))
