"""A user's own spellings: `pytorch=PyTorch`, `asr=ASR`, `new york=New York`, `gonna=going to`.

In: a file of terms, and the items of a transcript.  Out: the items; a term's words know how they are written.

>>> terms = Terms.of(["pytorch=PyTorch", "ASR  # the letters are enough", "new york=New York"])
>>> from .speech import read_plain
>>> items = apply_terms(read_plain(["pytorch's asr in new york"]), terms)
>>> [item.word.spelled for item in items if isinstance(item, SpokenWord)]
["PyTorch's", 'ASR', '', 'New', 'York']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..errors import InputError
from ..text.io.files import read_lines
from ..text.words import words_of
from .items import Item, SpokenWord

_COMMENT = re.compile(r"(?:^|\s)#.*")
_POSSESSIVE = ("'s", "’s")


@dataclass(frozen=True)
class Terms:
    """Spellings by what they replace: words in lower case."""

    spellings: Mapping[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def of(cls, lines: Iterable[str], name: str = "terms") -> Terms:
        """Return one term a line: `words=spelling`, or the spelling alone.  Raises InputError for anything else."""
        if isinstance(lines, str):  # whose letters would be the terms
            raise InputError("one str of terms", expected="several lines, such as a list of them", fix="split it")
        spellings: dict[tuple[str, ...], tuple[str, ...]] = {}
        for number, line in enumerate(lines, start=1):
            text = _COMMENT.sub("", line).strip()
            if not text:
                continue
            said, equals, spelling = text.partition("=")  # without a sign, the words are their own spelling
            # as they are heard: a full stop that is a word's own is no part of it
            key = tuple(word.normal for word in words_of(said, opens_line=False))
            new = tuple((spelling if equals else said).split())
            if len(key) == 1 and len(new) > 1:  # `gonna=going to`: one word, written with a space
                new = (" ".join(new),)
            if not key or len(key) != len(new):
                raise InputError(
                    f"{name} line {number}: {text!r}",
                    expected="words=spelling, with one word or as many words on both sides",
                    fix="correct the line",
                )
            spellings[key] = new
        return cls(spellings)

    @classmethod
    def from_file(cls, path: str | Path) -> Terms:
        return cls.of(read_lines(path), str(path))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """How many words terms have, the most first."""
        return tuple(sorted({len(words) for words in self.spellings}, reverse=True))

    def match(self, words: Sequence[str], first: int) -> tuple[str, ...]:
        """Return the spelling of the longest term that begins with the word at `first`; empty: none does.

        A term of one word is one with `'s` behind it, too: `pytorch's`.
        """
        for n_words in self.lengths:
            key = tuple(words[first : first + n_words])
            if key in self.spellings:
                return self.spellings[key]
        word = words[first]
        for suffix in _POSSESSIVE:
            spelling = self.spellings.get((word.removesuffix(suffix),), ())
            if word.endswith(suffix) and spelling:
                return (spelling[0] + suffix,)
        return ()


def apply_terms(items: Iterable[Item], terms: Terms) -> list[Item]:
    """Return items whose words are written as the terms say.  A term does not go on over what breaks a sentence."""
    spelled_items = list(items)
    sentences = [list[tuple[int, SpokenWord]]()]  # words with their places among the items
    for place, item in enumerate(spelled_items):
        if isinstance(item, SpokenWord):
            sentences[-1].append((place, item))
        elif item.breaks:
            sentences.append([])
    for words in sentences:
        normals = [word.word.normal for _, word in words]
        first = 0
        while first < len(words):
            spellings = terms.match(normals, first)
            for index, spelling in enumerate(spellings, start=first):
                place, word = words[index]
                spelled_items[place] = replace(word, word=replace(word.word, spelled=spelling))
            first += max(1, len(spellings))
    return spelled_items
