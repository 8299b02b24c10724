"""Words of a live source as they arrive, for example from the pipe of a speech recogniser.

In: a file descriptor.  Out: `Arrival`s: complete words, without waiting for the end of a line; or a silence.

A word is complete when white space follows it, or when the source ends: from `how ar`, only `how` arrives.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import re
import select
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from numbers import Real
from typing import Any

from ...errors import InputError, T5PunctError
from ..words import checked_text
from .files import BOM

_READ_BYTES = 65536
_SPACE = re.compile(r"\s")
# Vosk prints an object over several lines: between its brackets, which stand alone, lines are indented
_OPEN_OBJECT = re.compile(r"^\{[ \t\r]*\n(?:[ \t][^\n]*\n)*\Z", re.MULTILINE)
_EVENT = re.compile(r"^\{[ \t\r]*\n(?:[ \t][^\n]*\n)*\}[^\n]*|^[^\n]+", re.MULTILINE)  # else an event is a line


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, with the times at which it was spoken if the source gives them; a stream rounds them to whole ms."""

    word: str
    start_ms: int | None = None
    end_ms: int | None = None

    def silence_ms(self, end_ms: int | None) -> int:
        """Return the silence before this word, if the word before it ended at `end_ms`; 0 if a time is missing."""
        return 0 if end_ms is None or self.start_ms is None else self.start_ms - end_ms


def whole_ms(ms: object) -> int | None:
    """Return a time in whole ms, as a stream's state keeps it.  Raises InputError for what is no time."""
    if ms is None or type(ms) is int:
        return ms
    if not isinstance(ms, Real) or not math.isfinite(ms):
        raise InputError(f"a time of {ms!r} ms", expected="a finite number, or None", fix="correct start_ms and end_ms")
    return round(float(ms))


@dataclass(frozen=True, slots=True)
class Arrival:
    """Words that arrived together, or a line that could not be read; with neither, a silence."""

    words: tuple[TimedWord, ...] = ()
    problem: InputError | None = None


def arrivals(
    descriptor: int, *, timed: bool = False, silence_ms: int | None = None, stop: int | None = None
) -> Iterator[Arrival]:
    """Yield words as they arrive, until the source ends, or until something can be read from the descriptor `stop`.

    With `timed`, each line is a json object with `word`, and `start` and `end` in seconds, or a result of Vosk, which
    may be printed over several lines.  Any other line becomes an arrival with a problem.  With `silence_ms`, every
    silence of that length gives one empty arrival; the word before it counts as complete.
    """
    # bytes that are not UTF-8 must not end a caption, and come out as they went in
    decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
    rest = ""  # the last word, or line, which may go on
    is_silence_told = False  # a silence is told once, however long it is
    is_first = True  # whether nothing was read yet: there a byte order mark may stand
    watched = [descriptor] if stop is None else [descriptor, stop]
    while True:
        seconds = None if is_silence_told or silence_ms is None else silence_ms / 1000
        ready = select.select(watched, [], [], seconds)[0]
        if not ready:
            if not timed:
                yield from _arrived(rest, timed=False)
                rest = ""
            yield Arrival()
            is_silence_told = True
            continue
        is_silence_told = False
        is_stopped = stop in ready
        data = _read_waiting(descriptor) if is_stopped else os.read(descriptor, _READ_BYTES)
        is_last = is_stopped or not data
        text = decoder.decode(data, final=is_last)
        n_searched = len(rest)
        rest += text.removeprefix(BOM) if is_first else text
        is_first = is_first and not text
        if is_stopped and timed:
            rest, _ = _whole(rest, "\n", 0)  # what is unfinished is not an event yet
        if is_last:
            yield from _arrived(rest, timed)
            return
        whole, rest = _whole(rest, "\n" if timed else None, n_searched)
        yield from _arrived(whole, timed)


def _read_waiting(descriptor: int) -> bytes:
    """Return what waits in a pipe, which came before the order to stop; nothing of a file."""
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode) or not select.select([descriptor], [], [], 0)[0]:
        return b""
    return os.read(descriptor, _READ_BYTES)


def _arrived(text: str, timed: bool) -> Iterator[Arrival]:
    """Yield the words of a text; of timed lines, words and problems in order."""
    if not timed:
        if words := tuple(map(TimedWord, text.split())):
            yield Arrival(words)
        return
    pieces = [match[0] for match in _EVENT.finditer(text) if match[0].strip()]  # json may hold other line separators
    events = [event for piece in pieces for event in _events(piece)]
    for is_word, group in groupby(events, key=lambda event: isinstance(event, TimedWord)):
        if is_word:
            yield Arrival(tuple(event for event in group if isinstance(event, TimedWord)))
        else:
            yield from (Arrival(problem=event) for event in group if isinstance(event, InputError))


def _whole(text: str, end: str | None, n_searched: int) -> tuple[str, str]:
    """Return what is complete, and the rest (the last word, line or object of several lines), which may go on.

    `end`: what completes a piece, the end of a line; None: any white space does.  The first `n_searched` characters
    are not searched again for it: a word may come in many small pieces.
    """
    ends = [match.end() for match in _SPACE.finditer(text, n_searched)]
    if end is not None:
        ends = [text.rfind(end, n_searched) + 1]
    cut = ends[-1] if ends else 0
    if end is not None and (opened := _OPEN_OBJECT.search(text, 0, cut)):
        cut = opened.start()
    return text[:cut], text[cut:]


def _events(line: str) -> Sequence[TimedWord | InputError]:
    """Return the words of a line, or the error for a line that is wrong."""
    try:
        return timed_words(json.loads(line))
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, T5PunctError):
        problem = InputError(
            f"an event that reads {line[:40]!r}",
            expected='{"word": "hello", "start": 1.2, "end": 1.5}, or a line of Vosk',
            fix="correct the source, or drop --timed",
        )
        return [problem]


def timed_words(event: Any) -> Sequence[TimedWord]:
    """Return the words of an event: one, or those of a result of Vosk, whose partial results are passed over.

    >>> [word.word for word in timed_words({"result": [{"word": "so", "start": 0.1, "end": 0.3}], "text": "so"})]
    ['so']
    >>> timed_words({"partial": "so wh"}), timed_words({"text": ""})
    ([], [])
    """
    if "alternatives" in event:  # of Vosk, if it is asked for several guesses; the first is the best
        event = event["alternatives"][0]
    if "word" in event:
        return [timed_word(event)]
    if "result" in event:
        return [timed_word(word) for word in event["result"]]
    return [TimedWord(word) for word in checked_text("" if "partial" in event else event["text"]).split()]


def timed_word(event: Any) -> TimedWord:
    """Return a word of json: `{"word": "hello", "start": 1.2, "end": 1.5}`, times in seconds.

    Raises InputError, KeyError, TypeError, ValueError or OverflowError for anything else.
    """
    return TimedWord(
        checked_text(event["word"], may_hold_bytes=True), _milliseconds(event, "start"), _milliseconds(event, "end")
    )


def _milliseconds(event: Any, name: str) -> int | None:
    value = event.get(name)
    return None if value is None else round(1000 * float(str(value)))
