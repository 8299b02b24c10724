"""A user's own spellings: `pytorch=PyTorch`, `asr=ASR`, `new york=New York`, `gonna=going to`.

In: a file of terms, and the items of a transcript.  Out: the items, in which the words of terms have their spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import InputError
from ..text.io.files import lines_of_file
from ..text.words import words_of
from .items import Item, SpokenWord

_COMMENT = re.compile(r"(?:^|\s)#.*")
_POSSESSIVE = ("'s", "’s")


@dataclass(frozen=True)
class Terms:
    """A user's terms."""

    spellings: Mapping[tuple[str, ...], tuple[str, ...]]  # a term's words, in lower case -> how each of them is written

    @classmethod
    def of(cls, lines: Iterable[str], name: str = "terms") -> Terms:
        """Parse one term a line: `words=spelling`, or the spelling alone.  Raises InputError for anything else."""
        if isinstance(lines, str):  # each letter of it would be a term
            raise InputError("one str of terms", expected="several lines, such as a list of them", fix="split it")
        spellings: dict[tuple[str, ...], tuple[str, ...]] = {}
        for number, line in enumerate(lines, start=1):
            text = _COMMENT.sub("", line).strip()
            if not text:
                continue
            heard, equals, spelling = text.partition("=")
            key = tuple(word.normal for word in words_of(heard, opens_line=False))  # a full stop of a word is not heard
            spelled = tuple((spelling if equals else heard).split())
            if len(key) == 1 and len(spelled) > 1:  # `gonna=going to`: one word, written with a space
                spelled = (" ".join(spelled),)
            if not key or len(key) != len(spelled):
                raise InputError(
                    f"{name} line {number}: {text!r}",
                    expected="words=spelling, with one word or as many words on both sides",
                    fix="correct the line",
                )
            spellings[key] = spelled
        return cls(spellings)

    @classmethod
    def from_file(cls, path: str | Path) -> Terms:
        return cls.of(lines_of_file(path), str(path))


def apply_terms(items: Iterable[Item], terms: Terms) -> list[Item]:
    """Set the spelling of words that are terms.  A term does not match over a break, such as a speaker's label."""
    spelled_items = list(items)
    texts = [list[tuple[int, SpokenWord]]()]  # between breaks: words with their indices among the items
    for index, item in enumerate(spelled_items):
        if isinstance(item, SpokenWord):
            texts[-1].append((index, item))
        elif item.breaks:
            texts.append([])
    lengths = sorted({len(words) for words in terms.spellings}, reverse=True)
    for text in texts:
        normals = [spoken.word.normal for _, spoken in text]
        begin = 0
        while begin < len(text):
            keys = [tuple(normals[begin : begin + n_words]) for n_words in lengths]
            spellings = next((terms.spellings[key] for key in keys if key in terms.spellings), ())  # of the longest
            for suffix in _POSSESSIVE:  # a term of one word also matches `pytorch's`
                stem = (normals[begin].removesuffix(suffix),)
                if not spellings and normals[begin].endswith(suffix) and stem in terms.spellings:
                    spellings = (terms.spellings[stem][0] + suffix,)
            end = begin + len(spellings)
            for (index, spoken), spelling in zip(text[begin:end], spellings, strict=True):
                spelled_items[index] = replace(spoken, word=replace(spoken.word, spelled=spelling))
            begin = max(begin + 1, end)
    return spelled_items
