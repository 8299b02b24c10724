"""Words, marks and white space: a text is split into them, and words are written with marks.

In: any text.  Out: a `SplitText` of `Word`s, whose spellings are never changed; a word with other marks.

>>> text = split('We know "that", right?!')
>>> [(word.text, word.marks) for word in text.words]
[('We', ''), ('know', ''), ('"that"', ','), ('right', '?!')]
>>> text.words[3].with_marks("!")
'right!'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from ..errors import InputError
from .marks import DASH, ENDS_SENTENCE, NO_MARKS, OPENING, OTHER_SCRIPTS, Alphabet, Case, apply_case, ends_sentence
from .spelling import (
    EMOTICON_IN_MARKS,
    MAY_END_SENTENCES,
    ends_in_entity,
    has_path,
    is_abbreviation,
    is_drive,
    is_emoticon,
    is_initialism,
    is_lower_abbreviation,
    is_of_phrase,
    is_ordinal,
    is_shortcode,
    may_be_initial,
    owns_full_stop,
)

APOSTROPHES = "'’"
_NO_OPENING = str.maketrans("", "", "".join(OPENING))
_ELISIONS = {"tis", "twas", "twere", "twill", "cause", "em", "til", "till", "bout", "round", "n", "nuff", "kay"}
# invisible characters, which right-to-left subtitles have around marks: directions, spaces, byte order marks
_DIRECTIONS = "\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_SHAPES = "\u180e\u200c\u200d\ufe0e\ufe0f"  # invisible, too: they say how the letter or emoji before them is shown
_INVISIBLE = _DIRECTIONS + _SHAPES
OPENERS = '"“„«»‘([{¿¡' + _INVISIBLE
QUOTES = '"“”„«»'  # any of them opens a quotation in one language and closes it in another
_CLOSERS_OF_CORE = '"”“»«)]}' + _INVISIBLE  # an apostrophe may be the word's: `dogs'`
CLOSERS = _CLOSERS_OF_CORE + APOSTROPHES

_PUNCTUATION = ",.?!:;-…–—―" + "".join(OTHER_SCRIPTS) + OPENERS + CLOSERS
_STANDING = (*",?!:;…", *OTHER_SCRIPTS)  # marks that no letter, abbreviation or hyphenated word ends in
ALL_MARKS = Alphabet(Alphabet().marks + "".join(OTHER_SCRIPTS))  # of any script
_DASH_AND_NUMBER = re.compile(r"[-–—][^\S\r\n]+[¿¡]?[$€£]?\d")  # of `5 - 10 mg`: between two numbers a dash is no mark
_NUMBER_OR_DASH = re.compile(r"[$€£]?\d|[-–—]$")  # what follows such a dash, or the dash
_PIECE = re.compile(r"(\S+)(\s*)")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*")
_FACE = re.compile(EMOTICON_IN_MARKS + "$")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # surrogates, but for those of bytes that are not UTF-8 (PEP 383)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the input and the slot after it."""

    text: str  # the spelling without marks, never changed
    marks: str = NO_MARKS  # those that stood in the slot
    n_closers: int = 0  # how many closing quotes or brackets of `text` stood after the marks
    raw: str = ""  # word and marks exactly as the input wrote them
    space: str = " "  # the white space that follows
    pause: int = 0  # how many of TaskConfig.pauses_ms the silence after it reaches; 0 for words without times
    dotted: bool = False  # whether the first full stop of `marks` is the word's own: `vs.`, or `1.` that opens a line
    spelled: str = ""  # how the user wants the core to be written, whatever case is decided
    is_abbreviated: bool = False  # whether its full stop is that of an ordinal or a phrase: `am 3. Oktober`, `z. B.`

    @property
    def n_stem(self) -> int:
        """How many characters of `text` stand before the marks."""
        return len(self.text) - self.n_closers

    @property
    def core(self) -> str:
        """The spelling without quotes, brackets and leading dots; pure punctuation is left as it is."""
        if _ASCII_WORD.fullmatch(self.text) or not self.has_slot:
            return self.text
        text = self.text[: self.n_stem].lstrip(OPENERS)
        if is_emoticon(text):  # `B)`, whose bracket closes nothing
            return text
        if text.startswith(("...", "…")):
            text = text.lstrip(".…").lstrip(OPENERS)
        # a leading apostrophe is a quote if another one closes it, and before a capital ('Hello) or an opening mark;
        # not in 'em and 'Tis
        is_quoted = text[1:2] in OPENING or (text[1:2].isupper() and text[1:].lower() not in _ELISIONS)
        if text[:1] in APOSTROPHES and (is_quoted or text[-1:] in APOSTROPHES):
            text = text.strip(APOSTROPHES).lstrip(OPENERS)
        return _FACE.sub("", text).rstrip(_CLOSERS_OF_CORE) or self.text

    @property
    def normal(self) -> str:
        """What the model reads: the core in lower case."""
        return self.core.lower()

    @property
    def opening(self) -> str:
        """The opening mark before the core: the first of `¿¡`, or none."""
        if self.text[:1].isalnum():  # nearly always
            return NO_MARKS
        if self.text in OPENING:  # it stands apart, as in `¿ qué`
            return self.text
        return next((char for char in self.text[: self.text.find(self.core)] if char in OPENING), NO_MARKS)

    @property
    def opens_quote(self) -> bool:
        """Whether a quotation mark stands before the core."""
        return not self.text[:1].isalnum() and any(char in QUOTES for char in self.text[: self.text.find(self.core)])

    @property
    def closes_quote(self) -> bool:
        """Whether the word ends in a quotation mark."""
        return self.has_slot and self.text[-1:] in QUOTES

    @property
    def given(self) -> str:
        """The marks of the slot without the word's own full stop: of `vs.,` the comma, of `vs.` none."""
        # in `vs...` one dot is both the word's and the ellipsis's: the slot keeps all three
        has_own_stop = self.dotted and not self.marks.startswith("..")
        return self.marks[1:] if has_own_stop else self.marks

    @property
    def has_slot(self) -> bool:
        """False for a piece of pure punctuation such as `:)` or a leading dash: no mark follows it."""
        return bool(self.text.strip(_PUNCTUATION))

    @property
    def takes_marks(self) -> bool:
        """Whether marks may follow: not behind a mark of the text that the model does not know (`你好。`)."""
        bare = _FACE.sub("", self.text[: self.n_stem]).rstrip(CLOSERS)
        return self.has_slot and (is_shortcode(bare) or not bare.endswith(_STANDING))

    def with_opening(self, opening: str) -> Word:
        """Return the word with this opening mark, or none, before its core; pure punctuation stays as it is."""
        if not self.has_slot or opening == self.opening == NO_MARKS:
            return self
        start = self.text.find(self.core)
        head = self.text[:start].translate(_NO_OPENING) + opening
        return replace(self, text=head + self.text[start:])

    def closing_as(self, text: str) -> Word:
        """Return the word with its closing quotes behind its marks, if `text`, as it is written, has them so."""
        has_new_marks_inside = self.closes_quote and len(text) > len(self.text) and text.endswith(self.text[-1])
        return self.with_quotes_behind() if has_new_marks_inside else self

    def with_quotes_behind(self) -> Word:
        """Return the word with the quotation marks at its end behind its marks: `you?"`."""
        n_quotes = len(self.text) - len(self.text.rstrip(QUOTES))
        return replace(self, n_closers=max(self.n_closers, n_quotes))

    def with_marks(self, marks: str, case: Case = Case.VERBATIM, alphabet: Alphabet | None = None) -> str:
        """Return the word in a case with marks, which stand inside closing quotes if they did in the input."""
        stem = self.stem(case)
        closers = self.text[self.n_stem :]
        has_stop = self.dotted and not self.spelled  # what the user spells is the whole word
        bare = stem + "." if has_stop else stem
        if not marks or not self.has_slot:
            return bare + closers
        alphabet = alphabet or ALL_MARKS
        if self.spelled.endswith(("!", "?")):  # the sentence ends with the word's own mark: `Yahoo!`
            marks = marks.lstrip(ENDS_SENTENCE)
        inside, dash, behind = marks.partition(DASH)  # a dash stands apart, so never inside quotes
        quoted = alphabet.spell(bare, inside) + closers
        result = alphabet.spell(quoted, dash + behind)
        if self.spelled:  # it may end in a mark (`Inc.`), and is written as the user wants
            return result
        # `U.S` + `.` would be read as the word `U.S.`, `C` + `:` as a drive: such a word stays without marks
        text = stem + closers
        if len(text) > 1 and _ASCII_WORD.fullmatch(text):  # nearly always; no mark becomes part of such a word
            return result
        is_swallowed = [word.text for word in words_of(result, alphabet)] != text.split()
        return bare + closers if is_swallowed else result

    def stem(self, case: Case = Case.VERBATIM) -> str:
        """Return the part before marks and closing quotes: the word in the given case, or as the user spells it."""
        text = self.text[: self.n_stem]
        if not self.spelled and case is Case.VERBATIM:
            return text
        core = self.core
        start = text.find(core)
        return text[:start] + (self.spelled or apply_case(core, case)) + text[start + len(core) :]

    def separator(self, marks: str) -> str:
        """Return the marks if they surely separate two words: not the full stop of `Mr.`, `p.m.`, `J.`, `3. Mai`."""
        is_short = is_abbreviation(self.core) or is_lower_abbreviation(self.core) or may_be_initial(self.core)
        return NO_MARKS if marks == "." and (self.is_abbreviated or is_short) else marks

    def ends_sentence(self, marks: str, alphabet: Alphabet | None = None) -> bool | None:
        """Return whether a reader sees a sentence end behind the word and these marks.

        None: only the next word shows it, as the full stop of `Inc.`, `Mr.` or `3.` may stand inside a sentence.  That
        of `U.S.` ends one; a mark that cannot be written behind the word does not.
        """
        if not ends_sentence(marks):
            return False
        if marks == "." and self.is_abbreviated and self.core.isalpha():  # `z. B.`, `w 1945 r.`
            return None if self.core in MAY_END_SENTENCES else False
        if marks == "." and (self.is_abbreviated or is_abbreviation(self.core)):  # behind `3.` there is `Oktober`
            return None
        has_own_stop = marks.startswith(".") and (self.dotted or self.stem().endswith("."))
        has_own_mark = self.spelled.endswith(("!", "?"))  # `Yahoo!`
        if has_own_stop or has_own_mark:
            return True
        # a mark that changes nothing cannot be written here
        return self.with_marks(marks, alphabet=alphabet) != self.with_marks(NO_MARKS)


