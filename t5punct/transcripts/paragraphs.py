"""Text for readers: the words of any transcript as running text, with paragraphs if they are asked for.

In: written items.  Out: written items with other white space between them.

>>> from ..text.render import AnnotatedWord
>>> from ..text.words import Word
>>> from .items import *
>>> so = WrittenWord(SpokenWord(Word("so"), "\\n00:02 --> 00:03\\n"), AnnotatedWord("so", "So.", ".", "lower", 1, 1))
>>> "".join(iter_pieces(running_text([so, Kept("JOHN: ", breaks=True, role=Role.SPEAKER), so])))
'So.\\nJOHN: So.\\n'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..errors import ConfigError
from ..text.marks import ends_sentence
from ..text.spelling import precedes_name
from .items import Kept, Role, WrittenItem, WrittenWord


@dataclass(frozen=True)
class ParagraphConfig:
    """Where a paragraph ends: behind a sentence, when one of these is so.  None: never for this reason."""

    sentences: int | None = None  # the paragraph has so many
    pause_ms: int | None = None  # so long a silence follows

    def __post_init__(self) -> None:
        if any(value is not None and value < 1 for value in (self.sentences, self.pause_ms)):
            raise ConfigError(
                f"paragraphs of {self.sentences} sentences, pauses of {self.pause_ms} ms",
                expected="1 or more",
                fix="check --paragraphs",
            )


def running_text(written: Iterable[WrittenItem]) -> list[WrittenItem]:
    """Return words with a space between them; each speaker begins a line, and what is not shown is left out."""
    text = list[WrittenItem]()
    held: WrittenWord | Kept | None = None
    breaks = False
    for item in written:
        if isinstance(item, Kept):
            breaks = breaks or item.role is Role.SPEAKER or (item.breaks and item.role is not Role.DIRECTION)
            if not item.shown:
                continue
        if held is not None:
            begins = isinstance(held, WrittenWord) or (isinstance(item, Kept) and item.role is Role.SPEAKER)
            text.append(_followed_by(held, "\n" if breaks and begins else " "))
        held, breaks = item, False
    if held is not None:
        text.append(_followed_by(held, "\n"))
    return text


def add_paragraphs(written: Iterable[WrittenItem], config: ParagraphConfig, line_end: str = "\n") -> list[WrittenItem]:
    """Return the items with an empty line behind the last word of each paragraph."""
    text, n_sentences = list[WrittenItem](), 0
    last: int | None = None  # the place of the last word, if no paragraph has begun since
    for item in written:
        if isinstance(item, Kept):
            if _begins_anew(item):
                last, n_sentences = None, 0
        else:
            if last is not None and isinstance(word := text[last], WrittenWord):
                n_sentences += ends_sentence(word.separator)
                if _ends_paragraph(word, item, n_sentences, config):
                    text[last], n_sentences = _followed_by(word, 2 * line_end), 0
            last = len(text)
        text.append(item)
    return text


def _begins_anew(item: Kept) -> bool:
    """Whether a paragraph begins behind it anyway: it is a speaker, or an empty line."""
    if item.role is Role.DIRECTION:
        return item.text.count("\n") > 1
    return item.breaks or "\n" in item.text


def _ends_paragraph(held: WrittenWord, item: WrittenWord, n_sentences: int, config: ParagraphConfig) -> bool:
    start_ms, end_ms = item.spoken.start_ms, held.spoken.end_ms
    silence_ms = 0 if start_ms is None or end_ms is None else start_ms - end_ms
    is_long = config.sentences is not None and n_sentences >= config.sentences
    is_silent = config.pause_ms is not None and silence_ms >= config.pause_ms
    if is_silent and not precedes_name(held.spoken.word.core):  # then `Inc.` and `plan B.` end a sentence
        return ends_sentence(held.annotated.label)
    return is_long and ends_sentence(held.separator)


def _followed_by(item: WrittenItem, space: str) -> WrittenItem:
    if isinstance(item, Kept):
        return Kept(item.shown + space, item.breaks, item.role)
    return replace(item, spoken=replace(item.spoken, after=space, markup=None))
