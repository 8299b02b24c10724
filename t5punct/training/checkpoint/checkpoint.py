"""Checkpoints: everything that a run needs to go on as if it had never stopped; without pickle.

In: model, optimiser, schedule, position in the data.  Out: a folder that is also a usable model.

    runs/mine/model.safetensors ..     the newest checkpoint: a model, and what resuming needs
    runs/mine/best/                    the model of the best validation so far, and score.json
    runs/mine/checkpoint-1500/         with keep: 3, the two checkpoints before the newest
    runs/mine/checkpoint-1000/

As a new folder takes the old one's place by a rename, there is no moment without any of them.  Earlier checkpoints are
linked into it, not copied: large weights are written once.  The old folder's links go with it.

`save_checkpoint(folder, ...)`, then `optimiser_state.restore_tensors(...)` of what it wrote: ten steps equal five and
five.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors.torch import save_file

from ... import config as settings
from ... import model as models
from ...errors import ConfigError, ModelError
from ...t5.folder import TAGGER_FILE, writing_folder
from ...t5.weights import broken_weights
from ...text.io.files import take_place
from ..config import PAGE, PICTURE, VALUES, TrainConfig
from .lock import check_own

if TYPE_CHECKING:
    import torch

TRAIN_FILE, STATE_FILE, OPTIMISER_FILE = "train.yaml", "state.json", "optimiser.safetensors"
BEST, SCORE_FILE = "best", "score.json"
_OUTDATED = (TAGGER_FILE, PAGE, PICTURE, VALUES)  # of a folder, for its successor: other weights have other scores


@dataclass(frozen=True)
class TrainState:
    """Where a run stands."""

    step: int = 0  # optimiser steps done
    epoch: int = 0
    batch: int = 0  # batches of this epoch already seen, on one process
    words: int = 0  # words trained on, all processes together: the first one's times their number
    # what validation found; see `validation`
    score: str = ""  # the name of the score
    best: float | None = None  # its best value
    best_step: int = 0
    stale: int = 0  # validations since then
    processes: int = 0  # that share the batches; 0 in checkpoints of older versions, which do not say
    data: str = ""  # the fingerprint of the chunks (see `loading`); empty in these checkpoints too

    def after_batch(self, words: int) -> TrainState:
        return replace(self, batch=self.batch + 1, words=self.words + words)


def check_output(config: TrainConfig) -> None:
    """Refuse an output folder if checkpoints would replace anything but this run's own files."""
    folder = Path(config.output)
    check_own(folder)
    expected, fix = "a new or empty folder", "choose another output"
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise ConfigError(f"output {folder}: {nearest} is a file", expected=expected, fix=fix)
    if config.init_from is not None and folder.resolve() == Path(config.init_from).expanduser().resolve():
        raise ConfigError(f"output {folder} is also init_from", expected=expected, fix=fix)
    if folder.resolve().is_relative_to(models.bundled_root().resolve()):
        raise ConfigError(f"output {folder} is where the package's own models are", expected=expected, fix=fix)
    if config.resume:
        return
    if any((path / STATE_FILE).is_file() for path in (folder, _set_aside(folder))):
        raise ConfigError(f"output {folder} holds a run", expected=expected, fix=f"go on with resume=true, or {fix}")
    if folder.is_dir() and any(folder.iterdir()):
        raise ConfigError(f"output {folder} holds other files", expected=expected, fix=fix)


def find_checkpoint(folder: Path) -> None:
    """Make sure that there is a checkpoint to resume; restore one that a crash between two renames left aside."""
    if not folder.exists() and (_set_aside(folder) / STATE_FILE).is_file():
        _set_aside(folder).replace(folder)
    if not (folder / STATE_FILE).is_file():
        raise ModelError(f"no checkpoint in {folder}", expected=STATE_FILE, fix="run without resume=true")


def clear_leftovers(folder: Path) -> None:
    """Remove what a run that was killed left beside its checkpoint.  No other run may be in the folder."""
    shutil.rmtree(_partial(folder), ignore_errors=True)
    if (folder / STATE_FILE).is_file():  # else `find_checkpoint` needs what was set aside
        shutil.rmtree(_set_aside(folder), ignore_errors=True)


