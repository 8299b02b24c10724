"""How the words of a recording are written in each place: with the quotes and brackets of that place.

In: a word as the model read it, and as it is written now; a line of strings in which it stands.  Out: what changes in
these.

Marks may have items of their own, as in AWS Transcribe's list of items.  They go into the item that follows the word.
Where there is none, a new one is made; an item without a mark goes.  `so` `.` `what` with the marks `""` and `?` is
`so` `what` `?`.

>>> from ...text.words import split
>>> here, there = (split(text).words[0] for text in ("(so?)", '"so"'))
>>> Spelling.of(here, AnnotatedWord("so", "(So,)", ",", "capitalised", 1, 1)).put_into(there)
('"So"', ',', '')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from os.path import commonprefix
from typing import Any

from ...text.marks import DASH_APART, Case
from ...text.render import AnnotatedWord
from ...text.words import APOSTROPHES, Word, opening_apart
from ..items import Kept, join_around_removed
from .places import ELEMENT_TYPES, GUESSES, MARK_TYPE, TYPE, Line
from .values import Changes, Number

_ID, _ITEMS, _CONFIDENCE = "id", "items", "confidence"
_KEPT_KEYS = (_ID, TYPE, GUESSES, _CONFIDENCE, "speaker", "speaker_label")  # no times


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word as it is written now.

    letters: without quotes, brackets and marks; marks: all behind it; opening: the mark before it, or None: each place
    keeps its own; stays: whether each place keeps its own letters, too.
    """

    letters: str
    marks: str = ""
    opening: str | None = None
    stays: bool = False
    is_removed: bool = False

    @classmethod
    def of(cls, word: Word, annotated: AnnotatedWord) -> Spelling:
        """Take the word apart as it is written."""
        if annotated.is_removed or not word.has_slot:
            return cls(word.core, stays=True, is_removed=annotated.is_removed)
        (text, opening), (bare, had) = opening_apart(annotated.text), opening_apart(word.text)
        core, start, stop = _core_of(bare_word := replace(word, text=bare))
        letters = word.spelled or text[start:stop]
        rest = text[start + len(letters) :].removeprefix(bare[stop : bare_word.n_stem])
        marks = rest.replace(bare[bare_word.n_stem :], "", 1)  # without closing quotes, inside which they may stand
        stays = not word.spelled and annotated.case == Case.VERBATIM.value and letters == core
        return cls(letters, marks, None if opening == had else opening, stays)

    def put_into(self, word: Word) -> tuple[str, str, str]:
        """Return the word of a place as it is written there: with the quotes and brackets of the place.

        In three parts: before the marks, these, and what is behind them: quotes and brackets inside which they stand.
        """
        word = word if self.opening is None else word.with_opening(self.opening)
        core, start, stop = _core_of(word)
        letters, marks = self.letters, self.marks
        if self.stays:
            letters = core
        elif letters.strip(APOSTROPHES):  # which belong to each place
            lead, tail = core[: len(core) - len(core.lstrip(APOSTROPHES))], core[len(core.rstrip(APOSTROPHES)) :]
            letters = lead + letters.strip(APOSTROPHES) + tail
        if core.endswith(".") and not letters.endswith("."):  # of a place that has `U.S.` for `U.S`
            letters, marks = letters + ".", marks.removeprefix(".")
        stem, closers = word.text[:start] + letters + word.text[stop : word.n_stem], word.text[word.n_stem :]
        inside, dash, behind = marks.partition(DASH_APART)  # a dash stands apart, so never inside quotes
        return (stem, inside, closers + dash + behind) if closers else (stem, marks, "")


def _core_of(word: Word) -> tuple[str, int, int]:
    core = word.core
    start = word.text.find(core)
    return core, start, start + len(core)


