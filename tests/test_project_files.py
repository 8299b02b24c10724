"""Files that other programs read: a container's, a citation's, commit hooks and a workflow; the notebook runs."""

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from yaml import safe_load

import t5punct

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOTEBOOK = ROOT / "examples" / "first_steps.ipynb"


def yaml(name: str) -> Any:
    return safe_load((ROOT / name).read_text(encoding="utf-8"))


def make(*words: str) -> str:
    """What make would do, whatever the one that runs the tests was told."""
    told = ("MAKEFLAGS", "TORCH_BACKEND", "VENV")
    environment = {name: value for name, value in os.environ.items() if name not in told}
    command = ["make", "-n", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def test_the_citation_is_of_this_version_and_licence() -> None:
    cited = yaml("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= cited.keys(), "what the format asks for"
    assert (cited["version"], cited["license"]) == (t5punct.__version__, PROJECT["license"])


def test_a_container_is_made_of_the_checkout_and_all_that_it_copies_is_there() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    assert {step for step, _ in steps} <= {*"FROM RUN COPY USER WORKDIR ENV EXPOSE ENTRYPOINT CMD".split()}
    copied = [name for step, words in steps if step == "COPY" and "--from" not in words for name in words.split()[:-1]]
    assert "t5punct" in copied and [name for name in copied if not (ROOT / name).exists()] == []
    tracked = subprocess.run(
        ["git", "ls-files", "--error-unmatch", *copied], cwd=ROOT, capture_output=True, check=False
    )
    assert tracked.returncode == 0 or not (ROOT / ".git").exists(), tracked.stderr
    asked_for = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "t5punct"}
    assert asked_for <= {*copied}, "what building the package reads"
    (extras,) = re.findall(r"t5punct\[([\w,]+)\] @ file:///src", text)
    assert {*extras.split(",")} <= PROJECT["optional-dependencies"].keys()
    assert ["ENTRYPOINT", '["t5punct"]'] in steps and "t5punct" in PROJECT["scripts"]


def test_the_hooks_of_a_commit_are_the_checks_and_they_run() -> None:
    (local,) = yaml(".pre-commit-config.yaml")["repos"]
    entries = [[*shlex.split(hook["entry"]), *["."] * hook.get("pass_filenames", True)] for hook in local["hooks"]]
    checks = [line.split() for line in make("check", "VENV=.venv", "-o", ".venv/.ready").splitlines()]
    assert [[word for word in entry if word != "--force-exclude"] for entry in entries] == checks
    for hook in local["hooks"][:2]:
        command = hook["entry"].replace(".venv", sys.prefix)
        subprocess.run([*shlex.split(command), "t5punct/errors.py"], cwd=ROOT, check=True, capture_output=True)


def test_the_workflow_runs_what_ci_runs_on_versions_that_are_promised() -> None:
    job = yaml(".github/workflows/ci.yml")["jobs"]["test"]
    (command,) = [step["run"] for step in job["steps"] if "run" in step]
    assert command == ".ci/run" and (ROOT / command).stat().st_mode & 0o100
    least = PROJECT["requires-python"].removeprefix(">=")
    assert least in job["strategy"]["matrix"]["python-version"]
    assert all(f"{name}=" not in make("demo", "VENV=none") for name in job["env"])
    assert "--torch-backend cpu" in make(
        "demo", "VENV=none", *(f"{name}={value}" for name, value in job["env"].items())
    )
    assert "uv" not in make("demo", "VENV=none").split()


def run_cell(source: str, names: dict[str, Any]) -> str:
    """What a cell shows: what it prints, and the value of its last line."""
    *lines, last = ast.parse(source).body
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(ast.Module(lines, []), "cell", "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
            shown.write("" if value is None else repr(value))
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), names)  # noqa: S102
    return shown.getvalue()


def test_the_notebook_runs_from_top_to_bottom_and_shows_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], len({cell["id"] for cell in notebook["cells"]})) == (4, len(notebook["cells"]))
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, Any] = {}
    pairs = list[tuple[str, str]]()
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            texts = [output.get("text") or output["data"]["text/plain"] for output in cell["outputs"]]
            said = [word for text in texts for word in "".join(text).split()]
            shown = run_cell("".join(cell["source"]), names).split()
            assert len(shown) == len(said), (shown, said)
            pairs += zip(shown, said, strict=True)
    for target in re.findall(r"\]\(([^)]+)\)", NOTEBOOK.read_text(encoding="utf-8")):
        assert (NOTEBOOK.parent / target).exists(), target
    # another processor, or a model of another version, may decide a place otherwise
    assert sum(shown == said for shown, said in pairs) > 0.9 * len(pairs) > 50


def test_the_fast_tests_need_no_torch_and_each_test_belongs_to_one_tier() -> None:
    _, _, words = make("test-fast").strip().splitlines()[-1].partition(" -m pytest ")
    command = [sys.executable, "-m", "pytest", "--collect-only", *words.split()]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
    assert "--without-torch" in words and int(re.findall(r"(\d+) tests collected", found.stdout)[0]) > 500
    tiers = [make(name).strip().splitlines()[-1] for name in ("test", "test-long")]
    assert [re.findall(r"""-m (".*?"|\w+)$""", tier) for tier in tiers] == [['"not long"'], ["long"]]
