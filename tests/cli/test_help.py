"""`--help` for people: at most 80 columns, options in groups, defaults said, an example that can be typed."""

from __future__ import annotations

import re
import shlex

import pytest
from command import Invoke

from t5punct.cli import EXAMPLES
from t5punct.decoding.inputs import DECODERS
from t5punct.model import bundled_folder, bundled_names, read_task
from t5punct.streaming.policies import POLICIES
from t5punct.windows.combine import METHODS
from t5punct.windows.presets import DEFAULT_PRESET

COMMANDS = [command.__name__ for command in EXAMPLES]
WITH_A_MODEL = ["punctuate", "stream", "serve", "evaluate", "tune"]


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def _shown(invoke: Invoke, *arguments: str) -> str:
    code, out, _ = invoke(*arguments)
    assert code == 0
    return out


def _sections(text: str) -> dict[str, str]:
    """`Common options:` -> the text below it, on one line."""
    titles = list(re.finditer(r"^(\w[\w ]*):\n", text, flags=re.MULTILINE))
    ends = [title.start() for title in titles[1:]] + [len(text)]
    return {title[1]: " ".join(text[title.end() : end].split()) for title, end in zip(titles, ends, strict=True)}


def _options(section: str) -> dict[str, str]:
    """`--style` -> what is said of it."""
    pieces = re.split(r"(?:^| )(?:-\w, )?(--[a-z-]+)(?= <| [A-Z])", section)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@pytest.mark.parametrize("arguments", [["--help"], ["presets"], *([command, "--help"] for command in COMMANDS)])
def test_no_line_is_longer_than_80_columns(invoke: Invoke, arguments: list[str]) -> None:
    lines = _shown(invoke, *arguments).splitlines()
    assert len(lines) > 5
    assert [line for line in lines if len(line) > 80] == []


def test_presets_are_shown_whole_at_80_columns(invoke: Invoke) -> None:
    shown = _shown(invoke, "presets")
    assert "…" not in shown
    for title in ("window", "stride", "mask", "left", "right", "lead-in", "reads", "combine", "vote > 0.5"):
        assert title in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_its_groups_and_an_example(invoke: Invoke, command: str) -> None:
    sections = _sections(_shown(invoke, command, "--help"))
    assert list(sections)[-1] == "Example"
    assert f"t5punct {command}" in sections["Example"]
    groups = [title for title in sections if title.endswith("ptions")]
    assert groups == (["Common options", "Expert options"] if command in WITH_A_MODEL else ["Options"])


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_names_options_that_exist(invoke: Invoke, command: str) -> None:
    for line in EXAMPLES[next(function for function in EXAMPLES if function.__name__ == command)].splitlines():
        name, *words = shlex.split(line.rpartition("t5punct ")[2])
        shown = _shown(invoke, name, "--help")
        for option in [word for word in words if word.startswith("-")]:
            assert re.search(rf"^  (-\w, )?{option}\b", shown, flags=re.MULTILINE), option


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_that_takes_a_value_says_its_default(invoke: Invoke, command: str) -> None:
    sections = _sections(_shown(invoke, command, "--help"))
    options = {
        name: told for title in sections if "ptions" in title for name, told in _options(sections[title]).items()
    }
    assert "--help" in options
    silent = [
        name for name, told in options.items() if told.startswith(" <") and not re.search(r"\[(default: |requ)", told)
    ]
    assert silent == []


def test_the_words_of_the_help_are_those_of_the_code(invoke: Invoke) -> None:
    """A name that is added, or a default that changes, is said here as well."""
    options: dict[str, str] = {}
    for command in ("punctuate", "stream"):
        sections = _sections(_shown(invoke, command, "--help"))
        for title in ("Expert options", "Common options"):
            options = _options(sections[title]) | options
    task = read_task(bundled_folder())
    for option, words in {
        "--style": [*task.styles, f"large: {task.default_style}]"],
        "--decoder": DECODERS,
        "--combine": METHODS,
        "--policy": POLICIES,
        "--preset": [DEFAULT_PRESET],
        "--model": bundled_names(),
    }.items():
        assert [word for word in words if word not in options[option].replace(")", "")] == [], option
    for style in task.styles:
        told = "large: 1, in prose and chat 3"
        assert told in options["--max-marks"]
        assert task.longest_label(style) == (3 if style in told else 1)


@pytest.mark.parametrize("command", ["punctuate", "evaluate", "stream", "tune"])
def test_input_is_explained(invoke: Invoke, command: str) -> None:
    shown = _shown(invoke, command, "--help")
    assert re.search(r"^  INPUT\b.* \w+ \w+", shown, flags=re.MULTILINE)


def test_a_long_line_a_silent_option_and_a_missing_group_are_found() -> None:
    text = "Common options:\n  -o, --output <path>  Write it.\n  --loud  Say it.\n\nExample:\n  t5punct x\n"
    sections = _sections(text)
    assert sections == {"Common options": "-o, --output <path> Write it. --loud Say it.", "Example": "t5punct x"}
    assert _options(sections["Common options"]) == {"--output": " <path> Write it.", "--loud": " Say it."}
