"""Checkpoints: what is saved, when, and that a run which goes on from one equals a run that never stopped."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from command import Invoke
from datasets import load_from_disk
from left_by_runs import full_disk, log_lines, weights
from safetensors.torch import load_file

from t5punct import __version__
from t5punct import config as settings
from t5punct import model as models
from t5punct.errors import ConfigError, ModelError
from t5punct.t5.task import TaskConfig
from t5punct.training import checkpoint
from t5punct.training.checkpoint import TrainState, check_same_run, read_state, save_checkpoint
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop import train as loop
from t5punct.training.loop.train import build, train
from t5punct.training.loop.validation import Validator
from t5punct.training.report import compose_card
from t5punct.training.tensors import collect_tensors


def with_optim(config: TrainConfig, **changes: object) -> TrainConfig:
    return replace(config, optim=replace(config.optim, **changes))  # type: ignore[arg-type]


def logged(folder: Path) -> list[dict[str, float]]:
    """The lines of a run's log, without its speed."""
    return [{name: value for name, value in line.items() if name != "words_per_second"} for line in log_lines(folder)]


def test_a_checkpoint_is_a_model_with_its_settings_without_pickle_and_may_be_read(config: TrainConfig) -> None:
    umask = os.umask(0o022)
    try:
        folder = train(config)
    finally:
        os.umask(umask)
    for path in folder.iterdir():
        assert path.suffix in (".safetensors", ".json", ".yaml", ".txt")
        assert path.read_bytes()[:2] not in (b"\x80\x02", b"\x80\x04", b"PK")  # pickles, and torch's zipped pickles
        assert path.stat().st_mode & 0o777 == 0o644, "by those who may read new files"
    assert settings.load(TrainConfig, folder / "train.yaml") == config
    assert (folder / "t5punct-version.txt").read_text().strip() == __version__
    assert not folder.with_name("run.partial").exists()
    assert {"rng", "optimiser.network.shared.weight/exp_avg"} <= load_file(folder / "optimiser.safetensors").keys()
    assert {"marks.weight", "cases.bias"} <= load_file(folder / "tagger.safetensors").keys()
    model = models.load(folder)
    assert model.task == TaskConfig() and not model.network.training


def test_a_run_is_not_begun_anew_over_itself_nor_over_what_a_crash_left_aside(config: TrainConfig) -> None:
    config = with_optim(config, max_steps=1)
    folder = train(config)
    before = weights(folder)
    for place in (folder, folder.with_name("run.replaced")):
        folder.rename(place)
        with pytest.raises(ConfigError, match=r"output .*run holds a run; .*; go on with resume=true, or choose ano"):
            train(replace(config, seed=4))
    train(replace(config, resume=True))
    assert weights(folder) == before
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["run"]


def test_what_a_person_lays_into_the_folder_stays_and_a_report_of_earlier_weights_goes(config: TrainConfig) -> None:
    """A resumed run that is cut before its end has no report, and its card no scores."""
    folder = train(with_optim(config, max_steps=1))
    (folder / "plots").mkdir()
    stays = ("README.md", "notes.md", "plots/loss.txt")
    for name in (*stays, "report.md", "report.json"):
        (folder / name).write_text(name)
    train(with_optim(replace(config, resume=True), max_steps=2))
    assert read_state(folder).step == 2
    assert [(folder / name).read_text() for name in stays] == list(stays)
    assert not list(folder.glob("report.*"))


def test_a_resumed_run_may_begin_or_drop_its_tagger(config: TrainConfig) -> None:
    folder = train(with_optim(replace(config, loss=LossConfig()), max_steps=1))
    for n_steps, weight in ((2, 0.5), (3, 0.0)):
        later = replace(config, resume=True, loss=LossConfig(tagger_weight=weight))
        train(with_optim(later, max_steps=n_steps))
        assert read_state(folder).step == n_steps
        assert (folder / "tagger.safetensors").exists() == bool(weight)


