"""Words of a live source as they arrive, for example from the pipe of a speech recogniser.

In: a file descriptor.  Out: `Arrival`s: complete words, as soon as they are read; or a silence.  A word is complete if
white space follows it, or if the source ends: of `how ar`, only `how` arrives.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import re
import select
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ...errors import InputError, T5PunctError
from ..words import checked_text
from .files import BOM

_READ_BYTES = 65536
_SPACE = re.compile(r"\s")
# Vosk prints an object over several lines: each bracket on its own line, and indented lines between.  This is one
# at the end of a text, whose closing bracket has not come
_OPEN_OBJECT = re.compile(r"^\{[ \t\r]*\n(?:[ \t][^\n]*\n)*\Z", re.MULTILINE)
_EVENT = re.compile(r"^\{[ \t\r]*\n(?:[ \t][^\n]*\n)*\}[^\n]*|^[^\n]+", re.MULTILINE)  # else an event is a line

JSON_BEGINS = re.compile(r'\s*\{\s*["}]')  # `{laughs}` is a word
_OF_PARTIAL = {"is_final": False, "final": False, "is_partial": True, "partial": True}  # words that may still change
_TYPES = ("type", "message_type")  # where others write `PartialTranscript`


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, and the times at which it was spoken, if the source gives them.  A stream rounds times to whole ms."""

    word: str
    start_ms: int | None = None
    end_ms: int | None = None

    def silence_ms(self, end_ms: int | None) -> int:
        """Return the silence before this word, given when the word before ended; 0 if a time is missing."""
        return 0 if end_ms is None or self.start_ms is None else self.start_ms - end_ms


def whole_ms(ms: object) -> int | None:
    """Return a time in whole ms, as a stream's state holds it.  Raises InputError for a value that is not a time."""
    if ms is None or type(ms) is int:
        return ms
    if not isinstance(ms, Real) or not math.isfinite(ms):
        raise InputError(f"a time of {ms!r} ms", expected="a finite number, or None", fix="correct start_ms and end_ms")
    return round(float(ms))


@dataclass(frozen=True, slots=True)
class Arrival:
    """Words that arrived together, or a line that could not be read, or a silence if it has neither."""

    words: tuple[TimedWord, ...] = ()
    problem: InputError | None = None


def arrivals(
    descriptor: int, *, timed: bool = False, silence_ms: int | None = None, stop: int | None = None
) -> Iterator[Arrival]:
    """Yield words as they arrive, until the source ends, or until the descriptor `stop` can be read.

    timed: each line is an event (see `timed_words`); a result of Vosk may fill several lines.  Any other line becomes
    an arrival with a problem.
    silence_ms: after a silence of this length one empty arrival comes; a word in which it falls is not cut.
    """
    # bytes that are not UTF-8 must not end the captions: they come out as they went in
    decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
    pending = ""  # an incomplete word or, if timed, an incomplete line
    is_silent = False  # a silence is told once, however long it is
    has_begun = False  # before the first text a byte order mark may stand
    is_last = False
    watched = [descriptor] if stop is None else [descriptor, stop]
    while not is_last:
        timeout_s = None if is_silent or silence_ms is None else silence_ms / 1000
        ready, _, _ = select.select(watched, [], [], timeout_s)
        is_silent = not ready
        if is_silent:
            yield Arrival()
            continue
        is_stopped = stop in ready
        data = _read_waiting(descriptor) if is_stopped else os.read(descriptor, _READ_BYTES)
        is_last = is_stopped or not data
        text = decoder.decode(data, final=is_last)
        n_searched = 0 if is_last else len(pending)
        pending += text if has_begun else text.removeprefix(BOM)
        has_begun = has_begun or text != ""
        complete = pending
        if not is_last or (is_stopped and timed):  # a line that is not complete when the stream is stopped is dropped
            complete, pending = _cut_complete(pending, timed=timed, n_searched=n_searched)
        yield from _parse(complete, timed)