@dataclass(frozen=True, slots=True)
class SplitText:
    """A text as words; `lead` is the white space before the first."""

    words: tuple[Word, ...]
    lead: str = ""


def split(text: str, alphabet: Alphabet | None = None) -> SplitText:
    """Split a text into words, each with the marks that follow it.

    White space is kept.  Marks that stand apart (` - `, ` ...`) belong to the word before them on the same line; if
    there is none, they are a word, so that nothing is lost.
    """
    return SplitText(tuple(words_of(text, alphabet)), lead_of(text))


def forbids_dash(word: Word, following: Word) -> bool:
    """Return whether no dash may be written behind a word: between two numbers it would be said, as in `5 - 10`."""
    if not word.text[-1:].isdecimal() or "\n" in word.space or "\r" in word.space:
        return False
    return _NUMBER_OR_DASH.match(following.core) is not None


def opening_apart(text: str) -> tuple[str, str]:
    """Return a written word without its opening marks, and these; quotes and brackets before it stay."""
    rest = text.lstrip(OPENERS)  # quotes, brackets and opening marks
    head = text[: len(text) - len(rest)]
    opening = "".join(char for char in head if char in OPENING)
    return head.translate(_NO_OPENING) + rest, opening


def lead_of(text: str) -> str:
    """Return the white space before the first word."""
    return text[: len(text) - len(text.lstrip())]


