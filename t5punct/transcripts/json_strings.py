r"""A json file whose strings are replaced and which stays as it is otherwise, space by space.

In: json.  Out: its value, in which strings know their place; and the json with other strings in some places.

>>> found = JsonStrings.of('{"text": "h\\u00e9 ho",   "n": 1.50}')
>>> found.value["text"].text, found.written({found.value["text"].place: "H\u00e9, ho."})
('hé ho', '{"text": "H\\u00e9, ho.",   "n": 1.50}')
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError

_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Literal:
    """A string of a json file: its text, and how many strings stand before it."""

    text: str
    place: int


@dataclass(frozen=True, slots=True)
class JsonStrings:
    """A json file.  `value`: as `json.loads` gives it, with a `Literal` for each string that is no key."""

    source: str
    value: Any

    @classmethod
    def of(cls, source: str, name: str = "the file") -> JsonStrings:
        """Raises InputError for what is no json."""
        try:
            strings = [json.loads(literal, strict=False) for literal in _LITERAL.findall(source)]
            places = iter(range(len(strings)))
            skeleton = json.loads(_LITERAL.sub(lambda _: f'"{next(places)}"', source))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{name} is no json ({error})", expected="a complete json file", fix="check it, or name its --format"
            ) from error
        return cls(source, _resolved(skeleton, strings))

    def written(self, texts: Mapping[int, str]) -> str:
        """The json with other texts in some places."""
        pieces, end = list[str](), 0
        for place, match in enumerate(_LITERAL.finditer(self.source)):
            if place in texts and texts[place] != json.loads(match[0], strict=False):
                new = json.dumps(texts[place], ensure_ascii=self.source.isascii())
                pieces += [self.source[end : match.start()], new.replace("/", "\\/") if "\\/" in match[0] else new]
                end = match.end()
        return "".join(pieces) + self.source[end:]


def _resolved(value: Any, strings: list[str]) -> Any:
    match value:
        case str():
            return Literal(strings[int(value)], int(value))
        case list():
            return [_resolved(item, strings) for item in value]
        case dict():
            return {strings[int(key)]: _resolved(item, strings) for key, item in value.items()}
        case _:
            return value
