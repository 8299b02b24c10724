"""The floors of DESIGN.md, section 3, and the habits that can be measured; each guard is shown able to fail."""

from __future__ import annotations

import ast
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import t5punct

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "t5punct"
SOURCES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}

FLOORS = {
    0: {"errors", "config", "spelling", "marks", "words", "votes", "sentences"},
    1: {"windows", "align", "combine", "render", "batching", "formats"},
    2: {"hub", "weights", "task", "tokenization", "tagger", "model", "precision", "presets", "decoding"},
    3: {"punctuator", "streaming"},
    4: {
        "data",
        "training",
        "warmstart",
        "evaluation",
        "evaluate_files",
        "references",
        "tuning",
        "plots",
        "report",
    },  # beside the floors: they may look down, never the reverse
    5: {"cli", "server", "__main__"},
}
FLOOR_OF = {unit: floor for floor, units in FLOORS.items() for unit in units}
LOW = FLOORS[0] | FLOORS[1]
INFERENCE = LOW | FLOORS[2] | FLOORS[3]
HEAVY = {"torch", "transformers", "accelerate", "numpy", "datasets"}
MODELS = {"torch", "transformers", "model", "tokenization", "decoding", "punctuator", "streaming"}
FORBIDDEN = {
    **dict.fromkeys(LOW, HEAVY),
    "evaluation": MODELS,
    "decoding": {"align", "combine", "windows"},
}


def unit_of(path: str) -> str:
    """`t5punct/formats/files.py` -> `formats`: the part of the package that a floor is given to."""
    return path.split("/")[1].removesuffix(".py")


