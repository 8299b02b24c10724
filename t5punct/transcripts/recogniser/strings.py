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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from json.decoder import JSONArray, JSONObject, scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from ...errors import InputError
from ...text.io.files import BOM
from ...text.words import readable

_DEEPEST = 100  # levels of brackets; no recogniser has ten
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.", re.DOTALL)
_LINE_END = re.compile(r"\n(?=[ \t\r]*\{)")  # before another line
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


def are_json_lines(source: str) -> bool:
    """Return whether a text is lines of json objects, as NeMo's manifests are.

    >>> are_json_lines('{"text": "so"}\\n{"text": "what"}\\n'), are_json_lines('{"text":\\n "so"}')
    (True, False)
    """
    lines = [line for line in source.lstrip(BOM).splitlines() if line.strip()]
    return len(lines) > 1 and all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines)


def json_value(source: str, name: str = "the file", *, is_lines: bool = False) -> Any:
    """Return the value of a json text as `json.loads` does, with `Literal`s for strings and the digits of numbers.

    `is_lines`: whether it is a list with line ends in the place of commas.  Raises InputError for what is no json.
    """
    if is_lines:  # what has the places of the text; no string of json holds a line end
        source = _LINE_END.sub(",", source.replace(BOM, " "))
    if source.startswith(BOM):
        source = " " + source[1:]
    try:
        return _Decoder().decode(source)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name} is no json ({error.msg}: character {error.pos + 1})",
            expected="a complete json file",
            fix="check it, make a list of it if each line is json, or name its --format",
        ) from error


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


class _Decoder(json.JSONDecoder):
    """Reads json as the standard library does; numbers stay as they are written, strings and objects know their place.

    Only the scanner that is written in Python asks its decoder how to read these.
    """

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=list, parse_float=str, parse_int=str, parse_constant=str, strict=False)
        self._depth = 0
        self.parse_string, self.parse_object, self.parse_array = _literal, self._object, self._array
        self.scan_once = py_make_scanner(self)

    def _object(self, start: tuple[str, int], *how: Any) -> tuple[JsonObject, int]:
        pairs, stop = self._inside(JSONObject, start, *how)
        members, hidden = JsonObject(), list[tuple[str, Any]]()
        for key, member in pairs:
            if key in members:
                hidden.append((key, members[key]))
            members[key] = member
        members.start, members.stop, members.hidden = start[1] - 1, stop, tuple(hidden)
        return members, stop

    def _array(self, start: tuple[str, int], *how: Any) -> tuple[list[Any], int]:
        return self._inside(JSONArray, start, *how)

    def _inside(
        self, read: Callable[..., tuple[list[Any], int]], start: tuple[str, int], *how: Any
    ) -> tuple[list[Any], int]:
        """What is inside brackets, and where they end; `start`: the source, and where it begins behind the first."""
        if self._depth >= _DEEPEST:
            raise json.JSONDecodeError(f"brackets {_DEEPEST} deep", start[0], start[1] - 1)
        self._depth += 1
        values = read(start, *how)
        self._depth -= 1
        return values


def _literal(source: str, begin: int, strict: bool) -> tuple[Literal, int]:
    """The string whose opening quote is before `begin`."""
    text, stop = scanstring(source, begin, strict)
    return Literal(text, begin - 1, stop), stop
