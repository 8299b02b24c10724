"""Each recipe without arguments says how it is used."""

import runpy
import sys
from pathlib import Path

import pytest

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.py"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_without_arguments_says_how_it_is_used(
    recipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(recipe)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(recipe), run_name="__main__")
    said = capsys.readouterr().err or str(ended.value.code)  # argparse prints, others leave with their words
    assert said.startswith("usage: ")
