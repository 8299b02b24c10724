"""The spelling table of a text: words that it nearly always writes in one way, other than in small letters.

In: punctuated texts.  Out: a `SpellingTable`.

Words are counted inside sentences, behind a word or a comma, where a capital is the word's own; those with a hyphen or
an apostrophe by their parts as well.  A text counts once, however often it has a form, so that what one long text is
about does not decide.  `spellings.txt` of a data set about phones may begin with `I` and `iPhone`.

>>> learn_table(["so i have an iPhone, my iPhone, and no NASA", "look, iPhone and iphone, NASA"] * 5).forms
('NASA', 'iPhone')
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...text.marks import Case, case_of
from ...text.spelling_table import SpellingTable

_LEAST_TEXTS = 5  # that have a form
_LEAST_SHARE = 0.95  # of a form among all of its word
# nobody writes `iPhone` by chance, and many write `iphone` out of carelessness
_LEAST_SHARE_OF_MIXED = 0.6
# a model can write `Italia` by itself, but not `dell'Italia`: names are needed that stand in words of several parts
_LEAST_COMPOUNDS = 3  # texts in which they do
_MOST_FORMS = 3_000  # of such names, and of all others
_INSIDE = re.compile(r"(?<=[\w,;] )[^\W\d_][^\W_]*(?:['’.-][^\W_]+)*(?![\w/@])")
_JOIN = re.compile(r"['’-]")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_NO_NAME = re.compile(r"\d{4}|^\d")  # the number of a document; `1B`


@dataclass(frozen=True)
class _Counts:
    """In how many texts forms stand: all of them, by the word in small letters, and those in words of several parts."""

    forms: Mapping[str, Counter[str]]
    in_compounds: Counter[str]


def learn_table(texts: Iterable[str]) -> SpellingTable:
    """Return the forms of words that texts nearly always write in one way."""
    return _choose_forms(_count_forms(texts))


def _count_forms(texts: Iterable[str]) -> _Counts:
    counts = Counter[str]()
    for text in texts:
        if not text.islower():  # else its writer uses no capitals
            counts.update(set(_INSIDE.findall(text)))
    forms_by_word, in_compounds = defaultdict[str, Counter[str]](Counter), Counter[str]()
    for token, n_texts in counts.items():
        if "." in token:  # addresses, and `U.S.`, which has a rule of its own
            continue
        whole = _POSSESSIVE.sub("", token)
        for form in {whole, *_JOIN.split(token)}:
            forms_by_word[form.lower()][form] += n_texts
        for form in {whole, *_JOIN.split(whole)} if _JOIN.search(whole) else ():
            in_compounds[form] += n_texts
    return _Counts(forms_by_word, in_compounds)


def _choose_forms(counts: _Counts) -> SpellingTable:
    frequent = Counter[str]()
    for word, forms in counts.forms.items():
        form, n_texts = forms.most_common(1)[0]
        is_clear = n_texts >= max(_LEAST_TEXTS, _least_share(form) * forms.total())
        if form != word and is_clear and not _NO_NAME.search(form):
            frequent[form] = n_texts
    parts = SpellingTable(tuple(form for form in frequent if not _JOIN.search(form)))
    ordered = sorted(frequent, key=lambda form: (-frequent[form], form))
    needed = [form for form in ordered if not _JOIN.search(form) or parts.spell(form.lower()) != form]
    names = [form for form in needed if form == form.capitalize() and counts.in_compounds[form] >= _LEAST_COMPOUNDS]
    more = [form for form in needed if form != form.capitalize()]
    return SpellingTable(tuple(sorted((*more[:_MOST_FORMS], *names[:_MOST_FORMS]))))


def _least_share(form: str) -> float:
    is_mixed = any(case_of(part) is Case.VERBATIM for part in _JOIN.split(form))
    return _LEAST_SHARE_OF_MIXED if is_mixed else _LEAST_SHARE
