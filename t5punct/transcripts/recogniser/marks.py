"""Marks that have items of their own in a recogniser's list of items, as in AWS Transcribe's.

In: the item of a word, and how the word and its marks are written now.  Out: what is to be changed in the json.

Marks go into the item that follows the word.  Where there is none, a new one is made; an item without a mark goes.

`so` `.` `what` with the marks `""` and `?` is `so` `what` `?`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...text.marks import DASH
from .places import ELEMENT_TYPES, GUESSES, MARK_TYPE, TYPE, JsonPlace, Listed
from .strings import Edit, JsonObject, Literal, edit_of_string

_ID = "id"
_KEPT_KEYS = (_ID, TYPE, GUESSES, "confidence", "speaker", "speaker_label")  # no times
_ID_LISTS = re.compile(r'(?<="items")(\s*:\s*\[)([\d\s,]*)(?=\])')  # of the items of a segment
_NUMBER = re.compile(r"\d{1,18}")


@dataclass(slots=True)
class MarkItems:
    """The items of marks in one file.  `largest_id`: of all items; None: they have no ids."""

    largest_id: int | None
    _ids: dict[str, list[str]] = field(default_factory=dict)  # what stands in the place of an id in lists of ids

    @classmethod
    def of(cls, places: Iterable[JsonPlace]) -> MarkItems:
        """Return the items of all words and marks that have some."""
        listed = (item.listed for place in places for item in (place, *place.marks) if place.has_typed_marks)
        return cls(max((int(number) for item in listed if item and (number := _id(item))), default=None))

    def edits(self, source: str, place: JsonPlace, listed: Listed, text: str, marks: str) -> Iterator[Edit]:
        """Yield what is to be changed so that a word is written as `text`, and the marks behind it as `marks`."""
        yield edit_of_string(source, place.literal, text)
        if _has_marks(place, marks):
            return
        if not place.marks:
            number = _id(listed)
            if number and self.largest_id is not None:
                self.largest_id += 1
                self._ids[number] = [number, str(self.largest_id)]
            yield _added(source, place.key, listed.object, marks, self.largest_id)
        for n, mark in enumerate(place.marks):
            if not n and marks:
                yield edit_of_string(source, mark.literal, marks)
            elif mark.listed:
                yield _removed(source, mark.listed.object)
                self._ids[_id(mark.listed)] = []

    def in_lists(self, text: str) -> str:
        """Return the file with the ids of today's items wherever they are listed."""

        def listed(match: re.Match[str]) -> str:
            old = re.findall(r"\d+", match[2])
            new = [new_number for number in old for new_number in self._ids.get(number, [number])]
            if new == old:
                return match[0]
            comma = re.search(r",\s*", match[2])
            begin, end = match[2][: len(match[2]) - len(match[2].lstrip())], match[2][len(match[2].rstrip()) :]
            return match[1] + begin + (comma[0] if comma else ", ").join(new) + end

        return _ID_LISTS.sub(listed, text) if self._ids else text


def marks_changed(source: str, place: JsonPlace, marks: str) -> Iterator[Edit]:
    """Yield the edits where marks are words among others: the first gets all marks, and the rest become empty."""
    if not _has_marks(place, marks):
        for n, mark in enumerate(place.marks):
            yield edit_of_string(source, mark.literal, _respell_mark(mark.literal.text, "" if n else marks))


def _has_marks(place: JsonPlace, marks: str) -> bool:
    """Return whether the strings of its marks say these, wherever they have white space."""
    return "".join(marks.split()) == "".join("".join(mark.literal.text.split()) for mark in place.marks)


def _respell_mark(old: str, new: str) -> str:
    """Return a string with another mark; a dash has a space before it, as one that touched the word is a hyphen."""
    lead, tail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    if new.startswith(DASH):
        return (lead or " ") + new + tail
    return lead * (not old.lstrip().startswith(DASH)) + new + tail


def _id(listed: Listed) -> str:
    """The number of an item; empty if it has none."""
    number = listed.object.get(_ID)
    return number if isinstance(number, str) and _NUMBER.fullmatch(number) else ""


def _removed(source: str, item: JsonObject) -> Edit:
    """Without an item, which follows another, and without the comma before it."""
    start = source.rindex(",", 0, item.start)
    return Edit(len(source[:start].rstrip()) if source[start - 1].isspace() else start, item.stop, "")


def _added(source: str, key: str, word: JsonObject, mark: str, number: int | None) -> Edit:
    """An item for a mark behind that of a word, laid out as it.  `key`: which member is the text of the word."""
    new = {name: _of_mark(name, value, key, mark) for name, value in word.items() if name in (*_KEPT_KEYS, key)}
    if number is not None:
        new[_ID] = number
    raw, begin = source[word.start : word.stop], source.rfind("\n", 0, word.start) + 1
    lines = raw.splitlines()
    if len(lines) > 1:
        inner, base = (line[: len(line) - len(line.lstrip())] for line in (lines[1], lines[-1]))
        text = json.dumps(new, indent=inner.removeprefix(base) or 1).replace("\n", "\n" + base)
        return Edit(word.stop, word.stop, f",\n{base}{text}")
    lead = source[begin : word.start]
    gap = "\n" + lead if begin and not lead.strip() else " " * (", " in raw)
    text = json.dumps(new, separators=(", ", ": ") if '": ' in raw else (",", ":"))
    return Edit(word.stop, word.stop, f",{gap}{text}")


def _of_mark(name: str, value: Any, key: str, mark: str) -> Any:
    """A member of a mark's item, made of that of a word's."""
    if name == key and isinstance(value, Literal):
        return mark
    match name, value:
        case ("type", Literal(text=kind)):
            return "punct" if kind in ELEMENT_TYPES else MARK_TYPE  # rev.ai's, or AWS's
        case ("confidence", _):
            return "0.0" if isinstance(value, Literal) else 0.0
        case ("alternatives", [JsonObject() as guess, *_]):
            return [{inner: _of_mark(inner, member, key, mark) for inner, member in guess.items()}]
        case _:
            return _plain(value)


def _plain(value: Any) -> Any:
    """A value as `json.dumps` takes it."""
    match value:
        case Literal():
            return value.text
        case dict():
            return {name: _plain(member) for name, member in value.items()}
        case list():
            return [_plain(member) for member in value]
        case str():
            try:
                return json.loads(value)
            except ValueError:  # a number of thousands of digits
                return None
        case _:
            return value
