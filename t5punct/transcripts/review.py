"""A punctuated transcript as a page for review, which any browser opens without a network.

In: the written items of a text, and its name.  Out: HTML with its styles and script inside, in pieces.  The page's
`main` holds the text, character for character.  The attributes of a word's span are for `review_page/page.js`.

>>> from ..text.render import Alternative, AnnotatedWord
>>> from .items import *
>>> so = AnnotatedWord("so", "So,", ",", "capitalised", 0.62, 1, (Alternative("", 0.31),))
>>> "".join(_paragraphs([WrittenWord(SpokenWord(Word("so"), "", start_ms=1500), so)]))
'<p dir="auto"><span data-p="62" data-l="," data-s="So" data-f="so So SO" data-a="31" data-t="1.5">So,</span></p>'
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import PurePath

from ..text.io.files import STANDARD, unpacked_name
from ..text.marks import DISFLUENT, NO_MARKS, Case, ends_sentence
from ..text.spelling import keeps_letters, takes_capital
from ..text.words import Word, opening_apart, readable
from .items import Kept, WrittenItem, WrittenWord

_CERTAIN_PERCENT = 100
_BREAK = '</p\n><p dir="auto">'  # without white space between the tags: it would be text of the page
_PART_MS = 15_000  # a text with times has one in its margin about so often, where a sentence begins


def review_page(written: Iterable[WrittenItem], name: str) -> Iterator[str]:
    """Yield the pieces of the page.  `name`: of the input."""
    title = "standard input" if name == STANDARD else PurePath(name).name
    stem = "transcript" if name == STANDARD else PurePath(unpacked_name(name)).stem
    values = {"title": _escaped(title), "save": _escaped(f"{stem}.txt")}
    for kind, content in zip(("style", "script"), review_texts(), strict=True):
        values[kind] = content
        values[f"{kind}_hash"] = content_hash(content)  # the page's policy allows no others
    for number, piece in enumerate(re.split(r"\{\{(\w+)\}\}", _data("page.html"))):
        is_name = number % 2 == 1  # `split` puts the names of `{{name}}` between the other pieces
        if is_name and piece == "text":
            yield from _paragraphs(written)
        else:
            yield values[piece] if is_name else piece


def review_texts() -> tuple[str, str]:
    """Return the styles and the script of every page for review; a page that embeds one must allow them by hash."""
    return _data("page.css"), _data("page.js")


def content_hash(text: str) -> str:
    """Return the hash of a script or of styles, as content security policies name them."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _data(name: str) -> str:
    return (files(__package__) / "review_page" / name).read_text(encoding="utf-8")


def _paragraphs(written: Iterable[WrittenItem]) -> Iterator[str]:
    """Yield the text as paragraphs: its lines, and parts of long lines if words have times."""
    yield '<p dir="auto">'
    line_ended = False  # so a new paragraph begins
    sentence_ended = False
    lead = ""  # white space before the next paragraph's first item
    begin_ms: int | None = None  # of the paragraph's speech
    for item in written:
        start_ms: int | None = None  # of a word
        if isinstance(item, WrittenWord):
            start_ms = item.spoken.start_ms
            if start_ms is None and item.cue:
                start_ms = item.cue.start_ms
        is_long = start_ms is not None and begin_ms is not None and start_ms - begin_ms >= _PART_MS
        if line_ended or (is_long and sentence_ended):
            yield _BREAK + _escaped(lead)
            lead = ""
            begin_ms = None
        begin_ms = start_ms if begin_ms is None else begin_ms
        text = item.spoken.after if isinstance(item, WrittenWord) else item.text
        line, newline, behind = text.rpartition("\n")
        line_ended = newline != ""
        if line_ended:
            lead = behind
            text = line + newline
        if isinstance(item, Kept):
            yield f"<b>{_escaped(text)}</b>" if item.shown else _escaped(text)
        else:
            yield _span(item) + _escaped(text)
            sentence_ended = ends_sentence(item.separator)
    yield _escaped(lead) + "</p>"


def _span(item: WrittenWord) -> str:
    """Return a word's span.  `wordOf` in `page.js` reads the attributes, and knows a default for each."""
    annotated = item.annotated
    text = annotated.text
    word = item.spoken.word.closing_as(text)  # its closing quotes stand where the new text has them
    if not word.takes_marks:
        return _escaped(text)
    _, opening = opening_apart(text)
    _, old_opening = opening_apart(word.text)
    if opening != old_opening:
        word = word.with_opening(opening)
    stem = _stem(word, Case(annotated.case))  # the word without marks
    if text[: len(stem)].lower() == stem.lower():  # mixed case that the model knows: `iPhone`
        stem = text[: len(stem)]
    sign = DISFLUENT if annotated.disfluent and text.startswith(stem + DISFLUENT) else ""
    # in lower case, at a sentence's begin, and in capitals; a word that keeps its letters has one form
    at_begin = Case.CAPITALISED if takes_capital(word.core) else Case.LOWER
    cases = [Case.VERBATIM] if keeps_letters(word.core) else [Case.LOWER, at_begin, Case.UPPER]
    forms = [_stem(word, case) + sign for case in cases]
    percent = round(100 * annotated.confidence)
    case_percent = round(100 * annotated.case_confidence)
    alternatives = [(each.marks, round(100 * each.probability)) for each in annotated.alternatives]
    start_ms = item.spoken.start_ms
    attributes = {
        "p": str(percent) if percent < _CERTAIN_PERCENT else "",  # how sure the marks are
        "k": str(case_percent) if case_percent < _CERTAIN_PERCENT else "",  # how sure the case is
        "l": annotated.marks,
        "s": stem + sign if stem + sign != text else "",  # the text without marks
        "f": " ".join(forms) if len({*forms}) > 1 else "",  # how the word may be written
        "c": word.text[word.n_stem :],  # closing quotes
        "a": " ".join(f"{marks}{chance}" for marks, chance in alternatives if chance),  # other marks, with percent
        "t": "" if start_ms is None else str(start_ms / 1000),  # seconds
    }
    data = "".join(f' data-{name}="{_escaped(value)}"' for name, value in attributes.items() if value)
    return f"<span{data}>{_escaped(text)}</span>"


def _stem(word: Word, case: Case) -> str:
    """Return a word without marks and closing quotes, but with a full stop of its own, as in `Mr.`."""
    return word.with_marks(NO_MARKS, case).removesuffix(word.text[word.n_stem :])


def _escaped(text: str) -> str:
    """Return a text as HTML, which would read a carriage return as a line feed, and holds no NUL."""
    return escape(readable(text)).replace("\r", "&#13;").replace("\0", "\ufffd")
