"""The studies of benchmarks/: each can be loaded, `make bench` runs, and what a reader minds is counted rightly."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from chance import PunctuatorByChance

from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.marks import Case
from t5punct.text.render import AnnotatedWord
from t5punct.text.words import split
from t5punct.windows.votes import Vote

ROOT = Path(__file__).parents[1]
STUDIES = sorted((ROOT / "benchmarks").glob("*.py"))


def loaded(path: Path) -> ModuleType:
    """A study as a module, under a name that no other module has."""
    spec = importlib.util.spec_from_file_location(f"study_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there for their module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_imports_what_the_package_still_has(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "mutation":
        pytest.importorskip("libcst", reason="mutation.py needs libcst, which nothing else here does")
    monkeypatch.syspath_prepend(str(path.parent))
    assert loaded(path).__doc__


def test_make_bench_runs() -> None:
    ready = [f"--assume-old={sys.prefix}/{name}" for name in (".ready", ".ready-demo")]  # this environment is set up
    short = "--model small --words 24 --windows 8 --batch-tokens 512 --precisions int8 --turns 1 --no-beams"
    command = ["make", *ready, f"VENV={sys.prefix}", f"BENCH={short}", "bench"]
    bench = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert bench.returncode == 0, bench.stderr
    assert "| 8 | 512 | generate, greedy |" in bench.stdout
    assert "slots equals the step-by-step reference on every window: True" in bench.stdout


class Shouting(PunctuatorByChance):
    """Every word in small letters, with `!` behind the first one of three."""

    def vote_on(self, place: int) -> Vote:
        return Vote({"!" if place % 3 == 0 else "": 1.0}, {Case.LOWER.value: 1.0})


@pytest.mark.parametrize("name", ["large", "base", "small", "multi"])
def test_no_bundled_model_writes_plain_lines_with_an_exclamation_mark(name: str) -> None:
    punctuator = Punctuator(name)
    odds = punctuator.model.task.mark_odds
    assert odds["!"] <= odds["."], "it is written only where it is the likeliest end"
    lines = loaded(ROOT / "benchmarks" / "blemishes.py").PLAIN_LINES
    assert [line for line in punctuator.punctuate_many(lines) if "!" in line] == []


def test_blemishes_are_counted() -> None:
    blemishes = loaded(ROOT / "benchmarks" / "blemishes.py")
    counts = blemishes.count_blemishes(Shouting(PunctuatorConfig(), 0), split("So it is, he said.").words)
    assert counts.shouted_lines == len(blemishes.PLAIN_LINES)
    assert 0.8 * counts.ends < counts.wrong_ends <= counts.ends
    assert (counts.capitals, counts.words) == (0, 5)
    written = [
        AnnotatedWord(word, text, marks, "lower", 1.0, 1.0)
        for word, text, marks in (("so", "So,", ","), ("it", "It", ""), ("is", "is,", ","), ("ann", "Ann", ""))
    ]
    text = split("So it is Ann. Ann said").words[:4]
    assert blemishes.capitals_behind_commas(written, text) == 1, "`It` has none inside a sentence, `Ann` has one"
