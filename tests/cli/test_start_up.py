"""What inference imports: no command that only reads a model loads transformers, which takes longer than the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"transformers", "huggingface_hub", "datasets", "accelerate", "sympy", "torch._dynamo", "scipy", "pandas"}
CODE = """
import json, sys
from t5punct.cli import main
for command in json.loads(sys.argv[1]):
    try:
        main(command)
    except SystemExit as stopped:
        assert not stopped.code, (command, stopped.code)
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def imported(*commands: list[str]) -> set[str]:
    """The modules of a process that has run some commands, one after the other."""
    ended = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(commands)],
        input="how are you today", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr.splitlines()[-1]))


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A text with the right marks."""
    path = tmp_path / "talk.txt"
    path.write_text("How are you today? I am fine, thank you.\n" * 3)
    return path


def test_no_inference_command_imports_transformers(talk: Path) -> None:
    read = ["punctuate", str(talk), "--model", "small"]
    commands = [
        read,
        [*read, "--decoder", "tagger", "--precision", "int8"],
        [*read, "--json", "--html", str(talk.with_suffix(".html"))],
        ["evaluate", str(talk), "--model", "small"],
        ["tune", str(talk), "budget=1", "--model", "small", "-o", str(talk.with_suffix(".yaml"))],
        ["stream", "--model", "small", "--policy", "delay"],
    ]
    modules = imported(*commands)
    assert "torch" in modules and "tokenizers" in modules
    assert not HEAVY & modules


def test_free_generation_imports_it_when_it_begins(talk: Path) -> None:
    """So the test above can fail."""
    assert "transformers" in imported(["punctuate", str(talk), "--model", "small", "--decoder", "generate"])
