"""A json file of any size in parts that fit into memory.

In: json, as a file to read from.  Out: `JsonPart`s; one after the other, their texts are the file.

What is small enough is one part.  Of a larger value only the members are parts, or several elements of a list at a
time, or pieces of a string, and what stands between them.

>>> import io
>>> [(part.kind.name, part.path, part.text) for part in json_parts(io.StringIO('{"n": 1, "s": ["a", "bc"]}'), 12)]
... # doctest: +NORMALIZE_WHITESPACE
[('LAYOUT', '', '{'), ('LAYOUT', '', '"n": '), ('VALUE', '.n', '1'), ('LAYOUT', '', ', '), ('LAYOUT', '', '"s": '),
 ('VALUE', '.s', '["a", "bc"]'), ('LAYOUT', '', '}')]
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TextIO

from ..errors import InputError
from .json_strings import TOKEN, no_json

LARGEST_CHARS = 2**20  # of a part: the words of an hour
_DIRECTION_CHARS = 64  # no stage direction is longer
_LABEL_CHARS = 128  # nor the label of a speaker, at the start of a line
_LINE_END = "\\n"  # in a string
_STRING_CHARS = 2**14  # of a piece of a string: some thousand words
_SPACE = re.compile(r"[ \t\n\r]*+")
_COMMA = re.compile(r"[ \t\n\r]*+,[ \t\n\r]*+")
_KEY = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\n\r]*+:[ \t\n\r]*+', re.DOTALL)
_SCALAR = re.compile(r"[^\s\[\]{},:\"]++")
_CUT = re.compile(r"(?: |(?<!\\)\\n)(?=[^\W_])")  # between two words of a string, and in no escape
_STRING_END = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class Kind(Enum):
    LAYOUT = 1  # brackets, commas, keys
    VALUE = 2  # the whole file, or the value of a member
    ELEMENTS = 3  # of a list, with commas between
    STRING = 4  # a piece of a string, without quotes


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A part of a file.

    path: keys and lists down to the value, or to the list that elements are of: `[]` for the first element, and for
    one of several; `[+]` for a later one that is too large to be one part.
    """

    kind: Kind
    text: str
    path: str = ""
    around: Mapping[str, Any] = field(default_factory=dict)  # small members, before it, of the object that it is in
    is_first: bool = True  # of the pieces of a string, or the elements of a list
    is_last: bool = True  # of the pieces of a string
    goes_on: bool = False  # whether a piece of a string begins inside a line

    @property
    def key(self) -> str:
        """The member whose value this is; empty for the file itself and for elements."""
        name = self.path.rpartition(".")[2]
        return "" if name.endswith("]") else name


def json_parts(
    handle: TextIO, largest_chars: int = LARGEST_CHARS, name: str = "the file", joined: str | None = None
) -> Iterator[JsonPart]:
    """The parts.  `joined`: an element of a list that holds this text is in one part with the element before it.

    A mistake inside a part is not noticed here.  Raises InputError for any other.
    """
    source = _Source(handle, largest_chars, name, joined)
    source.fill(largest_chars + 1)
    if source.n_left <= largest_chars:
        yield JsonPart(Kind.VALUE, source.take(source.n_left))
        return
    yield from source.layout(_SPACE)
    yield from _value(source, "", {})
    yield from source.layout(_SPACE)
    if source.n_left:
        raise source.wrong("Extra data")


def _value(source: _Source, path: str, around: Mapping[str, Any]) -> Iterator[JsonPart]:
    n_chars = source.n_of_value()
    if n_chars:
        yield JsonPart(Kind.VALUE, source.take(n_chars), path, around)
    elif source.is_at("{"):
        yield from _members(source, path)
    elif source.is_at("["):
        yield from _elements(source, path, around)
    elif source.is_at('"'):
        yield from _pieces(source, path, around)
    else:
        raise source.wrong("Expecting value")


def _members(source: _Source, path: str) -> Iterator[JsonPart]:
    seen: dict[str, Any] = {}

    def member(is_first: bool) -> Iterator[JsonPart]:
        found = source.match(_KEY, "Expecting property name enclosed in double quotes")
        key = str(json.loads(found[1], strict=False))
        yield JsonPart(Kind.LAYOUT, source.take(len(found[0])))
        for part in _value(source, f"{path}.{key}", {**seen}):
            if part.kind is Kind.VALUE and part.path == f"{path}.{key}" and part.text[:1] not in "[{":
                seen[key] = _scalar(part.text)
            yield part

    yield from _enclosed(source, "}", member)


def _elements(source: _Source, path: str, around: Mapping[str, Any]) -> Iterator[JsonPart]:
    def elements(is_first: bool) -> Iterator[JsonPart]:
        n_chars = source.n_of_elements()
        if n_chars:
            yield JsonPart(Kind.ELEMENTS, source.take(n_chars), path, around, is_first)
        else:
            yield from _value(source, f"{path}[]" if is_first else f"{path}[+]", {})

    yield from _enclosed(source, "]", elements)


def _enclosed(source: _Source, closing: str, one: Callable[[bool], Iterator[JsonPart]]) -> Iterator[JsonPart]:
    """A bracket, parts with commas between, the closing bracket; `one` is told whether it is the first."""
    is_first = True
    yield JsonPart(Kind.LAYOUT, source.take(1))
    yield from source.layout(_SPACE)
    while True:
        yield from one(is_first)
        is_first = False
        yield from source.layout(_SPACE)
        if source.is_at(closing):
            break
        yield from source.layout(_COMMA, "Expecting ',' delimiter")
    yield JsonPart(Kind.LAYOUT, source.take(1))


