"""A punctuated transcript as subtitles, in the cues that it has; `resegment` makes new ones that hold sentences.

In: the written items of a transcript of any format.  Out: cues, and SRT, WebVTT or ASS.

>>> from ..text.render import AnnotatedWord
>>> from ..text.words import Word
>>> from .items import *
>>> spoken = SpokenWord(Word("so"), " ", cue=Cue(0, 1000, 2000))
>>> own_cues([WrittenWord(spoken, AnnotatedWord("so", "So.", ".", "capitalised", 1, 1))])
[WrittenCue(start_ms=1000, end_ms=2000, text='So.')]
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from ..errors import InputError
from .items import Cue, Kept, WrittenItem
from .markup import TAGS

SUBTITLES = ("srt", "vtt", "ass")


@dataclass(frozen=True, slots=True)
class WrittenCue:
    """A cue as it is shown; lines end with a newline."""

    start_ms: int
    end_ms: int
    text: str


@dataclass(slots=True)
class _Shown:
    """A written word, a speaker's label or a stage direction, and the cue that shows it."""

    cue: Cue | None
    text: str
    ends_line: bool
    is_word: bool


def own_cues(written: Iterable[WrittenItem]) -> list[WrittenCue]:
    """Return the cues that the transcript has.  Raises InputError for words without a cue, or a cue without times."""
    cues = list[WrittenCue]()
    for cue, group in groupby(_shown(written), key=lambda shown: shown.cue and replace(shown.cue, speaker="")):
        shown = list(group)
        if cue is not None and cue.start_ms is not None and cue.end_ms is not None:
            text = "".join(piece.text + ("\n" if piece.ends_line else " ") for piece in shown)
            cues.append(WrittenCue(cue.start_ms, cue.end_ms, text.strip()))
        elif any(piece.is_word for piece in shown):  # a stage direction without times is left out
            raise InputError(
                "words without a cue",
                expected="subtitles, or segments with times",
                fix="make cues with --resegment if words have times, or write another format",
            )
    return cues


def _shown(written: Iterable[WrittenItem]) -> Iterator[_Shown]:
    """What is shown of the items, and where."""
    held: _Shown | None = None
    for item in written:
        # of json there is only the bare text
        text = item.text or item.bare if isinstance(item, Kept) else item.spoken.after
        ends_line = "\n" in text or "\\N" in text
        if isinstance(item, Kept) and not item.shown:
            if held:
                held.ends_line = held.ends_line or ends_line
            continue
        if held:
            yield held
        if isinstance(item, Kept):
            held = _Shown(item.cue, item.shown, ends_line, is_word=False)
        else:
            held = _Shown(item.spoken.cue, item.annotated.text, ends_line, is_word=True)
    if held:
        yield held


def subtitles(cues: Iterable[WrittenCue], format: str) -> str:
    """Write cues as a file.  `format`: one of SUBTITLES.

    pysubs2 writes ASS.  In the others it would read `{x}` and `C:\\New` as codes of ASS, and drop them.
    """
    if format == "ass":
        from pysubs2 import SSAEvent, SSAFile  # only those who write ASS wait for it

        file = SSAFile()
        file.events = [SSAEvent(cue.start_ms, cue.end_ms, _ass_text(cue.text)) for cue in cues]
        return file.to_string(format)
    blocks = "".join(_block(number, cue, format) for number, cue in enumerate(cues, start=1))
    return f"WEBVTT\n\n{blocks}" if format == "vtt" else blocks


def _block(number: int, cue: WrittenCue, format: str) -> str:
    """A cue as SRT and WebVTT have it."""
    point, text = (".", html.escape(cue.text, quote=False)) if format == "vtt" else (",", _srt_text(cue.text))
    return f"{number}\n{_clock(cue.start_ms, point)} --> {_clock(cue.end_ms, point)}\n{text}\n\n"


def _clock(time_ms: int, point: str) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{point}{ms:03}"


def _srt_text(text: str) -> str:
    """The text of a cue; where something in it would be read as a tag or an entity, all is escaped."""
    return html.escape(text, quote=False).replace("{", "&#123;") if TAGS.search(text) else text


def _ass_text(text: str) -> str:
    """The text of a cue with nothing that ASS reads as its own: braces are escaped, backslashes touch no letter."""
    return re.sub(r"([{}])", r"\\\1", text.replace("\\", "\\\u2060")).replace("\n", "\\N")
