"""The README says what happens: its first code blocks are run, and their output is the one it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.DOTALL)


def _bare(line: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", "", line).lower().split())


def test_the_first_code_block_stands_in_the_first_thirty_lines_and_its_output_is_shown() -> None:
    language, commands = BLOCKS[0]
    assert README.splitlines().index("```" + language) < 30
    (make,) = [line.split("#")[0].strip() for line in commands.splitlines() if line.startswith("make ")]
    ready = f"{sys.prefix}/.ready-demo"  # this environment is set up already
    done = subprocess.run(
        f"{make} --silent VENV={sys.prefix} -o {ready}", shell=True, cwd=ROOT, capture_output=True, check=True
    )
    found, shown = done.stdout.decode().splitlines(), BLOCKS[1][1].strip().splitlines()
    assert [_bare(line) for line in found] == [_bare(line) for line in shown]
    pairs = list(zip(" ".join(found).split(" "), " ".join(shown).split(" "), strict=False))
    # another processor may round a near tie the other way
    assert sum(one == other for one, other in pairs) >= 0.9 * len(pairs)


def test_the_python_blocks_run() -> None:
    wanted = ["how are you today my name is maria", "how are you today"]
    blocks = [text for language, text in BLOCKS if language == "python"]
    for code, words in zip(blocks, wanted, strict=True):
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
        assert _bare(done.stdout.decode()) == words


def test_every_option_that_the_readme_names_exists() -> None:
    shown = ""
    for command in ("punctuate", "stream", "tune", "warmstart"):
        ask = [sys.executable, "-m", "t5punct", command, "--help"]
        shown += subprocess.run(ask, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for option in sorted(set(re.findall(r"--[a-z][a-z-]+", README)) - {"--config"}):
        assert option in shown, option


def test_linked_files_exist() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