def _pieces(source: _Source, path: str, around: Mapping[str, Any]) -> Iterator[JsonPart]:
    yield JsonPart(Kind.LAYOUT, source.take(1))
    is_first, is_last, goes_on = True, False, False
    while not is_last:
        text = source.take(source.n_of_string())
        is_last = source.is_at('"')
        yield JsonPart(Kind.STRING, text, path, around, is_first, is_last, goes_on)
        is_first, goes_on = False, not text.endswith(_LINE_END)
    yield JsonPart(Kind.LAYOUT, source.take(1))


def _scalar(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except ValueError:  # said where the part is read
        return None


class _Source:
    """The rest of a file, as much of it as is looked at."""

    def __init__(self, handle: TextIO, largest_chars: int, name: str, joined: str | None) -> None:
        self._handle, self._largest, self._name, self._joined = handle, largest_chars, name, joined
        self._text, self._place, self._n_before, self._is_over = "", 0, 0, False

    @property
    def n_left(self) -> int:
        """Characters that were read and not taken."""
        return len(self._text) - self._place

    def fill(self, n_chars: int) -> None:
        """Read until so many characters are left, if there are so many; some more, so that this is rare."""
        while not self._is_over and self.n_left < n_chars:
            block = self._handle.read(max(n_chars, _STRING_CHARS))
            self._n_before += self._place
            self._text, self._place, self._is_over = self._text[self._place :] + block, 0, not block

    def take(self, n_chars: int) -> str:
        """The next characters, which were read."""
        self._place += n_chars
        return self._text[self._place - n_chars : self._place]

    def is_at(self, char: str) -> bool:
        self.fill(1)
        return self._text.startswith(char, self._place)

    def layout(self, pattern: re.Pattern[str], error: str = "") -> Iterator[JsonPart]:
        """What a pattern matches, if it is not empty.  Raises InputError where it does not match."""
        found = self.match(pattern, error)
        if n_chars := found.end() - found.start():
            yield JsonPart(Kind.LAYOUT, self.take(n_chars))

    def match(self, pattern: re.Pattern[str], error: str) -> re.Match[str]:
        """Raises InputError where the pattern does not match."""
        while True:
            found = pattern.match(self._text, self._place)
            if found and (self._is_over or found.end() < len(self._text)):
                return found
            if self._is_over or self.n_left > self._largest:
                raise self.wrong(error)
            self.fill(self.n_left + 1)

    def n_of_value(self) -> int:
        """The length of the next value; 0: it is too large, or there is none."""
        self.fill(self._largest)
        stop = self._end_of_value(self._place)
        return stop - self._place if stop else 0

    def n_of_elements(self) -> int:
        """The length of the next elements that are one part; 0: the first is too large."""
        self.fill(2 * self._largest)
        following = stop = self._place
        while end := self._end_of_value(following):
            is_enough = end - self._place > self._largest
            if is_enough and not (self._joined and self._text.find(self._joined, following, end) >= 0):
                break
            stop = end
            comma = _COMMA.match(self._text, end)
            if not comma:
                break
            following = comma.end()
        return stop - self._place

    def n_of_string(self) -> int:
        """The length of the next piece of a string.  Raises InputError where the string does not end."""
        n_wanted = min(_STRING_CHARS, self._largest)
        while True:
            self.fill(2 * n_wanted)
            end = _STRING_END.match(self._text, self._place)
            n_whole = end.end() - 1 - self._place if end else None
            if n_whole is not None and n_whole <= 2 * n_wanted:
                return n_whole
            stop = self._place + n_whole if n_whole is not None else len(self._text)
            for cut in _CUT.finditer(self._text, self._place + n_wanted // 2, stop):
                if not self._is_in_brackets(cut.start()) and not (cut[0] == " " and self._is_near_start(cut.start())):
                    return cut.end() - self._place
            if n_whole is not None:
                return n_whole
            if self._is_over:
                raise self.wrong("Unterminated string")
            n_wanted *= 2

    def wrong(self, error: str) -> InputError:
        return no_json(self._name, f"{error}: character {self._n_before + self._place + 1}")

    def _end_of_value(self, start: int) -> int | None:
        """Where a value ends; None: it is too large, or there is none."""
        if scalar := _SCALAR.match(self._text, start):
            return scalar.end() if scalar.end() < len(self._text) or self._is_over else None
        depth = 0
        if self._text[start : start + 1] not in ("{", "[", '"'):
            return None
        for match in TOKEN.finditer(self._text, start, start + self._largest):
            if match[0][0] == '"':
                if not match["end"]:
                    return None
            else:
                depth += 1 if match[0] in "[{" else -1
            if depth <= 0:
                return match.end()
        return None

    def _is_near_start(self, place: int) -> bool:
        """Whether a line of a string, or this piece, begins shortly before a place: a label may go on over it."""
        begin = place - _LABEL_CHARS
        return begin < self._place or self._text.rfind(_LINE_END, begin, place) >= 0

    def _is_in_brackets(self, place: int) -> bool:
        """Whether a stage direction goes on over a place."""
        begin = max(self._place, place - _DIRECTION_CHARS)
        return any(
            self._text.rfind(one, begin, place) > self._text.rfind(other, begin, place) for one, other in ("[]", "()")
        )
