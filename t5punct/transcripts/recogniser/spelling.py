"""How a word and its marks are written in each place: with the quotes and brackets of that place.

In: a word as the model read it, and as it is written now; a line of strings in which it stands.  Out: changed json.

Where marks are items of their own, as in AWS Transcribe's list, `so` `.` `what` becomes `so` `what` `?`.

>>> from ...text.words import split
>>> here, there = (split(text).words[0] for text in ("(so?)", '"so"'))
>>> Spelling.of(here, AnnotatedWord("so", "(So,)", ",", "capitalised", 1, 1)).put_into(there)
'"So",'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count, pairwise
from operator import getitem
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...text.marks import DASH_APART, Case
from ...text.render import AnnotatedWord
from ...text.words import APOSTROPHES, Word, opening_apart
from ..items import Kept, join_around_removed
from .groups import ELEMENT_TYPES, GUESSES, MARK_TYPE, TYPE, Line, Path
from .values import Number

NewItems = dict[Path, list[Any]]  # the path of an item -> the items that replace it
_ID = re.compile(r'"id"\s*:\s*(\d{1,18})\b')
_MARK_KEYS = ("id", TYPE, GUESSES, "confidence", "speaker", "speaker_label")  # what a mark's item takes from its word's


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word as it is written now.

    letters: without quotes, brackets and marks.  opening: the mark before it.  Where one of these is None, each place
    keeps its own.  ends_quote: the marks stand inside the quotes behind the word.
    """

    letters: str | None
    marks: str = ""
    opening: str | None = None
    is_removed: bool = False
    ends_quote: bool = False

    @classmethod
    def of(cls, word: Word, annotated: AnnotatedWord) -> Spelling:
        if annotated.is_removed or not word.has_slot:
            return cls(None, is_removed=annotated.is_removed)
        text, opening = opening_apart(annotated.text)
        old_text, old_opening = opening_apart(word.text)
        read = replace(word, text=old_text)
        word = read.closing_as(text)
        start = old_text.find(word.core)
        stop = start + len(word.core)
        letters = word.spelled or text[start:stop]
        behind = text[start + len(letters) :].removeprefix(old_text[stop : word.n_stem])
        marks = behind.replace(old_text[word.n_stem :], "", 1)  # marks stand before or behind closing quotes
        keeps_letters = not word.spelled and annotated.case == Case.VERBATIM.value and letters == word.core
        return cls(
            None if keeps_letters else letters,
            marks,
            None if opening == old_opening else opening,
            ends_quote=word.n_closers > read.n_closers,
        )

    def put_into(self, word: Word) -> str:
        """Return a place's word in this spelling, with the quotes, brackets and outer apostrophes of the place."""
        word = word if self.opening is None else word.with_opening(self.opening)
        word = word.with_quotes_behind() if self.ends_quote else word
        core, marks = word.core, self.marks
        letters = core
        if self.letters is not None:
            letters = core.replace(core.strip(APOSTROPHES), self.letters.strip(APOSTROPHES), 1)
        if core.endswith(".") and not letters.endswith("."):  # the place has `U.S.` where the source has `U.S`
            letters, marks = letters + ".", marks.removeprefix(".")
        stem = word.text[: word.n_stem].replace(core, letters, 1)
        inside, dash, behind = marks.partition(DASH_APART)  # a dash stands apart, so never inside quotes
        return stem + inside + word.text[word.n_stem :] + dash + behind


def write_line(line: Line, new: Sequence[Spelling | None], values: Sequence[Any], new_items: NewItems | None) -> None:
    """Change a line's strings in json values: its words are written as `new`; None: the word stays.

    New marks go into the item behind the word; what items are to be added or removed is put into `new_items`, for
    `write_items`.  None: marks have no items here.
    """
    first, *others = line.places
    if new_items is None or not first.type:
        for place, string in zip(line.places, _rewrite(line, new, line.starts), strict=True):
            if place is first or string.split() != place.text.split():  # a piece that stays keeps its white space
                _member(values, place.path[:-1])[place.path[-1]] = string
        return
    starts = line.starts if others else [len(first.text)]  # what is new behind a single word is its marks
    string, *marks = _rewrite(line, new, starts)
    _member(values, first.path[:-1])[first.path[-1]] = string
    if not others and marks[0].strip():
        item = _member(values, first.item)
        new_items[first.item] = [item, _mark_item(item, first.path[-1], marks[0].strip())]
    for place, mark in zip(others, marks, strict=False):  # a single word has a mark, but no other place
        if not mark.strip():
            new_items[place.item] = []
        elif mark.split() != place.text.split():
            _member(values, place.path[:-1])[place.path[-1]] = mark.strip()


