"""Subtitles that other packages write are punctuated, and read back by them: words, times, styles, settings are equal.

srt is left out: its last release is of March 2023, and pysubs2 reads and writes SubRip as well.
"""

import re
from collections.abc import Callable
from typing import Any

import pysubs2
import pytest
import webvtt
from chance import by_chance
from hypothesis import given, settings
from hypothesis import strategies as st
from promises import letters

from t5punct.text.marks import Alphabet

WORDS = (
    *("how", "are", "you", "so", "what", "well-known", "don't", "3.5", "AT&T", "U.S.", "C++", "10:30", "é", "שלום"),
    *('"so"', "(we)", "so,", "you?", "no...", "know -", "JOHN:", "[Music]", "♪", "1984", "a<b", "x&y"),
)
Line = list[str]  # words
Cue = tuple[int, int, list[Line]]  # times in ms
_line = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)


@st.composite
def cues(draw: st.DrawFn) -> list[Cue]:
    """Cues one after the other."""
    time, drawn = 0, list[Cue]()
    for _ in range(draw(st.integers(1, 5))):
        start = time + draw(st.integers(100, 5_000))
        time = start + draw(st.integers(100, 5_000))
        drawn.append((start, time, draw(st.lists(_line, min_size=1, max_size=2))))
    return drawn


# how a package writes cues in a format, and all that it reads of a file: of texts only letters
Package = tuple[str, Callable[[list[Cue]], str], Callable[[str], Any]]


def _by_pysubs2(format: str) -> Package:
    def written(cues: list[Cue]) -> str:
        file = pysubs2.SSAFile()
        file.styles["Loud"] = pysubs2.SSAStyle(bold=True, fontsize=31.0)
        for number, (start, end, lines) in enumerate(cues):
            text = "\\N".join("{\\i1}" + " ".join(line) + "{\\i0}" for line in lines)
            name, style = ("Ann", "Loud") if number % 2 else ("", "Default")
            file.events.append(pysubs2.SSAEvent(start, end, text, name=name, style=style, marginl=number))
        return file.to_string(format)

    def read(text: str) -> Any:
        file = pysubs2.SSAFile.from_string(text, format)
        tags = [re.findall(r"\{[^}]*\}|\\N", event.text) for event in file.events]
        events = [{**event.as_dict(), "text": letters(event.plaintext)} for event in file.events]
        return file.info, {name: style.as_dict() for name, style in file.styles.items()}, events, tags

    return format, written, read


def _clock(ms: int) -> str:
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}"


def _by_webvtt() -> Package:
    def written(cues: list[Cue]) -> str:
        file = webvtt.WebVTT()
        file.header_comments.append("so, what")
        file.styles.append(webvtt.Style("::cue(b) { color: red; }"))
        for number, (start, end, lines) in enumerate(cues):
            times = [_clock(start), _clock(end)]
            text = "\n".join("<v Ann>" + " ".join(line).replace("&", "&amp;").replace("<", "&lt;") for line in lines)
            settings = "align:start position:10%" if number % 2 else ""
            file.captions.append(webvtt.Caption(*times, text, identifier=f"so-{number}", settings=settings))
        return file.content

    def read(text: str) -> Any:
        file = webvtt.from_string(text)
        styles = [style.text for style in file.styles]
        return file.header_comments, styles, [
            (caption.identifier, caption.start, caption.end, str(caption.settings), caption.voice,
             letters(caption.text),
             re.findall(r"<[^>]*>", caption.raw_text)) for caption in file
        ]  # fmt: skip

    return "vtt", written, read


PACKAGES = {
    "pysubs2, srt": _by_pysubs2("srt"), "pysubs2, vtt": _by_pysubs2("vtt"), "pysubs2, ass": _by_pysubs2("ass"),
    "pysubs2, ssa": _by_pysubs2("ssa"), "webvtt-py, vtt": _by_webvtt(),
}  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
@settings(max_examples=25)
@given(cues(), st.integers(0, 2**16))
def test_what_a_package_wrote_is_what_it_reads_when_marks_have_come(package: str, cues: list[Cue], seed: int) -> None:
    format, written, read = PACKAGES[package]
    text = written(cues)
    new, words = by_chance(text, "ass" if format == "ssa" else format, seed, Alphabet())
    assert read(new) == read(text)
    assert not any(word for _, _, lines in cues for line in lines for word in line if word.isalpha()) or words
