"""What the spelling of a word shows: for example, whether a full stop belongs to it, or whether its case must stay.

In: a word without quotes and marks.  Out: True or False.

>>> [owns_full_stop(stem) for stem in ("vs", "Ph.D", "J", "end", "I")]
[True, True, True, False, False]
>>> [keeps_letters(word) for word in ("http://foo.com/bar", "snake_case", "o'neil", "U.S.", "and/or")]
[True, True, False, True, False]
"""

from __future__ import annotations

import re

# abbreviations that are written with a full stop; here in lower case and without it.  Add your own.
# `no.` and `fig.` are left out: as ordinary words they are too common
_BEFORE_NAMES = {"mr", "mrs", "ms", "dr", "prof", "rev", "gov", "sen", "capt", "sgt", "vs", "viz", "cf", "approx"}
_LISTED = """
    gen col lt st jr sr ph.d b.sc m.sc inc ltd co corp bros dept
    misc vol eds jan feb apr jun jul aug sep sept oct nov dec mwst std abb bd hrsg sra srta dra uds avda pág págs dott
    avv mgr mrd kft zrt nyrt inż ul ave blvd lb lbs oz ft tsp tbsp esq
"""
_LOWERED_LISTED = """
    vs viz cf approx etc al resp incl pp usw bzw ca inkl exkl zzgl evtl ggf vgl sog bspw aprox ecc dhr mevr bijv blz enz
    itd itp tzn tzw np m.in stb vö kb pl tys d.m.v t.a.v
"""
_LOWERED_WORDS = {*_LOWERED_LISTED.split()}  # those with a capital only where a sentence begins
ABBREVIATIONS = {*_BEFORE_NAMES, *_LISTED.split(), *_LOWERED_WORDS}
_ORDINAL = re.compile(r"\d{1,3}")
# German, Danish, Norwegian and Hungarian ordinals: `am 3. Oktober`, `im 19. Jahrhundert`, `vom 3. bis 5. Mai`
_DETERMINERS = """
    als vom zum zur im beim der die dem den das ein einem einen einer jede jedem jeden jeder jedes diesem diesen dieser
    dieses mein meine meinem meinen meiner dein deine deinem deinen deiner sein seine seinem seinen seiner ihr ihre
    ihrem ihren ihrer unser unsere unserem unseren unserer euer eure eurem euren eurer
"""
_BEFORE_ORDINALS = {*_DETERMINERS.split()}
_HUNGARIAN_MONTHS = {  # none is a word of another of the nine languages
    "január", "február", "március", "április", "május", "június", "július", "augusztus", "szeptember", "október",
}  # fmt: skip
_BEHIND_ORDINALS = {
    *_HUNGARIAN_MONTHS,
    "januar", "jänner", "februar", "feber", "märz", "april", "mai", "juni", "juli", "august", "september",
    "oktober", "november", "dezember", "marts", "maj", "december", "und", "bis", "oder", "tag", "mal",
    "jahrhundert", "jahrhunderts", "platz", "klasse", "stock", "sieg", "tor", "runde", "spieltag", "geburtstag",
    "etage", "auflage", "weltkrieg", "semester", "liga", "bundesliga", "quartal", "halbzeit", "jahrestag",
    "kapitel", "niederlage", "titel", "treffer", "saison",
}  # fmt: skip
# two words of phrases with full stops; of `i. d. R.` the first two, and the last two
_PHRASES = {
    "z. b.", "d. h.", "u. a.", "o. ä.", "i. d.", "d. r.", "z. t.", "u. u.", "v. a.", "i. a.",
    "o. a.", "b. v.", "d. w.", "w. z.", "i. p.", "p. v.", "m. b.", "b. t.", "p. ej.", "p. ex.", "ad es.",
    "v. chr.", "n. chr.", "a. m.", "p. m.", "dr hab.", "ee. uu.",
}  # fmt: skip
_BEHIND_NUMBERS = {"r", "mio"}  # `w 1945 r.`, a year in Polish; `5,3 Mio. Euro`
MAY_END_SENTENCES = {*_BEHIND_NUMBERS, "Mio", "chr", "Chr", "m"}  # as the phrases that they close; not `i. d. R.`
_BEHIND_WORD = ',;:?!)"'
_BEFORE_NUMBERS = {  # `p. 45`
    "p", "pp", "fig", "figs", "no", "nr", "eq", "vol", "sec", "abb", "tab", "ch", "doc", "ex", "para", "paras",
}  # fmt: skip
_FIRST_PERSON = re.compile(r"i(?:['’].*)?", re.IGNORECASE | re.DOTALL)
_INITIALISM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?(?:\.?['’]s)?", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s$")
_DEGREES = {"ph.d", "b.sc", "m.sc"}
_LOWERED = {  # initialisms that are written in lower case
    "e.g", "i.e", "a.m", "p.m", "a.k.a", "c.f", "p.a", "d.h", "u.a", "o.a", "b.v", "i.p.v", "m.b.t", "d.w.z",
    "b.i.d", "t.i.d", "q.i.d", "q.d", "p.r.n", "p.o", "y.o",  # of doses and patients
}  # fmt: skip
_LETTERS_THAT_ARE_WORDS = "aAiI"
_UNITS = {"km", "kg", "cm", "mm", "mg"}  # no others: `ml` may be machine learning
_CLITIC = re.compile(r"['’][tsnk]", re.IGNORECASE)  # Dutch words of one letter
_SYMBOLS = re.compile(r"[+#&$€£¥%°§]|^\w\*$")  # C++, C#, AT&T, 20°C, A*
_ENTITY = re.compile(r"&(?:#\d+|#x[\da-f]+|[a-z]\w*);$", re.IGNORECASE)
_PATH = re.compile(r"://|^www\.[^/]*/|\w\.[^\W\d_]{2,}/")  # behind the name of a host
EMOTICON_IN_MARKS = r"[:;]['’]?[)\]}]+"  # emoticons that could be taken for a mark and closing brackets
_EMOTICON = re.compile(
    rf"[>Oo]?(?:[:;=]['’^-]?(?:[()\[\]{{}}|/\\*@$<>3]+|[DPpOoSsXxCc])|{EMOTICON_IN_MARKS})|[xX]D+|B-?\)+"
)
_SHORTCODE = re.compile(r"(?::[\w+-]+:)+")
# Hungarian and Polish nouns without their endings: `a 3. emeleten`, `na 3. piętrze`
_COUNTED_NOUNS = (
    "emelet", "század", "kerület", "osztály", "fejezet", "oldal", "bekezdés", "évfolyam", "évad", "évforduló",
    "forduló", "kiadás", "születésnap", "világháború", "helyen", "helyez", "szimfónia", "piętr", "połow", "wiek",
    "miejsc", "klas", "rocznic", "edycj", "rundy", "rundzie", "kolejk", "kwarta", "semestr", "rozdzia", "wojn",
)  # fmt: skip
_BEHIND_YEARS = _HUNGARIAN_MONTHS | {"évi", "évben"}  # a year has a full stop in Hungarian: `1956. október 23.`
_DAY_OR_MONTH = re.compile(r"\d{1,2}\.")  # of `3. 10. 1990`
_ORDINAL_DIGITS, _YEAR_DIGITS = 2, 4
_ROMAN = re.compile(r"(?![Vv]i$)(?i:[ivx]{2,5})")  # `a XX. században`; `vi` is a word of Spanish and Italian
_BEGINS_SENTENCE = {"Und", "Bis", "Oder"}  # behind an ordinal they have a small letter: `vom 3. bis 5. Mai`
_DATE = re.compile(r"\d{1,2}\.\d{1,2}")  # `am 24.12. in Wien`
_BEFORE_DATES = _BEFORE_ORDINALS | {"am", "bis", "ab", "seit"}
LONGEST_WORD = 64  # letters; anything longer is a hash or the like
# `SAVE20`, `F-16`, `H.264`, `1HGCM82`, `4K`, `4-A`; but not `3RD`, `10AM`, `80S`, `7-ELEVEN`
_CODE_IN_CAPITALS = re.compile(
    r"(?:\d+-?)?[A-Z]+[-.]?\d[A-Z\d.-]*|\d+-?(?!(?:ST|ND|RD|TH|S|AM|PM|KM|KG|CM|MM|MG)$)[A-Z]{1,2}"
)
_CODE = re.compile(
    r"""[@\\_=<>{}|^~`]   # name@host.org, c:\temp, snake_case, x=1, <b>
    | :// | :: | ^www\. | &\#?\w+;  # &quot;so
    | \w[(\[](?!e?s$)      # f(x), a[0]; but not word(s)
    | \w\.[^\W\d_]{2}     # example.org, main.py; but not U.S or Ph.D
    | ^(?:--|[$%#.]|\.{0,2}/)[^\W\d]  # --flag, $HOME, .bashrc, /usr, ../src
    | ^-[B-HJ-NP-Zb-hj-np-z]$  # -U; but not the dash of a subtitle, -I
    | /[^/]*/             # usr/local/bin; but not and/or
    """,
    re.VERBOSE,
)


def owns_full_stop(stem: str, *, opens_line: bool = False) -> bool:
    """Return whether a full stop after these letters is part of the word: `vs.`, `J.` or, where a line begins, `1.`."""
    if is_abbreviation(stem) or (len(stem) == 1 and stem.isupper() and stem != "I"):
        return True
    return opens_line and _ORDINAL.fullmatch(stem) is not None


def keeps_letters(word: str) -> bool:
    """Return whether the case of a word's letters must not change.

    Such words are addresses, paths, code, emoticons, very long words, and `U.S.`, `C++` or `SAVE20` in capitals.
    """
    if len(word) > LONGEST_WORD or is_emoticon(word) or is_drive(word) or is_shortcode(word):
        return True
    has_capitals = word != word.lower()
    if is_initialism(word) and _POSSESSIVE.sub("", word).isupper():
        return True
    if has_capitals and _SYMBOLS.search(word):  # `c++` in small letters may get one as a sentence begins
        return True
    if _CODE_IN_CAPITALS.fullmatch(word):
        return True
    return not word.isalnum() and _CODE.search(word) is not None and not is_abbreviation(word.rstrip("."))


def takes_capital(word: str) -> bool:
    """Return whether a word gets a capital where a sentence begins: `'em` does, `3rd` and Georgian words do not."""
    first = next((char for char in word if char.isalnum()), "").lower()
    has_capital_form = first != first.title()  # a digit has none, nor has a letter of Georgian
    return has_capital_form and not keeps_letters(word)


def is_abbreviation(word: str) -> bool:
    """Return whether a word is an abbreviation with a full stop, in any case of its letters: `Inc`, `st`."""
    return word.lower() in ABBREVIATIONS


def precedes_name(word: str) -> bool:
    """Return whether a name nearly always follows an abbreviation: `Mr.`, `Prof.`, `vs.`; not `Inc.` or `St.`."""
    return word.lower() in _BEFORE_NAMES


def is_ordinal(before: str, number: str, following: str) -> bool:
    """Return whether a full stop behind a number makes it an ordinal or a Hungarian year, judging by the words around.

    before, following: the words around as written, with their marks.  E.g. the numbers of `am 3. Oktober`, `im XX.
    Jahrhundert`, `3. 10. 1990`, `am 24.12. in Wien` and `1956. október 23. után` have such a full stop.
    """
    behind = "" if following in _BEGINS_SENTENCE else following.lower().rstrip(".,;:?!")
    if _DATE.fullmatch(number):
        return before.lower() in _BEFORE_DATES and behind.isalpha()
    if _ROMAN.fullmatch(number):
        return behind in _BEHIND_ORDINALS or behind.startswith(_COUNTED_NOUNS)
    if not (number.isascii() and number.isdecimal()):
        return False
    if len(number) == _YEAR_DIGITS:
        return behind in _BEHIND_YEARS
    if len(number) > _ORDINAL_DIGITS:
        return False
    is_counted = behind in _BEHIND_ORDINALS or behind.startswith(_COUNTED_NOUNS)
    of_date = _DAY_OR_MONTH.fullmatch(following) or (_DAY_OR_MONTH.fullmatch(before) and behind.isdecimal())
    if of_date or before.lower() in _HUNGARIAN_MONTHS:
        return True
    has_determiner = before.lower() in _BEFORE_ORDINALS and following[:1].isalnum()  # `am 3. Abend`
    return is_counted or has_determiner


def is_of_phrase(before: str, word: str, following: str) -> bool:
    """Return whether a full stop behind a word belongs to a phrase such as `z. B.` or `p. 45`, by the words around.

    before, following: with their marks.
    """
    if following[:1].isdecimal() and word.lower() in _BEFORE_NUMBERS:
        return True
    if before[-1:].isdecimal() and word.lower() in _BEHIND_NUMBERS:
        return True
    pairs = (f"{before} {word}.", f"{word}. {following.rstrip(_BEHIND_WORD)}")
    return any(pair.lower() in _PHRASES for pair in pairs)


def may_be_initial(word: str) -> bool:
    """Return whether a word may be an initial: `J`, also `f` in small letters; not `I`."""
    return len(word) == 1 and word.isalpha() and not is_first_person(word)


def is_spelled_out(letters: str) -> bool:
    """Return whether English words of one letter in a row are those of an abbreviation, as recognisers write `u s a`.

    `i` and `a` are words, too.

    >>> [is_spelled_out(letters) for letters in ("usa", "pm", "ibm", "bi", "a")]
    [True, True, True, False, False]
    """
    return sum(letter not in _LETTERS_THAT_ARE_WORDS for letter in letters) > 1


def is_initialism(word: str) -> bool:
    """Return whether a word is letters with full stops between them: `U.S.`, `a.k.a`; not `J.`, which is one letter."""
    return "." in word[:-1] and _INITIALISM.fullmatch(word) is not None


def has_initials(word: str) -> bool:
    """Return whether each part of a word with full stops begins with a capital: `U.S.`, `Ph.D.`; not `e.g.`."""
    return is_degree(word) or (is_initialism(word) and _bare(word) not in _LOWERED)


def is_lower_abbreviation(word: str) -> bool:
    """Return whether a word is an abbreviation that has a capital only where a sentence begins: `e.g.`, `vs`, `km`."""
    return _bare(word) in _LOWERED | _LOWERED_WORDS | _UNITS


def is_clitic(word: str) -> bool:
    """Return whether a word never has a capital, and passes it to the next word: the Dutch `'t` of `'t Is laat`."""
    return _CLITIC.fullmatch(word) is not None


def is_degree(word: str) -> bool:
    """Return whether a word is a degree such as `Ph.D.`, never written in capitals alone."""
    return _bare(word) in _DEGREES


def _bare(word: str) -> str:
    """Return a word in lower case without the full stop at its end, and without `'s`."""
    return _POSSESSIVE.sub("", word.lower()).removesuffix(".")


def is_spoken(word: str) -> bool:
    """Return whether a word has letters or digits.  A dash, an emoji or `:D` has none, and cannot begin a sentence."""
    return any(char.isalnum() for char in word) and not is_emoticon(word) and not is_shortcode(word)


def is_drive(word: str) -> bool:
    """Return whether a word is the name of a drive, `C:`, whose colon is not a mark; not a path such as `C:\\temp`."""
    return len(word) == 2 and word[0].isascii() and word[0].isalpha() and word[1] == ":"


def ends_in_entity(word: str) -> bool:
    """Return whether a word ends in a character written as in HTML: `&amp;`, `house&hellip;`."""
    return _ENTITY.search(word) is not None


def has_path(word: str) -> bool:
    """Return whether a word looks like an address in which a `?` may stand: `http://a.b/c`, `t.co/x`."""
    return _PATH.search(word) is not None


def is_emoticon(word: str) -> bool:
    """Return whether a word is an emoticon, a face made of characters."""
    return _EMOTICON.fullmatch(word) is not None


def is_shortcode(word: str) -> bool:
    """Return whether a word is the name of an emoji, as chats and Markdown have it: `:tada:`."""
    return _SHORTCODE.fullmatch(word) is not None


def is_first_person(word: str) -> bool:
    """Return whether a word is `I`, `I'm` or the like, which always has a capital."""
    return _FIRST_PERSON.fullmatch(word) is not None