def _member(values: Sequence[Any], path: Path) -> Any:
    return reduce(getitem, path, values)


def _rewrite(line: Line, new: Sequence[Spelling | None], starts: Sequence[int]) -> list[str]:
    """Return the strings of a line with its words written anew.

    starts: where the second of the old strings begins in the line's text, and so on.  Each piece of a word keeps its
    letters, unless a user spells the word with others.  Marks replace marks, or stand behind the last piece.
    """
    text = ""
    new_starts = [0]
    begin = 0  # of the item in the old text
    spellings = iter(new)
    for item in line.items:
        spelling = None if isinstance(item, Kept) else next(spellings)
        old = item.text if isinstance(item, Kept) else item.raw + item.after
        if isinstance(item, Kept) or spelling is None:
            written = old
        elif spelling.is_removed:
            text, written = join_around_removed(text, item.after), ""
        else:
            written = spelling.put_into(item.word) + item.after
        starts_here = [start - begin for start in starts if begin < start <= begin + len(old)]
        new_starts += [len(text) + _index_in(written, old, start) for start in starts_here]
        text += written
        begin += len(old)
    return [text[start:stop] for start, stop in pairwise([*new_starts, len(text)])]


def _index_in(new: str, old: str, index: int) -> int:
    """Translate an index in a word to one in the same word written anew; inserted characters stand behind it."""
    letters, new_letters = [char.lower() for char in old], [char.lower() for char in new]
    step = next(step for step in Levenshtein.opcodes(letters, new_letters) if index <= step.src_end)
    return min(step.dest_start + index - step.src_start, step.dest_end)


def _mark_item(word: Mapping[str, Any], key: str, marks: str) -> dict[str, Any]:
    """Make an item for marks from the item of the word before them.  `key`: the member that is the word's text."""
    item = {name: value for name, value in word.items() if name in (*_MARK_KEYS, key)}
    kind, confidence, guesses = item.get(TYPE), item.get("confidence"), item.get(GUESSES)
    if isinstance(kind, str):
        item[TYPE] = "punct" if kind in ELEMENT_TYPES else MARK_TYPE  # rev.ai's, or AWS's
    if confidence is not None:
        item["confidence"] = Number("0.0") if isinstance(confidence, Number) else "0.0"
    if key in item:
        item[key] = marks
    elif isinstance(guesses, list):
        item[GUESSES] = [{**guess, **_mark_item(guess, key, marks)} for guess in guesses[:1] if isinstance(guess, dict)]
    return item


def write_items(items: NewItems, values: Sequence[Any], source: str) -> None:
    """Replace items in json values, and their ids in the lists of AWS's segments.

    An added item gets an id that `source`, the json, does not have yet.
    """
    next_id = count(1 + max(map(int, _ID.findall(source)), default=0))
    new_ids_of = dict[str, list[Number]]()  # an item's id -> the ids of the items that replace it
    for path, replacements in items.items():
        old_id = _member(values, path).get("id")
        if isinstance(old_id, Number):
            for added in replacements[1:]:
                added["id"] = Number(next(next_id))
            new_ids_of[old_id] = [item["id"] for item in replacements]
    for path, replacements in reversed(items.items()):  # from behind, as a replacement moves the items behind it
        index = path[-1]
        _member(values, path[:-1])[index : index + 1] = replacements
    for ids in _lists_of_ids(values) if new_ids_of else ():
        ids[:] = [new_id for old_id in ids for new_id in new_ids_of.get(old_id, [old_id])]


def _lists_of_ids(value: Any) -> Iterator[list[Number]]:
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "items" and isinstance(member, list) and all(isinstance(element, Number) for element in member):
            yield member
        elif isinstance(member, dict | list):
            yield from _lists_of_ids(member)
