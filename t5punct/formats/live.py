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
from typing import Any

from ..errors import InputError

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
    """Words that arrived together; none means that nothing came for as long as one was willing to wait."""

    words: tuple[TimedWord, ...] = ()


def arrivals(descriptor: int, *, timed: bool = False, silence_ms: int | None = None) -> Iterator[Arrival]:
    """Words as they arrive, until the source ends.

    With `timed`, each line is a json object with `word`, and `start` and `end` in seconds.  With `silence_ms`, an
    arrival without words is given once after every silence of that length.  Raises InputError for a line that is no
    such object.
    """
    # bytes that are no UTF-8 must not end a caption
    decoder, rest = codecs.getincrementaldecoder("utf-8")(errors="replace"), ""
    while True:
        if silence_ms is not None and not _ready(descriptor, silence_ms):
            yield Arrival()
            _ready(descriptor, None)
        data = os.read(descriptor, _READ_BYTES)
        rest += decoder.decode(data, final=not data)
        whole, rest = (rest, "") if not data else _whole(rest, "\n" if timed else None)
        words = tuple(_timed(whole) if timed else (TimedWord(word) for word in whole.split()))
        if words:
            yield Arrival(words)
        if not data:
            return


def _ready(descriptor: int, wait_ms: int | None) -> bool:
    """Whether there is something to read, or will be within the time."""
    seconds = None if wait_ms is None else wait_ms / 1000
    return bool(select.select([descriptor], [], [], seconds)[0])


def _whole(text: str, end: str | None) -> tuple[str, str]:
    """What may be taken now, and what must wait for more: the last word, or the last line."""
    ends = [match.end() for match in _SPACE.finditer(text)] if end is None else [text.rfind(end) + 1]
    cut = ends[-1] if ends else 0
    return text[:cut], text[cut:]


def _timed(text: str) -> Iterator[TimedWord]:
    for line in text.split("\n"):  # json may hold other line separators
        if not line.strip():
            continue
        try:
            yield timed_word(json.loads(line))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise InputError(
                f"an event that reads {line[:40]!r}",
                expected='{"word": "hello", "start": 1.2, "end": 1.5}',
                fix="mend the source, or drop --timed",
            ) from error


def timed_word(event: Any) -> TimedWord:
    """A word of json: `{"word": "hello", "start": 1.2, "end": 1.5}`, times in seconds.

    Raises KeyError, TypeError, ValueError or OverflowError for anything else.
    """
    word = event["word"]
    if not isinstance(word, str):
        raise TypeError
    return TimedWord(word, _milliseconds(event, "start"), _milliseconds(event, "end"))


def _milliseconds(event: Any, name: str) -> int | None:
    value = event.get(name)
    return None if value is None else round(1000 * float(str(value)))
