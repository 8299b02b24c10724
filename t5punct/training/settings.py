"""The settings of a run as they are typed: those of `task` change what the starting model was trained with.

In: a YAML file and dotted overrides.  Out: a `TrainConfig`.

`load_settings(Path("configs/another-language.yaml"), ["task.marks=.،؟!", "data.path=prepared/arabic"])` keeps the
styles, the prefix and all else of the text form of `multi`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..config import load, load_plain, read_values
from ..model import find, read_task
from ..t5.task import ENCODER_TASK
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
        task = ENCODER_TASK if is_encoder(folder) else read_task(folder)
    whole = json.dumps(_changed(asdict(task), changes), ensure_ascii=False)  # json is YAML, too
    return load(TrainConfig, path, [*overrides, f"task={whole}"])


def _changed(task: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The values of a task with some changed; a mapping is merged, an empty one empties.  Odds go with their marks."""
    if "marks" in changes:
        odds = {mark: odds for mark, odds in task["mark_odds"].items() if mark in str(changes["marks"])}
        task = {**task, "mark_odds": odds}
    merged = {**task, **changes}
    for name, value in changes.items():
        if isinstance(value, dict) and value and isinstance(task.get(name), dict):
            merged[name] = {**task[name], **value}
    return merged
