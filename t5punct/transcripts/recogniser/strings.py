r"""A json text whose strings are replaced and which stays as it is otherwise, space by space.

In: json.  Out: its value, in which strings and objects know their place; and the json with other text in some places.

>>> source = '{"text": "h\\u00e9 ho",   "n": 1.50}'
>>> text = json_value(source)["text"]
>>> text.text, apply_edits(source, [edit_of_string(source, text, "H\u00e9, ho.")])
('hé ho', '{"text": "H\\u00e9, ho.",   "n": 1.50}')
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...text.io.files import BOM
from ...text.words import readable

# possessive: a long string is not gone through again, and takes no memory for places to return to
_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][-+]?\d++)?|true|false|null|NaN|-?Infinity")
_DEEPEST = 100  # levels of brackets; no recogniser has ten
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.", re.DOTALL)
_SPECIAL = r"[^ !#-\[\]-~]"  # what json may have to escape


@dataclass(frozen=True, slots=True)
class Literal:
    """A string of a json text: what it says, and where it stands, with its quotes."""

    text: str
    start: int
    stop: int


class JsonObject(dict[str, Any]):
    """An object of a json text, and where it stands, with its brackets.

    hidden: members whose key comes again; who reads json with a library sees the last one alone.
    """

    __slots__ = ("hidden", "start", "stop")
    start: int
    stop: int
    hidden: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Other text for `start:stop`."""

    start: int
    stop: int
    text: str


def json_value(source: str, name: str = "the file") -> Any:
    """Return the value of a json text as `json.loads` does, with `Literal`s for strings and the digits of numbers.

    Raises InputError for what is no json.
    """
    scanner = _Scanner(source)
    try:
        value = scanner.value(0)
        scanner.end()
    except ValueError as error:
        raise no_json(name, f"{getattr(error, 'msg', error)}: character {scanner.place + 1}") from error
    return value


def edit_of_string(source: str, literal: Literal, text: str) -> Edit:
    """Return the edit that makes a string say `text`; a string that says so already stays as it is spelled."""
    old = source[literal.start : literal.stop]
    return Edit(
        literal.start, literal.stop, old if text == literal.text else spell_string(text, old, is_ascii=source.isascii())
    )


def apply_edits(source: str, edits: Iterable[Edit]) -> str:
    """Return the json with other text in some places, which do not overlap."""
    pieces, end = list[str](), 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop)):
        pieces += [source[end : edit.start], edit.text]
        end = edit.stop
    return "".join(pieces) + source[end:]


def spell_string(text: str, like: str, *, is_ascii: bool) -> str:
    r"""Return a text as a json string, in the place of `like`, whose escapes stay.  `is_ascii`: whether the json is.

    >>> print(spell_string("So A & B.", r'"so a \u0026 b"', is_ascii=True))
    "So A \u0026 B."
    """
    is_escaped = is_ascii or readable(text) != text  # half a character has no UTF-8 form
    if "\\" not in like:
        return json.dumps(text, ensure_ascii=is_escaped)
    bare = _ESCAPE.sub("", like)[1:-1]
    escapes = {json.loads(f'"{escape}"', strict=False): escape for escape in _ESCAPE.findall(like)}
    escapes = {char: escape for char, escape in escapes.items() if char not in bare}
    has_capitals = any(escape != escape.lower() for escape in escapes.values())  # \u00E9
    also_escaped = f"|[{re.escape(''.join(escapes))}]" if escapes else ""

    def escaped(char: str) -> str:
        new = json.dumps(char, ensure_ascii=is_escaped)[1:-1]
        return escapes.get(char) or (new.upper().replace("\\U", "\\u") if has_capitals and "\\u" in new else new)

    return '"' + re.sub(_SPECIAL + also_escaped, lambda match: escaped(match[0]), text) + '"'


def no_json(name: str, why: str) -> InputError:
    """Return the error for a file that is no json."""
    return InputError(
        f"{name} is no json ({why})",
        expected="a complete json file",
        fix="check it, make a list of it if each line is json, or name its --format",
    )


class _Scanner:
    """Reads a json text from its start to its end, and knows where it is."""

    def __init__(self, source: str) -> None:
        self._source, self.place = source, int(source.startswith(BOM))

    def value(self, depth: int) -> Any:
        """Return the value that comes next.  Raises ValueError where there is none."""
        char = self._next()
        if char == '"':
            return self._string()
        if char in ("{", "["):
            if depth >= _DEEPEST:
                raise ValueError(f"brackets {_DEEPEST} deep")
            return self._object(depth + 1) if char == "{" else self._list(depth + 1)
        scalar = _SCALAR.match(self._source, self.place)
        if not scalar:
            raise ValueError("Expecting value")
        self.place = scalar.end()
        return scalar[0]

    def end(self) -> None:
        """Raise ValueError if something comes next."""
        if self._next():
            raise ValueError("Extra data")

    def _object(self, depth: int) -> JsonObject:
        members, hidden = JsonObject(), list[tuple[str, Any]]()
        members.start = self.place
        while not self._closes("}", is_first=self.place == members.start):
            if self._next() != '"':
                raise ValueError("Expecting property name enclosed in double quotes")
            key = self._string().text
            if self._next() != ":":
                raise ValueError("Expecting ':' delimiter")
            self.place += 1
            if key in members:
                hidden.append((key, members[key]))
            members[key] = self.value(depth)
        members.stop, members.hidden = self.place, tuple(hidden)
        return members

    def _list(self, depth: int) -> list[Any]:
        values, start = list[Any](), self.place
        while not self._closes("]", is_first=self.place == start):
            values.append(self.value(depth))
        return values

    def _closes(self, bracket: str, *, is_first: bool) -> bool:
        """Whether a bracket closes here; pass over it, over the bracket that opened, or over the comma between."""
        self.place += is_first
        char = self._next()
        if char == bracket:
            self.place += 1
            return True
        if is_first:
            return False
        if char != ",":
            raise ValueError("Expecting ',' delimiter")
        self.place += 1
        return False

    def _string(self) -> Literal:
        match = _STRING.match(self._source, self.place)
        if not match:
            raise ValueError("Unterminated string")
        text = match[0][1:-1] if "\\" not in match[0] else str(json.loads(match[0], strict=False))
        self.place = match.end()
        return Literal(text, match.start(), match.end())

    def _next(self) -> str:
        """The next character that is no white space; empty at the end."""
        char = self._source[self.place : self.place + 1]
        if char not in " \t\n\r":
            return char
        space = _SPACE.match(self._source, self.place)
        self.place = space.end() if space else self.place
        return self._source[self.place : self.place + 1]