def words_of(text: str, alphabet: Alphabet | None = None, *, opens_line: bool = True) -> Iterator[Word]:
    """Yield the words of a text one by one, as `split` does; all words of a long text would need much memory.

    opens_line: whether the text begins a line; there a number with a full stop is a list item (`1.`).
    """
    alphabet = alphabet or ALL_MARKS
    word: Word | None = None  # the last one, which waits for the next piece: that may be its marks
    before = ""  # the text of the word before it
    start = stop = 0  # where the word and its marks stand in the text
    takes_marks = False
    mark_characters = alphabet.characters + _INVISIBLE
    for match in _PIECE.finditer(text):
        piece, space = match.group(1), match.group(2)
        is_of_marks = not piece.strip(mark_characters) and bool(piece.strip(_INVISIBLE))
        if word and is_of_marks and takes_marks and "\n" not in word.space:  # marks that stand apart
            is_between_numbers = word.text[-1:].isdecimal() and _DASH_AND_NUMBER.match(text, match.start())
            if not is_between_numbers:
                word = _with_marks(word, piece, space, alphabet)
                stop = match.end(1)
                continue
        if word:
            yield mark_abbreviation(_with_raw(word, text[start:stop]), before, piece)
            before = word.raw  # without marks that stand apart behind it
            opens_line = "\n" in word.space
        start, stop = match.span(1)
        word = _word(piece, space, alphabet, opens_line)
        takes_marks = word.has_slot
    if word:
        yield mark_abbreviation(_with_raw(word, text[start:stop]), before, "")


