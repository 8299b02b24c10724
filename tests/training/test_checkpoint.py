import os
import re
import resource
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from command import Invoke
from left_by_runs import log_lines, weights
from safetensors.torch import load_file
from tiny import TINY_SHAPE

from t5punct import __version__
from t5punct import config as settings
from t5punct import model as models
from t5punct.errors import ConfigError, ModelError
from t5punct.t5.task import TaskConfig
from t5punct.training.checkpoint import read_state
from t5punct.training.config import LossConfig, OptimConfig, TrainConfig
from t5punct.training.loop.train import train
from t5punct.training.tensors import place_like


@pytest.fixture
def config(config: TrainConfig) -> TrainConfig:
    """Ten steps with hardly a default among the settings; with dropout, so that the random state counts."""
    optim = OptimConfig(
        lr=3e-3, schedule="cosine", warmup_steps=3, max_steps=10, weight_decay=0.01,
        clip_norm=0.5, accumulation_steps=2,
    )  # fmt: skip
    dropout = {**asdict(TINY_SHAPE), "dropout_rate": 0.1}
    return replace(config, fresh=dropout, optim=optim, checkpoint_every_steps=5, log_every_steps=3, seed=3)


def with_optim(config: TrainConfig, **changes: object) -> TrainConfig:
    return replace(config, optim=replace(config.optim, **changes))  # type: ignore[arg-type]


def logged(folder: Path) -> list[dict[str, float]]:
    """The lines of a run's log, without its speed."""
    return [{name: value for name, value in line.items() if name != "words_per_second"} for line in log_lines(folder)]


@pytest.mark.parametrize("in_later_epoch", [False, True])
def test_ten_steps_are_five_and_five(
    config: TrainConfig, cut_short: Callable[[TrainConfig], None], tmp_path: Path, in_later_epoch: bool
) -> None:
    if in_later_epoch:  # some 100 windows of 14 tokens are 3 batches an epoch, so that step 5 is in the fourth of them
        config = replace(config, data=replace(config.data, batch_tokens=2500))
        config = with_optim(config, accumulation_steps=1)
    whole, parted = train(config), tmp_path / "parted"
    cut_short(replace(config, output=str(parted)))
    five, state = weights(parted), read_state(parted)
    assert state.step == 5 and (state.epoch > 0) == in_later_epoch
    torch.manual_seed(99)  # another process begins elsewhere
    train(replace(config, output=str(parted), resume=True))
    assert weights(parted) != five
    for file in ("model", "optimiser"):
        wanted, resumed = (load_file(folder / f"{file}.safetensors") for folder in (whole, parted))
        assert wanted.keys() == resumed.keys()
        for key, tensor in wanted.items():
            torch.testing.assert_close(resumed[key], tensor, rtol=0.0, atol=1e-6)
    assert (whole / "state.json").read_text() == (parted / "state.json").read_text()
    assert logged(parted) == logged(whole)
    assert [line["step"] for line in logged(whole)] == [3, 5, 8, 10], "a checkpoint ends a line"


def test_a_checkpoint_is_a_model_with_its_settings_and_without_pickle(config: TrainConfig) -> None:
    config = with_optim(config, max_steps=2)
    folder = train(config)
    for path in folder.iterdir():
        assert path.suffix in (".safetensors", ".json", ".yaml", ".txt")
        assert path.read_bytes()[:2] not in (b"\x80\x02", b"\x80\x04", b"PK")  # pickles, and torch's zipped pickles
    assert settings.load(TrainConfig, folder / "train.yaml") == config
    assert (folder / "t5punct-version.txt").read_text().strip() == __version__
    assert not folder.with_name("run.partial").exists()
    assert {
        "rng",
        "optimiser.network.shared.weight/exp_avg",
        "optimiser.network.encoder.block.0.layer.0.SelfAttention.q.weight/exp_avg_sq",
    } <= load_file(folder / "optimiser.safetensors").keys()
    assert {"marks.weight", "cases.bias"} <= load_file(folder / "tagger.safetensors").keys()
    model = models.load(folder)
    assert model.task == TaskConfig()
    assert not model.network.training


