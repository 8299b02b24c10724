"""What is installed for what; files that other programs read: a container's, a citation's; the notebook runs."""

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
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from yaml import safe_load

import t5punct
from t5punct.extras import PACKAGES

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS_OF = {  # the parts of the package that may import more than the core dependencies
    "training/": ["train"], "training/report.py": ["report"], "training/tensors.py": ["lora"],
    "cli/train.py": ["train"],
    "evaluation/metric/": ["evaluate"], "batch/distributed.py": ["ray"],
    "t5/onnx.py": ["onnx"], "serve/": ["serve"],
}  # fmt: skip
SOURCES = {
    str(path.relative_to(ROOT / "t5punct")): path.read_text(encoding="utf-8")
    for path in (ROOT / "t5punct").rglob("*.py")
}
NOT_FOR_INFERENCE = {"accelerate", "datasets", "evaluate", "matplotlib", "pandas"}


def named(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


def import_faults(sources: dict[str, str]) -> list[str]:
    """Imports, at any level of a file, of packages that the file's extras do not install."""
    distributions, faults = metadata.packages_distributions(), []
    for path, source in sources.items():
        extras = [extra for part, part_extras in EXTRAS_OF.items() if path.startswith(part) for extra in part_extras]
        requirements = sum((PROJECT["optional-dependencies"][extra] for extra in extras), PROJECT["dependencies"])
        for node in ast.walk(ast.parse(source)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in {name.split(".")[0] for name in names} - {"t5punct"} - sys.stdlib_module_names:
                if not named(requirements) & {*map(canonicalize_name, distributions.get(name, [name]))}:
                    faults.append(f"{path} imports {name}")
    return faults


def test_every_file_imports_what_its_extras_install_whose_packages_a_command_knows() -> None:
    assert import_faults(SOURCES) == []
    assert {extra: {*map(canonicalize_name, packages)} for extra, packages in PACKAGES.items()} == {
        extra: named(PROJECT["optional-dependencies"][extra]) for extra in PACKAGES
    }
    (own,) = [own for own in PROJECT["optional-dependencies"]["dev"] if own.startswith("t5punct")]
    assert Requirement(own).extras == PROJECT["optional-dependencies"].keys() - {"dev", "ray"}


def core_distributions() -> set[str]:
    """The core dependencies and all that they depend on."""
    reached: set[str] = set()
    waiting = [(Requirement(dependency), "") for dependency in PROJECT["dependencies"]]
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for wanted in ("", *requirement.extras):
            if f"{name}[{wanted}]" not in reached:
                reached |= {name, f"{name}[{wanted}]"}
                waiting += [(Requirement(dependency), wanted) for dependency in metadata.requires(name) or []]
    return reached


def without_extras(code: str) -> subprocess.CompletedProcess[str]:
    """Run code as if only the core dependencies were installed: everything else cannot be imported."""
    core = core_distributions() | {"t5punct"}
    refused = [
        name
        for name, distributions in metadata.packages_distributions().items()
        if not core & {canonicalize_name(distribution) for distribution in distributions}
    ]
    assert set(refused) >= NOT_FOR_INFERENCE
    code = f"import sys\nsys.modules.update(dict.fromkeys({refused!r}))\n" + code
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


MISSING = {
    "punctuate tests/data/lecture.txt --output-dir never-made ray=local": ("ray", "no package ray"),
    "prepare": ("train", "no package accelerate and no datasets and no psutil"),
    "train": ("train", "no package accelerate and no datasets and no psutil"),
}


def test_inference_and_scores_need_no_extra_and_a_command_without_its_own_says_how_to_install_it() -> None:
    works = ["presets", "evaluate tests/data/hand-counted.tsv --json --model small"]
    done = without_extras(
        "from t5punct import *\n"
        "assert Punctuator.from_pretrained('small').punctuate('how are you today').lower().startswith('how are you')\n"
        "from t5punct.cli import main\n"
        f"for command, code in {[*((line, 2) for line in MISSING), *((line, 0) for line in works)]!r}:\n"
        "    try:\n        main(command.split())\n"
        "    except SystemExit as stopped:\n        assert (stopped.code or 0) == code, command\n"
    )
    assert done.returncode == 0, done.stderr
    assert '"micro_f1"' in done.stdout
    for line, (extra, message) in zip(done.stderr.splitlines(), MISSING.values(), strict=True):
        assert line.startswith(f"t5punct: {message}; expected the extra `{extra}`; pip install")
        assert line.endswith(f'pip install "t5punct[{extra}]", in a checkout ".[{extra}]"')


def test_the_demo_installs_the_core_alone_and_says_so_and_the_tests_add_the_rest(tmp_path: Path) -> None:
    def installed(target: str, venv: Path) -> list[str]:
        lines = make(target, f"VENV={venv}").splitlines()
        return [line.split()[-1] for line in lines if "pip install" in line]

    assert installed("demo", tmp_path / "new")[-1] == "."
    assert "with what punctuating needs; training" in make("demo", f"VENV={tmp_path / 'new'}")
    assert installed("test", tmp_path / "new")[-2:] == [".", "'.[dev]'"]
    (tmp_path / ".ready-demo").touch()
    assert len(make("demo", f"VENV={tmp_path}").splitlines()) == 1, "what is set up is not set up again"
    assert installed("test", tmp_path) == ["'.[dev]'"]


# -- files that other programs read


NOTEBOOK = ROOT / "examples" / "first_steps.ipynb"


def yaml(name: str) -> Any:
    return safe_load((ROOT / name).read_text(encoding="utf-8"))


def make(*words: str) -> str:
    """What `make` would run, whatever the one that runs the tests was told."""
    told = ("MAKE", "MFLAGS", "TORCH_BACKEND", "VENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(told)}
    command = ["make", "-n", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def test_the_citation_is_of_this_version_and_a_container_is_made_of_what_is_there() -> None:
    cited = yaml("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= cited.keys(), "what the format asks for"
    assert (cited["version"], cited["license"]) == (t5punct.__version__, PROJECT["license"])
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    copied = [name for step, words in steps if step == "COPY" and "--from" not in words for name in words.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    asked_for = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "t5punct"}
    assert asked_for <= {*copied}, "what building the package reads"
    (extras,) = re.findall(r"t5punct\[([\w,]+)\] @ file:///src", text)
    assert {*extras.split(",")} <= PROJECT["optional-dependencies"].keys()


def test_the_hooks_of_a_commit_are_the_checks_and_the_workflow_runs_what_ci_runs() -> None:
    (local,) = yaml(".pre-commit-config.yaml")["repos"]
    entries = [[*shlex.split(hook["entry"]), *["."] * hook.get("pass_filenames", True)] for hook in local["hooks"]]
    checks = [line.split() for line in make("check", "VENV=.venv", "-o", ".venv/.ready").splitlines()]
    assert [[word for word in entry if word != "--force-exclude"] for entry in entries] == checks
    job = yaml(".github/workflows/ci.yml")["jobs"]["test"]
    (command,) = [step["run"] for step in job["steps"] if "run" in step]
    assert command == ".ci/run" and (ROOT / command).stat().st_mode & 0o100
    least = PROJECT["requires-python"].removeprefix(">=")
    assert least in job["strategy"]["matrix"]["python-version"]
    settings = [f"{name}={value}" for name, value in job["env"].items()]
    assert "--torch-backend cpu" in make("demo", "VENV=none", *settings)
    assert "uv" not in make("demo", "VENV=none").split()


def run_cell(source: str, names: dict[str, Any]) -> str:
    """What a cell shows: what it prints, and the value of its last line."""
    tree = ast.parse(source)
    shown = io.StringIO()
    value = None
    with contextlib.redirect_stdout(shown):
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    return shown.getvalue() + ("" if value is None else repr(value))


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
