"""What is installed for what: inference needs the core dependencies and nothing else; the extras are said by name."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import typing
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import t5punct
from t5punct.extras import PACKAGES

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS_OF = {  # the parts of the package that may import more than the core dependencies
    "training/": ["train"], "training/report.py": ["report"], "training/tensors.py": ["lora"],
    "cli/train.py": ["train"],
    "evaluation/metric/": ["evaluate"], "evaluation/plots.py": ["report"], "batch/distributed.py": ["ray"],
    "t5/onnx.py": ["onnx"], "serve/": ["serve"],
}  # fmt: skip
SOURCES = {
    str(path.relative_to(ROOT / "t5punct")): path.read_text(encoding="utf-8")
    for path in (ROOT / "t5punct").rglob("*.py")
}
NOT_FOR_INFERENCE = {"accelerate", "datasets", "evaluate", "matplotlib", "pandas"}


@cache
def distributions_of_packages() -> dict[str, list[str]]:
    """Which distributions install a package; this machine is searched once for all tests."""
    return dict(metadata.packages_distributions())


def named(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


def import_faults(sources: dict[str, str]) -> list[str]:
    """Imports, at any level of a file, of packages that the file's extras do not install."""
    distributions, faults = distributions_of_packages(), []
    for path, source in sources.items():
        extras = [extra for part, part_extras in EXTRAS_OF.items() if path.startswith(part) for extra in part_extras]
        requirements = sum((PROJECT["optional-dependencies"][extra] for extra in extras), PROJECT["dependencies"])
        for node in ast.walk(ast.parse(source)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in {name.split(".")[0] for name in names} - {"t5punct"} - sys.stdlib_module_names:
                if not named(requirements) & {
                    canonicalize_name(distribution) for distribution in distributions.get(name, [name])
                }:
                    faults.append(f"{path} imports {name}")
    return faults


def test_every_file_imports_what_its_extras_install_whose_packages_a_command_knows() -> None:
    assert import_faults(SOURCES) == []
    assert {extra: {*map(canonicalize_name, packages)} for extra, packages in PACKAGES.items()} == {
        extra: named(PROJECT["optional-dependencies"][extra]) for extra in PACKAGES
    }
    (own,) = [
        requirement for requirement in PROJECT["optional-dependencies"]["dev"] if requirement.startswith("t5punct")
    ]
    assert Requirement(own).extras == PROJECT["optional-dependencies"].keys() - {"dev", "ray"}


@pytest.mark.parametrize(("path", "name"), [
    ("model.py", "accelerate"), ("cli/tune.py", "matplotlib"), ("training/loop.py", "evaluate"), ("x.py", "requests"),
])  # fmt: skip
def test_an_import_of_what_is_not_installed_is_found(path: str, name: str) -> None:
    planted = {path: SOURCES.get(path, "") + f"\ndef f() -> None:\n    from {name}.a import b\n"}
    assert import_faults(planted) == [f"{path} imports {name}"]


@cache
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
        for name, distributions in distributions_of_packages().items()
        if not core & {canonicalize_name(distribution) for distribution in distributions}
    ]
    assert set(refused) >= NOT_FOR_INFERENCE
    code = f"import sys\nsys.modules.update(dict.fromkeys({refused!r}))\n" + code
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


MISSING = {
    "punctuate tests/data/lecture.txt --output-dir never-made ray=local": ("ray", "no package ray"),
    "prepare": ("train", "no package accelerate and no datasets and no psutil"),
    "train": ("train", "no package accelerate and no datasets and no psutil"),
    "tune tests/data/hand-counted.tsv --plot x.png": ("report", "no matplotlib"),
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


def commands_of(target: str, venv: Path) -> list[str]:
    """What `make` would run, whatever the make that may run the tests."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    ask = ["make", "--dry-run", target, f"VENV={venv}"]
    return subprocess.run(ask, cwd=ROOT, env=alone, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_demo_installs_the_core_alone_and_says_so_and_the_tests_add_the_rest(tmp_path: Path) -> None:
    demo, test = commands_of("demo", tmp_path / "new"), commands_of("test", tmp_path / "new")
    assert [line.split()[-1] for line in demo if "pip install" in line][-1] == "."
    assert [line for line in demo if "with what punctuating needs; training" in line]
    assert [line.split()[-1] for line in test if "pip install" in line][-2:] == [".", "'.[dev]'"]
    (tmp_path / ".ready-demo").touch()
    assert len(commands_of("demo", tmp_path)) == 1, "what is set up is not set up again"
    assert [line.split()[-1] for line in commands_of("test", tmp_path) if "pip install" in line] == ["'.[dev]'"]


def test_every_setting_of_a_public_config_is_public() -> None:
    configs = [getattr(t5punct, name) for name in t5punct.__all__ if name.endswith("Config")]
    assert len(configs) > 5
    for config in configs:
        for name in re.findall(r"t5punct\.[\w.]*?(\w+)(?=['\]|, >]|$)", str(typing.get_type_hints(config))):
            assert name in t5punct.__all__, f"{config.__name__} takes a {name}"
