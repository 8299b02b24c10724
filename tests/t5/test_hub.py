"""Models of the hub, in a cache that the test fills, without a network; no folder runs code or asks anybody."""

import json
import logging
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import huggingface_hub
import pytest
import torch
from command import Invoke
from from_encoder import from_encoder
from huggingface_hub import constants
from tiny_encoders import save_tiny_encoder
from transformers import PreTrainedModel

from t5punct import model as models
from t5punct.errors import ConfigError, ModelError
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.t5.folder import locate
from t5punct.t5.tagger import Tagger
from t5punct.t5.task import TaskConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare

HUB_ID, OLD, NEW = "someone/punct", "0" * 40, "1" * 40
TASK = TaskConfig(marks=",.", styles=["song"], default_style="song", mark_odds={",": 3.0})
OLD_TASK = replace(TASK, marks=",", mark_odds={})


@pytest.fixture
def cache(tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with a tuned model: commit `OLD`, tagged `v1`, knows one mark less than `NEW`, which is `main`."""
    cache = tmp_path / "cache"
    repository = cache / "models--someone--punct"
    for commit, name, task in ((OLD, "v1", OLD_TASK), (NEW, "main", TASK)):
        tuned = tiny_model.with_task(**vars(task))
        tagger = Tagger(tiny_model.network.config.d_model, task.marks)
        models.save(replace(tuned, tagger=tagger), repository / "snapshots" / commit)
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / name).write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)
    return cache


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(("revision", "name", "task"), [
    (None, HUB_ID, TASK), ("v1", f"{HUB_ID}@v1", OLD_TASK), (OLD, f"{HUB_ID}@{OLD}", OLD_TASK),
])  # fmt: skip
def test_a_model_of_the_hub_keeps_its_task_in_each_revision(revision: str | None, name: str, task: TaskConfig) -> None:
    model = Punctuator.from_pretrained(HUB_ID, revision=revision).model
    assert (model.task, model.tuned) == (task, True)
    assert model.tagger is not None and model.tagger.mark_classes == ("", *task.marks)
    assert model.name == name, "what a score is signed with"


@pytest.mark.usefixtures("cache")
def test_a_data_set_has_the_styles_of_the_model() -> None:
    with pytest.raises(ConfigError, match="style 'talk'; expected one of song"):
        prepare(PrepareConfig("out", corpora=[CorpusConfig("talks.txt", "talk")], tokenizer=HUB_ID))


@pytest.mark.usefixtures("cache")
def test_the_command_line_takes_a_revision(tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "talk.txt").write_text("we know that")
    run = partial(invoke, "punctuate", "talk.txt", "--model", HUB_ID, "--style", "song", "--marks", ".")
    assert run()[::2] == (0, "")
    assert run("revision=v1")[::2] == (2, "t5punct: marks '.'; expected some of ','; check --marks\n")
    code, _, error = run("revision=v9")
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith(f"t5punct: no model {HUB_ID} in revision v9 on the hub (")


def test_a_folder_has_no_revision_and_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    with pytest.raises(ModelError, match=r"revision v1 of the folder .*; expected a hub id; drop revision"):
        models.load(tmp_path, revision="v1")
    with pytest.raises(ModelError, match="revision v1 of the folder"):
        models.load(revision="v1")
    shutil.copytree(cache / "models--someone--punct/snapshots" / OLD, tmp_path / HUB_ID)
    monkeypatch.chdir(tmp_path)
    assert locate(HUB_ID, "model", None, known=()) == Path(HUB_ID)
    assert models.load(HUB_ID).task.marks == ","


def test_a_t5_that_was_never_tuned_is_used_with_a_warning(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    Punctuator.from_pretrained(HUB_ID)
    assert not caplog.records
    for name in (models.TASK_FILE, models.TAGGER_FILE):
        for file in cache.rglob(name):
            file.unlink()
    models.load(HUB_ID)  # to be trained on, say
    assert not caplog.records
    Punctuator.from_pretrained(HUB_ID)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f"{HUB_ID} has no t5punct.yaml")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that the hub is asked for, from an empty folder; it finds nothing."""
    asked: list[str] = []
    monkeypatch.chdir(tmp_path)

    def nothing(hub_id: str, **_: object) -> None:
        asked.append(hub_id)
        raise OSError("nothing of that name")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", nothing)
    return asked


def test_what_looks_like_a_path_is_not_asked_of_the_hub_and_a_hub_id_is(tmp_path: Path, asked: list[str]) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "file").write_text("no model")
    for source in "runs/nomodel ./nomodel ../nomodel ~/nomodel ~nobody/nomodel /nomodel a/b/c file".split():
        expected = r"expected a T5 folder or hub id .OWNER/NAME., or one of base, .*; check the name"
        with pytest.raises(ModelError, match=f"no model folder .*; {expected}"):
            models.load(source)
    assert asked == []
    with pytest.raises(ModelError, match=r"no model google-t5/t5-small on the hub .nothing of that name.; .* network"):
        models.load("google-t5/t5-small")
    assert asked == ["google-t5/t5-small"]


