"""Every pattern of the package, and what reads hostile lines and long lists, takes time in proportion to the length.

The strings are runs of what patterns look for.
"""

import ast
import json
import re
from collections import deque
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pytest
from chance import punctuated
from proportion import is_linear

import t5punct
from t5punct.transcripts.recogniser.recording import RecogniserJson
from t5punct.transcripts.subtitles import read_ass, read_srt, read_vtt

MODULES = [import_module(module.name) for module in walk_packages(t5punct.__path__, "t5punct.")]
_ONLY_MATCHED = {  # in tables, whose values are not looked at
    *("_SRT_OPENING", "_ASS_OPENING", "_JSON_OPENING"),
    *("_ID_BEFORE", "_TIME_LINE", "_BULLET", "_LIST_NUMBER", "_ID_BEHIND", "_SURE_TIME", "_NOTE_OR_QUOTE"),
    *("_NUMBER", "_ANY_TIME"),
}


def used_otherwise(module: ModuleType) -> set[str]:
    """The names in a module that are used otherwise than as `NAME.match`: such a pattern is looked for anywhere."""
    nodes = [*ast.walk(ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8")))]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    matched = {id(node.value) for node in attributes if node.attr in ("match", "fullmatch", "pattern")}
    names = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return {node.id for node in names if id(node) not in matched}


def patterns_in(value: object) -> list[re.Pattern[str]]:
    """The patterns of text in a value of a module."""
    match value:
        case re.Pattern(pattern=str()):
            return [value]
        case dict():
            return [pattern for member in value.values() for pattern in patterns_in(member)]
        case tuple() | list() | set() | frozenset():
            return [pattern for member in value for pattern in patterns_in(member)]
        case _:
            return []


PATTERNS = {
    f"{module.__name__} {name} {number}": pattern
    for module in MODULES
    for name, value in vars(module).items()
    for number, pattern in enumerate(patterns_in(value))
}
RUNS = (
    "{\\", "<v ", "&#1", "[a", "(", "[1:11", "1", "1:11 ", "00:00:00,0 ", " ", "\n", "a", "A ", "a.", "'", "-", "--> ",
    ":)", "://", '"', "Jane D ", "\u200f", '{"', '"items": [1,', "\\u", '"a": ', "_",
)  # fmt: skip


@cache
def searched_patterns() -> set[re.Pattern[str]]:
    """The patterns that may be looked for anywhere in a text."""
    names = ((module, name) for module in MODULES for name in used_otherwise(module) - _ONLY_MATCHED)
    return {pattern for module, name in names for pattern in patterns_in(vars(module).get(name))}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_time_in_proportion(name: str) -> None:
    pattern = PATTERNS[name]

    def every_way(text: str) -> None:
        pattern.match(text)
        pattern.fullmatch(text)
        if pattern in searched_patterns():
            deque(pattern.finditer(text), maxlen=0)

    assert [run for run in RUNS if not is_linear(every_way, run)] == []


def test_patterns_are_found_wherever_they_are_and_a_quadratic_one_too() -> None:
    names = {name.split()[1] for name in PATTERNS}
    assert {"_JSON_OPENING", "_COLON", "_HUB_ID", "TAGS"} <= names
    searched = {name.split()[1] for name, pattern in PATTERNS.items() if pattern in searched_patterns()}
    assert {"TAGS", "_COLON"} <= searched and {"_STRING", "TIMING"}.isdisjoint(searched)
    assert not is_linear(re.compile(r"\{[^}]*\\p[1-9]").search, "{\\"), "as a pattern of ASS once was"


@pytest.mark.parametrize("run", RUNS)
def test_a_line_of_subtitles_and_a_string_of_json_are_read_in_proportion(run: str) -> None:
    times = "00:00:01,000 --> 00:00:02,000\n"
    assert is_linear(lambda text: [*read_ass(["Format: Layer, Text\n", f"Dialogue: 0,{text}"])], run)
    assert is_linear(lambda text: [*read_srt(["1\n", times, text])], run)
    assert is_linear(lambda text: [*read_vtt(["WEBVTT\n", "\n", times.replace(",", "."), f"<c>{text}"])], run)
    assert is_linear(lambda text: RecogniserJson.read(json.dumps({"text": "so " + text})), run)


def test_json_is_written_in_proportion_to_its_words() -> None:
    def write(text: str) -> None:
        words = [{"word": word} for word in text.split()]
        punctuated(json.dumps({"words": words}), "json", 1)

    assert is_linear(write, "a ")
