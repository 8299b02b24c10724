"""The best model and the last checkpoint in a run's folder; whole ones, whenever a run is cut."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from left_by_runs import weights
from safetensors.torch import load_file

from t5punct import model as models
from t5punct.training import checkpoint
from t5punct.training.checkpoint import (
    TrainState,
    clear_leftovers,
    find_checkpoint,
    read_state,
    save_checkpoint,
)
from t5punct.training.config import TrainConfig, ValidationConfig
from t5punct.training.loop.train import build, train
from t5punct.training.loop.validation import Validator
from t5punct.training.tensors import collect_tensors

LOSSES = {1: 5.0, 2: 4.0, 3: 2.0, 4: 3.0, 5: 2.5, 6: 2.1, 7: 2.2, 8: 2.3}  # the best one at step 3


class Cut(Exception):
    """The power went off."""


@pytest.fixture
def long(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> TrainConfig:
    """Eight steps, with scripted losses, and a checkpoint after every second."""
    monkeypatch.setattr(Validator, "line", lambda _self, _model, step: {"step": step, "validation_loss": LOSSES[step]})
    return replace(config, optim=replace(config.optim, max_steps=8), checkpoint_every_steps=2)


def test_the_best_model_is_kept_while_the_run_goes_on(long: TrainConfig, tmp_path: Path) -> None:
    folder = train(replace(long, validation=ValidationConfig(every_steps=1)))
    assert json.loads((folder / "best" / "score.json").read_text()) == {"step": 3, "loss": 2.0}
    assert weights(folder / "best") != weights(folder)
    best = models.load(folder / "best")
    assert best.tagger is not None and best.task == models.load(folder).task
    assert not (folder / "best" / "state.json").exists(), "a model, no checkpoint"
    plain = train(replace(long, output=str(tmp_path / "plain")))
    assert weights(plain) == weights(folder)
    assert not [path for path in plain.iterdir() if path.is_dir()], "nothing but the last checkpoint unless asked for"


def test_where_files_have_one_name_only_they_are_copied(long: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    optim = replace(long.optim, max_steps=4)
    folder = train(replace(long, validation=ValidationConfig(every_steps=1), optim=optim))
    assert models.load(folder / "best")


def test_a_cut_at_any_moment_leaves_whole_checkpoints_and_the_best(
    long: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut before each step of writing, one after the other; SIGKILL tidies nothing up, so nothing is tidied here."""
    run = build(long)
    folder, tensors = Path(run.config.output), collect_tensors(run.objective, run.optimiser, run.accelerator)

    def save(step: int, best_step: int) -> None:
        state = TrainState(step, score="loss", best=1.0, best_step=best_step)
        save_checkpoint(folder, run.model, tensors, state, run.config)

    def cut(n_operations: int) -> Callable[[], None]:
        left = [n_operations]
        places = [
            (shutil, "rmtree"), (shutil, "copytree"), (shutil, "copy2"), (os, "link"), (checkpoint, "save_file"),
            (Path, "replace"), (models, "save"), (checkpoint, "copy_best"),
        ]  # fmt: skip

        def counted(function: Callable[..., object]) -> Callable[..., object]:
            def call(*arguments: object, **options: object) -> object:
                left[0] -= 1
                if left[0] <= 0:  # from here on nothing runs, tidying up neither
                    raise Cut
                return function(*arguments, **options)

            return call

        for owner, name in places:
            monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
        return monkeypatch.undo

    save(1, best_step=1)
    save(2, best_step=1)
    weights_of = load_file(folder / "model.safetensors")
    before, n_cuts, done = 2, 0, False
    while not done:
        is_best = read_state(folder).best_step == 3  # a cut after the last rename
        undo = cut(n_cuts + 1)
        try:
            save(3, best_step=3 if n_cuts % 2 or is_best else 1)
            done = True
        except Cut:
            n_cuts += 1
        finally:
            undo()
        find_checkpoint(folder)
        clear_leftovers(folder)
        assert load_file(folder / "model.safetensors").keys() == weights_of.keys()
        assert load_file(folder / "optimiser.safetensors").keys() == tensors.keys()
        assert load_file(folder / "best" / "model.safetensors").keys() == weights_of.keys()
        assert read_state(folder).step in (before, 3)
        before = read_state(folder).step
        best = json.loads((folder / "best" / "score.json").read_text())["step"]
        assert best == read_state(folder).best_step, "the score of the best model is that of the state"
    assert n_cuts > 8
    assert models.load(folder) and models.load(folder / "best")
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["run"]
