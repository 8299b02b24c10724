"""`--help` for people: at most 80 columns, options in groups, defaults said, an example that can be typed."""

import re
import shlex
from typing import Any

import pytest
import typer
from command import Invoke

from t5punct.cli import EXAMPLES, app
from t5punct.decoding.inputs import DECODERS
from t5punct.model import bundled_folder, bundled_names, read_task
from t5punct.options import StreamOptions, TranscriptOptions, help_of
from t5punct.streaming.policies import POLICIES
from t5punct.text.render import DISFLUENCIES
from t5punct.windows.combine import METHODS

COMMANDS = [command.__name__ for command in EXAMPLES]
COMMAND: Any = typer.main.get_command(app)
HELP = help_of(StreamOptions) | help_of(TranscriptOptions)
WITH_A_MODEL = ["punctuate", "stream", "serve", "evaluate"]


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


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command(invoke: Invoke, command: str) -> None:
    """It has groups and an example, and every option that takes a value says its default."""
    text = _shown(invoke, command, "--help")
    sections = _sections(text)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert list(sections)[-1] == "Example"
    assert f"t5punct {command}" in sections["Example"]
    assert ("Settings, as KEY=VALUE" in sections) == (command in WITH_A_MODEL)
    options = {name: told for part in sections if "ptions" in part for name, told in _options(sections[part]).items()}
    assert "--help" in options
    told_of_values = {name: told for name, told in options.items() if told.startswith(" <")}
    assert [name for name, told in told_of_values.items() if not re.search(r"\[(default: |requ)", told)] == []
    for line in EXAMPLES[next(function for function in EXAMPLES if function.__name__ == command)].splitlines():
        name, *words = shlex.split(line.rpartition("t5punct ")[2])
        shown = _shown(invoke, name, "--help")
        for option in [word for word in words if word.startswith("-")]:
            assert re.search(rf"^  (-\w, )?{option}\b", shown, flags=re.MULTILINE), option
    if command in ("punctuate", "evaluate", "stream"):
        assert re.search(r"^  INPUT\b.* \w+ \w+", text, flags=re.MULTILINE)
    of_python = re.findall(r"<(?:str|int|list|bool|float)\b[^>]*>|^Usage.*[{}].*", text, flags=re.MULTILINE)
    assert of_python == [], "words that only programmers know"


def test_commands_and_presets_are_shown_whole_at_80_columns(invoke: Invoke) -> None:
    lines, presets = _shown(invoke, "--help").splitlines(), _shown(invoke, "presets")
    assert [line for line in [*lines, *presets.splitlines()] if len(line) > 80] == []
    shown = [line for line in lines if line.split()[:1] in [[name] for name in COMMANDS]]
    assert len(shown) == len(COMMANDS) and [line for line in shown if line.endswith("...")] == []
    assert "…" not in presets
    for title in ("window", "stride", "mask", "left", "right", "lead-in", "reads", "combine", "vote > 0.5"):
        assert title in presets


def test_help_names_every_choice_of_an_option_and_punctuate_has_at_most_26() -> None:
    for option, choices in {
        "style": read_task(bundled_folder()).styles, "decoder": DECODERS, "combine": METHODS, "policy": POLICIES,
        "model": bundled_names(), "disfluencies": DISFLUENCIES,
    }.items():  # fmt: skip
        assert [choice for choice in choices if choice not in HELP[option]] == []
    options = [option for option in COMMAND.commands["punctuate"].params if option.param_type_name == "option"]
    assert len(options) + len(["--help"]) <= 26
