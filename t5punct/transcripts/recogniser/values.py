"""Json as values: parsed, and written as it was laid out.

In: json.  Out: its value, with each number as the file writes it; and the json of a changed value, with the order of
keys, the numbers and the indentation of the old json.  Other white space and escapes are those of `json.dumps`.
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

REPEATED = "\ud800"  # appended to a key that its object already has, so that both members are kept
_MOST_LEVELS = 100  # of brackets; no recogniser has ten
_FIRST_INDENT = re.compile(r"[\[{][ \t]*(\r?\n)([ \t]*)\S")
_OBJECT_ENDS = re.compile(r"(?<=\n\})(?=\s*\{)")  # in json, a comma would stand between two objects
_COLON = re.compile(r'"\s*:(\s?)')
_encode_ascii = json.JSONEncoder(ensure_ascii=True).encode
_encode_unicode = json.JSONEncoder(ensure_ascii=False).encode


class Number(str):
    """A number as a file writes it: an int or a float would change how, and may have thousands of digits."""

    __slots__ = ()


def parse_json(source: str, name: str = "the file") -> list[tuple[str, Any]]:
    """Return pairs of a json text and its value: one, or one for each line if the lines are objects, as NeMo's.

    Objects of several lines each may follow each other, too, as a stream of Vosk's writes them.  The value of an empty
    line is None.  Raises InputError for text that is no json.
    """
    lines = [*StringIO(source, newline="\n")]  # other ends of lines may stand in strings
    for kind, texts in (("line", lines), ("object", _OBJECT_ENDS.split(source))):
        bodies = [*filter(None, map(_without_margins, texts))]
        if len(bodies) > 1 and _is_object(bodies[0]):  # a later one may be damaged: `_parse` then names it
            return [
                (text, _parse(text, f"{name} {kind} {number}") if _without_margins(text) else None)
                for number, text in enumerate(texts, start=1)
            ]
    return [(source, _parse(source, name))]


def _is_object(source: str) -> bool:
    """Return whether a text is one whole object of json."""
    try:
        return source.startswith("{") and isinstance(json.loads(source, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _without_margins(source: str) -> str:
    return source.removeprefix(BOM).strip(" \t\r\n")


def _parse(source: str, name: str) -> Any:
    """Return the value of one json text.  name: the text's, for errors."""
    # constants: NaN and Infinity; not strict: a string may hold tabs and ends of lines
    decoder = json.JSONDecoder(
        object_pairs_hook=_object_of, parse_float=Number, parse_int=Number, parse_constant=Number, strict=False
    )
    try:
        value = decoder.decode(_without_margins(source))
        problem = f"brackets {_MOST_LEVELS} deep" if _is_deeper(value, _MOST_LEVELS) else ""
    except (json.JSONDecodeError, RecursionError) as error:
        problem = str(error)
    if problem:
        raise InputError(
            f"{name} is no json ({problem})",
            expected="a complete json file",
            fix="check it, make a list of it if each line is json, or name its --format",
        )
    return value


def _object_of(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object; a key that comes again has a `REPEATED` for each time that it came before."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    keys = [key for key, _ in pairs]
    return {key + REPEATED * keys[:index].count(key): member for index, (key, member) in enumerate(pairs)}


def _is_deeper(value: Any, n_levels: int) -> bool:
    if n_levels == 0:
        return True
    members = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and any(_is_deeper(member, n_levels - 1) for member in members)


def written_json(source: str, value: Any) -> str:
    """Return the json of a value with the layout of `source`, the json from which it was read."""
    body = _without_margins(source)
    first_indent = _FIRST_INDENT.match(body)
    line_end, indent = first_indent.groups() if first_indent else ("", "")  # no indent: all stands on one line
    colon = _COLON.search(body)
    space = colon[1] if colon else " "  # behind a colon
    comma = "," if first_indent else "," + space
    is_ascii = source.isascii()

    def encode(text: str) -> str:
        # half a surrogate pair, which is not readable, has no UTF-8 form: only an escape can write it
        return _encode_ascii(text) if is_ascii or readable(text) != text else _encode_unicode(text)

    def lay_out(value: Any, margin: str) -> str:
        """Return a value's json.  margin: the line end and indentation of its line; empty if all is on one line."""
        if isinstance(value, str):
            return value if isinstance(value, Number) else encode(value)
        inner = margin + indent
        if isinstance(value, dict):
            texts = [f"{encode(key.rstrip(REPEATED))}:{space}{lay_out(each, inner)}" for key, each in value.items()]
            brackets = "{}"
        elif isinstance(value, list):
            texts = [lay_out(element, inner) for element in value]
            brackets = "[]"
        else:
            return _encode_ascii(value)
        if not texts:
            return brackets
        return brackets[0] + inner + (comma + inner).join(texts) + margin + brackets[1]

    return source.replace(body, lay_out(value, line_end), 1) if body else source
