"""How many functions of the package a command goes through: what a reader has to know of.

`python benchmarks/functions_on_the_way.py punctuate tests/data/rolling.vtt -o out.vtt` runs the command in this process
and prints the functions by module, and how many there are.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

import t5punct

_PACKAGE = str(Path(t5punct.__file__).parent)


def functions_of(command: list[str]) -> dict[str, set[str]]:
    """Return the functions that a command calls, by module; class bodies, comprehensions and generated methods are
    none.
    """
    called: dict[str, set[str]] = defaultdict(set)

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        is_function = code.co_flags & CO_OPTIMIZED and "<" not in code.co_name
        if event == "call" and is_function and code.co_filename.startswith(_PACKAGE):
            called[code.co_filename[len(_PACKAGE) + 1 :]].add(code.co_qualname.replace("<locals>.", ""))

    from t5punct.cli import main  # what importing runs is not counted

    sys.argv = ["t5punct", *command]
    sys.setprofile(note)
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return called


if __name__ == "__main__":
    functions = functions_of(sys.argv[1:])
    for module in sorted(functions):
        print(f"{len(functions[module]):4}  {module}: {', '.join(sorted(functions[module]))}")
    print(sum(map(len, functions.values())), "functions")
