"""How many small faults in a module its tests find: mutants by mutmut's operators, each in a fork of one test session.

In: a module and the tests that belong to it.  Out: the score, and the lines of the mutants that survived.

mutmut skips properties and prepares each session anew, cosmic-ray starts a process, which here means torch and a
tokenizer.  This runs the tests once and forks with everything in place: a child swaps the code of one function and
runs the tests until one fails.  Left out: default values, errors (`raise`), and `strict=` of zip, which only asserts.

    pip install mutmut
    python benchmarks/mutation.py t5punct/text/marks.py tests/text/test_marks.py --sample 60
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import random
import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import libcst as cst
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings
from mutmut.mutation.mutators import mutation_operators

_STRICT = re.compile(r",? ?(strict=\w+)?\)")
_SPARE_BYTES = 4 << 30  # a mutant that collects without end is ended here


def faults(module: cst.Module) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    """Return pieces of function bodies, each with what might have been written in its place."""
    pairs = [
        (node, changed)
        for node in _inside(module, False)
        for kind, operator in mutation_operators
        if isinstance(node, kind)
        for changed in operator(node)
    ]
    plain = [[_STRICT.sub(")", module.code_for_node(version)) for version in pair] for pair in pairs]
    return [pair for pair, (before, after) in zip(pairs, plain, strict=True) if before != after]


def _inside(node: cst.CSTNode, in_body: bool) -> Iterator[cst.CSTNode]:
    """Yield the nodes of function bodies whose faults are asked for."""
    if isinstance(node, cst.Raise | cst.Annotation | cst.Decorator | cst.Parameters):
        return
    if isinstance(node, cst.Arg) and node.keyword and node.keyword.value == "strict":
        return
    if in_body:
        yield node
    for child in node.children:
        yield from _inside(child, in_body or isinstance(node, cst.FunctionDef))


def swap(owner: Any, code: CodeType) -> None:
    """Give the functions of an imported module, or of a class, the code of another source."""
    for inner in code.co_consts:
        if not isinstance(inner, CodeType) or inner.co_name not in vars(owner):
            continue
        member = function = vars(owner)[inner.co_name]
        if isinstance(member, type):
            swap(member, inner)
            continue
        for wrapped in ("fget", "func", "__func__", "__wrapped__"):  # property, cached_property, classmethod, lru_cache
            function = getattr(function, wrapped, function)
        function.__code__ = inner
        getattr(member, "cache_clear", bool)()


class MutationRun:
    """A pytest plugin that runs the tests once, then once for each mutant."""

    def __init__(self, file: Path, sample: int) -> None:
        self._file, self._source = file, file.read_text(encoding="utf-8")
        module = cst.parse_module(self._source)
        self._all = faults(module)
        drawn = random.Random(1).sample(self._all, min(sample, len(self._all)))
        self._mutants = [module.deep_replace(*pair).code for pair in drawn]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items, seconds = session.items, {}
        for item in items:
            began = time.process_time()
            if _fails(item):
                raise pytest.UsageError(f"{item.nodeid} fails without a mutant")
            seconds[item] = time.process_time() - began
            test = getattr(item, "obj", None)
            if test and (
                plain := getattr(test, "_hypothesis_internal_use_settings", None)
            ):  # any example will do, small or not
                test._hypothesis_internal_use_settings = settings(plain, phases=(Phase.explicit, Phase.generate))
        items.sort(key=seconds.__getitem__)
        gc.freeze()  # what is collected in no child is copied for none
        limit, n_survivors = int(3 * sum(seconds.values())) + 10, 0
        for mutant in self._mutants:
            if self._survives(mutant, items, limit):
                n_survivors += 1
                pairs = zip(mutant.splitlines(), self._source.splitlines(), strict=False)
                print(*next((n, new) for n, (new, old) in enumerate(pairs, start=1) if new != old), flush=True)
        if not n_survivors and not self._survives(self._source, items, limit):
            raise pytest.UsageError("without a mutant the tests fail when they are run again")
        n = len(self._mutants)
        print(
            f"{self._file}: {n - n_survivors} of {n} killed ({100 - 100 * n_survivors / n:.1f} %) of {len(self._all)}"
        )
        return True

    def _survives(self, mutant: str, items: list[pytest.Item], limit: int) -> bool:
        code = compile(mutant, self._file, "exec")
        if child := os.fork():
            return os.waitpid(child, 0)[1] == 0
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _SPARE_BYTES,) * 2)
        try:
            swap(importlib.import_module(".".join(self._file.with_suffix("").parts)), code)
            os._exit(any(map(_fails, items)))
        finally:
            os._exit(1)


def _fails(item: pytest.Item) -> bool:
    session: Any = item.session  # what the tests have in common stays for the next one
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=session))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Other options are pytest's, as -k.")
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--sample", type=int, default=60, help="so many mutants, drawn by chance")
    arguments, options = parser.parse_known_args()
    options += ["-s", "-p", "no:cacheprovider", "-o", "addopts=", *arguments.tests]  # a doctest cannot be run twice
    raise SystemExit(pytest.main(options, [MutationRun(arguments.module, arguments.sample)]))
