"""`--help` for people: at most 80 columns, options in groups, defaults said, an example that can be typed."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

import pytest
import typer
from command import Invoke

from t5punct.cli import EXAMPLES, app
from t5punct.decoding.inputs import DECODERS, DecodingConfig
from t5punct.model import bundled_folder, bundled_names, read_task
from t5punct.options import StreamOptions, TranscriptOptions, help_of
from t5punct.streaming.policies import POLICIES
from t5punct.text.render import DISFLUENCIES
from t5punct.windows.combine import METHODS

COMMANDS = [command.__name__ for command in EXAMPLES]
COMMAND: Any = typer.main.get_command(app)
HELP = help_of(StreamOptions) | help_of(TranscriptOptions)
WITH_A_MODEL = ["punctuate", "stream", "serve", "evaluate", "tune"]


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def _shown(invoke: Invoke, *arguments: str) -> str:
    code, out, _ = invoke(*arguments)
    assert code == 0
    return out


def _sections(text: str) -> dict[str, str]:
    """`Options:` -> the text below it, on one line."""
    titles = list(re.finditer(r"^(\w[\w ,=]*):\n", text, flags=re.MULTILINE))
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


def test_what_each_command_does_is_said_whole_in_the_list_of_commands(invoke: Invoke) -> None:
    shown = [
        line for line in _shown(invoke, "--help").splitlines() if line.split()[:1] in [[name] for name in COMMANDS]
    ]
    assert len(shown) == len(COMMANDS) and [line for line in shown if line.endswith("...")] == []


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
    assert ("Settings, as KEY=VALUE" in sections) == (command in WITH_A_MODEL)


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


@pytest.mark.parametrize(("option", "choices"), [
    ("style", read_task(bundled_folder()).styles), ("decoder", DECODERS), ("combine", METHODS), ("policy", POLICIES),
    ("model", bundled_names()), ("disfluencies", DISFLUENCIES),
])  # fmt: skip
def test_help_names_every_choice_of_an_option(option: str, choices: Sequence[str]) -> None:
    assert [choice for choice in choices if choice not in HELP[option]] == []


def test_help_says_how_many_marks_a_style_allows() -> None:
    told, task = "large: 1, in prose and chat 3", read_task(bundled_folder())
    assert told in HELP["max_marks"]
    assert {style: DecodingConfig(style=style).alphabet(task).max_marks for style in task.styles} == {
        "talk": 1, "meeting": 1, "prose": 3, "chat": 3,
    }  # fmt: skip


def test_help_says_the_default_style_of_large(invoke: Invoke) -> None:
    shown = _options(_sections(_shown(invoke, "punctuate", "--help"))["Options"])
    assert f"large: {read_task(bundled_folder()).default_style})" in shown["--style"]


def test_punctuate_has_at_most_26_options() -> None:
    options = [option for option in COMMAND.commands["punctuate"].params if option.param_type_name == "option"]
    assert len(options) + len(["--help"]) <= 26


@pytest.mark.parametrize("command", ["punctuate", "evaluate", "stream", "tune"])
def test_input_is_explained(invoke: Invoke, command: str) -> None:
    shown = _shown(invoke, command, "--help")
    assert re.search(r"^  INPUT\b.* \w+ \w+", shown, flags=re.MULTILINE)
