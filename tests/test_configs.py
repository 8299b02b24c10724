"""Every YAML in configs/ opens with its launch command and is valid for it."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from t5punct import config
from t5punct import model as models
from t5punct.data.prepare import PrepareConfig
from t5punct.errors import ConfigError
from t5punct.training.config import TrainConfig

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "configs").rglob("*.yaml"))


def _schema(command: str) -> type[object]:
    """The config class of a command; a benchmark is no part of the package, so its folder is put on the path."""
    if command.startswith("python benchmarks/"):
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT / "benchmarks")  # as it is for a script
            found: type[object] = importlib.import_module(Path(command).stem).StudyConfig
        return found
    return {"t5punct prepare": PrepareConfig, "python train.py": TrainConfig}[command]


def test_the_configs_are_found() -> None:
    assert len(FILES) == 25, "count them here when one is added"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_config_opens_with_a_launch_command_that_its_values_fit(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    match = re.fullmatch(r"# (t5punct prepare|python \S+\.py) --config (\S+)((?: \S+=\S+)*)", first)
    assert match, first
    assert ROOT / match[2] == path
    config.load(_schema(match[1]), path, match[3].split())


def test_a_misspelt_key_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    good = ROOT / "configs" / "prepare-short.yaml"
    path.write_text(good.read_text(encoding="utf-8") + "outptu: x\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown setting 'outptu'"):
        config.load(PrepareConfig, path)


@pytest.mark.parametrize("target", ["model", "model-gpu"])
def test_make_model_runs_every_stage_once_and_in_order(tmp_path: Path, target: str) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)  # where nothing is done yet
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    printed = subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    stages = re.findall(r"configs/pretrain-\?-([\w-]+)\.yaml resume=false", printed)
    assert [f"pretrain-{number}-{name}.yaml" for number, name in enumerate(stages, start=1)] == [
        path.name
        for path in FILES
        if path.name.startswith("pretrain-") and ("-gpu-" in path.name) == (target == "model-gpu")
    ]
    for name in stages:
        stage = config.load(TrainConfig, next((ROOT / "configs").glob(f"pretrain-?-{name}.yaml")))
        assert stage.output == f"runs/{name}"
        before = printed[: printed.index(f"-{name}.yaml resume")]
        assert stage.init_from is None or f"-{Path(stage.init_from).name}.yaml resume" in before
        assert not stage.data.path or f"configs/prepare-{Path(stage.data.path).name}.yaml" in before


@pytest.mark.parametrize("name", ["pretrain-1-warmup", "pretrain-1-gpu-warmup"])
def test_a_model_that_is_made_to_ship_is_below_64_mib(name: str) -> None:
    shape = config.load(TrainConfig, ROOT / "configs" / f"{name}.yaml").fresh
    network = models.fresh(shape, models.load().tokenizer).network
    assert 2 * sum(parameter.numel() for parameter in network.parameters()) < 64 * 2**20, "in bf16"