def save_checkpoint(
    folder: Path,
    model: models.Model,
    tensors: Mapping[str, torch.Tensor],
    state: TrainState,
    config: TrainConfig,
) -> None:
    """Write to a second folder and rename it, so that a crash never leaves half a checkpoint, or none.

    tensors: what the next step depends on besides the weights; see `optimiser_state`.
    The model of the run's best step is written again into the folder `best`, and of `config.keep` checkpoints those
    before this one stay in folders named after their steps.  All of it takes its place at once.

    Raises ConfigError for a broken model, and OutputError if there is no room; the last checkpoint stays.
    """
    if broken_weights(model.network):
        raise ConfigError(
            f"weights that are not finite after step {state.step}", expected="finite weights", fix="lower optim.lr"
        )
    partial = _partial(folder)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        models.save(model, partial)
        with writing_folder(partial):
            if state.best is not None and state.best_step == state.step:
                copy_best(partial, {"step": state.step, state.score: state.best})
            settings.save(config, partial / TRAIN_FILE)
            (partial / STATE_FILE).write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
            save_file(dict(tensors), partial / OPTIMISER_FILE)
            if (folder / STATE_FILE).is_file():
                keep_earlier(folder, partial, read_state(folder).step, state.step, config.keep)
            if folder.exists():
                carry_over(folder, partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)  # on a full disk it takes the room that is missing
        raise
    _replace(folder, partial)


def read_state(folder: Path) -> TrainState:
    """Read the state of a checkpoint's run."""
    return TrainState(**json.loads((folder / STATE_FILE).read_text(encoding="utf-8")))


def _partial(folder: Path) -> Path:
    """Where a checkpoint is written before it takes its place."""
    return folder.with_name(folder.name + ".partial")


def _set_aside(folder: Path) -> Path:
    """Where a checkpoint lies while its successor takes its place; not a name that people give to backups."""
    return folder.with_name(folder.name + ".replaced")


def _replace(folder: Path, successor: Path) -> None:
    """Rename twice."""
    aside = _set_aside(folder)
    shutil.rmtree(aside, ignore_errors=True)
    if folder.exists():
        folder.replace(aside)
    take_place(successor, folder)
    shutil.rmtree(aside, ignore_errors=True)


def copy_best(folder: Path, score: dict[str, float]) -> None:
    """Copy the model in a folder, in which nothing else stands yet, to its `best`, with the score that it got.

    A copy and no link: who changes the best model's settings by hand does not change the run's.
    """
    files = [path for path in folder.iterdir() if path.is_file()]
    (folder / BEST).mkdir()
    for path in files:
        shutil.copy2(path, folder / BEST / path.name)
    (folder / BEST / SCORE_FILE).write_text(json.dumps(score) + "\n", encoding="utf-8")


def keep_earlier(folder: Path, successor: Path, step: int, next_step: int, keep: int) -> None:
    """Link into the successor the checkpoint of a folder, and earlier ones there, so that `keep` are kept with it."""
    if keep > 1 and step != next_step:
        earlier = successor / f"checkpoint-{step}"
        earlier.mkdir()
        for path in folder.iterdir():
            if path.is_file() and (path.name == TAGGER_FILE or (successor / path.name).is_file()):
                _link(path, earlier / path.name)
    room = keep - 1 - len(_checkpoints(successor))
    for path in _checkpoints(folder)[:room] if room > 0 else ():
        if not (successor / path.name).exists() and path.name != f"checkpoint-{next_step}":
            shutil.copytree(path, successor / path.name, copy_function=_link)


def carry_over(folder: Path, successor: Path) -> None:
    """Link the best model of a folder into its successor, and copy what is no part of a checkpoint: cards, notes.

    The run's report stays behind: it is about the weights that are replaced.
    """
    earlier = {path.name for path in _checkpoints(folder)}
    for path in folder.iterdir():
        if path.name in _OUTDATED or path.name in earlier or (successor / path.name).exists():
            continue
        if path.is_dir():
            shutil.copytree(path, successor / path.name, copy_function=_link if path.name == BEST else shutil.copy2)
        else:
            shutil.copy2(path, successor / path.name)


def _checkpoints(folder: Path) -> list[Path]:
    """The earlier checkpoints in a folder, the last one first."""
    checkpoints = [path for path in folder.iterdir() if re.fullmatch(r"checkpoint-\d+", path.name)]
    return sorted(checkpoints, key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)


def _link(source: str | Path, target: str | Path) -> None:
    """A second name for a file; a copy where the file system has no such names."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
