"""Words of a live source as they arrive: a pipe behind a speech recogniser, say.

In: a file descriptor.  Out: `Arrival`s: the words that became whole, without waiting for a line's end; or a silence.

A word is whole when white space follows it, or when the source ends: of `how ar`, `how` arrives first, then `are`.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import select
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Any

from ...errors import InputError, T5PunctError
from ..words import checked_text

_READ_BYTES = 65536
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, with the times at which it was spoken where the source tells them."""

    word: str
    start_ms: int | None = None
    end_ms: int | None = None

    def silence_ms(self, end_ms: int | None) -> int:
        """How long nothing was said before this word, the one before being over at `end_ms`; 0 if it is not known."""
        return 0 if end_ms is None or self.start_ms is None else self.start_ms - end_ms


@dataclass(frozen=True, slots=True)
class Arrival:
    """Words that arrived together, or a line that could not be read.

    Neither means that nothing came for as long as one was willing to wait.
    """

    words: tuple[TimedWord, ...] = ()
    problem: InputError | None = None


def arrivals(
    descriptor: int, *, timed: bool = False, silence_ms: int | None = None, stop: int | None = None
) -> Iterator[Arrival]:
    """Words as they arrive, until the source ends, or until something can be read from the descriptor `stop`.

    With `timed`, each line is a json object with `word`, and `start` and `end` in seconds.  With `silence_ms`, an
    empty arrival is given once after every silence of that length; it makes the word before it whole.
    A line that is no such object is told as a problem, in its place among the words.
    """
    # bytes that are no UTF-8 must not end a caption, and come out as they went in
    decoder, rest = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape"), ""
    is_told = False
    while True:
        state = _wait(descriptor, stop, None if is_told else silence_ms)
        if state is _State.SILENT:
            if not timed:
                yield from _arrived(rest, timed=False)
                rest = ""
            yield Arrival()
            is_told = True
            continue
        if state is _State.STOPPED and timed:
            return  # a line without its end is no event yet
        is_told = False
        data = os.read(descriptor, _READ_BYTES) if state is _State.READY else b""
        n_searched, rest = len(rest), rest + decoder.decode(data, final=not data)
        whole, rest = (rest, "") if not data else _whole(rest, "\n" if timed else None, n_searched)
        yield from _arrived(whole, timed)
        if not data:
            return


class _State(Enum):
    READY = 1
    SILENT = 2
    STOPPED = 3


def _wait(descriptor: int, stop: int | None, silence_ms: int | None) -> _State:
    """Wait until there is something to read, one is told to stop, or nothing has come for too long."""
    watched = [descriptor] if stop is None else [descriptor, stop]
    ready, _, _ = select.select(watched, [], [], None if silence_ms is None else silence_ms / 1000)
    if stop in ready:
        return _State.STOPPED
    return _State.READY if ready else _State.SILENT


def _arrived(text: str, timed: bool) -> Iterator[Arrival]:
    """The words of a text, if it has any; of timed ones, those before and after a line that cannot be read."""
    if not timed:
        if words := tuple(map(TimedWord, text.split())):
            yield Arrival(words)
        return
    events = [_event(line) for line in text.split("\n") if line.strip()]  # json may hold other line separators
    for is_word, group in groupby(events, key=lambda event: isinstance(event, TimedWord)):
        if is_word:
            yield Arrival(tuple(event for event in group if isinstance(event, TimedWord)))
        else:
            yield from (Arrival(problem=event) for event in group if isinstance(event, InputError))


def _whole(text: str, end: str | None, n_searched: int) -> tuple[str, str]:
    """What may be taken now, and what must wait for more: the last word, or the last line.

    The first characters were searched before: else a word that comes in many pieces would be searched at each.
    """
    ends = [match.end() for match in _SPACE.finditer(text, n_searched)]
    if end is not None:
        ends = [text.rfind(end, n_searched) + 1]
    cut = ends[-1] if ends else 0
    return text[:cut], text[cut:]


def _event(line: str) -> TimedWord | InputError:
    """The word of a line, or what is wrong with the line."""
    try:
        return timed_word(json.loads(line))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, T5PunctError):
        return InputError(
            f"an event that reads {line[:40]!r}",
            expected='{"word": "hello", "start": 1.2, "end": 1.5}',
            fix="correct the source, or drop --timed",
        )


def timed_word(event: Any) -> TimedWord:
    """A word of json: `{"word": "hello", "start": 1.2, "end": 1.5}`, times in seconds.

    Raises InputError, KeyError, TypeError, ValueError or OverflowError for anything else.
    """
    return TimedWord(
        checked_text(event["word"], may_hold_bytes=True), _milliseconds(event, "start"), _milliseconds(event, "end")
    )


def _milliseconds(event: Any, name: str) -> int | None:
    value = event.get(name)
    return None if value is None else round(1000 * float(str(value)))
