"""The settings of a run as they are typed: those of `task` change what the starting model was trained with.

In: a YAML file and dotted overrides.  Out: a `TrainConfig`.

`load_settings(Path("configs/another-language.yaml"), ["task.marks=.،؟!", "data.path=prepared/arabic"])` keeps the
styles, the prefix and all else of the text form of `multi`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..config import as_yaml, load, load_plain, read_values
from ..model import find, read_task
from ..t5.task import ENCODER_TASK, TaskConfig
from ..t5.weights import is_encoder
from .checkpoint.checkpoint import TRAIN_FILE
from .config import TrainConfig


def load_settings(path: Path | None, overrides: Sequence[str] = ()) -> TrainConfig:
    """Load the settings of a run.  Raises as `config.load` does, and where there is no model `init_from`."""
    values = read_values(path, overrides)
    changes, source = values.get("task"), values.get("init_from")
    if not isinstance(changes, dict) or not isinstance(source, str):
        return load(TrainConfig, path, overrides)
    begun = Path(str(values.get("output"))) / TRAIN_FILE
    task = load_plain(TrainConfig, begun).task if values.get("resume") is True and begun.is_file() else None
    if task is None:
        folder = find(source, revision=values.get("revision"))
        task = _without_lost_odds(ENCODER_TASK if is_encoder(folder) else read_task(folder), changes)
    return load(TrainConfig, path, overrides, current="task:\n" + textwrap.indent(as_yaml(task), "  "))


def _without_lost_odds(task: TaskConfig, changes: dict[str, Any]) -> TaskConfig:
    """The task without the odds of marks that it will not have."""
    marks = str(changes.get("marks", task.marks))
    return replace(task, mark_odds={mark: odds for mark, odds in task.mark_odds.items() if mark in marks})