def _with_raw(word: Word, raw: str) -> Word:
    """Return the word as it stands in the input: `raw` is longer than its piece where marks stand apart behind it."""
    return word if len(word.raw) == len(raw) else replace(word, raw=raw)


def mark_abbreviation(word: Word, before: str, following: str) -> Word:
    """Return the word as an abbreviation if the words around it show that: `3.` in `am 3. Oktober`, `z.` in `z. B.`.

    Its full stop is then the word's own.  before, following: these words with their marks; empty: there is none.
    """
    has_stop = word.dotted or (word.marks.startswith(".") and not word.marks.startswith(".."))
    is_in_phrase = has_stop and is_of_phrase(before, word.text, following)
    if is_in_phrase or is_ordinal(before, word.text, following):  # also without its stop: `am 3 Oktober`
        return replace(word, is_abbreviated=True, dotted=has_stop)
    return word


def checked_text(text: object, *, may_hold_bytes: bool = False) -> str:
    """Return the text, if it can be read.  Raises InputError for anything but a string, and for lone surrogates.

    `may_hold_bytes`: accept surrogates that stand for bytes, as in text decoded with `surrogateescape`.
    """
    if not isinstance(text, str):
        raise InputError(f"a text of type {type(text).__name__}", expected="a str", fix="decode or join it first")
    surrogate = None if text.isascii() else (_NO_BYTE if may_hold_bytes else _SURROGATE).search(text)
    if surrogate:
        raise InputError(
            f"a lone surrogate, {surrogate[0]!a}, at character {surrogate.start()}",
            expected="text that has a UTF-8 form",
            fix="decode the text with errors='replace'",
        )
    return text