def test_a_run_is_not_begun_anew_over_itself_and_a_cut_between_the_two_renames_loses_nothing(
    config: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = with_optim(config, max_steps=1)
    folder = train(config)
    before, rename, renamed = weights(folder), Path.replace, []
    refusal = r"output .*run holds a run; .*; go on with resume=true, or choose another"
    with pytest.raises(ConfigError, match=refusal):
        train(replace(config, seed=4))

    def cut_at_the_second(path: Path, target: Path) -> Path:
        if path.is_dir():  # not the log
            renamed.append(target)
        if len(renamed) == 2:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", cut_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        train(with_optim(replace(config, resume=True), max_steps=2))
    monkeypatch.undo()
    assert not folder.exists()
    with pytest.raises(ConfigError, match=refusal):
        train(config)
    train(replace(config, resume=True))
    assert weights(folder) == before
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["run"]


def test_what_a_person_lays_into_the_folder_stays_and_a_report_of_earlier_weights_goes(config: TrainConfig) -> None:
    """A resumed run that is cut before its end has no report, and its card no scores."""
    config = with_optim(config, max_steps=1)
    folder = train(config)
    (folder / "plots").mkdir()
    stays, goes = ("README.md", "notes.md", "plots/loss.txt"), ("report.md", "report.json")
    for name in (*stays, *goes):
        (folder / name).write_text(name)
    train(with_optim(replace(config, resume=True), max_steps=2))
    assert read_state(folder).step == 2
    assert [(folder / name).read_text() for name in stays] == list(stays)
    assert not list(folder.glob("report.*"))


def test_a_resumed_run_may_begin_or_drop_its_tagger(config: TrainConfig) -> None:
    config = with_optim(replace(config, loss=LossConfig()), max_steps=1)
    folder = train(config)
    for n_steps, weight in ((2, 0.5), (3, 0.0)):
        later = replace(config, resume=True, loss=LossConfig(tagger_weight=weight))
        train(with_optim(later, max_steps=n_steps))
        assert read_state(folder).step == n_steps
        assert (folder / "tagger.safetensors").exists() == bool(weight)


def test_resuming_from_nothing_is_refused(config: TrainConfig, tiny_model: models.Model, tmp_path: Path) -> None:
    refusal = r"no checkpoint in .*run; expected state.json; run without resume=true"
    with pytest.raises(ModelError, match=refusal):
        train(replace(config, resume=True))
    models.save(tiny_model, tmp_path / "run")  # a model, but no checkpoint
    with pytest.raises(ModelError, match=refusal):
        train(replace(config, resume=True))


def test_a_folder_of_other_things_is_never_overwritten(config: TrainConfig, tmp_path: Path) -> None:
    precious = tmp_path / "run" / "thesis.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    with pytest.raises(ConfigError, match=r"output .*run holds other files; expected a new or empty folder"):
        train(config)
    assert precious.read_text() == "mine"


HERE = "is the folder that this command is given in, or holds it"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (".", HERE), ("..", HERE), ("{0}/here", HERE), ("{0}/file", "file is a file"), ("{0}/file/run", "is a file"),
        ("{0}/here/../model", "is also init_from"), ("{0}/bundled/base", "is where the package's own models are"),
    ],
)  # fmt: skip
def test_an_output_that_holds_something_else_is_refused_in_a_resumed_run_too(
    config: TrainConfig, tiny_model: models.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str,
    reason: str,
) -> None:  # fmt: skip
    models.save(tiny_model, tmp_path / "model")
    monkeypatch.setattr(models, "bundled_root", lambda: tmp_path / "bundled")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    begun = replace(config, init_from=str(tmp_path / "model"), output=output.format(tmp_path))
    for resume in (False, True):
        with pytest.raises(ConfigError, match=f"{reason}; expected"):
            train(replace(begun, resume=resume))


def test_a_step_count_that_is_a_tensor_goes_where_its_parameter_is() -> None:
    """AdamW, fused, reads it there; `meta` stands for a GPU."""
    parameter = torch.zeros(2, device="meta")
    assert place_like(parameter, torch.tensor(3.0)).device == parameter.device
    assert place_like(torch.zeros(2), torch.tensor(3)) == 3


def test_a_full_disk_is_one_clear_line_and_leaves_the_last_checkpoint(config: TrainConfig, invoke: Invoke) -> None:
    folder = train(with_optim(config, max_steps=1))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    settings.save(with_optim(replace(config, resume=True), max_steps=2), folder.with_name("later.yaml"))
    largest = (folder / "model.safetensors").stat().st_size + 100  # room for the weights, none for the optimiser
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, most[1]))
        code, _, err = invoke("train", "--config", folder.with_name("later.yaml"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert code == 2
    line = r"^t5punct: .*run.partial cannot be written \(.*File too large.*\); expected a folder with room .*\n\Z"
    assert re.search(line, err, re.MULTILINE)
    assert "Traceback" not in err
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert not folder.with_name("run.partial").exists()


def test_all_of_a_checkpoint_may_be_read_by_those_who_may_read_new_files(config: TrainConfig) -> None:
    umask = os.umask(0o022)
    try:
        folder = train(with_optim(config, max_steps=1))
    finally:
        os.umask(umask)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert "optimiser.safetensors" in modes
    assert set(modes.values()) == {0o644}, modes