def write_line(line: Line, new: Sequence[Spelling | None], changes: Changes, *, marks_are_items: bool = False) -> None:
    """Note how the strings of a line change when its words become `new`; None: the word stays.

    `marks_are_items`: whether a new mark gets an item of its own, and an item whose mark goes is removed.
    """
    first, *others = line.places
    string, *other_strings = _rewritten(line, new)
    if marks_are_items and first.type and not others and string != first.text:
        (bare,) = _rewritten(line, [spelling and replace(spelling, marks="") for spelling in new])
        marks = string.removeprefix(bare)
        if marks.startswith(".") and line.words[-1].word.dotted:  # its own, as the file has it: `etc.`
            bare, marks = bare + ".", marks[1:]
        if marks and string.startswith(bare):  # not inside quotes
            item = _mark_item(first.element, str(first.key), marks.strip())
            string = bare
            changes.elements[id(first.element)] = [first.element, item]
    changes.texts[id(first.holder), first.key] = string
    for place, string in zip(others, other_strings, strict=True):
        if string.split() == place.text.split():
            continue
        if not (marks_are_items and place.type):
            changes.texts[id(place.holder), place.key] = string
        elif string.strip():
            changes.texts[id(place.holder), place.key] = string.strip()
        else:
            changes.elements[id(place.element)] = []


def _rewritten(line: Line, new: Sequence[Spelling | None]) -> list[str]:
    """Return the strings of a line with its words written anew.

    Of a word in pieces, each keeps its letters, unless a user spells the word with others.  Marks go where marks were,
    and else behind the last piece.
    """
    text, starts, begin, spellings = "", [0], 0, iter(new)
    for item in line.items:
        old = item.text if isinstance(item, Kept) else item.raw + item.after
        inside = [start - begin for start in line.starts if begin < start <= begin + len(old)]
        begin += len(old)
        spelling = None if isinstance(item, Kept) else next(spellings)
        if isinstance(item, Kept) or spelling is None:
            starts += [len(text) + start for start in inside]
            text += old
        elif spelling.is_removed:
            text = join_around_removed(text, item.after)
            starts += [len(text)] * len(inside)
        else:
            stem, marks, tail = spelling.put_into(item.word)
            n_stem, n_with_marks = item.word.n_stem, len(item.raw) - item.word.n_closers
            n_same_marks = len(commonprefix([item.raw[n_stem:], marks]))  # noqa: RUF071 - of characters, no paths
            for start in inside:
                if start <= n_stem + n_same_marks:
                    starts.append(len(text) + max(len(stem) + start - n_stem, 0))
                else:
                    starts.append(len(text) + len(stem + marks) + max(start - n_with_marks, 0))
            text += stem + marks + tail + item.after
    return [text[start:stop] for start, stop in pairwise([*starts, len(text)])]


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


def number_items(value: Any, items: Iterable[Any], changes: Changes) -> None:
    """Give new items the next free numbers as their ids; lists of ids name them, and removed ones no more.

    `value`: the whole json; `items`: those of words and marks.
    """
    with_ids = [item for item in items if _has_id(item)]
    next_id = count(1 + max((int(item[_ID]) for item in with_ids), default=0))
    new_ids_of = dict[str, list[Number]]()  # by an item's id: those of the items in its place
    for item in with_ids:
        replacements = changes.elements.get(id(item), [item])
        for new in replacements[1:]:
            new[_ID] = Number(next(next_id))
        new_ids_of[item[_ID]] = [new[_ID] for new in replacements]
    for listed in _lists_of_ids(value) if new_ids_of else ():
        changes.elements.update((id(number), new_ids_of.get(number, [number])) for number in listed)


def _has_id(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get(_ID), Number) and item[_ID].isdecimal() and len(item[_ID]) < 19


def _lists_of_ids(value: Any) -> Iterator[list[Number]]:
    """Yield the lists of the items of segments."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key == _ITEMS and isinstance(member, list) and all(isinstance(element, Number) for element in member):
            yield member
        elif isinstance(member, dict | list):
            yield from _lists_of_ids(member)