def readable(text: str) -> str:
    """Return a text as a model can read it: bytes that are not UTF-8 become the replacement character."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _word(piece: str, space: str, alphabet: Alphabet, opens_line: bool) -> Word:
    """Return the word of a piece, without the marks at its end: `right?"` has the text `right"`, marks `?`, one closer.

    space: the white space behind it; opens_line: whether it is the first of its line, where `1.` is a list item.
    """
    if _ASCII_WORD.fullmatch(piece):
        return Word(piece, NO_MARKS, 0, piece, space)
    place = _marks_begin(piece, alphabet)
    marks = ""
    closers = ""  # those that stand behind a mark
    shared = ""  # a full stop that is the word's last and the first of `...`
    for unit in _unit_pattern(alphabet).finditer(piece, place):
        # U.S. and e.g. are words: their last full stop belongs to them and is not a mark
        if not marks and unit["mark"] == "." and is_initialism(piece[: unit.end()].lstrip(OPENERS)):
            # `U.S...` is the word `U.S.` with the marks `...`: `Alphabet.spell` writes the shared full stop once
            shared = "." if piece.startswith(".", unit.end()) else ""
        elif unit["mark"]:
            place = place if marks else unit.start()
            marks += unit["mark"]
        elif marks:
            closers += unit[0]
    if not marks or not piece[:place].strip(_PUNCTUATION):  # nothing but marks, quotes and brackets
        # marks will stand before invisible characters at the word's end
        n_closers = len(piece) - len(piece.rstrip(_DIRECTIONS)) if piece.strip(_PUNCTUATION) else 0
        return Word(piece, NO_MARKS, n_closers, piece, space)
    stem = piece[:place]
    known = alphabet.marks_in(shared + marks)
    dotted = marks[0] == "." and owns_full_stop(stem.lstrip(OPENERS), opens_line=opens_line)
    # the full stop of `vs.;` stays one of the marks if `;` is none of the alphabet: the slot would lose it
    keeps_other_marks = len(known) > 1 or len(marks) == 1
    return Word(stem + closers, known, len(closers), piece, space, dotted=dotted and keeps_other_marks)


def _with_marks(word: Word, piece: str, space: str, alphabet: Alphabet) -> Word:
    """Return a word with the marks that stand apart behind it; invisible characters among them stay."""
    marks = alphabet.marks_in(word.marks + piece)
    unseen = "".join(char for char in piece if char in _INVISIBLE)
    n_closers = word.n_closers + len(unseen)
    dotted = word.dotted and len(marks) > 1
    return replace(word, text=word.text + unseen, marks=marks, n_closers=n_closers, space=space, dotted=dotted)


@lru_cache(maxsize=32)
def _unit_pattern(alphabet: Alphabet) -> re.Pattern[str]:
    """Return the pattern of one unit: an emoticon, a mark (the group `mark`), or any other character.

    Two hyphens are a dash; a single one (`pre-`) belongs to the word.
    """
    dash = "--+|" if DASH in alphabet.marks else ""
    marks = rf"{dash}[{re.escape(alphabet.characters.replace(DASH, ''))}]"
    return re.compile(rf"{EMOTICON_IN_MARKS}|(?P<mark>{marks})|.")


def _marks_begin(piece: str, alphabet: Alphabet) -> int:
    """Return where marks and closing quotes begin; not at a mark of `http://a.b?`, `C:`, `:tada:` or `&amp;` itself."""
    characters = alphabet.characters.replace(DASH, "") + CLOSERS
    has_dash = DASH in alphabet.marks
    start = len(piece)
    while start:  # a regular expression would start over at every mark; this walks once, from the end
        if piece[start - 1] in characters:
            start -= 1
            continue
        bare = start
        while bare and piece[bare - 1] == DASH:
            bare -= 1
        if start - bare < 2 or not has_dash:  # a single hyphen belongs to the word: `pre-`
            break
        start = bare
    begun = piece[:start].lstrip(OPENERS)
    is_owned = (
        (piece.find("?") == start and has_path(begun))
        or (piece.startswith(":", start) and (is_drive(begun + ":") or is_shortcode(begun + ":")))
        or (piece.startswith(";", start) and ends_in_entity(begun + ";"))
    )
    return start + 1 if is_owned else start  # the first mark is the word's own
