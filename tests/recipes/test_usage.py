"""Each recipe, and each page of examples/, says without arguments how it is used."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*ROOT.glob("recipes/*.py"), *ROOT.glob("examples/*.py")])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_without_arguments_says_how_it_is_used(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(program)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(program), run_name="__main__")
    said = capsys.readouterr().err or str(ended.value.code)  # argparse prints, others leave with their words
    assert said.startswith("usage: ")
