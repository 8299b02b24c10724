"""Every YAML in configs/ opens with its launch command and is valid for it."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from t5punct import config
from t5punct.t5.task import TaskConfig
from t5punct.training.config import TrainConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig

ROOT = Path(__file__).parents[1]
EXPORT = "t5punct export FOLDER -o FOLDER"
SCHEMAS = {"t5punct prepare": PrepareConfig, "python train.py": TrainConfig, EXPORT: TaskConfig}
FILES = sorted((ROOT / "configs").rglob("*.yaml"))
LAUNCHERS = [path for path in FILES if path.name.startswith("accelerate-")]  # read by accelerate, not by us


@pytest.mark.parametrize("path", LAUNCHERS, ids=lambda path: path.name)
def test_a_launchers_config_opens_with_its_command_and_accelerate_knows_all_of_it(path: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser
    from accelerate.utils import FullyShardedDataParallelPlugin

    first = path.read_text(encoding="utf-8").splitlines()[0]
    match = re.fullmatch(r"# accelerate launch --config_file (\S+) train\.py --config (\S+)((?: \S+=\S+)*)", first)
    assert match, first
    assert ROOT / match[1] == path
    config.load(TrainConfig, ROOT / match[2], match[3].split())
    launcher = load_config_from_file(str(path))
    assert launcher.num_processes == 2
    known = {action.dest for action in launch_command_parser()._actions}
    assert set(launcher.fsdp_config or {}) <= known, "else the launcher would ignore them"
    if launcher.fsdp_config:
        values = {name.removeprefix("fsdp_"): value for name, value in launcher.fsdp_config.items()}
        offload, version = values.pop("offload_params"), values.pop("version")
        plugin = FullyShardedDataParallelPlugin(**values, fsdp_version=version, cpu_offload=offload)
        assert plugin.fsdp_version == 2


@pytest.mark.parametrize("path", sorted({*FILES} - {*LAUNCHERS}), ids=lambda path: path.name)
def test_a_config_opens_with_a_launch_command_that_its_values_fit(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    match = re.fullmatch(rf"# ({'|'.join(SCHEMAS)}) --(?:config|task) (\S+)((?: \S+=\S+)*)", first)
    assert match, first
    assert ROOT / match[2] == path
    config.load(SCHEMAS[match[1]], path, match[3].split())


def test_the_page_of_settings_has_each_with_its_default_and_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    page = importlib.import_module("settings_page").page()
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == page, "run benchmarks/settings_page.py"
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \| (.*) \|$", page, flags=re.MULTILINE)
    names = {*config.valid_keys(TrainConfig), *config.valid_keys(PrepareConfig)}
    corpus = {f"corpora.{name}" for name in config.valid_keys(CorpusConfig)}
    assert names | corpus <= {name for name, _, _ in rows}
    assert [name for name, default, text in rows if not text or not (default or name == "decoder")] == []
    assert ("optim.lr", "`0.001`", "the learning rate after the warm-up") in rows


@pytest.mark.parametrize(
    ("target", "name", "parent"),
    [
        ("model", "large", "runs/large-start"),
        ("model-pupils", "base", "runs/base-start"),
        ("model-pupils", "small", "runs/parent/small"),
        ("model-multi", "multi", "runs/multi-start"),
    ],
)
def test_make_runs_every_stage_of_a_model_once_and_in_order(
    tmp_path: Path, target: str, name: str, parent: str
) -> None:
    for file in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / file, tmp_path)  # where nothing is done yet
    for folder in ("configs", "recipes"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    printed = subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    files = [path for path in FILES if re.match(rf"{name}-\d", path.name)]
    stages = list(
        dict.fromkeys(re.findall(rf"train\.py[^\n]*configs/({name}-\d-[\w-]+\.yaml)", printed.replace("\\\n", "")))
    )
    assert stages == [path.name for path in files]
    for path in files:
        stage = config.load(TrainConfig, path)
        assert f"init_from={parent} output={stage.init_from}" in printed or stage.init_from == parent, "by a recipe"
        assert stage.output == f"runs/{name}-{path.stem.split('-')[-1]}"
        parent = stage.output
