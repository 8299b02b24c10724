"""Marks that have items of their own in a recogniser's list of items, as in AWS Transcribe's.

In: the item of a word, and the marks behind it now.  Out: what changes in the list.

Marks go into the item that follows the word.  Where there is none, a new one is made; an item without a mark goes.

`so` `.` `what` with the marks `""` and `?` is `so` `what` `?`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...text.marks import DASH
from .places import ELEMENT_TYPES, GUESSES, MARK_TYPE, TYPE, JsonPlace, Listed
from .values import Changes, Number

_ID, _ITEMS, _CONFIDENCE = "id", "items", "confidence"
_KEPT_KEYS = (_ID, TYPE, GUESSES, _CONFIDENCE, "speaker", "speaker_label")  # no times


def change_mark_items(changes: Changes, place: JsonPlace, listed: Listed, marks: str) -> None:
    """Note what becomes of the items of marks behind a word."""
    for n, mark in enumerate(place.marks):
        if not n and marks:
            changes.strings[mark.at] = marks
        elif mark.listed:
            changes.gone.add(id(mark.listed.object))
    if marks and not place.marks:
        changes.added[id(listed.object)] = [_mark_item(listed.object, str(place.key), marks)]


def change_marks(changes: Changes, place: JsonPlace, marks: str) -> None:
    """Note what becomes of marks that are words among others: the first gets all marks, and the rest become empty."""
    for n, mark in enumerate(place.marks):
        old, new = mark.text, "" if n else marks
        lead, tail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
        if new.startswith(DASH):  # one that touched the word would be a hyphen
            lead = lead or " "
        elif old.lstrip().startswith(DASH):
            lead = ""
        changes.strings[mark.at] = lead + new + tail


def has_marks(place: JsonPlace, marks: str) -> bool:
    """Return whether the strings of its marks say these, wherever they have white space."""
    return "".join(marks.split()) == "".join("".join(mark.text.split()) for mark in place.marks)


def number_items(changes: Changes, value: Any, places: Iterable[JsonPlace]) -> None:
    """Give new items ids of their own, and list these, and no more those that are gone, where ids are listed."""
    objects = [item.listed.object for place in places for item in (place, *place.marks) if item.listed]
    numbers = [int(item[_ID]) for item in objects if _has_id(item)]
    if not numbers:
        return
    largest, ids = max(numbers), dict[str, list[Number]]()
    for item in objects:
        for new in changes.added.get(id(item), ()):
            largest += 1
            new[_ID] = Number(largest)
            ids[item[_ID]] = [item[_ID], new[_ID]]
        if id(item) in changes.gone:
            ids[item[_ID]] = []
    for listed in _lists_of_ids(value):
        changes.lists[id(listed)] = [new for number in listed for new in ids.get(number, [number])]


def _has_id(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get(_ID), Number) and item[_ID].isdecimal() and len(item[_ID]) < 19


def _lists_of_ids(value: Any) -> Iterator[list[Number]]:
    """The lists of the items of segments."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key == _ITEMS and isinstance(member, list) and all(isinstance(element, Number) for element in member):
            yield member
        elif isinstance(member, dict | list):
            yield from _lists_of_ids(member)


def _mark_item(word: Mapping[str, Any], key: str, marks: str) -> dict[str, Any]:
    """An item for marks, made of that of a word.  `key`: which member is the text of the word."""
    item = {name: value for name, value in word.items() if name in (*_KEPT_KEYS, key)}
    if isinstance(kind := item.get(TYPE), str):
        item[TYPE] = "punct" if kind in ELEMENT_TYPES else MARK_TYPE  # rev.ai's, or AWS's
    if _CONFIDENCE in item:
        item[_CONFIDENCE] = Number("0.0") if isinstance(item[_CONFIDENCE], Number) else "0.0"
    if key in item:
        item[key] = marks
    elif isinstance(guesses := item.get(GUESSES), list):
        item[GUESSES] = [{**guess, **_mark_item(guess, key, marks)} for guess in guesses[:1] if isinstance(guess, dict)]
    return item
