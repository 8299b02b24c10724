"""A punctuated transcript in the formats that hold words: plain text, json, CTM, TSV.

In: the items of a transcript of any format, and its words as they are written.  Out: the file, in pieces.

>>> words = [AnnotatedWord("so", "So", "", "capitalised", 0.9, 0.8)]
>>> "".join(text([Kept("00:01 --> 00:02\\n"), SpokenWord(Word("so"), "\\n")], iter(words)))
'So\\n'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from ..errors import InputError
from ..text.render import AnnotatedWord
from ..text.words import Word
from .items import Item, Kept, SpokenWord

__all__ = ["Word", "ctm", "text", "tsv", "words_json"]


def text(items: Iterable[Item], words: Iterator[AnnotatedWord]) -> Iterator[str]:
    """Plain text: words with a space between, speaker labels and stage directions; a speaker begins a line."""
    is_begun = False
    for item in items:
        if isinstance(item, Kept):
            if item.breaks and is_begun:
                yield "\n"
                is_begun = False
            shown = item.text.strip() if item.shown else ""
        else:
            shown = next(words).text
        if shown:
            yield " " * is_begun + shown
            is_begun = True
    if is_begun:
        yield "\n"


def words_json(items: Iterable[Item], words: Iterator[AnnotatedWord], source: str) -> Iterator[str]:
    """A line of json, word by word: a long text's words are never held all at once.

    start, end: seconds, if the input has times; start_char, end_char: where the word stands in the same input
    punctuated in its own format (json: in its words, joined).
    """
    yield f'{{"source": {json.dumps(source, ensure_ascii=False)}, "words": ['
    place, comma = 0, ""
    for item in items:
        if isinstance(item, Kept):
            place += len(item.text)
            continue
        word = next(words)
        length = len(item.written(word.text)) - len(item.after)
        times = {name: ms / 1000 for name, ms in (("start", item.start_ms), ("end", item.end_ms)) if ms is not None}
        found = {**asdict(word), **times, "start_char": place, "end_char": place + length}
        yield comma + json.dumps(found, ensure_ascii=False)
        place, comma = place + length + len(item.after), ", "
    yield "]}\n"


def ctm(items: Iterable[Item], words: Iterator[AnnotatedWord], source: str) -> Iterator[str]:
    """NIST's CTM.  Raises InputError for a word without times."""
    name = source.rsplit("/", 1)[-1].split(".")[0] or "-"
    for item, word in _spoken(items, words):
        start_ms, end_ms = _times(item)
        yield f"{name} 1 {start_ms / 1000:.3f} {(end_ms - start_ms) / 1000:.3f} {word.text}\n"


def tsv(items: Iterable[Item], words: Iterator[AnnotatedWord]) -> Iterator[str]:
    """A table of words, with start and end in seconds where they are known."""
    yield "word\tstart\tend\n"
    for item, word in _spoken(items, words):
        times = ("" if ms is None else f"{ms / 1000:.3f}" for ms in (item.start_ms, item.end_ms))
        yield "\t".join([word.text, *times]) + "\n"


def _spoken(items: Iterable[Item], words: Iterator[AnnotatedWord]) -> Iterator[tuple[SpokenWord, AnnotatedWord]]:
    return ((item, next(words)) for item in items if isinstance(item, SpokenWord))


def _times(item: SpokenWord) -> tuple[int, int]:
    if item.start_ms is None or item.end_ms is None:
        raise InputError(
            f"no time for the word {item.raw!r}", expected="words with start and end", fix="write another format"
        )
    return item.start_ms, item.end_ms
