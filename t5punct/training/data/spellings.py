"""The spelling table of texts: words that they nearly always write in one way.

Words are counted inside sentences, behind a word or a comma, where a capital is the word's own; words with a hyphen or
an apostrophe by their parts as well.  A form counts once for each text that has it, so that the subject of one long
text does not decide.

Words in small letters are in the table only if they often begin a sentence, as their capital there misleads a model.

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
_LEAST_SHARE = 0.95  # of a form among all forms of its word
# nobody writes `iPhone` by chance, and many write `iphone` out of carelessness
_LEAST_SHARE_OF_MIXED = 0.6
# a model can write `Italia`, but not `dell'Italia`: of names those are listed that are often parts of such compounds
_LEAST_COMPOUNDS = 3  # texts that have a name in a compound
_MOST_FORMS = 3_000  # of such names, and again of all other forms
_LEAST_BEGINNINGS = 20  # texts in which a word in small letters begins a sentence
_SHORTEST_NAME = 4  # letters; `ann` may be a part of a word, or a word of another language
_WORD = r"[^\W\d_][^\W_]*(?:['’.-][^\W_]+)*(?![\w/@])"
_INSIDE, _BEGINNING = re.compile(rf"(?<=[\w,;] ){_WORD}"), re.compile(rf"(?<=[.?!] ){_WORD}")
_JOIN = re.compile(r"['’-]")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_NO_NAME = re.compile(r"\d{4}|^\d")  # numbers of documents, and forms like `1B`


def learn_table(texts: Iterable[str], lower_words: Collection[str] = ()) -> SpellingTable:
    """Return the forms of words that texts nearly always write in one way.

    `lower_words`: the words that a dictionary has in small letters.  With them the table has all names that are none of
    them; without them it has only names in compounds, as a rare word that one text is about looks like a name.
    """
    counts = Counter[str]()  # form -> texts that have it inside a sentence
    beginnings = Counter[str]()  # word in small letters -> texts in which it begins a sentence
    for text in texts:
        if not text.islower():  # such a writer uses no capitals
            counts.update(set(_INSIDE.findall(text)))
            beginnings.update({word.lower() for word in _BEGINNING.findall(text)})
    forms_by_word = defaultdict[str, Counter[str]](Counter)  # word in small letters -> form -> texts
    in_compounds = Counter[str]()  # form -> texts that have it in a word of several parts, or as one
    for token, n_texts in counts.items():
        if "." in token:  # addresses, and `U.S.`, which has a rule of its own
            continue
        whole = _POSSESSIVE.sub("", token)
        for form in {whole, *_JOIN.split(token)}:
            forms_by_word[form.lower()][form] += n_texts
        if _JOIN.search(whole):
            in_compounds.update(dict.fromkeys([whole, *_JOIN.split(whole)], n_texts))
    frequent = Counter[str]()  # form -> texts
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
    ordered = sorted(frequent, key=lambda form: (-frequent[form], form))
    # a word of several parts is needed only if its parts do not give it
    of_parts = SpellingTable(tuple(form for form in frequent if not _JOIN.search(form)))
    needed = [form for form in ordered if not _JOIN.search(form) or of_parts.spell(form.lower()) != form]
    capitalised = [form for form in needed if form == form.capitalize()]
    names = [form for form in capitalised if in_compounds[form] >= _LEAST_COMPOUNDS][:_MOST_FORMS]
    if lower_words:
        names += [form for form in capitalised if len(form) >= _SHORTEST_NAME and form.lower() not in lower_words]
    others = [form for form in needed if form != form.capitalize()]
    return SpellingTable(tuple(sorted({*others[:_MOST_FORMS], *names, *small})))