def _read_waiting(descriptor: int) -> bytes:
    """Return what a pipe holds at this moment, without waiting: the last bytes before the stream was stopped.

    Of a file nothing is read: its rest may be long.
    """
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode) or not select.select([descriptor], [], [], 0)[0]:
        return b""
    return os.read(descriptor, _READ_BYTES)


def _parse(text: str, timed: bool) -> Iterator[Arrival]:
    """Yield the words of complete text, or of complete lines the words and problems in order."""
    if not timed:
        if words := tuple(map(TimedWord, text.split())):
            yield Arrival(words)
        return
    words = ()  # of the lines since the last problem
    # not splitlines: JSON may hold characters that this takes for line ends
    for line in filter(str.strip, _EVENT.findall(text)):
        try:
            words += timed_words(json.loads(line))
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, T5PunctError):
            if words:
                yield Arrival(words)
            words = ()
            problem = InputError(
                f"an event that reads {line[:40]!r}",
                expected='{"word": "hello", "start": 1.2, "end": 1.5}, or a line of Vosk',
                fix="correct the source" if JSON_BEGINS.match(line) else "correct the source, or drop --timed",
            )
            yield Arrival(problem=problem)
    if words:
        yield Arrival(words)


def _cut_complete(text: str, *, timed: bool, n_searched: int) -> tuple[str, str]:
    """Return the complete words, or if timed the complete lines and objects of several lines; and what follows them.

    n_searched: how many first characters hold no end of a word or line; a word may come in many small pieces.
    """
    if timed:
        cut = text.rfind("\n", n_searched) + 1
        open_object = _OPEN_OBJECT.search(text, 0, cut)
        if open_object:
            cut = open_object.start()
    else:
        cut = max((space.end() for space in _SPACE.finditer(text, n_searched)), default=0)
    return text[:cut], text[cut:]


def timed_words(event: Any) -> tuple[TimedWord, ...]:
    """Return the words of a JSON object: one word, or a recogniser's result.  A partial result has none.

    Its words are a list `result` (as Vosk names it) or `words`, with times, or else those of its `text`.

    >>> [word.word for word in timed_words({"result": [{"word": "so", "start": 0.1, "end": 0.3}], "text": "so"})]
    ['so']
    >>> timed_words({"text": "so", "is_final": False})
    ()
    """
    if _is_partial(event):
        return ()
    if "alternatives" in event:  # Vosk can print several guesses, the best first
        event = event["alternatives"][0]
    if "word" in event:
        return (timed_word(event),)
    if "result" in event:
        return tuple(map(timed_word, event["result"]))
    words = event.get("words")
    # where a word has another name, its times have other units, too
    if words and isinstance(words, list) and all(isinstance(word, dict) and "word" in word for word in words):
        return tuple(map(timed_word, words))
    return tuple(map(TimedWord, checked_text(event["text"]).split()))


def _is_partial(event: Mapping[str, Any]) -> bool:
    """Return whether the words of a JSON object may still change."""
    if isinstance(event.get("partial"), str):  # the words, as Vosk has them
        return True
    types = [event.get(name) for name in _TYPES]
    has_partial_type = any(isinstance(kind, str) and kind.lower().startswith("partial") for kind in types)
    return has_partial_type or any(event.get(name) is value for name, value in _OF_PARTIAL.items())


def timed_word(event: Any) -> TimedWord:
    """Return a word of a JSON object: `{"word": "hello", "start": 1.2, "end": 1.5}`, with times in seconds.

    Raises InputError, KeyError, TypeError, ValueError or OverflowError for anything else.
    """
    times = [event.get(name) for name in ("start", "end")]
    start_ms, end_ms = (None if seconds is None else round(1000 * float(str(seconds))) for seconds in times)
    return TimedWord(checked_text(event["word"], may_hold_bytes=True), start_ms, end_ms)
