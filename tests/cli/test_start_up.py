"""What inference imports: no command that only reads a model loads transformers, which takes longer than the rest."""

import json
import subprocess
import sys
from pathlib import Path

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


def imported(*commands: list[str]) -> list[set[str]]:
    """The modules of a process that runs some commands, behind each of them."""
    ended = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(commands)],
        input="how are you today", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return [set(json.loads(line)) for line in ended.stderr.splitlines() if line.startswith('["')]


def test_help_imports_nothing_heavy() -> None:
    """The start is instant because of this; the time itself is measured by `make bench`, not by a test."""
    (modules,) = imported(["--help"])
    assert not modules & (HEAVY | {"torch", "numpy"})


def test_no_command_that_infers_imports_transformers_but_free_generation_when_it_begins(tmp_path: Path) -> None:
    """The last command shows that the test can fail."""
    talk = tmp_path / "talk.txt"
    talk.write_text("How are you today? I am fine, thank you.\n" * 3)
    read = ["punctuate", str(talk), "--model", "small"]
    commands = [
        [*read, "--decoder", "tagger", "--precision", "int8"],
        [*read, "--json", "--html", str(talk.with_suffix(".html"))], ["evaluate", str(talk), "--model", "small"],
        ["tune", str(talk), "budget=1", "windows=[8]", "--model", "small", "-o", str(talk.with_suffix(".yaml"))],
        ["stream", "--model", "small", "--policy", "delay"],
    ]  # fmt: skip
    *_, modules, generating = imported(*commands, [*read, "--decoder", "generate"])
    assert "torch" in modules and "tokenizers" in modules
    assert not HEAVY & modules
    assert "transformers" in generating
