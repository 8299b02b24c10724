"""How words and their marks are written now in each place: with the quotes and brackets of that place.

In: a word of a recording, as one place has it and as it is written there now; the same word in other places.
Out: what changes in these.

Marks may have items of their own, as in AWS Transcribe's list of items.  They go into the item that follows the word.
Where there is none, a new one is made; an item without a mark goes.  `so` `.` `what` with the marks `""` and `?` is
`so` `what` `?`.

>>> from ...text.words import split
>>> here, there = (split(text).words[0] for text in ("(so?)", '"so"'))
>>> Spelling.of(here, AnnotatedWord("so", "(So,)", ",", "capitalised", 1, 1)).put_into(there)
('"So"', ',')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from ...text.marks import DASH, DASH_APART, Case
from ...text.render import AnnotatedWord
from ...text.words import ALL_MARKS, APOSTROPHES, Word, opening_apart
from ..items import Item, Kept, join_around_removed
from .places import ELEMENT_TYPES, GUESSES, MARK_TYPE, TYPE, JsonPlace
from .values import Number

_ID, _ITEMS, _CONFIDENCE = "id", "items", "confidence"
_KEPT_KEYS = (_ID, TYPE, GUESSES, _CONFIDENCE, "speaker", "speaker_label")  # no times


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word as it is written now.

    letters: without quotes, brackets and marks; marks: all behind it; stays: whether each place keeps its own letters.
    """

    letters: str
    marks: str = ""
    stays: bool = False
    opening: str | None = None  # the mark before it; None: each place keeps its own
    is_removed: bool = False

    @classmethod
    def of(cls, word: Word, annotated: AnnotatedWord) -> Spelling:
        """Take the word apart as it is written."""
        if annotated.is_removed or not word.has_slot:
            return cls(word.core, stays=True, is_removed=annotated.is_removed)
        (text, opening), (bare, had) = opening_apart(annotated.text), opening_apart(word.text)
        core, lead, tail = _parts(replace(word, text=bare))
        letters = word.spelled or text[len(lead) : len(lead) + len(core)]
        rest, closers = text[len(lead) + len(letters) :].removeprefix(tail), word.text[word.n_stem :]
        inside, _, behind = rest.partition(closers) if closers else (rest, "", "")
        stays = not word.spelled and annotated.case == Case.VERBATIM.value and letters == core
        return cls(letters, inside + behind, stays, None if opening == had else opening)

    def put_into(self, word: Word) -> tuple[str, str]:
        """Return the word of a place as it is written there: with its quotes and brackets, and the marks behind it.

        Marks that stand inside quotes there are part of the former.
        """
        word = word if self.opening is None else word.with_opening(self.opening)
        core, lead, tail = _parts(word)
        cut = self._cut([core])
        letters, marks = cut[0] if cut else (self.letters, "")  # else as a user spells it
        stops = core[len(letters) :] if cut else ""  # of the place: `U.S.` where the word is `U.S`
        stem = lead + (core if self.stays and cut else letters + stops) + tail
        marks = (marks + self.marks).removeprefix(stops)
        closers = word.text[word.n_stem :]
        inside, dash, behind = marks.partition(DASH_APART)
        return (stem + inside + closers, dash + behind) if closers else (stem, marks)

    def cut(self, pieces: Sequence[str]) -> list[Spelling | None]:
        """Return the spellings of pieces of the word, which are given as their places have them.

        None of each where they are not cut between letters, or a user spells the word in another way.
        """
        if self.is_removed or len(pieces) == 1:
            return [self] * len(pieces)
        spellings = [Spelling(part, marks, self.stays, self.opening and "") for part, marks in self._cut(pieces)]
        if not spellings:
            return [None] * len(pieces)
        spellings[0] = replace(spellings[0], opening=self.opening)
        spellings[-1] = replace(spellings[-1], marks=spellings[-1].marks + self.marks)
        return [*spellings]

    def _cut(self, pieces: Sequence[str]) -> list[tuple[str, str]]:
        """Return the letters of each piece, and the marks behind them that the word has itself, as `U.S.` has.

        Empty where the word does not have just these letters.  The apostrophes around it are those of the pieces.
        """
        said = "".join(pieces)
        if len(pieces) == 1 and said.lower() == self.letters.lower():  # nearly always
            return [(self.letters, "")]
        own = self.letters.strip(APOSTROPHES)
        lead, tail = said[: len(said) - len(said.lstrip(APOSTROPHES))], said[len(said.rstrip(APOSTROPHES)) :]
        stems = [piece.rstrip(".") or piece for piece in pieces]
        pattern = r"(\.*)".join(f"({re.escape(stem)})" for stem in stems) + f"([{re.escape(ALL_MARKS.characters)}]*)"
        match = re.fullmatch(pattern, lead + own + tail if own else self.letters, re.IGNORECASE)
        groups = match.groups() if match else ()
        return [*zip(groups[::2], groups[1::2], strict=True)]


