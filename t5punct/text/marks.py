"""Marks and case: the one definition that training, inference and scoring share.

In: the characters that stand after a word, and how a word is written.
Out: the marks in a word's slot, a string, and a `Case`.

>>> Alphabet().marks_in("?!"), Alphabet().marks_in("…"), Alphabet().marks_in(' —"')
('?!', '...', '-')
>>> Alphabet().spell("yes", "-"), Alphabet().spell("what", "?!")
('yes -', 'what?!')
>>> case_of("McDonald"), apply_case("nasa", Case.UPPER)
(<Case.VERBATIM: 'verbatim'>, 'NASA')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from types import MappingProxyType

from ..errors import ConfigError
from .spelling import has_initials, is_degree, is_initialism, keeps_letters

DASH = "-"  # a dash standing between words; a hyphen inside a word is part of the word
DASH_APART = " " + DASH  # as it is written, behind closing quotes and never inside them
_KNOWN_MARKS = ",.?!:;" + DASH
# marks of other scripts, and what each of them is here: `ends_sentence` and scores take them for it
OTHER_SCRIPTS = {
    **{"،": ",", "؛": ";", "؟": "?", "۔": "."},  # Arabic, Persian, Urdu
    **{"।": ".", "॥": ".", "።": ".", "፣": ",", "፤": ";", "፧": "?", "։": "."},  # Devanagari, Ethiopic, Armenian
    **{"，": ",", "、": ",", "。": ".", "？": "?", "！": "!", "：": ":", "；": ";"},  # East Asian
}
_DASHES, _ELLIPSIS = "–—―", "…"  # other spellings of the dash and of three full stops
_DASH_RUN = re.compile(f"[{DASH}{_DASHES}]+")
NO_MARKS = ""
# the sign behind a word that a careful editor leaves out: a filler, a repetition, words that are taken back.  A slot
# holds it alone or with marks; it is no mark of a text, so an `Alphabet` has it only where it is asked for (`signed`)
DISFLUENT = "~"
ENDS_SENTENCE = ".?!"
OPENING = {"¿": "?", "¡": "!"}  # marks that stand before a word, and those that they announce
_ENDS = ENDS_SENTENCE + "".join(mark for mark, here in OTHER_SCRIPTS.items() if here in ENDS_SENTENCE)
# behind a number: `3rd`, `10am`, `80s`, `1980's`
_UNIT = re.compile(r"(?:(?<=\d)|(?<=\d['’]))(?:st|nd|rd|th|s|am|pm)(?![^\W\d_])", re.IGNORECASE)
_NEVER_UPPER = re.compile(r"\W*\d+(?:st|nd|rd|th|['’]?s)", re.IGNORECASE)  # `3rd`, `80s`; but `10AM`
_INITIALS = re.compile(r"(?<!['’])\b[^\W\d_]")  # in `u.s.'s` all but the last
# o'neil has two capitals; o'clock and d'abord have one, and so has d'angelo: in five languages `d'` is a word
_DUTCH_ARTICLE = re.compile(r"['’][st]-(?=[^\W\d_])")  # of places: `'s-Hertogenbosch`
_DUTCH_IJ = re.compile(r"ij(?=[bdklmnprsvwz]|$)")  # one letter where it begins a word: `IJsland`; but `Ijaz`
_NAME = re.compile(r"o['’](?=[^\W\d_]{3})(?!clock\b)")


def ends_sentence(marks: str) -> bool:
    """Return whether marks end a sentence: they hold `.`, `?`, `!`, or what stands for them in another script."""
    return any(mark in _ENDS for mark in marks)


@dataclass(frozen=True)
class Alphabet:
    """The marks that a slot may hold, and how many at most."""

    marks: str = _KNOWN_MARKS
    max_marks: int = 3  # "..." and "!!!" are the most that people write on purpose

    def __post_init__(self) -> None:
        unknown = [mark for mark in self.marks if mark.isalnum() or mark.isspace() or mark in _DASHES + _ELLIPSIS]
        if unknown or not self.marks or len(set(self.marks)) != len(self.marks):
            raise ConfigError(
                f"marks {self.marks!r}",
                expected="distinct symbols, neither letters, digits nor spaces, the dash as -",
                fix=f"use some of {_KNOWN_MARKS!r}, or marks of your script",
            )
        if self.max_marks < 1:
            raise ConfigError(f"max_marks {self.max_marks}", expected="1 or more", fix="use 3")

    @cached_property
    def signed(self) -> Alphabet:
        """The same marks, and the sign of disfluent words."""
        return replace(self, marks=self.marks + DISFLUENT, max_marks=self.max_marks + 1)

    def union(self, alphabet: Alphabet) -> Alphabet:
        """Return the marks that either of them has."""
        marks = "".join(dict.fromkeys(self.marks + alphabet.marks))
        return Alphabet(marks, max(self.max_marks, alphabet.max_marks))

    @cached_property
    def characters(self) -> str:
        """The marks and their other spellings: all that a text may write them with."""
        dashes = _DASHES if DASH in self.marks else ""
        return self.marks + dashes + (_ELLIPSIS if "." in self.marks else "")

    def marks_in(self, raw: str) -> str:
        """Return the marks spelled by raw characters; characters outside the alphabet are left out."""
        plain = _DASH_RUN.sub(DASH, raw.replace(_ELLIPSIS, "..."))
        return "".join(char for char in plain if char in self.marks)[: self.max_marks]

    def spell(self, word: str, marks: str) -> str:
        """Return the word with its marks as people write it: marks touch the word, a dash stands apart.

        A full stop that the word already ends with is not written twice (`U.S.` + `.` is `U.S.`).
        """
        if word.endswith(".") and marks.startswith("."):
            marks = marks[1:]
        return word + "".join(DASH_APART if mark == DASH else mark for mark in marks)


class Case(StrEnum):
    """How a word is written."""

    LOWER = "lower"
    CAPITALISED = "capitalised"
    UPPER = "upper"
    VERBATIM = "verbatim"  # mixed, as in iPhone: kept as the input has it


_CASES = (Case.LOWER, Case.CAPITALISED, Case.UPPER)


def capitalise(word: str) -> str:
    """Upper-case the first letter that has a case, and those that have a capital with it.

    `us` -> `Us`, `'em` -> `'Em`, `o'neil` -> `O'Neil`, `u.s.` -> `U.S.`, `ph.d.` -> `Ph.D.`, `e.g.` -> `E.g.`,
    `3d` -> `3D`, `ijs` -> `IJs`; `3rd`, `10am` and `80s` stay.
    """
    if has_initials(word):
        return _INITIALS.sub(lambda match: match[0].upper(), word)
    article = _DUTCH_ARTICLE.match(word)
    if article:
        return article[0] + capitalise(word[article.end() :])
    name = _NAME.match(word)  # the `o'` of a name
    if name:
        return name[0].upper() + capitalise(word[name.end() :])
    for index, char in enumerate(word):
        if char.istitle() or char.islower():
            if _UNIT.match(word, index):
                return word
            if _DUTCH_IJ.match(word, index):
                return word[:index] + "IJ" + word[index + 2 :]
            return word[:index] + char.title() + word[index + 1 :]
    return word


def case_of(word: str) -> Case:
    """Return the case a word is written in; a word without cased letters is LOWER, `I` is CAPITALISED."""
    lower = word.lower()
    if word == lower:
        return Case.LOWER
    if word == capitalise(lower) and not (is_initialism(word) and word == word.upper()):
        return Case.CAPITALISED
    return Case.UPPER if word == word.upper() else Case.VERBATIM


def apply_case(word: str, case: Case) -> str:
    """Write a word in another case, or leave it if that could not be undone (`ß` has no capital, `iPhone` is mixed)."""
    if case is Case.VERBATIM:
        return word
    lower = word.lower()
    forms = {Case.LOWER: lower, Case.CAPITALISED: capitalise(lower), Case.UPPER: lower.upper()}
    form = forms[case]
    is_regular = word in forms.values()
    is_reversible = len(form) == len(word) and form.lower() == lower
    return form if is_regular and is_reversible else word


@lru_cache(maxsize=4_000)
def case_forms(word: str) -> Mapping[Case, str]:
    """Return the distinct ways to write a word, by case; the first case that gives a form names it.

    A word that the input spells in mixed case keeps its spelling: nobody writes `iPhone` by chance.  So do addresses,
    paths and code.
    """
    if case_of(word) is Case.VERBATIM or keeps_letters(word):
        return MappingProxyType({Case.VERBATIM: word})
    forms: dict[Case, str] = {}
    # nobody writes `PH.D.`, `3RD`, `1980'S`
    can_be_upper = not is_degree(word) and _NEVER_UPPER.fullmatch(word) is None
    # `U.S.` is in capitals, though it begins a sentence in the same way: the first case that gives a form names it
    cases = (Case.LOWER, Case.UPPER, Case.CAPITALISED) if is_initialism(word) else _CASES
    for case in cases:
        form = apply_case(word, case)
        may_be_written = case is not Case.UPPER or can_be_upper or form == word
        if may_be_written and form not in forms.values():
            forms[case] = form
    return MappingProxyType(forms)
