r"""A json text whose strings are replaced and which stays as it is otherwise, space by space.

In: json.  Out: its value, in which strings and objects know their place; and the json with other text in some places.

>>> found = JsonStrings.of('{"text": "h\\u00e9 ho",   "n": 1.50}')
>>> text = found.value["text"]
>>> text.text, found.written([found.changed(text, "H\u00e9, ho.")])
('hé ho', '{"text": "H\\u00e9, ho.",   "n": 1.50}')
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..text.words import readable

# possessive: a long string is not gone through again, and takes no memory for places to return to
TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>")?|[\[\]{}]', re.DOTALL)
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.", re.DOTALL)
_SPECIAL = r"[^ !#-\[\]-~]"  # what json may have to escape


@dataclass(frozen=True, slots=True)
class Literal:
    """A string of a json text: what it says, and where it stands, with its quotes."""

    text: str
    start: int
    stop: int


class JsonObject(dict[str, Any]):
    """An object of a json text, and where it stands, with its brackets."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Other text for `start:stop`."""

    start: int
    stop: int
    text: str


@dataclass(frozen=True, slots=True)
class JsonStrings:
    """A json text.  `value`: as `json.loads` gives it, with a `Literal` for each string that is no key."""

    source: str
    value: Any

    @classmethod
    def of(cls, source: str, name: str = "the file") -> JsonStrings:
        """Raises InputError for what is no json."""
        try:
            return cls(source, _Places(source).value())
        except (ValueError, RecursionError) as error:
            raise no_json(name, getattr(error, "msg", str(error))) from error

    def changed(self, literal: Literal, text: str) -> Edit:
        """What is to be written so that a string says `text`; a string that says so already stays as it is spelled."""
        old = self.source[literal.start : literal.stop]
        if text == literal.text:
            return Edit(literal.start, literal.stop, old)
        return Edit(literal.start, literal.stop, spelled(text, old, is_ascii=self.source.isascii()))

    def written(self, edits: Iterable[Edit]) -> str:
        """The json with other text in some places, which do not overlap."""
        pieces, end = list[str](), 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop)):
            pieces += [self.source[end : edit.start], edit.text]
            end = edit.stop
        return "".join(pieces) + self.source[end:]


def spelled(text: str, like: str, *, is_ascii: bool) -> str:
    r"""A text as a json string, in the place of `like`, whose escapes stay.  `is_ascii`: whether the json is.

    >>> print(spelled("So A & B.", r'"so a \u0026 b"', is_ascii=True))
    "So A \u0026 B."
    """
    is_escaped = is_ascii or readable(text) != text  # half a character has no UTF-8 form
    if "\\" not in like:
        return json.dumps(text, ensure_ascii=is_escaped)
    bare = _ESCAPE.sub("", like)[1:-1]
    escapes = {json.loads(f'"{one}"', strict=False): one for one in _ESCAPE.findall(like)}
    escapes = {char: escape for char, escape in escapes.items() if char not in bare}
    has_capitals = any(escape != escape.lower() for escape in escapes.values())  # \u00E9
    others = f"|[{re.escape(''.join(escapes))}]" if escapes else ""

    def escaped(char: str) -> str:
        new = json.dumps(char, ensure_ascii=is_escaped)[1:-1]
        return escapes.get(char) or (new.upper().replace("\\U", "\\u") if has_capitals and "\\u" in new else new)

    return '"' + re.sub(_SPECIAL + others, lambda match: escaped(match[0]), text) + '"'


def no_json(name: str, why: str) -> InputError:
    """The error for a file that is no json."""
    return InputError(
        f"{name} is no json ({why})",
        expected="a complete json file",
        fix="check it, make a list of it if each line is json, or name its --format",
    )


class _Places:
    """Reads json with the standard library, which says nothing of places: they are found by the order of brackets."""

    def __init__(self, source: str) -> None:
        self._literals, self._spans, opened = list[Literal](), list[tuple[int, int]](), list[int]()
        for match in TOKEN.finditer(source):
            found = match[0]
            if found[0] == '"':
                text = found[1:-1] if "\\" not in found and match["end"] else json.loads(found, strict=False)
                self._literals.append(Literal(text, match.start(), match.end()))
            elif found == "{":
                opened.append(match.start())
            elif found == "}" and opened:
                self._spans.append((opened.pop(), match.end()))
        numbers = iter(range(len(self._literals)))
        self._skeleton = TOKEN.sub(lambda match: f'"{next(numbers)}"' if match[0][0] == '"' else match[0], source)

    def value(self) -> Any:
        spans = iter(self._spans)  # objects are made in the order in which they are closed

        def made(pairs: list[tuple[str, Any]]) -> JsonObject:
            found = JsonObject((self._literals[int(key)].text, self._resolved(value)) for key, value in pairs)
            found.start, found.stop = next(spans)
            return found

        return self._resolved(json.loads(self._skeleton, object_pairs_hook=made))

    def _resolved(self, value: Any) -> Any:
        match value:
            case str():
                return self._literals[int(value)]
            case list():
                return [self._resolved(item) for item in value]
            case _:
                return value