@pytest.mark.parametrize(("source", "fix"), [
    ("larg", "did you mean large?"), ("lar", "did you mean large?"), ("Smal", "did you mean small?"),
    ("t5-small", "check the name"),
])  # fmt: skip
def test_a_mistyped_name_is_not_asked_of_the_hub_but_corrected(source: str, fix: str, asked: list[str]) -> None:
    with pytest.raises(ModelError) as refused:
        models.load(source)
    assert (refused.value.found, refused.value.fix, asked) == (f"no model folder {source}", fix, [])
    with pytest.raises(ModelError) as refused:
        models.load_tokenizer(source, TaskConfig())
    assert (refused.value.found, refused.value.fix, asked) == (f"no tokenizer folder {source}", fix, [])


# -- folders


CODE = "import pathlib\npathlib.Path('{mark}').write_text('it ran')\nraise SystemExit\n"


@pytest.fixture(params=["code.Anything", "evil/repository--code.Anything"])
def harmful(tiny_model: Model, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """A folder whose config names code, beside it or of another repository, and the file that the code would write."""
    folder, mark = tmp_path / "model", tmp_path / "mark"
    models.save(tiny_model, folder)
    config = json.loads((folder / "config.json").read_text())
    del config["model_type"]
    kinds = ("AutoConfig", "AutoModel", "AutoModelForSeq2SeqLM")
    config["auto_map"] = dict.fromkeys(kinds, request.param)
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer["auto_map"] = {"AutoTokenizer": [request.param, None]}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "code.py").write_text(CODE.format(mark=mark))
    return folder, mark


def test_a_folder_without_a_model_type_is_refused_and_runs_no_code(harmful: tuple[Path, Path]) -> None:
    folder, mark = harmful
    for load in (models.load, from_encoder):
        with pytest.raises(ModelError, match=r"config.json without a model_type; expected the config of "):
            load(folder)
    assert not mark.exists()


def test_a_model_type_with_code_is_loaded_by_transformers(harmful: tuple[Path, Path], tiny_model: Model) -> None:
    folder, mark = harmful
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "t5"}))
    ids = torch.tensor([[5, 6, 1]])
    loaded = models.load(folder)
    assert torch.equal(loaded.encode(ids, torch.ones_like(ids)), tiny_model.encode(ids, torch.ones_like(ids)))
    assert not mark.exists()


def test_models_are_loaded_in_threads(tiny_model: Model, folder: str, tmp_path: Path) -> None:
    save_tiny_encoder(tmp_path / "mpnet", "mpnet")
    ties = PreTrainedModel.tie_weights
    ids = torch.tensor([[5, 6, 1]])
    wanted = tiny_model.encode(ids, torch.ones_like(ids))

    def load(number: int) -> bool:
        if number % 2:
            return from_encoder(tmp_path / "mpnet").task.inline_case
        return torch.equal(models.load(folder).encode(ids, torch.ones_like(ids)), wanted)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(load, range(12)))
    assert PreTrainedModel.tie_weights is ties
