"""Text <-> words: which characters are words, which are marks, which are the spaces between.

In: any text.  Out: a `Transcript` of `Word`s whose spellings are never changed, and back to text.

>>> transcript = split('We know "that", right?!')
>>> [(word.text, word.label) for word in transcript.words]
[('We', ''), ('know', ''), ('"that"', ','), ('right', '?!')]
>>> transcript.written()
'We know "that", right?!'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .marks import DASH, NO_LABEL, Alphabet, Case, apply_case

_APOSTROPHES = "'’"
_OPENERS = '"“„«‘([{¿¡'
_CLOSERS = '"”“»)]}' + _APOSTROPHES
# U.S. and e.g. are words: their last full stop is theirs and marks no slot
_INITIALISM = re.compile(r"(?:[^\W\d_]\.){2,}$")
_PIECE = re.compile(r"(\S+)(\s*)")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the input and the slot behind it."""

    text: str  # the spelling, never changed; existing marks are taken out
    label: str = NO_LABEL  # the marks that stood in the slot
    n_closers: int = 0  # how many closing quotes or brackets of `text` stand behind the marks
    raw: str = ""  # word and marks exactly as the input wrote them
    space: str = " "  # the white space that follows
    pause: bool = False  # whether a silence follows, as far as the times of the words tell

    @property
    def core(self) -> str:
        """The spelling without quotes, brackets and leading dots; a piece of pure punctuation is left as it is."""
        if _ASCII_WORD.fullmatch(self.text) or not self.has_slot:
            return self.text
        text = self.text[: len(self.text) - self.n_closers].lstrip(_OPENERS)
        if text.startswith(("...", "…")):
            text = text.lstrip(".…")
        if text[:1] in _APOSTROPHES and (text[1:2].isupper() or text[-1:] in _APOSTROPHES):
            text = text.strip(_APOSTROPHES)
        closers = _CLOSERS.replace("'", "").replace("’", "")
        return text.rstrip(closers) or self.text

    @property
    def normal(self) -> str:
        """What the model reads: the core in lower case."""
        return self.core.lower()

    @property
    def has_slot(self) -> bool:
        """False for a piece of pure punctuation such as `:)` or a leading dash: no mark follows it."""
        return not _is_punctuation(self.text)

    def written(self, label: str, case: Case = Case.VERBATIM, alphabet: Alphabet | None = None) -> str:
        """The word in the given case with the given label, marks inside closing quotes where they stood."""
        text = self.text
        if case is not Case.VERBATIM:
            start = text.find(self.core)
            core = apply_case(self.core, case)
            text = text[:start] + core + text[start + len(self.core) :]
        if not label or not self.has_slot:
            return text
        alphabet = alphabet or Alphabet()
        cut = len(text) - self.n_closers
        inside, dash, behind = label.partition(DASH)  # a dash stands apart, so never inside quotes
        result = alphabet.write(alphabet.write(text[:cut], inside) + text[cut:], dash + behind)
        return text if _swallows(result, text, alphabet) else result


@dataclass(frozen=True, slots=True)
class Transcript:
    """A text as words; `lead` is the white space before the first."""

    words: tuple[Word, ...]
    lead: str = ""

    def written(self, alphabet: Alphabet | None = None) -> str:
        """The text with its own labels in canonical form."""
        pieces = (word.written(word.label, alphabet=alphabet) + word.space for word in self.words)
        return self.lead + "".join(pieces)


def split(text: str, alphabet: Alphabet | None = None) -> Transcript:
    """Split a text into words, each with the marks that follow it.

    White space is kept.  A piece made of marks alone (` - `, ` ...`) belongs to the word before it
    on the same line; where there is none it is a word of its own, so that nothing is ever lost.
    """
    return Transcript(tuple(words_of(text, alphabet)), lead_of(text))


def lead_of(text: str) -> str:
    """The white space before the first word."""
    return text[: len(text) - len(text.lstrip())]


def words_of(text: str, alphabet: Alphabet | None = None) -> Iterator[Word]:
    """The words of `split`, one by one: a long text never stands in memory as words."""
    alphabet = alphabet or Alphabet()
    before: Word | None = None
    for match in _PIECE.finditer(text, len(lead_of(text))):
        piece, space = match.group(1), match.group(2)
        if before and before.has_slot and "\n" not in before.space and _is_marks(piece, alphabet):
            label, raw = alphabet.label(before.label + piece), before.raw + before.space + piece
            before = Word(before.text, label, before.n_closers, raw, space)
            continue
        if before:
            yield before
        before = _word(piece, space, alphabet)
    if before:
        yield before


def _word(piece: str, space: str, alphabet: Alphabet) -> Word:
    """Take the marks off the end of a piece: `right?"` -> text `right"`, label `?`, one closer."""
    if _ASCII_WORD.fullmatch(piece):
        return Word(piece, NO_LABEL, 0, piece, space)
    mark, tail = _patterns(alphabet)
    cut = tail.search(piece).start()  # type: ignore[union-attr]  # it matches the empty end
    first = mark.search(piece, cut)
    shared = ""
    if first and first[0] == "." and _INITIALISM.fullmatch(piece[: first.end()].lstrip(_OPENERS)):
        shared = "." * piece.startswith(".", first.end())  # `U.S...` is `U.S.` and `...`, as `Alphabet.write` has it
        first = mark.search(piece, first.end())
    if first is None or _is_punctuation(piece[: first.start()]):
        return Word(piece, NO_LABEL, 0, piece, space)
    marks = piece[first.start() :]
    closers = mark.sub("", marks)
    return Word(piece[: first.start()] + closers, alphabet.label(shared + marks), len(closers), piece, space)


@lru_cache(maxsize=32)
def _patterns(alphabet: Alphabet) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """One mark, and the run of marks and closing quotes that ends a piece.

    A hyphen that touches the word (`pre-`) belongs to it; two hyphens are a dash.
    """
    marks = re.escape(alphabet.characters.replace(DASH, ""))
    dash = "--+|" if DASH in alphabet.marks else ""
    return re.compile(rf"{dash}[{marks}]"), re.compile(rf"(?:{dash}[{marks}{re.escape(_CLOSERS)}])*$")


def _is_marks(piece: str, alphabet: Alphabet) -> bool:
    return all(char in alphabet.characters for char in piece)


def _is_punctuation(piece: str) -> bool:
    """Whether a piece is nothing but marks, quotes and brackets."""
    return all(char in ",.?!:;-…–—―" or char in _OPENERS or char in _CLOSERS for char in piece)


def _swallows(result: str, text: str, alphabet: Alphabet) -> bool:
    """Whether marks would become part of the word: `U.S` + `.` reads as the word `U.S.`."""
    if _ASCII_WORD.fullmatch(text):
        return False
    return [word.text for word in split(result, alphabet).words] != [text]
