"""Marks that have items of their own in a recogniser's list of items, as in AWS Transcribe's.

In: the item of a word, and the word as it is written now.  Out: what is to be changed in the json.

A mark goes into the item that follows the word.  Where there is none, a new one is made; an item without a mark goes.

>>> parted("Hello,"), parted("so -"), parted("U.S.")
(('Hello', ','), ('so', '-'), ('U.S.', ''))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..text.marks import NO_LABEL, Alphabet
from ..text.words import words_of
from .json_places import MARK_TYPE, Place
from .json_strings import Edit, JsonObject, JsonStrings, Literal

_ID = "id"
_KEPT_KEYS = (_ID, "type", "alternatives", "content", "confidence", "speaker", "speaker_label")  # no times
_ID_LISTS = re.compile(r'(?<="items")(\s*:\s*\[)([\d\s,]*)(?=\])')  # of the items of a segment


def parted(text: str, alphabet: Alphabet | None = None) -> tuple[str, str]:
    """A written word without the marks after it, and these."""
    bare = text.rstrip()
    words = list(words_of(bare, alphabet, opens_line=False))
    if not words:
        return text, ""
    stem = words[-1].written(NO_LABEL)
    if not words[-1].raw.startswith(stem):  # the marks are inside quotes
        return text, ""
    n_marks = len(words[-1].raw) - len(stem)
    cut = len(bare) - n_marks
    return bare[:cut] + text[len(bare) :], bare[cut:].strip()


@dataclass(slots=True)
class MarkItems:
    """The items of marks in one file.  `largest_id`: of all items; None: they have no ids."""

    alphabet: Alphabet | None = None
    largest_id: int | None = None
    # what stands in the place of an id in lists of ids; AWS takes recordings of four hours at most, so these are few
    _ids: dict[int, list[int]] = field(default_factory=dict)

    def seen(self, place: Place) -> None:
        """Note the ids of a word's item and its mark's."""
        for one in (place, place.mark):
            number = None if one is None or one.item is None else one.item.get(_ID)
            if isinstance(number, int):
                self.largest_id = max(number, self.largest_id or 0)

    def edits(self, strings: JsonStrings, place: Place, text: str) -> Iterator[Edit]:
        """What is to be changed so that a word is written as `text`."""
        if place.item is None:
            yield strings.changed(place.literal, text)
            return
        bare, mark = parted(text, self.alphabet)
        yield strings.changed(place.literal, bare)
        number = place.item.get(_ID)
        if place.mark is not None and place.mark.item is not None:
            if mark:
                yield strings.changed(place.mark.literal, mark)
            else:
                yield _removed(strings.source, place.mark.item)
                if isinstance(gone := place.mark.item.get(_ID), int):
                    self._ids[gone] = []
        elif mark:
            if isinstance(number, int) and self.largest_id is not None:
                self.largest_id += 1
                self._ids[number] = [number, self.largest_id]
            yield _added(strings.source, place.item, mark, self.largest_id)

    def in_lists(self, text: str) -> str:
        """A part of the file with the ids of today's items wherever they are listed."""

        def listed(match: re.Match[str]) -> str:
            old = [int(number) for number in re.findall(r"\d+", match[2])]
            new = [other for number in old for other in self._ids.get(number, [number])]
            if new == old:
                return match[0]
            comma = re.search(r",\s*", match[2])
            begin, end = match[2][: len(match[2]) - len(match[2].lstrip())], match[2][len(match[2].rstrip()) :]
            return match[1] + begin + (comma[0] if comma else ", ").join(map(str, new)) + end

        return _ID_LISTS.sub(listed, text) if self._ids else text


def _removed(source: str, item: JsonObject) -> Edit:
    """Without an item, which follows another, and without the comma before it."""
    start = source.rindex(",", 0, item.start)
    return Edit(len(source[:start].rstrip()) if source[start - 1].isspace() else start, item.stop, "")


def _added(source: str, word: JsonObject, mark: str, number: int | None) -> Edit:
    """An item for a mark behind that of a word, laid out as it."""
    new = {key: _of_mark(key, value, mark) for key, value in word.items() if key in _KEPT_KEYS}
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


def _of_mark(key: str, value: Any, mark: str) -> Any:
    """A member of a mark's item, made of that of a word's."""
    match key:
        case "type":
            return MARK_TYPE
        case "content":
            return mark
        case "confidence":
            return "0.0" if isinstance(value, Literal) else 0.0
        case "alternatives":
            return [{inner: _of_mark(inner, one, mark) for inner, one in guess.items()} for guess in value[:1]]
        case _:
            return value.text if isinstance(value, Literal) else value
