"""Checkpoints: everything that a run needs to go on as if it had never stopped, in a folder that is a usable model.

    runs/mine/model.safetensors ..     the last checkpoint: a model, and what resuming needs
    runs/mine/best/                    the model of the best validation so far, and score.json

A new folder takes the old one's place by a rename, so there is always a whole checkpoint.  accelerate's own
`save_state` would write pickles of optimiser, schedule and random state.

A resumed run must have the settings and the data that it began with (`check_resumed`, `check_same_run`): with others
its position in the data would mean something else, and nobody would notice.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import save_file

from .. import config as settings
from .. import model as models
from ..config import check
from ..errors import ConfigError, ModelError
from ..t5.folder import TAGGER_FILE, writing_folder
from ..t5.weights import broken_weights
from ..text.io.files import partial_folder, take_place
from .config import TrainConfig
from .lock import check_own

if TYPE_CHECKING:
    import torch

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


def check_output(config: TrainConfig) -> None:
    """Raise ConfigError if checkpoints would replace anything but this run's own files."""
    folder = Path(config.output)
    check_own(folder)
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    fix = "choose another output"
    if not existing.is_dir():
        mistake = f": {existing} is a file"
    elif folder.resolve() == Path(config.init_from).expanduser().resolve():
        mistake = " is also init_from"
    elif folder.resolve().is_relative_to(models.BUNDLED_MODELS.resolve()):
        mistake = " is where the package's own models are"
    elif config.resume:
        return
    elif (folder / STATE_FILE).is_file() or (_aside(folder) / STATE_FILE).is_file():
        mistake = " holds a run"
        fix = "go on with resume=true, or choose another output"
    elif folder.is_dir() and any(folder.iterdir()):
        mistake = " holds other files"
    else:
        return
    raise ConfigError(f"output {folder}{mistake}", expected="a new or empty folder", fix=fix)


def find_checkpoint(folder: Path) -> None:
    """Raise ModelError if there is no checkpoint to resume.

    One that a crash between two renames left under its second name is first moved back.
    """
    aside = _aside(folder)
    if not folder.exists() and (aside / STATE_FILE).is_file():
        aside.replace(folder)
    if not (folder / STATE_FILE).is_file():
        raise ModelError(f"no checkpoint in {folder}", expected=STATE_FILE, fix="run without resume=true")


def save_checkpoint(
    folder: Path, model: models.Model, tensors: Mapping[str, torch.Tensor], state: TrainState, config: TrainConfig
) -> None:
    """Write a checkpoint to a second folder and rename it, so that a crash never leaves half a checkpoint, or none.

    A crash between the two renames leaves the old one under its second name, and `find_checkpoint` moves it back.

    tensors: what `collect_tensors` returns.  After the run's best step the model is also written into `best`.  Other
    files of the old folder are kept: the best model, and what people laid there.

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
    """Read the state of a checkpoint's run."""
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
    file = Path(config.output) / TRAIN_FILE
    if not file.is_file():
        return
    try:
        saved = settings.load_plain(TrainConfig, file)
    except ConfigError as error:
        raise ConfigError(
            f"{file}, settings of another version of t5punct ({error.found})",
            expected="those of this version",
            fix=f"resume with the version in t5punct-version.txt, or start a new run with init_from={config.output}",
        ) from error
    began = flatten_settings(asdict(saved))
    now = flatten_settings(asdict(config))
    for name in began | now:
        may_change = name in MAY_CHANGE or any(name.startswith(f"{section}.") for section in MAY_CHANGE)
        mistake = f"{name} {now.get(name)!r} for a run that began with {began.get(name)!r}"
        fix = "resume with these, or start a new run in another output"
        is_possible = may_change or began.get(name) == now.get(name)
        check(is_possible, mistake, expected="the settings that it began with", fix=fix)


def check_same_run(began: TrainState, now: TrainState, data: str) -> None:
    """Raise ConfigError if a resumed run has another number of processes, or other chunks in the folder `data`.

    Then the batches of an epoch would be others, and the run's position among them would mean something else.
    """
    new_run = "start a new run in another output"
    mistake = f"{now.processes} processes for a run that began with {began.processes}"
    fix = f"launch {began.processes}, or {new_run}"
    check(began.processes == now.processes, mistake, expected=f"{began.processes} processes", fix=fix)
    mistake, expected = f"other chunks in {data} than the run began with", "the data set that it began with"
    check(began.data == now.data, mistake, expected=expected, fix=f"put it back, or {new_run}")


def check_same_base(merged: Any, folder: Path) -> None:
    """Raise ConfigError if `init_from` has changed since a run with adapters began.

    merged: the network of `init_from` with the checkpoint's adapters merged into it.  But for rounding it must equal
    the network in the checkpoint's folder, which was merged when it was saved.
    """
    import torch

    saved = models.load(folder).network.state_dict()
    weights = merged.state_dict().items()
    is_same = all(torch.allclose(saved[name].cpu(), value.cpu(), rtol=1e-3, atol=1e-4) for name, value in weights)
    mistake = "init_from, which has changed since the run began"
    expected = "the model that the adapters were trained on"
    check(is_same, mistake, expected=expected, fix="put it back, or start a new run from this checkpoint's folder")


def flatten_settings(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by their dotted names: `{"optim": {"lr": 1}}` becomes `{"optim.lr": 1}`."""
    dotted: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            dotted |= flatten_settings(value, f"{prefix}{name}.")
        else:
            dotted[prefix + name] = value
    return dotted
