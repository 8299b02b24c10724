"""The floors of docs/design.md, and the habits that can be measured; each guard is shown able to fail."""

import ast
import re
import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "t5punct"
SOURCES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def drawn_floors(page: str) -> list[set[str]]:
    """The floors that a page lists, the lowest first: lines of a number and names, rooms with a slash."""
    lines = re.findall(r"^ *\d+  (.*)$", page, flags=re.MULTILINE)
    return [set(re.findall(r"(\w+)/", line)) or {line.split()[0]} for line in reversed(lines)]


# a room, or a file beside the rooms, imports from lower floors only
FLOORS = drawn_floors((ROOT / "docs" / "design.md").read_text(encoding="utf-8"))
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
HEAVY = {"torch", "transformers", "accelerate", "numpy", "datasets"}
LIGHT = {"errors", "config", "text", "transcripts", "windows", "decoding.align"}
COUNTING = {f"evaluation.{name}" for name in ("counts", "scores", "significance")}
FORBIDDEN = {  # by the beginnings of names, beside what the floors forbid
    **dict.fromkeys(LIGHT, HEAVY),
    **{name: {"torch", "transformers", "t5", "model", "decoding", "punctuator", "streaming"} for name in COUNTING},
    "decoding": {"windows.plan", "windows.combine", "windows.presets"},  # a decoder sees one window
    "t5": {"windows"},
}


def room_of(path: str) -> str:
    """`t5punct/text/io/files.py` -> `text`: the part of the package that a floor is given to."""
    return path.split("/")[1].removesuffix(".py")


def module_of(path: str) -> str:
    """`t5punct/text/words.py` -> `text.words`."""
    return path.removeprefix("t5punct/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def begins(name: str, *others: str) -> bool:
    """Whether a dotted name is one of some others, or lies in it."""
    return any(f"{name}.".startswith(f"{other}.") for other in others)


def imports(path: str, source: str) -> set[str]:
    """The modules of the package (without its name), and the other packages, that a file imports anywhere."""
    package = str(Path(path).parent).replace("/", ".")
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            imported.add(rest if top == "t5punct" and rest else top)
    return imported


def import_faults(sources: dict[str, str]) -> list[str]:
    """Every import that the floors or the rules forbid."""
    faults = []
    for path, source in sources.items():
        module, room = module_of(path), room_of(path)
        if room == "__init__":
            continue
        forbidden = [name for part, names in FORBIDDEN.items() if begins(module, part) for name in names]
        for other in sorted(imports(path, source)):
            floor = FLOOR_OF.get(other.split(".")[0])
            sideways = other.split(".")[0] != room and floor is not None and floor >= FLOOR_OF[room]
            if sideways or begins(other, *forbidden):
                faults.append(f"{path} imports {other}")
    return faults


def length_faults(sources: dict[str, str]) -> list[str]:
    """Files of more than 600 lines, functions of more than 80."""
    faults = [path for path, source in sources.items() if len(source.splitlines()) > 600]
    for path, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno >= 80:
                faults.append(f"{path}:{node.lineno} {node.name}")
    return faults


def test_every_part_of_the_package_has_a_floor_on_the_design_page_and_no_other_has() -> None:
    assert {room_of(path) for path in SOURCES} - {"__init__"} == FLOOR_OF.keys()


def test_imports_run_downwards_and_one_that_is_forbidden_is_found() -> None:
    assert import_faults(SOURCES) == []
    for path, line, other in (
        ("t5punct/text/render.py", "def f() -> None:\n    from torch import nn", "torch"),
        ("t5punct/text/render.py", "from ..windows.votes import Vote", "windows.votes.Vote"),
        ("t5punct/decoding/inputs.py", "from t5punct.windows import plan", "windows.plan"),
        ("t5punct/evaluation/scores.py", "from ..model import load", "model.load"),
    ):
        assert import_faults({path: line}) == [f"{path} imports {other}"]


def test_the_light_modules_load_no_heavy_package() -> None:
    modules = [f"t5punct.{module_of(path)}" for path in SOURCES if begins(module_of(path), *LIGHT)]
    code = f"import sys, {', '.join(modules)}; print(*sorted({HEAVY!r} & sys.modules.keys()))"
    command = [sys.executable, "-c", code]  # a fresh interpreter
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_files_and_functions_are_short_and_long_ones_are_found() -> None:
    tests = {str(path): path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    assert length_faults(SOURCES | tests) == []
    assert length_faults({"new.py": "# one more\n" * 601}) == ["new.py"]
    assert length_faults({"new.py": "def f() -> None:\n" + "    pass\n" * 80}) == ["new.py:1 f"]


def test_tracked_files_name_no_place_on_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    places = [f"/{name}/".encode() for name in ("work", "root")]
    assert [path for path in paths if any(place in path.read_bytes() for place in places)] == []