def imports(path: str, source: str) -> set[str]:
    """The units of the package, and the other packages, that a file imports anywhere, in functions too."""
    package = path.split("/")[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = [*base, *(node.module or "").split(".")] if node.module else base
            names = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            found.add(rest.partition(".")[0] if top == "t5punct" and rest else top)
    return found


def import_faults(sources: dict[str, str]) -> list[str]:
    """Every import that the floors or the rules forbid."""
    faults = []
    for path, source in sources.items():
        unit = unit_of(path)
        if unit == "__init__":
            continue
        for other in sorted(imports(path, source) - {unit}):
            upwards = other in FLOOR_OF and FLOOR_OF[other] > FLOOR_OF[unit]
            siblings = unit in FLOORS[1] and other in FLOORS[1]
            if upwards or siblings or other in FORBIDDEN.get(unit, set()):
                faults.append(f"{path} imports {other}")
    return faults


def cycles(sources: dict[str, str]) -> list[str]:
    """Units that import each other, however long the way round."""
    edges = {unit: set[str]() for unit in FLOOR_OF}
    for path, source in sources.items():
        if unit_of(path) in edges:
            edges[unit_of(path)] |= (imports(path, source) & FLOOR_OF.keys()) - {unit_of(path)}
    reach = {unit: set(others) for unit, others in edges.items()}
    for _ in edges:
        reach = {unit: found.union(*(reach[other] for other in found)) for unit, found in reach.items()}
    return sorted(unit for unit, found in reach.items() if unit in found)


def functions(sources: dict[str, str]) -> dict[str, int]:
    """Lines of every function."""
    return {
        f"{path}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def length_faults(sources: dict[str, str]) -> list[str]:
    long_files = [path for path, source in sources.items() if len(source.splitlines()) > 300]
    lengths = functions(sources)
    faults = long_files + [name for name, length in lengths.items() if length > 60]
    if statistics.quantiles(lengths.values(), n=10)[-1] > 45:
        faults.append("p90 of functions")
    if statistics.median(lengths.values()) > 12:
        faults.append("median of functions")
    return faults


def print_faults(sources: dict[str, str]) -> list[str]:
    return [
        f"{path}:{node.lineno}"
        for path, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and unit_of(path) != "cli"
    ]


def docstring_faults(sources: dict[str, str]) -> list[str]:
    return [path for path, source in sources.items() if not ast.get_docstring(ast.parse(source))]


def machine_path_faults(texts: dict[str, bytes]) -> list[str]:
    roots = [f"/{name}/".encode() for name in ("work", "root")]
    return [name for name, text in texts.items() if any(root in text for root in roots)]


def planted(path: str, line: str) -> dict[str, str]:
    """The package with one line added at the end of a file."""
    return {**SOURCES, path: SOURCES.get(path, '"""New."""\n') + line + "\n"}


def test_every_part_of_the_package_has_a_floor() -> None:
    assert {unit_of(path) for path in SOURCES} - {"__init__"} <= FLOOR_OF.keys()


def test_imports_run_downwards_only() -> None:
    assert import_faults(SOURCES) == []


@pytest.mark.parametrize(
    ("path", "line", "other"),
    [
        ("t5punct/words.py", "import numpy as np", "numpy"),
        ("t5punct/render.py", "def f() -> None:\n    from torch import nn", "torch"),
        ("t5punct/config.py", "from transformers.models import t5", "transformers"),
        ("t5punct/formats/files.py", "from accelerate import Accelerator", "accelerate"),
        ("t5punct/marks.py", "from .windows import plan", "windows"),
        ("t5punct/render.py", "from . import combine", "combine"),
        ("t5punct/formats/files.py", "from ..render import render", "render"),
        ("t5punct/decoding/slots.py", "from .. import align", "align"),
        ("t5punct/decoding/inputs.py", "from t5punct.windows import plan", "windows"),
        ("t5punct/decoding/generate.py", "import t5punct.combine", "combine"),
        ("t5punct/model.py", "from .punctuator import Punctuator", "punctuator"),
        ("t5punct/punctuator.py", "from .evaluation.counts import Counts", "evaluation"),
        ("t5punct/punctuator.py", "from .data import chunks", "data"),
        ("t5punct/streaming/streams.py", "from ..training.config import TrainConfig", "training"),
        ("t5punct/evaluation/scores.py", "from ..model import load", "model"),
        ("t5punct/evaluation/deep/scores.py", "from ...punctuator import Punctuator", "punctuator"),
        ("t5punct/evaluation/text.py", "import torch.nn", "torch"),
        ("t5punct/training/loop.py", "from ..cli import main", "cli"),
    ],
)
def test_an_import_that_is_forbidden_is_found(path: str, line: str, other: str) -> None:
    assert import_faults(planted(path, line)) == [f"{path} imports {other}"]


def test_no_two_parts_import_each_other() -> None:
    assert cycles(SOURCES) == []


def test_a_cycle_is_found() -> None:
    assert cycles(planted("t5punct/tokenization.py", "from .decoding import inputs")) == [
        "decoding",
        "model",
        "precision",
        "tokenization",
    ]


def loaded_by_the_low_floors(root: Path) -> str:
    """The heavy packages in memory after importing floors 0 and 1 from a folder, in a fresh interpreter."""
    modules = [
        path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in SOURCES if unit_of(path) in LOW
    ]
    code = f"import sys, {', '.join(modules)}; print(*sorted({HEAVY!r} & sys.modules.keys()))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def test_the_low_floors_load_no_heavy_package() -> None:
    assert loaded_by_the_low_floors(ROOT) == ""


def test_a_heavy_package_loaded_by_a_low_floor_is_found(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "t5punct", ignore=shutil.ignore_patterns("__pycache__", "bundled*"))
    with (tmp_path / "t5punct" / "windows.py").open("a") as handle:
        handle.write("__import__('importlib').import_module('numpy')\n")
    assert loaded_by_the_low_floors(tmp_path) == "numpy"


def test_files_and_functions_are_short() -> None:
    assert length_faults(SOURCES) == []


def test_a_long_file_and_a_long_function_are_found() -> None:
    long_file = "t5punct/new.py"
    assert length_faults(planted(long_file, "# one more\n" * 300)) == [long_file]
    assert length_faults(planted(long_file, "def f() -> None:\n" + "    pass\n" * 60)) == [f"{long_file}:2 f"]
    many = "".join(f"def f{n}() -> None:\n" + "    pass\n" * 49 for n in range(500))
    assert {"p90 of functions", "median of functions"} <= set(length_faults(planted(long_file, many)))


def test_only_the_command_line_prints() -> None:
    assert print_faults(SOURCES) == []


def test_a_print_is_found() -> None:
    assert print_faults({"t5punct/new.py": '"""print(1)"""\n\nprint(2)\n'}) == ["t5punct/new.py:3"]


def test_every_module_says_what_it_is_for() -> None:
    assert docstring_faults(SOURCES) == []


def test_a_module_without_docstring_is_found() -> None:
    assert docstring_faults({"t5punct/new.py": "x = 1\n"}) == ["t5punct/new.py"]


def test_public_names_are_strings_and_a_star_import_finds_them_all() -> None:
    names: dict[str, object] = {}
    exec("from t5punct import *", names)  # noqa: S102
    assert all(isinstance(name, str) for name in t5punct.__all__)
    assert set(t5punct.__all__) <= names.keys()


def test_a_public_name_without_a_home_fails_the_star_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(t5punct, "__all__", [*t5punct.__all__, "Nobody"])
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        exec("from t5punct import *", {})  # noqa: S102


def test_tracked_files_name_no_place_on_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert machine_path_faults({str(path): path.read_bytes() for path in paths if path.is_file()}) == []


def test_a_path_of_one_machine_is_found() -> None:
    place = "/".join(["", "root", "x"])
    assert machine_path_faults({"a": place.encode(), "b": b"a/b"}) == ["a"]
