"""What a resumed run may change of its settings, and what it may not.

In: the settings of a run that goes on, and the folder of its last checkpoint.  Out: nothing, or one clear line.

A run that is resumed on other data, with another seed or batch size, is no longer the same run: its position in the
data would mean something else, and nobody would notice.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ... import config as settings
from ...errors import ConfigError
from ..config import TrainConfig
from .checkpoint import TRAIN_FILE

# the length of the run, what is logged and kept, where it lies, how it computes, and the weights of its losses
MAY_CHANGE = (
    "output", "resume", "checkpoint_every_steps", "keep", "log_every_steps", "validation", "report", "report_to",
    "data.workers", "optim.max_steps", "optim.epochs", "loss", "gradient_checkpointing", "mixed_precision",
)  # fmt: skip


def check_resumed(config: TrainConfig) -> None:
    """Raise ConfigError for the first setting that differs from the checkpoint's and is not in `MAY_CHANGE`."""
    file = Path(config.output) / TRAIN_FILE
    if not file.is_file():
        return
    began, now = (
        flatten_settings(asdict(run_config)) for run_config in (settings.load_plain(TrainConfig, file), config)
    )
    for name in began | now:
        if began.get(name) != now.get(name) and not any(f"{name}.".startswith(f"{may}.") for may in MAY_CHANGE):
            raise ConfigError(
                f"{name} {now.get(name)!r} for a run that began with {began.get(name)!r}",
                expected="the settings that it began with",
                fix="resume with these, or start a new run in another output",
            )


def check_processes(began: int, now: int) -> None:
    """Raise ConfigError for another number of processes: the batches of an epoch would be dealt out otherwise."""
    if began and began != now:
        raise ConfigError(
            f"{now} processes for a run that began with {began}",
            expected=f"{began} processes",
            fix=f"launch {began}, or start a new run in another output",
        )


def check_data(began: str, now: str, path: str) -> None:
    """Raise ConfigError for a data set with another fingerprint: the run's place in it would mean something else."""
    if began and began != now:
        raise ConfigError(
            f"other chunks in {path} than the run began with",
            expected="the data set that it began with",
            fix="put it back, or start a new run in another output",
        )


def check_same_base(network: Any, folder: Path) -> None:
    """Raise ConfigError if a network made of `init_from` and the checkpoint's adapters is not the checkpoint's."""
    import torch

    from ... import model as models

    state, saved = network.state_dict(), models.load(folder).network.state_dict()
    if not all(torch.allclose(saved[name].cpu(), value.cpu(), rtol=1e-3, atol=1e-4) for name, value in state.items()):
        raise ConfigError(
            "init_from, which has changed since the run began",
            expected="the model that the adapters were trained on",
            fix="put it back, or start a new run from this checkpoint's folder",
        )


def flatten_settings(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by their dotted names."""
    dotted_values: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            dotted_values |= flatten_settings(value, f"{prefix}{name}.")
        else:
            dotted_values[prefix + name] = value
    return dotted_values
