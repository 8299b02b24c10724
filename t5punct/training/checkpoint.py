"""Checkpoints: everything that a run needs to go on as if it had never stopped, in a folder that is a usable model.

    runs/mine/model.safetensors ..     the last checkpoint: a model, and what resuming needs
    runs/mine/best/                    the model of the best validation so far, its score and the run's settings

A new folder takes the old one's place by a rename, so there is always a whole checkpoint.  A resumed run must have the
settings and the data that it began with: with others its position in the data would mean something else.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from .. import config as settings
from .. import model as models
from ..config import check
from ..errors import ModelError
from ..t5.folder import TAGGER_FILE, writing_folder
from ..t5.weights import broken_weights
from ..text.io.files import partial_folder, take_place
from .config import TrainConfig

TRAIN_FILE, STATE_FILE, OPTIMISER_FILE = "train.yaml", "state.json", "optimiser.safetensors"
PAGE, PICTURE, VALUES = "report.md", "report.png", "report.json"  # of a finished run
BEST, SCORE_FILE = "best", "score.json"
_OUTDATED = (TAGGER_FILE, PAGE, PICTURE, VALUES)  # are about the weights of before, and not kept


@dataclass(frozen=True)
class TrainState:
    """The position of a run in its data, and the best validation so far."""

    step: int = 0  # optimiser steps done
    epoch: int = 0
    batch: int = 0  # batches of this epoch already seen, on one process
    words: int = 0  # words trained on, an estimate for all processes: the first one's times their number
    score: str = ""  # the name of the score that decides which model is the best (see `validation`)
    best: float | None = None  # its best value
    best_step: int = 0
    stale: int = 0  # validations since the best one
    processes: int = 0  # that share the batches
    data: str = ""  # the fingerprint of the chunks (see `batches`)
    parent: str = ""  # with adapters, the fingerprint of the weights that they were put on


def check_output(config: TrainConfig) -> None:
    """Raise ConfigError if the output of a new run is not empty."""
    if config.resume:
        return
    folder = Path(config.output)
    places = (folder, _aside(folder))  # a crash may have left a checkpoint aside
    is_begun = any((place / STATE_FILE).is_file() for place in places)
    is_free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    mistake = f"output {folder} holds a run" if is_begun else f"output {folder} is a file or holds other files"
    fix = "go on with resume=true, or choose another output" if is_begun else "choose another output"
    check(is_free and not is_begun, mistake, expected="a new or empty folder", fix=fix)


def save_checkpoint(
    folder: Path, model: models.Model, tensors: Mapping[str, torch.Tensor], state: TrainState, config: TrainConfig
) -> None:
    """Write a checkpoint to a second folder and rename it, so that a crash never leaves half a checkpoint, or none.

    tensors: what `collect_tensors` returns.  After the run's best step the model is also written into `best`.  Other
    files of the old folder are kept.

    Raises ConfigError for weights that are not finite, and OutputError if there is no room; the last checkpoint stays.
    """
    mistake = f"weights that are not finite after step {state.step}"
    check(not broken_weights(model.network), mistake, expected="finite weights", fix="lower optim.lr")
    aside = _aside(folder)
    with partial_folder(folder) as partial:
        models.save(model, partial)
        with writing_folder(partial):
            if state.best is not None and state.best_step == state.step:
                models.save(model, partial / BEST)
                score = json.dumps({"step": state.step, state.score: state.best})
                (partial / BEST / SCORE_FILE).write_text(score + "\n", encoding="utf-8")
                settings.save(config, partial / BEST / TRAIN_FILE)  # for its card and its report
            settings.save(config, partial / TRAIN_FILE)
            (partial / STATE_FILE).write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
            save_file(dict(tensors), partial / OPTIMISER_FILE)
            for path in folder.glob("*"):
                if path.name in _OUTDATED or (partial / path.name).exists():
                    continue
                copy = shutil.copytree if path.is_dir() else shutil.copy2
                copy(path, partial / path.name)
        shutil.rmtree(aside, ignore_errors=True)
        if folder.exists():
            folder.replace(aside)
        take_place(partial, folder)
    shutil.rmtree(aside, ignore_errors=True)


def read_state(folder: Path) -> TrainState:
    """Return the position of the last checkpoint.  Raises ModelError if there is none."""
    aside = _aside(folder)
    if not folder.exists() and (aside / STATE_FILE).is_file():  # a crash came before the new one took its place
        aside.replace(folder)
    is_saved = (folder / STATE_FILE).is_file()
    fix = "run without resume=true"
    check(is_saved, f"no checkpoint in {folder}", expected=STATE_FILE, fix=fix, kind=ModelError)
    return TrainState(**json.loads((folder / STATE_FILE).read_text(encoding="utf-8")))


def _aside(folder: Path) -> Path:
    """Return where the old checkpoint lies while the new one takes its place; no name of a backup."""
    return folder.with_name(folder.name + ".replaced")


# settings and sections that a resumed run may change: its length, what is logged and kept, where it lies, how it
# computes, and the weights of its losses
MAY_CHANGE = (
    "output", "resume", "checkpoint_every_steps", "log_every_steps", "validation", "report", "report_to",
    "data.workers", "optim.max_steps", "optim.epochs", "loss", "gradient_checkpointing", "mixed_precision",
)  # fmt: skip


def check_resumed(config: TrainConfig) -> None:
    """Raise ConfigError for the first setting that differs from the checkpoint's and is not in `MAY_CHANGE`."""
    began = flatten_settings(asdict(settings.load_plain(TrainConfig, Path(config.output) / TRAIN_FILE)))
    now = flatten_settings(asdict(config))
    for name in began | now:
        may_change = name in MAY_CHANGE or any(name.startswith(f"{section}.") for section in MAY_CHANGE)
        mistake = f"{name} {now.get(name)!r} for a run that began with {began.get(name)!r}"
        fix = "resume with these, or start a new run in another output"
        is_possible = may_change or began.get(name) == now.get(name)
        check(is_possible, mistake, expected="the settings that it began with", fix=fix)


def check_same_run(began: TrainState, now: TrainState, config: TrainConfig) -> None:
    """Raise ConfigError if a resumed run has another number of processes, other data, or another model to adapt."""
    new_run = "start a new run in another output"
    mistake = f"{now.processes} processes for a run that began with {began.processes}"
    fix = f"launch {began.processes}, or {new_run}"
    check(began.processes == now.processes, mistake, expected=f"{began.processes} processes", fix=fix)
    mistake, expected = f"other chunks in {config.data.path} than the run began with", "the data set that it began with"
    check(began.data == now.data, mistake, expected=expected, fix=f"put it back, or {new_run}")
    mistake, expected = f"other weights in {config.init_from} than the adapters were trained on", "the same weights"
    check(began.parent in ("", now.parent), mistake, expected=expected, fix=f"put them back, or {new_run}")


def flatten_settings(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by their dotted names: `{"optim": {"lr": 1}}` becomes `{"optim.lr": 1}`."""
    dotted: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            dotted |= flatten_settings(value, f"{prefix}{name}.")
        else:
            dotted[prefix + name] = value
    return dotted
