"""A punctuated transcript as a page for review, which any browser opens without a network.

In: the written items of a text, and its name.  Out: HTML with its styles and script inside, in pieces.

What stands in the page's `main` is the text, character for character; what the model said of a word stands in the
attributes of its span, where `review_page/page.js` reads it.

>>> from ..text.render import Alternative, AnnotatedWord
>>> from .items import *
>>> so = AnnotatedWord("so", "So,", ",", "capitalised", 0.62, 1, (Alternative("", 0.31),))
>>> "".join(_lines([WrittenWord(SpokenWord(Word("so"), "", start_ms=1500), so)]))
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
_BREAK = '</p\n><p dir="auto">'  # no white space between paragraphs: it would be text of the page
_PART_MS = 15_000  # text with times has one in its margin about so often, where a sentence begins
_NO_HTML = re.compile("[\0\r]")  # characters that HTML reads as others, unless they are spelled


def review_page(written: Iterable[WrittenItem], name: str) -> Iterator[str]:
    """Yield the page.  `written`: items that are the text, one after the other; `name`: of the input."""
    title = "standard input" if name == STANDARD else PurePath(name).name
    stem = "transcript" if name == STANDARD else PurePath(unpacked_name(name)).stem
    values = {"title": _escaped(title), "save": _escaped(f"{stem}.txt")}
    for kind, content in zip(("style", "script"), review_texts(), strict=True):
        values[kind] = content
        values[f"{kind}_hash"] = content_hash(content)  # a browser runs and uses no others
    # `{{name}}` stands for a value: of the pieces, every second one is a name
    for number, piece in enumerate(re.split(r"\{\{(\w+)\}\}", _data("page.html"))):
        is_name = number % 2 == 1
        if is_name and piece == "text":
            yield from _lines(written)
        else:
            yield values[piece] if is_name else piece


def review_texts() -> tuple[str, str]:
    """Return the styles and the script of every page for review, for the policy of a page that shows one."""
    return _data("page.css"), _data("page.js")


def content_hash(text: str) -> str:
    """Return the hash of a script or of styles, as content security policies name them."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _data(name: str) -> str:
    return (files(__package__) / "review_page" / name).read_text(encoding="utf-8")


def _lines(written: Iterable[WrittenItem]) -> Iterator[str]:
    """Yield the text as paragraphs: its lines, and parts of long lines where words have times."""
    yield '<p dir="auto">'
    is_over = False  # whether the paragraph is: a line has ended
    ends = False  # whether the last word ends a sentence
    lead = ""  # white space that the next line opens with
    begin_ms: int | None = None  # when the paragraph was begun to be spoken
    for item in written:
        start_ms = None if isinstance(item, Kept) else item.spoken.start_ms
        if start_ms is None and not isinstance(item, Kept) and item.spoken.cue:
            start_ms = item.spoken.cue.start_ms
        is_long = ends and start_ms is not None and begin_ms is not None and start_ms - begin_ms >= _PART_MS
        if is_over or is_long:
            yield _BREAK + _escaped(lead)
            lead = ""
            begin_ms = None
        begin_ms = start_ms if begin_ms is None else begin_ms
        text = item.text if isinstance(item, Kept) else item.spoken.after
        line, end, behind = text.rpartition("\n")
        is_over = end != ""
        lead = behind if is_over else ""
        text = _escaped(line + end if is_over else text)
        if isinstance(item, Kept):
            yield f"<b>{text}</b>" if item.shown else text
        else:
            yield _span(item) + text
            ends = ends_sentence(item.separator)
    yield _escaped(lead) + "</p>"


def _span(item: WrittenWord) -> str:
    """Return a word with its confidences, as far as they are shown; `wordOf` in `page.js` reads the attributes."""
    said = item.annotated
    word = item.spoken.word.closing_as(said.text)
    if not word.takes_marks:
        return _escaped(said.text)
    _, opening = opening_apart(said.text)
    _, own_opening = opening_apart(word.text)
    if opening != own_opening:
        word = word.with_opening(opening)
    stem = _stem(word, Case(said.case))
    if said.text[: len(stem)].lower() == stem.lower():  # mixed case that the model knows: `iPhone`
        stem = said.text[: len(stem)]
    sign = DISFLUENT if said.disfluent and said.text.startswith(stem + DISFLUENT) else ""
    # in lower case, as a sentence begins with it, and in capitals; the same thrice if its letters stay
    begun = Case.CAPITALISED if takes_capital(word.core) else Case.LOWER
    cases = [Case.VERBATIM] * 3 if keeps_letters(word.core) else [Case.LOWER, begun, Case.UPPER]
    forms = [_stem(word, case) + sign for case in cases]
    sure = round(100 * said.confidence)
    case_sure = round(100 * said.case_confidence)
    alternatives = [(alternative.marks, round(100 * alternative.probability)) for alternative in said.alternatives]
    start_ms = item.spoken.start_ms
    attributes = {
        "p": str(sure) if sure < _CERTAIN_PERCENT else "",
        "k": str(case_sure) if case_sure < _CERTAIN_PERCENT else "",
        "l": said.marks,
        "s": stem + sign if stem + sign != said.text else "",
        "f": " ".join(forms) if len({*forms}) > 1 else "",
        "c": word.text[word.n_stem :],
        "a": " ".join(f"{marks}{percent}" for marks, percent in alternatives if percent),  # marks are no digits
        "t": "" if start_ms is None else str(start_ms / 1000),
    }
    shown = "".join(f' data-{name}="{_escaped(value)}"' for name, value in attributes.items() if value)
    return f"<span{shown}>{_escaped(said.text)}</span>"


def _stem(word: Word, case: Case) -> str:
    """Return what stands before marks and closing quotes, with a full stop that belongs to the word."""
    return word.with_marks(NO_MARKS, case).removesuffix(word.text[word.n_stem :])


def _escaped(text: str) -> str:
    """Return the text as HTML; a character that HTML cannot hold becomes the replacement character."""
    return _NO_HTML.sub(lambda match: "&#13;" if match[0] == "\r" else "\ufffd", escape(readable(text)))
