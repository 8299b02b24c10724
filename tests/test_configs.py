"""Every YAML in configs/ opens with its launch command and is valid for it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from t5punct import config
from t5punct.data.prepare import PrepareConfig
from t5punct.errors import ConfigError
from t5punct.training.config import TrainConfig

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "configs").rglob("*.yaml"))
STUDY = "python benchmarks/mask_combine.py"


def _schema(command: str) -> type[object]:
    """The config class of a command; a benchmark is no part of the package, so it is run for its class."""
    if command == STUDY:
        found: type[object] = runpy.run_path(str(ROOT / "benchmarks" / "mask_combine.py"))["StudyConfig"]
        return found
    return {"t5punct prepare": PrepareConfig, "python train.py": TrainConfig}[command]


def test_the_configs_are_found() -> None:
    assert len(FILES) == 15, "count them here when one is added"


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
