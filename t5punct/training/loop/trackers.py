"""Losses and scores to TensorBoard, Weights & Biases and others, by accelerate's trackers.

In: the names in `report_to`.  Out: trackers that get every line of the log.

`report_to=tensorboard` writes to `OUTPUT.trackers`; `tensorboard --logdir runs` shows all runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError

if TYPE_CHECKING:
    from ..config import TrainConfig

_PROJECT = "t5punct"


def tracker_settings(config: TrainConfig) -> dict[str, Any]:
    """Return accelerate's settings for trackers.  Raises ConfigError for a tracker that is not known or installed."""
    if not config.report_to:
        return {}
    from accelerate.tracking import get_available_trackers
    from accelerate.utils import LoggerType, ProjectConfiguration

    names = [name.strip() for name in config.report_to.split(",")]
    known = [kind.value for kind in LoggerType if kind != LoggerType.ALL]
    for name in names:
        if name not in known:
            raise ConfigError(f"report_to {name!r}", expected=f"some of {', '.join(known)}", fix="check report_to")
        if LoggerType(name) not in get_available_trackers():
            raise ConfigError(f"report_to {name}, which is not installed", expected="it", fix=f"pip install {name}")
    folder = f"{Path(config.output)}.trackers"
    return {"log_with": names, "project_config": ProjectConfiguration(logging_dir=folder)}


def start_trackers(accelerator: Any, config: TrainConfig, settings: Mapping[str, Any]) -> None:
    """Begin a run in each tracker; `settings` by their dotted names stand beside it."""
    if config.report_to:
        plain = {
            name: value if isinstance(value, bool | int | float | str) else str(value)
            for name, value in settings.items()
        }
        named = {"wandb": {"name": Path(config.output).name}}
        accelerator.init_trackers(_PROJECT, config=plain, init_kwargs=named)


def end_trackers(accelerator: Any) -> None:
    """Let each tracker write what it has."""
    for tracker in accelerator.trackers:
        tracker.finish()
