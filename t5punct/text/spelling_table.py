"""The spellings that a model's folder lists: `I`, `iPhone`, `McDonald`.  They hold anywhere in a sentence.

In: the forms of a model's `spellings.txt`, one a line; a word in the case that the model chose.  Out: its spelling.
A form in small letters (`turn`) changes no spelling.  It says that the word has a capital only where a sentence begins.

>>> table = SpellingTable(("I", "iPhone", "Coca-Cola", "Italia", "al-Qaeda"))
>>> [table.spell(word) for word in ("i'm", "Iphone's", "coca-cola", "all'italia", "Al-qaeda", "so")]
["I'm", "iPhone's", 'Coca-Cola', "all'Italia", 'Al-Qaeda', 'so']
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import ModelError
from .io.files import lines_of_file

TABLE_FILE = "spellings.txt"
_JOINS = "-'’"  # between the parts of a word
_PART = re.compile(rf"[^{_JOINS}]+")
_FEWEST_PAIRED = 5  # listed names with one first part: then any second part has a capital (`Jean-Luc`)
_POSSESSIVE = re.compile("['’]s$", re.IGNORECASE)


@dataclass(frozen=True)
class SpellingTable:
    """Words, and parts of words with a hyphen or an apostrophe, that are nearly always written in one way."""

    forms: tuple[str, ...] = ()

    @cached_property
    def _forms_by_letters(self) -> dict[str, str]:
        return {form.lower(): form for form in self.forms}

    @cached_property
    def _paired_names(self) -> frozenset[str]:
        """First parts of names, in small letters, behind which any second part has a capital: `jean` of `Jean-Luc`."""
        pairs = [form.split("-") for form in self.forms if form.count("-") == 1]
        capitals = Counter(first.lower() for first, second in pairs if first.istitle() and second.istitle())
        small = {first.lower() for first, second in pairs if not second[:1].isupper()}
        return frozenset(first for first, n_names in capitals.items() if n_names >= _FEWEST_PAIRED) - small

    def spell(self, word: str) -> str:
        """Return a word with the capitals of its form in the table or, if it has none, of its parts' forms.

        A part whose form is in small letters does not change: it may have a capital because a sentence begins.
        """
        letters = word.lower()
        forms = self._forms_by_letters
        if not forms or len(letters) != len(word):
            return word
        whole = forms.get(letters) or forms.get(_POSSESSIVE.sub("", letters))
        if whole is None and letters.isalnum():  # most words: neither listed nor of several parts
            return word
        spelled = word
        for part in _PART.finditer(letters):
            if whole and part.end() <= len(whole):
                form: str | None = whole[part.start() : part.end()]
            else:  # a part of a word that is not listed, or the `s` behind one that is
                form = forms.get(part[0])
            if form and not form.islower():
                spelled = spelled[: part.start()] + form + spelled[part.end() :]
        first, hyphen, second = spelled.partition("-")
        may_be_pair = whole is None and hyphen and first.istitle() and second.isalpha() and second not in forms
        if may_be_pair and first.lower() in self._paired_names:  # `Jean-luc` -> `Jean-Luc`
            return first + hyphen + second.title()
        return spelled

    def has_small(self, word: str) -> bool:
        """Return whether the table has a word in small letters: a capital would only mean that a sentence begins."""
        letters = word.lower().replace("’", "'")
        forms = self._forms_by_letters
        return (forms.get(letters) or forms.get(_POSSESSIVE.sub("", letters)) or "").islower()

    def including(self, table: SpellingTable) -> SpellingTable:
        """Return a table with the forms of both, sorted.  If both have a form of a word, it has that of `table`."""
        return SpellingTable(tuple(sorted((self._forms_by_letters | table._forms_by_letters).values())))


NO_SPELLINGS = SpellingTable()


def read_table(folder: Path) -> SpellingTable:
    """Return a folder's table, empty if it has none.  Raises ModelError for a file that is not one word a line."""
    path = folder / TABLE_FILE
    if not path.is_file():
        return NO_SPELLINGS
    forms = [line.strip() for line in lines_of_file(path)]
    for number, form in enumerate(forms, start=1):
        if len(form.split()) > 1:
            raise ModelError(f"{path} line {number}: {form!r}", expected="one word a line", fix="correct the line")
    return SpellingTable(tuple(filter(None, forms)))


def write_table(table: SpellingTable, folder: Path) -> None:
    """Write a table into a folder.  For an empty table, remove the file."""
    if table.forms:
        (folder / TABLE_FILE).write_text("".join(f"{form}\n" for form in table.forms), encoding="utf-8")
    else:
        (folder / TABLE_FILE).unlink(missing_ok=True)
