"""Every pattern of the package, and what reads hostile lines and long lists, takes time in proportion to the length.

The strings are runs of what patterns look for, of two lengths: eight times as long may take eight times as long, and
squared it would be 64.
"""

from __future__ import annotations

import re
import time
import tracemalloc
from collections import deque
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import t5punct
from t5punct.transcripts.items import SpokenWord
from t5punct.transcripts.lines import plain
from t5punct.transcripts.subtitles import ass, srt, vtt
from t5punct.transcripts.terms import Terms, spelled

PACKAGE = Path(t5punct.__file__).parent
# the rooms whose patterns meet texts of others; json has readers of its own, which see no text as a whole
MODULES = [
    path
    for room in ("text", "transcripts")
    for path in sorted((PACKAGE / room).rglob("*.py"))
    if "json" not in path.name
]
SEARCHED = {  # names of patterns that are looked for anywhere; the others only where a string begins
    name
    for path in MODULES
    for name in re.findall(r"(\w+)\.(?:search|finditer|findall|sub|split)\(", path.read_text(encoding="utf-8"))
}


def module_of(path: Path) -> str:
    return ".".join(("t5punct", *path.relative_to(PACKAGE).with_suffix("").parts))


PATTERNS = {
    f"{path.relative_to(PACKAGE)} {name}": pattern
    for path in MODULES
    for name, pattern in vars(import_module(module_of(path))).items()
    if isinstance(pattern, re.Pattern)
}
RUNS = (
    "{\\", "\\p", "<", "<v ", "&#1", "[", "[a", "(", "[1:11", "1", "1:11 ", "00:00:00,0 ", " ", "\t", "\n", "a", "A ",
    "A. ", "a.", "'", "-", "--> ", ":)", ":", "/", "://", "?", '"', "Jane D ", ">>", "\u200f", "♪", "# ",
)  # fmt: skip
_SHORT, _LONG = 1_000, 8_000


def seconds(work: Callable[[str], object], run: str, size: int) -> float:
    """Processor time of work on a run of so many characters, the best of two."""
    text, times = run * (size // len(run)), list[float]()
    for _ in range(2):
        started = time.process_time()
        work(text)
        times.append(time.process_time() - started)
    return min(times)


def is_linear(work: Callable[[str], object], run: str) -> bool:
    before = seconds(work, run, _SHORT)
    return seconds(work, run, _LONG) < 25 * before + 0.005


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_time_in_proportion(name: str) -> None:
    pattern = PATTERNS[name]

    def every_way(text: str) -> None:
        pattern.match(text)
        pattern.fullmatch(text)
        if name.rpartition(" ")[2] in SEARCHED:
            deque(pattern.finditer(text), maxlen=0)

    assert [run for run in RUNS if not is_linear(every_way, run)] == []


def test_a_quadratic_pattern_is_found() -> None:
    assert not is_linear(re.compile(r"\{[^}]*\\p[1-9]").search, "{\\"), "as it was"


@pytest.mark.parametrize("run", RUNS)
def test_a_line_of_subtitles_is_read_in_proportion(run: str) -> None:
    times = "00:00:01,000 --> 00:00:02,000\n"
    assert is_linear(lambda text: [*ass(["Format: Layer, Text\n", f"Dialogue: 0,{text}"])], run)
    assert is_linear(lambda text: [*srt(["1\n", times, text])], run)
    assert is_linear(lambda text: [*vtt(["WEBVTT\n", "\n", times.replace(",", "."), f"<c>{text}"])], run)


def test_many_terms_cost_no_more_a_word_than_few() -> None:
    few, many = (Terms.of(["word=Word", *(f"term{n}=Term{n}" for n in range(n_terms))]) for n_terms in (10, 20_000))

    def spelling(terms: Terms) -> Callable[[str], object]:
        return lambda text: spelled(plain([text]), terms)

    assert [item.word.spelled for item in spelled(plain(["word of"]), many) if isinstance(item, SpokenWord)] == [
        "Word",
        "",
    ]

    assert seconds(spelling(many), "word ", 6_000) < 10 * seconds(spelling(few), "word ", 6_000) + 0.02


def test_a_long_line_with_a_tag_takes_little_more_memory_than_one_without() -> None:
    def peak(text: str) -> int:
        tracemalloc.start()
        try:
            assert sum(1 for _ in srt(["1\n", "00:00:01,000 --> 00:00:02,000\n", text])) > 20_000
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    line = "word " * 20_000
    assert peak("<i>" + line) < 2 * peak(line)
