r"""Json as values: parsed, and written as it was laid out.

In: json.  Out: its value, as `json.loads` gives it, but with numbers as they are written; and the json of a value that
has changed.  Values, keys, their order and their numbers stay, and the indentation; other white space and escapes are
those of `json.dumps`.

>>> source = '{"n": 1.50,\n\n"text": "so"}'
>>> [(_, value)] = parse_json(source)
>>> value["text"] = "So."
>>> written_json(source, value)
'{"n": 1.50, "text": "So."}'
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from io import StringIO
from typing import Any

from ...errors import InputError
from ...text.io.files import BOM
from ...text.words import readable

AGAIN = "\ud800"  # behind a key that comes again in its object, so that both members are kept
_DEEPEST = 100  # levels of brackets; no recogniser has ten
_BEGINS = re.compile(r"[\[{][ \t]*(\r?\n)([ \t]*)\S")
_COLON = re.compile(r'"\s*:(\s?)')
_IN_ASCII = json.JSONEncoder(ensure_ascii=True).encode
_IN_UNICODE = json.JSONEncoder(ensure_ascii=False).encode


class Number(str):
    """A number as a file writes it, which may have thousands of digits."""

    __slots__ = ()


def parse_json(source: str, name: str = "the file") -> list[tuple[str, Any]]:
    """Return a json text and its value; of lines of json objects, as NeMo's manifests are, each line with its own.

    An empty line has None.  Raises InputError for what is no json.

    >>> parse_json('{"text": "so"}\\n\\n{"text": "we"}\\n')
    [('{"text": "so"}\\n', {'text': 'so'}), ('\\n', None), ('{"text": "we"}\\n', {'text': 'we'})]
    """
    lines = [*StringIO(source, newline="\n")]  # other ends of lines may stand in strings
    filled = [body for line in lines if (body := _body(line))]
    are_objects = len(filled) > 1 and all(body.startswith("{") for body in filled)
    if are_objects and filled[0].endswith("}"):  # another line may be cut off
        return [
            (line, _value(line, f"{name} line {number}") if _body(line) else None)
            for number, line in enumerate(lines, start=1)
        ]
    return [(source, _value(source, name))]


def _body(source: str) -> str:
    return source.removeprefix(BOM).strip(" \t\r\n")


def _value(source: str, name: str) -> Any:
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_float=Number, parse_int=Number, parse_constant=Number, strict=False
    )
    try:
        value = decoder.decode(_body(source))
        if _is_deeper(value, _DEEPEST):
            raise RecursionError(f"brackets {_DEEPEST} deep")
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(
            f"{name} is no json ({error})",
            expected="a complete json file",
            fix="check it, make a list of it if each line is json, or name its --format",
        ) from error
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    keys = [key for key, _ in pairs]
    return {key + AGAIN * keys[:index].count(key): member for index, (key, member) in enumerate(pairs)}


def _is_deeper(value: Any, n_levels: int) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not n_levels or any(_is_deeper(member, n_levels - 1) for member in members)


def written_json(source: str, value: Any) -> str:
    """Return the json of a value, indented as `source` is, the json that it was."""
    body = _body(source)
    begin, colon = _BEGINS.match(body), _COLON.search(body)
    line_end, indent = begin.groups() if begin else ("", "")
    space = colon[1] if colon else " "
    comma = "," if begin else "," + space
    is_ascii = source.isascii()

    def spelled(text: str) -> str:  # half a character has no UTF-8 form
        return _IN_ASCII(text) if is_ascii or readable(text) != text else _IN_UNICODE(text)

    def written(value: Any, margin: str) -> str:
        if isinstance(value, str):
            return value if isinstance(value, Number) else spelled(value)
        inner = margin + indent
        if isinstance(value, dict):
            texts = [f"{spelled(key.rstrip(AGAIN))}:{space}{written(member, inner)}" for key, member in value.items()]
            opening, closing = "{}"
        elif isinstance(value, list):
            texts = [written(element, inner) for element in value]
            opening, closing = "[]"
        else:
            return _IN_ASCII(value)
        return opening + (inner + (comma + inner).join(texts) + margin if texts else "") + closing

    return source.replace(body, written(value, line_end), 1) if body else source
