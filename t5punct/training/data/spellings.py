"""The spelling table of a text: words that it nearly always writes in one way.

Words are counted inside sentences, behind a word or a comma, where a capital is the word's own; those with a hyphen or
an apostrophe by their parts as well.  A text counts once, however often it has a form, so that what one long text is
about does not decide.  `spellings.txt` of a data set about phones may begin with `I` and `iPhone`.

Words in small letters are in the table only if they often begin a sentence: their capital there misleads a model.

>>> learn_table(["so i have an iPhone, my iPhone, and no NASA", "look, iPhone and iphone, NASA"] * 5).forms
('NASA', 'iPhone')
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from ...text.marks import Case, case_of
from ...text.spelling_table import SpellingTable

_LEAST_TEXTS = 5  # that have a form
_LEAST_SHARE = 0.95  # of a form among all of its word
# nobody writes `iPhone` by chance, and many write `iphone` out of carelessness
_LEAST_SHARE_OF_MIXED = 0.6
# a model can write `Italia` by itself, but not `dell'Italia`: names are needed that stand in words of several parts
_LEAST_COMPOUNDS = 3  # texts in which they do
_MOST_FORMS = 3_000  # of such names, and of all others
_LEAST_BEGINNINGS = 20  # texts in which a word in small letters begins a sentence
_SHORTEST_NAME = 4  # letters; `ann` may be a part of a word, or another language's word
_WORD = r"[^\W\d_][^\W_]*(?:['’.-][^\W_]+)*(?![\w/@])"
_INSIDE, _BEGINNING = re.compile(rf"(?<=[\w,;] ){_WORD}"), re.compile(rf"(?<=[.?!] ){_WORD}")
_JOIN = re.compile(r"['’-]")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_NO_NAME = re.compile(r"\d{4}|^\d")  # the number of a document; `1B`


def learn_table(texts: Iterable[str], lower_words: Collection[str] = ()) -> SpellingTable:
    """Return the forms of words that texts nearly always write in one way.

    `lower_words`: the words of the language that a dictionary has in small letters.  Where they are given, the table
    has all names that are none of them; without them a rare word that one text is about looks like a name.
    """
    # in how many texts each form stands inside a sentence, and each word in small letters begins one
    counts = Counter[str]()
    beginnings = Counter[str]()
    for text in texts:
        if not text.islower():  # else its writer uses no capitals
            counts.update(set(_INSIDE.findall(text)))
            beginnings.update({word.lower() for word in _BEGINNING.findall(text)})
    forms_by_word = defaultdict[str, Counter[str]](Counter)  # by the word in small letters
    in_compounds = Counter[str]()  # of forms that stand in words of several parts
    for token, n_texts in counts.items():
        if "." in token:  # addresses, and `U.S.`, which has a rule of its own
            continue
        whole = _POSSESSIVE.sub("", token)
        for form in {whole, *_JOIN.split(token)}:
            forms_by_word[form.lower()][form] += n_texts
        if _JOIN.search(whole):
            in_compounds.update(dict.fromkeys([whole, *_JOIN.split(whole)], n_texts))
    frequent = Counter[str]()
    small = list[str]()
    for word, forms in forms_by_word.items():
        form, n_texts = forms.most_common(1)[0]
        is_mixed = any(case_of(part) is Case.VERBATIM for part in _JOIN.split(form))
        least_share = _LEAST_SHARE_OF_MIXED if is_mixed else _LEAST_SHARE
        if n_texts < max(_LEAST_TEXTS, least_share * forms.total()) or _NO_NAME.search(form):
            continue
        if form != word:
            frequent[form] = n_texts
        elif beginnings[word] >= _LEAST_BEGINNINGS:
            small.append(form)
    parts = SpellingTable(tuple(form for form in frequent if not _JOIN.search(form)))
    ordered = sorted(frequent, key=lambda form: (-frequent[form], form))
    needed = [form for form in ordered if not _JOIN.search(form) or parts.spell(form.lower()) != form]
    capitalised = [form for form in needed if form == form.capitalize()]
    names = [form for form in capitalised if in_compounds[form] >= _LEAST_COMPOUNDS][:_MOST_FORMS]
    if lower_words:
        names += [form for form in capitalised if len(form) >= _SHORTEST_NAME and form.lower() not in lower_words]
    more = [form for form in needed if form != form.capitalize()]
    return SpellingTable(tuple(sorted({*more[:_MOST_FORMS], *names, *small})))
