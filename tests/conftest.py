"""Fixtures that many tests share: a tiny tokenizer, and a tiny T5 with random weights."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before transformers and datasets are imported
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin take a busy machine from whom they wait for

from command import Invoke

if TYPE_CHECKING:
    from t5punct import model as models

# a shell has interrupts ignored in what it starts in the background, as nohup has hang-ups, and tests send both
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# on a busy machine anything may take long
settings.register_profile(
    "steady",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--without-torch", action="store_true", help="an import of torch is an error")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--without-torch"):
        sys.modules["torch"] = None  # type: ignore[assignment]  # then an import of it raises


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without torch there are no models: leave out what needs one."""
    if config.getoption("--without-torch"):
        items[:] = [item for item in items if "tiny_tokenizer_folder" not in getattr(item, "fixturenames", ())]


@pytest.fixture(scope="session")
def tiny_tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 tokenizer of about 500 pieces, byte fallback and sentinels included."""
    from from_scratch import train_tokenizer
    from tiny import tiny_text

    folder = tmp_path_factory.mktemp("tiny-tokenizer")
    sentences = tiny_text(400, seed=1)
    train_tokenizer([*sentences, *(sentence.lower() for sentence in sentences)], folder, 500)
    return folder


@pytest.fixture(scope="session")
def tiny_model(tiny_tokenizer_folder: Path) -> models.Model:
    """A T5 of 2 + 2 layers with seeded random weights, ready for inference.  Shared: do not train it."""
    import torch
    from from_scratch import fresh
    from tiny import TINY_SHAPE

    from t5punct import model as models
    from t5punct.t5.task import TaskConfig

    tokenizer = models.load_tokenizer(tiny_tokenizer_folder, TaskConfig())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = fresh(TINY_SHAPE, tokenizer)
    model.network.eval()
    return model


@pytest.fixture(scope="session")
def lively_model(tiny_model: models.Model) -> models.Model:
    """The tiny model with larger weights: it writes marks in some slots and none in others."""
    import copy

    import torch

    from t5punct import model as models

    network = copy.deepcopy(tiny_model.network)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.5)
    return models.Model(network, tiny_model.tokenizer, "lively")


@pytest.fixture(scope="session")
def lively_folder(lively_model: models.Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The lively model, saved.  Shared: do not write into it."""
    from t5punct import model as models

    folder = tmp_path_factory.mktemp("lively")
    models.save(lively_model, folder)
    return str(folder)


@pytest.fixture(scope="session")
def tagged_model(tiny_model: models.Model) -> models.Model:
    """The tiny model with a tagger of random weights, so that it knows every decoder."""
    from dataclasses import replace

    import torch
    from tiny import TINY_SHAPE

    from t5punct.t5.tagger import Tagger

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        return replace(tiny_model, tagger=Tagger(TINY_SHAPE.d_model, tiny_model.task.marks))


@pytest.fixture(scope="session")
def signing_model(lively_model: models.Model) -> models.Model:
    """The lively model, which knows disfluencies and finds them, with a tagger, in about every fourth slot."""
    from dataclasses import replace

    import torch
    from tiny import TINY_SHAPE

    from t5punct.t5.tagger import Tagger
    from t5punct.text.marks import DISFLUENT
    from t5punct.training.starting_model import with_disfluencies

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(3)
        tagger = Tagger(TINY_SHAPE.d_model, lively_model.task.marks).requires_grad_(False)
        model = with_disfluencies(replace(lively_model, tagger=tagger))
        assert model.tagger is not None
        model.tagger.marks.weight[-1].copy_(1.5 * torch.randn(TINY_SHAPE.d_model))
        rows = model.network.shared.weight
        rows[model.tokenizer.mark_ids[DISFLUENT][0]].copy_(rows.std() * 1.2 * torch.randn(TINY_SHAPE.d_model))
    return model


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prepared data set of some hundred short windows, made from `tiny_text`."""
    from datasets.utils.logging import disable_progress_bar
    from tiny import tiny_text

    from t5punct.training.data.corpora import CorpusConfig
    from t5punct.training.data.prepare import ChunkConfig, PrepareConfig, prepare

    disable_progress_bar()
    folder = tmp_path_factory.mktemp("tiny-data")
    (folder / "talks.txt").write_text("\n".join(" ".join(tiny_text(20, seed)) for seed in range(20)))
    output = folder / "prepared"
    prepare(PrepareConfig(str(output), str(folder), [CorpusConfig("talks.txt")], ChunkConfig(4, 12), holdout_percent=5))
    return output


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command in this process."""

    def run(*arguments: object) -> tuple[int, str, str]:
        from t5punct.cli import main

        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def folder(tiny_model: models.Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved model that knows nothing, for commands that work with any.  Shared: do not write into it."""
    from t5punct import model as models

    path = tmp_path_factory.mktemp("model")
    models.save(tiny_model, path)
    return str(path)


@pytest.fixture(scope="session")
def dropout_folder(folder: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same with dropout, so that the random state of a run counts.  Shared: do not write into it."""
    import json
    import shutil

    path = tmp_path_factory.mktemp("dropout")
    shutil.copytree(folder, path, dirs_exist_ok=True)
    config = path / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "dropout_rate": 0.1}))
    return str(path)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Two lines without marks, on disk."""
    path = tmp_path / "talk.txt"
    path.write_text("we know that right\nand you\n", encoding="utf-8")
    return path
