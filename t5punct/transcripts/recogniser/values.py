r"""Json as values: parsed, and written with other strings and lists in some places.

In: json.  Out: its value, as `json.loads` gives it, but with numbers as they are written; and the json with what has
changed.  Values, keys, their order and their numbers stay, and the indentation; other white space and escapes are those
of `json.dumps`.

>>> source = '{"n": 1.50,\n\n"text": "so"}'
>>> value, changes = json_value(source), Changes()
>>> changes.strings[id(value), "text"] = "So."
>>> "".join(written_json(source, value, changes))
'{"n": 1.50, "text": "So."}'
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import InputError
from ...text.io.files import BOM
from ...text.words import readable

_DEEPEST = 100  # levels of brackets; no recogniser has ten
AGAIN = "\ud800"  # behind a key that comes again in its object, so that both members are kept
_BEGINS = re.compile(r"[\[{][ \t]*(\r?\n)([ \t]*)\S")
_COLON = re.compile(r'"\s*:(\s?)')
_SPACE = " \t\r\n"
_SPELL, _SPELL_IN_ASCII = (json.JSONEncoder(ensure_ascii=is_ascii).encode for is_ascii in (False, True))


class Number(str):
    """A number as a file writes it, which may have thousands of digits."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be written otherwise.

    strings: by the id of the object or list that holds each, and its key there; added: elements behind others, by the
    ids of these; gone: ids of elements; lists: what stands in the place of lists, by their ids.
    """

    strings: dict[tuple[int, str | int], str] = field(default_factory=dict)
    added: dict[int, list[Any]] = field(default_factory=lambda: defaultdict(list))
    gone: set[int] = field(default_factory=set)
    lists: dict[int, Sequence[Any]] = field(default_factory=dict)

    def elements(self, elements: Sequence[Any]) -> Sequence[Any]:
        """Return what is to be written as the elements of a list."""
        if not self.gone and not self.added:
            return elements
        if id(elements) in self.lists:
            return self.lists[id(elements)]
        left = (element for element in elements if id(element) not in self.gone)
        return [new for element in left for new in (element, *self.added.get(id(element), ()))]


def are_json_lines(source: str) -> bool:
    """Return whether a text is lines of json objects, as NeMo's manifests are.

    >>> are_json_lines('{"text": "so"}\\n{"text": "what"}\\n'), are_json_lines('{"text":\\n "so"}')
    (True, False)
    """
    lines = [line.strip(_SPACE) for line in source.removeprefix(BOM).split("\n") if line.strip(_SPACE)]
    return len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines)


def json_value(source: str, name: str = "the file") -> Any:
    """Return the value of a json text.  Raises InputError for what is no json."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_float=Number, parse_int=Number, parse_constant=Number, strict=False
    )
    try:
        value = decoder.decode(source.removeprefix(BOM))
        if _is_deeper(value, _DEEPEST):
            raise RecursionError(f"brackets {_DEEPEST} deep")
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(
            f"{name} is no json ({error})",
            expected="a complete json file",
            fix="check it, make a list of it if each line is json, or name its --format",
        ) from error
    return value


def _is_deeper(value: Any, n_levels: int) -> bool:
    level = [value]
    for _ in range(n_levels):
        level = [
            member
            for outer in level
            if isinstance(outer, dict | list)
            for member in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    again = (
        (key + AGAIN * [name for name, _ in pairs[:n]].count(key), member) for n, (key, member) in enumerate(pairs)
    )
    return dict(again)


def written_json(source: str, value: Any, changes: Changes) -> Iterator[str]:
    """Yield the pieces of a json text with what has changed, indented as it was."""
    body = source.removeprefix(BOM).strip(_SPACE)
    begin, colon = _BEGINS.match(body), _COLON.search(body)
    space = colon[1] if colon else " "
    line_end, indent = (begin[1], begin[2]) if begin else ("", "")
    comma = "," if begin else "," + space
    is_ascii = source.isascii()

    def spelled(text: str) -> str:  # half a character has no UTF-8 form
        return (_SPELL_IN_ASCII if is_ascii or readable(text) != text else _SPELL)(text)

    def pieces(value: Any, margin: str) -> Iterator[str]:
        if not isinstance(value, dict | list):
            yield value if isinstance(value, Number) else spelled(value) if isinstance(value, str) else _SPELL(value)
            return
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        members = value.items() if isinstance(value, dict) else enumerate(changes.elements(value))
        inner, gap = margin + indent, opening + margin + indent
        for key, member in members:
            yield gap + (f"{spelled(key.rstrip(AGAIN))}:{space}" if isinstance(key, str) else "")
            yield from pieces(
                changes.strings.get((id(value), key), member) if isinstance(member, str) else member, inner
            )
            gap = comma + inner
        yield (opening if gap[0] == opening else margin) + closing

    start = source.index(body[:1])
    yield source[:start]
    yield from pieces(value, line_end)
    yield source[start + len(body) :]
