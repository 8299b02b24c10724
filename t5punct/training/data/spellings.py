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

from ...text.marks import Case, case_of
from ...text.spelling_table import SpellingTable

_LEAST_TEXTS = 5  # that have a form
_LEAST_SHARE = 0.95  # of a form among all of its word
# nobody writes `iPhone` by chance, and many write `iphone` out of carelessness
_LEAST_SHARE_OF_MIXED = 0.6
_MOST_NAMES, _MOST_OTHERS = 2_000, 3_000  # forms with a capital at their beginning alone, and others
_INSIDE = re.compile(r"(?<=[\w,;] )[^\W\d_][^\W_]*(?:['’.-][^\W_]+)*(?![\w/@])")
_JOIN = re.compile(r"['’-]")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_NO_NAME = re.compile(r"\d{4}|^\d")  # the number of a document; `1B`


def learn_table(texts: Iterable[str]) -> SpellingTable:
    """Return the forms of words that texts nearly always write in one way."""
    return _choose_forms(_count_forms(texts))


def _choose_forms(forms_by_word: Mapping[str, Counter[str]]) -> SpellingTable:
    frequent = Counter[str]()
    for word, forms in forms_by_word.items():
        form, n_texts = forms.most_common(1)[0]
        is_clear = n_texts >= max(_LEAST_TEXTS, _least_share(form) * forms.total())
        if form != word and is_clear and not _NO_NAME.search(form):
            frequent[form] = n_texts
    parts = SpellingTable(tuple(form for form in frequent if not _JOIN.search(form)))
    ordered = [form for form, _ in frequent.most_common()]
    needed = [form for form in ordered if not _JOIN.search(form) or parts.spell(form.lower()) != form]
    names = [form for form in needed if form == form.capitalize()][:_MOST_NAMES]
    more = [form for form in needed if form != form.capitalize()][:_MOST_OTHERS]
    return SpellingTable(tuple(sorted((*more, *names))))


def _count_forms(texts: Iterable[str]) -> dict[str, Counter[str]]:
    """In how many texts each form of a word stands, by the word in small letters."""
    counts = Counter[str]()
    for text in texts:
        counts.update(set(_INSIDE.findall(text)))
    forms_by_word = defaultdict[str, Counter[str]](Counter)
    for token, n_texts in counts.items():
        if "." in token:  # addresses, and `U.S.`, which has a rule of its own
            continue
        for form in {_POSSESSIVE.sub("", token), *_JOIN.split(token)}:
            forms_by_word[form.lower()][form] += n_texts
    return forms_by_word


def _least_share(form: str) -> float:
    is_mixed = any(case_of(part) is Case.VERBATIM for part in _JOIN.split(form))
    return _LEAST_SHARE_OF_MIXED if is_mixed else _LEAST_SHARE