def test_an_output_that_holds_something_else_is_refused(
    config: TrainConfig, tiny_model: models.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.save(tiny_model, tmp_path / "model")
    (tmp_path / "here").mkdir()
    for name in ("file", "here/thesis.txt"):
        (tmp_path / name).write_text("mine")
    for name in ("here", "file", "model"):  # the last is init_from
        begun = replace(config, init_from=str(tmp_path / "model"), output=str(tmp_path / name))
        with pytest.raises(ConfigError, match="is a file or holds other files; expected a new or empty folder"):
            train(begun)
        with pytest.raises(ModelError, match=rf"no checkpoint in .*{name}; expected state.json; run without resume"):
            train(replace(begun, resume=True))
    assert (tmp_path / "here/thesis.txt").read_text() == "mine"
    monkeypatch.chdir(tmp_path / "here")
    for output in (".", "..", str(tmp_path / "here")):
        for resume in (False, True):
            with pytest.raises(ConfigError, match="is the folder that this command is given in, or holds it; expected"):
                train(replace(config, output=output, resume=resume))


def test_a_full_disk_is_one_clear_line_and_leaves_the_last_checkpoint(config: TrainConfig, invoke: Invoke) -> None:
    folder = train(with_optim(config, max_steps=1))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    settings.save(with_optim(replace(config, resume=True), max_steps=2), folder.with_name("later.yaml"))
    with full_disk(len(weights(folder)) + 100):  # room for the weights, none for the optimiser
        code, _, err = invoke("train", "--config", folder.with_name("later.yaml"))
    assert code == 2
    line = r"^t5punct: .*run.partial cannot be written \(.*File too large.*\); expected a folder with room .*\n\Z"
    assert re.search(line, err, re.MULTILINE)
    assert "Traceback" not in err
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert not folder.with_name("run.partial").exists()


LOSSES = {1: 5.0, 2: 4.0, 3: 2.0, 4: 3.0, 5: 2.5, 6: 2.1, 7: 2.2, 8: 2.3}  # the best one at step 3


class Cut(Exception):
    """The power went off."""


@pytest.fixture
def long(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> TrainConfig:
    """Eight steps, with scripted losses, and a checkpoint after every second."""
    monkeypatch.setattr(
        Validator, "measure", lambda _self, _model, step: {"step": step, "validation_loss": LOSSES[step]}
    )
    return with_optim(replace(config, checkpoint_every_steps=2), max_steps=8)


def test_the_best_model_is_kept_while_the_run_goes_on(long: TrainConfig, tmp_path: Path) -> None:
    validated = replace(long, validation=ValidationConfig(every_steps=1))
    folder = train(validated)
    assert json.loads((folder / "best" / "score.json").read_text()) == {"step": 3, "loss": 2.0}
    assert weights(folder / "best") != weights(folder)
    best = models.load(folder / "best")
    assert best.tagger is not None and best.task == models.load(folder).task
    assert not (folder / "best" / "state.json").exists(), "a model, no checkpoint"
    of_best, of_last = (compose_card(path, best.task, "mine") for path in (folder / "best", folder))
    assert of_best == of_last and "| talks.txt |" in of_best, "its card says what it learned from"
    plain = train(replace(long, output=str(tmp_path / "plain")))
    assert weights(plain) == weights(folder)
    assert not [path for path in plain.iterdir() if path.is_dir()], "nothing but the last checkpoint unless asked for"


def test_a_cut_at_any_moment_leaves_whole_checkpoints_and_the_best(
    long: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut before each step of writing, one after the other; SIGKILL tidies nothing up, so nothing is tidied here."""
    run = build(long)
    folder, tensors = Path(run.config.output), collect_tensors(run.objective, run.optimiser, run.accelerator)
    places = [
        (shutil, "rmtree"), (shutil, "copytree"), (shutil, "copyfile"), (checkpoint, "save_file"),
        (Path, "replace"), (models, "save"),
    ]  # fmt: skip

    def save(step: int, best_step: int) -> None:
        state = TrainState(step, score="loss", best=1.0, best_step=best_step)
        save_checkpoint(folder, run.model, tensors, state, run.config)

    def counted(function: Callable[..., object], left: list[int]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            left[0] -= 1
            if left[0] < 0:  # from here on nothing runs, tidying up neither
                raise Cut
            return function(*arguments, **options)

        return call

    save(1, best_step=1)
    save(2, best_step=1)
    names = load_file(folder / "model.safetensors").keys()
    before, n_cuts, done = 2, 0, False
    while not done:
        is_best = read_state(folder).best_step == 3  # a cut after the last rename
        with monkeypatch.context() as patch:
            left = [n_cuts]
            for owner, name in places:
                patch.setattr(owner, name, counted(getattr(owner, name), left))
            try:
                save(3, best_step=3 if n_cuts % 2 or is_best else 1)
                done = True
            except Cut:
                n_cuts += 1
        read_state(folder)  # brings back what lies aside
        assert load_file(folder / "model.safetensors").keys() == names
        assert load_file(folder / "optimiser.safetensors").keys() == tensors.keys()
        assert load_file(folder / "best" / "model.safetensors").keys() == names
        assert read_state(folder).step in (before, 3)
        before = read_state(folder).step
        best = json.loads((folder / "best" / "score.json").read_text())["step"]
        assert best == read_state(folder).best_step, "the score of the best model is that of the state"
    assert n_cuts > 8
    assert models.load(folder) and models.load(folder / "best")
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["run"]


def interrupt_at(
    monkeypatch: pytest.MonkeyPatch, step: int, times: int, number: signal.Signals = signal.SIGINT
) -> None:
    """Interrupt this process so many times while it takes a step."""
    take, left = loop.take_step, [number] * times

    def interrupt_and_take(run: loop.Run, batch: object) -> object:
        while left and run.state.step == step - 1:
            os.kill(os.getpid(), left.pop())
        return take(run, batch)

    monkeypatch.setattr(loop, "take_step", interrupt_and_take)


def test_a_short_run_is_validated_and_saved_ten_times_unless_it_has_fewer_steps(
    config: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, save = list[int](), loop.save_checkpoint

    def note_and_save(*arguments: object) -> None:
        saved.extend(value.step for value in arguments if isinstance(value, TrainState))
        save(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "save_checkpoint", note_and_save)
    folder = train(replace(config, validation=ValidationConfig(), checkpoint_every_steps=None))
    assert [line["step"] for line in log_lines(folder) if "validation_loss" in line] == saved == [1, 2, 3, 4]
    for n_steps, every in ((1, 1), (34, 3), (5000, 500), (9999, 999), (10**6, 1000)):
        assert next(step for step in range(1, 1001) if loop.is_due(step, None, n_steps)) == every
    assert not loop.is_due(3, 0, 34) and not loop.is_due(3, 100, 34), "what the config says holds"


def test_an_interrupted_run_is_saved_and_goes_on_as_if_nothing_had_been(
    config: TrainConfig, dropout_folder: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """With hardly a default among the settings; the interrupt comes in a later epoch."""
    optim = OptimConfig(lr=3e-3, schedule="cosine", warmup_steps=3, max_steps=10, accumulation_steps=2)
    data = replace(config.data, batch_tokens=2500)  # some 100 windows of 14 tokens are 3 batches an epoch
    config = replace(config, init_from=dropout_folder, optim=optim, data=data, seed=3)
    config = replace(config, log_every_steps=3, checkpoint_every_steps=5)
    whole, parted = train(config), replace(config, output=str(tmp_path / "parted"))
    folder = Path(parted.output)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, 5, times=1, number=signal.SIGTERM)
        train(parted)
    state = read_state(folder)
    assert state.step == 5 and state.epoch > 0
    assert caplog.messages == [
        "interrupted: the run ends after this step and is saved; once more, and it ends at once",
        f"stopped after step 5 of 10, saved in {folder}; resume=true goes on",
    ]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    torch.manual_seed(99)  # another process begins elsewhere
    interrupt_at(monkeypatch, step=10, times=1)  # in the last step it changes nothing
    train(replace(parted, resume=True))
    for file in ("model.safetensors", "tagger.safetensors", "optimiser.safetensors", "state.json"):
        assert (whole / file).read_bytes() == (folder / file).read_bytes(), file
    assert logged(folder) == logged(whole)
    assert [line["step"] for line in logged(folder)] == [3, 5, 8, 10], "a checkpoint ends a line"


def test_a_second_interrupt_ends_a_run_at_once(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(monkeypatch, step=3, times=2)
    with pytest.raises(KeyboardInterrupt):
        train(config)
    assert not Path(config.output).exists()


REFUSED = {
    "seed=7": r"seed 7 for a run that began with 1",
    "data.batch_tokens=300": r"data\.batch_tokens 300 for a run that began with 600",
    "data.styles.chat=2": r"data\.styles\.chat 2\.0 for a run that began with None",
    "task.marks=',.'": r"task.* for a run that began with",
}


def test_other_settings_are_refused_with_both_values_but_not_how_long_and_how_it_is_watched(
    config: TrainConfig,
) -> None:
    folder = train(with_optim(config, max_steps=2))

    def resumed(*changes: str) -> TrainConfig:
        return settings.load(TrainConfig, folder / "train.yaml", ["resume=true", *changes])

    for override, message in REFUSED.items():
        with pytest.raises(ConfigError, match=message):
            build(resumed(override))
    watched = ("validation.every_steps=3", "checkpoint_every_steps=1", "log_every_steps=1")
    build(resumed("optim.max_steps=9", "loss.tagger_weight=1", *watched))


def test_another_number_of_processes_is_refused(config: TrainConfig) -> None:
    two = TrainState(processes=2)
    with pytest.raises(ConfigError, match=r"1 processes for a run that began with 2; expected 2 processes; launch 2"):
        check_same_run(two, replace(two, processes=1), config)
    check_same_run(two, two, config)


def test_a_data_set_made_anew_at_the_same_path_is_refused(config: TrainConfig, tmp_path: Path, tiny_data: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(tiny_data, data)
    config = replace(config, data=DataConfig(str(data), batch_tokens=600))
    train(with_optim(config, max_steps=2))
    again = replace(config, resume=True)
    build(again)
    shutil.rmtree(data / "train")
    load_from_disk(str(tiny_data / "train")).shuffle(seed=5).save_to_disk(str(data / "train"))  # as many chunks
    with pytest.raises(ConfigError, match=rf"other chunks in {data} than the run began with; expected .*; put it back"):
        build(again)
