"""The spelling table of a text: words that it nearly always writes in one way, other than in small letters.

In: punctuated texts.  Out: a `SpellingTable`, the most frequent forms first.

Words are counted inside sentences, behind a word or a comma, where a capital is the word's own; those with a hyphen or
an apostrophe by their parts as well.  `PREPARED/spellings.txt` of texts about phones may begin with `I` and `iPhone`.

>>> learn_table(["so i have an iPhone, my iPhone, and no iphone case"] * 5, least_share=0.6).forms
('iPhone',)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from ...text.spelling_table import SpellingTable

_LEAST_TIMES, _LEAST_SHARE = 5, 0.95  # that a form is written: at all, and among all forms of its word
_MOST_FORMS = 6_000
_INSIDE = re.compile(r"(?<=[\w,;] )[^\W\d_][^\W_]*(?:['’.-][^\W_]+)*(?![\w/@])")
_JOIN = re.compile(r"['’-]")
_POSSESSIVE = re.compile(r"['’]s$")


def learn_table(texts: Iterable[str], *, least_share: float = _LEAST_SHARE) -> SpellingTable:
    """Return the forms of words that texts write in one way, at least `least_share` of the time."""
    counts = Counter[str]()
    for text in texts:
        counts.update(_INSIDE.findall(text))
    forms_by_word = defaultdict[str, Counter[str]](Counter)
    for token, n_times in counts.items():
        if "." in token:  # addresses, and `U.S.`, which has a rule of its own
            continue
        whole, *_ = _POSSESSIVE.split(token)
        parts = _JOIN.split(token)
        for form in (whole, *(parts if len(parts) > 1 else ())):
            forms_by_word[form.lower()][form] += n_times
    frequent = Counter[str]()
    for word, forms in forms_by_word.items():
        form, n_times = forms.most_common(1)[0]
        if form != word and n_times >= max(_LEAST_TIMES, least_share * forms.total()):
            frequent[form] = n_times
    return SpellingTable(tuple(form for form, _ in frequent.most_common(_MOST_FORMS)))