def _parts(word: Word) -> tuple[str, str, str]:
    """Return a word without quotes and brackets, the characters before it, and those behind it up to the marks."""
    core = word.core
    start = word.text.find(core)
    return core, word.text[:start], word.text[start + len(core) : word.n_stem]


@dataclass(frozen=True)
class Changes:
    """What is to be written otherwise.

    texts: by the id of the object or list that holds each, and its key there; elements: what stands in the place of an
    element of a list, by its id; lists: in the place of a list, by its id.
    """

    texts: dict[tuple[int, str | int], str] = field(default_factory=dict)
    elements: dict[int, list[Any]] = field(default_factory=dict)
    lists: dict[int, list[Any]] = field(default_factory=dict)

    def write(self, place: JsonPlace, new: Sequence[Spelling | None], *, has_typed_marks: bool) -> None:
        """Note how the words of a place are written.  `has_typed_marks`: whether marks have items there."""
        text, marks, after = _written(place.items, new)
        is_typed = has_typed_marks and bool(place.type)
        if not place.marks and (not is_typed or text + marks + after == place.text):
            self.texts[place.at] = text + marks + after
            return
        if marks.startswith(".") and place.words[-1].word.dotted:  # its own, as the file has it: `etc.`
            text, marks = text + ".", marks[1:]
        if place.marks:  # with closing quotes that stand among them
            marks = "".join(_written(place.heard, new)).removeprefix(text)
        marks, self.texts[place.at] = marks.strip(), text + after
        if "".join(marks.split()) == "".join("".join(mark.text.split()) for mark in place.marks):
            return
        if is_typed and marks and not place.marks:
            self.elements[id(place.element)] = [place.element, _mark_item(place.element, str(place.key), marks)]
        for index, mark in enumerate(place.marks):
            own_marks = "" if index else marks  # the first gets all
            if not is_typed:
                self.texts[mark.at] = _respelled_mark(mark.text, own_marks)
            elif own_marks:
                self.texts[mark.at] = own_marks
            else:
                self.elements[id(mark.element)] = []

    def finish_lists(self, value: Any, places: Iterable[JsonPlace]) -> None:
        """Fill `self.lists`: by Python's `id` of a list of the json, what it holds in the output.

        `value`: the whole json; `places`: those with typed marks.  A new mark's item gets the next free number as its
        json id; lists of json ids name it, and name removed items no longer.
        """
        typed = [item for place in places for item in (place, *place.marks) if item.type]
        with_ids = [item.element for item in typed if _has_id(item.element)]
        next_id = count(1 + max((int(element[_ID]) for element in with_ids), default=0))
        new_ids_of = dict[str, list[Number]]()  # by an item's json id: those of the items in its place
        for element in with_ids:
            replacements = self.elements.get(id(element), [element])
            for new in replacements[1:]:
                new[_ID] = Number(next(next_id))
            new_ids_of[element[_ID]] = [new[_ID] for new in replacements]
        for listed in _lists_of_ids(value) if new_ids_of else ():
            self.lists[id(listed)] = [new for number in listed for new in new_ids_of.get(number, [number])]
        for elements in (item.elements or () for item in typed):
            if id(elements) not in self.lists:
                parts = (self.elements.get(id(element), [element]) for element in elements)
                self.lists[id(elements)] = [*chain.from_iterable(parts)]


def _respelled_mark(old: str, new: str) -> str:
    """Return a string with another mark; a dash gets a space before it, as it would be a hyphen without."""
    lead, tail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    if new.startswith(DASH):
        return (lead or " ") + new + tail
    return lead * (not old.lstrip().startswith(DASH)) + new + tail


def _written(items: Iterable[Item], new: Sequence[Spelling | None]) -> tuple[str, str, str]:
    """Return items with their words as they are written: up to the marks of the last word, these, and what follows.

    Words without text are removed.
    """
    text, marks, after, spellings = "", "", "", iter(new)
    for item in items:
        text, marks, after = text + marks + after, "", ""
        if isinstance(item, Kept):
            text += item.text
        elif (spelling := next(spellings)) is None:
            text += item.raw + item.after
        elif spelling.is_removed:
            text = join_around_removed(text, item.after)
        else:
            word, marks = spelling.put_into(item.word)
            text, after = text + word, item.after
    return text, marks, after


def _has_id(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get(_ID), Number) and item[_ID].isdecimal() and len(item[_ID]) < 19


def _lists_of_ids(value: Any) -> Iterator[list[Number]]:
    """Yield the lists of the items of segments."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key == _ITEMS and isinstance(member, list) and all(isinstance(element, Number) for element in member):
            yield member
        elif isinstance(member, dict | list):
            yield from _lists_of_ids(member)


def _mark_item(word: Mapping[str, Any], key: str, marks: str) -> dict[str, Any]:
    """Return an item for marks, made of that of a word.  `key`: which member is the text of the word."""
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
