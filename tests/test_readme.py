"""The pages say what happens: README's first commands give the output it shows, code runs, options and paths exist."""

import re
import sys
from functools import cache
from pathlib import Path

import pytest
from command import Invoke, on_a_terminal

from t5punct import Punctuator
from t5punct.model import load

ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "docs/usage.md", "docs/design.md", "CONTRIBUTING.md")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
README = PAGES["README.md"]
COMMANDS = ("punctuate", "stream", "evaluate", "presets", "prepare", "train", "report", "export")
OPTIONS_OF_OTHERS = {"--depth", "--torch-backend", "--rm", "--share"}  # of git, uv, podman and recipes/blend.py
# folders that hold files of the repository; a path below another one may be made by its reader
FOLDERS = {"t5punct", "tests", "docs", "benchmarks", "configs"}
FOLDERS |= {path.name for path in (ROOT / "t5punct").iterdir() if path.is_dir()}


load_once = cache(load)


@pytest.fixture(autouse=True)
def _models_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model takes seconds, and many commands name the same."""
    monkeypatch.setattr("t5punct.punctuator.load", load_once)


def blocks(page: str) -> list[tuple[str, str]]:
    """The code blocks of a page: language and text."""
    return re.findall(r"```(\w*)\n(.*?)```", page, flags=re.DOTALL)


def _bare(line: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", "", line).lower().split())


def missing(name: str, page: str) -> list[str]:
    """The files that a page links to or names in backticks, and that are not there."""
    places = (ROOT, ROOT / "t5punct")
    links = re.findall(r"\]\((?!http|#)([^)#]+)[)#]", page)
    named = [path for path in re.findall(r"`([\w.-]+/[\w./-]*)`", page) if path.split("/")[0] in FOLDERS]
    faults = [target for target in links if not ((ROOT / name).parent / target).exists()]
    return faults + [path for path in named if not any((place / path).exists() for place in places)]


def test_the_first_code_block_stands_in_the_first_thirty_lines_and_its_output_is_shown() -> None:
    (language, commands), (_, output), *_ = blocks(README)
    assert README.splitlines().index("```" + language) < 30
    (make,) = [line.split("#")[0].strip() for line in commands.splitlines() if line.startswith("make ")]
    ready = f"{sys.prefix}/.ready-demo"  # this environment is set up already
    sent = on_a_terminal([*make.split(), "--silent", f"VENV={sys.prefix}", "-o", ready])
    printed, shown = sent.splitlines(), output.strip().splitlines()
    assert [_bare(line) for line in printed] == [_bare(line) for line in shown]
    # in int8 another processor may round a near tie the other way
    exact = Punctuator(precision="fp32").punctuate_file(ROOT / "tests/data/lecture.txt").splitlines()
    assert shown == exact, "the page shows what this version prints"
    pairs = list(zip(" ".join(printed).split(" "), " ".join(shown).split(" "), strict=False))
    assert sum(word == other for word, other in pairs) >= 0.9 * len(pairs)


def test_the_python_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["how are you today my name is maria", *["how are you today"] * 3]
    codes = [text for page in PAGES.values() for language, text in blocks(page) if language == "python"]
    for code, words in zip(codes, wanted, strict=True):
        exec(code, {})  # noqa: S102
        assert _bare(capsys.readouterr().out) == words


def test_every_option_and_file_that_a_page_names_exists(invoke: Invoke) -> None:
    help_texts = invoke("--help")[1] + "".join(invoke(command, "--help")[1] for command in COMMANDS)
    for name in ("README.md", "docs/usage.md", "docs/design.md"):
        for option in sorted(set(re.findall(r"--[a-z][a-z-]+", PAGES[name]))):
            assert option in help_texts or option in OPTIONS_OF_OTHERS, (name, option)
    page = "[a](usage.md) [b](none.md#top) `text/words.py` `text/none.py` `tests/none.py` `runs/mine`"
    assert missing("docs/design.md", page) == ["none.md", "text/none.py", "tests/none.py"]


@pytest.mark.parametrize("path", [*map(ROOT.joinpath, NAMES), *(ROOT / "docs/guides").glob("*.md")], ids=str)
def test_files_that_a_page_names_exist(path: Path) -> None:
    assert missing(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) == []


def test_contributing_says_where_things_are() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("## Where things are")[2].partition("## ")[0]
    answers = re.findall(r"`([\w/]+\.py)`(?:: ((?:`[\w.]+`(?:, )?)+))?", table)
    assert len(answers) > 10
    for file, names in answers:
        source = (ROOT / "t5punct" / file).read_text(encoding="utf-8")
        for name in re.findall(r"(\w+)`", names):
            assert re.search(rf"(def|class) {name}\b|self\.{name}\b|\b{name} = ", source), (file, name)
