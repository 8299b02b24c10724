"""Names of products go from one model's spelling table to another's."""

import runpy
import sys
from pathlib import Path

import pytest

RECIPE = Path(__file__).parents[2] / "recipes" / "product_names.py"


def test_names_that_are_no_words_of_the_texts_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"multi": ["IJsland", "iPhone"], "large": ["DuPont", "IPhone", "LLaMA", "NASA", "YouTube", "eBay", "goTo"]}
    for name, forms in tables.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "spellings.txt").write_text("".join(f"{form}\n" for form in forms))
    text = tmp_path / "es.txt"
    text.write_text("se llama así\nllama a youtube y a YouTube\nun goto\n")
    arguments = [RECIPE, tmp_path / "multi", tmp_path / "large", text]
    monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
    runpy.run_path(str(RECIPE), run_name="__main__")
    assert (tmp_path / "multi" / "spellings.txt").read_text().split() == ["IJsland", "YouTube", "eBay", "iPhone"]
