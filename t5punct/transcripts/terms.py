"""A user's own spellings: `pytorch=PyTorch`, `asr=ASR`, `new york=New York`, `gonna=going to`.

In: a file of terms, and the items of a transcript.  Out: the items; a term's words know how they are written.

>>> terms = Terms.of(["pytorch=PyTorch", "ASR  # the letters are enough", "new york=New York"])
>>> from .lines import plain
>>> found = spelled(plain(["pytorch's asr in new york"]), terms)
>>> [item.word.spelled for item in found if isinstance(item, SpokenWord)]
["PyTorch's", 'ASR', '', 'New', 'York']
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import InputError
from ..text.formats.files import read_lines
from ..text.words import words_of
from .items import Item, Kept, SpokenWord

_COMMENT = re.compile(r"(?:^|\s)#.*")
_POSSESSIVE = ("'s", "’s")


@dataclass(frozen=True, slots=True)
class Terms:
    """Spellings by what they replace: words in lower case."""

    spellings: Mapping[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def of(cls, lines: Iterable[str], name: str = "terms") -> Terms:
        """One term a line: `words=spelling`, or the spelling alone.  Raises InputError for anything else."""
        spellings: dict[tuple[str, ...], tuple[str, ...]] = {}
        for number, line in enumerate(lines, start=1):
            text = _COMMENT.sub("", line).strip()
            if not text:
                continue
            said, equals, spelling = text.partition("=")
            # as they are heard: a full stop that is a word's own is no part of it
            key = tuple(word.normal for word in words_of(said, opens_line=False))
            new = tuple((spelling if equals else said).split())
            if len(key) == 1 and len(new) > 1:
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

    @property
    def longest(self) -> int:
        """Words of the longest term."""
        return max(map(len, self.spellings), default=0)

    def match(self, words: list[str]) -> tuple[str, ...]:
        """The spelling of the longest term that begins with the first of `words`; empty: none does."""
        for n in range(min(self.longest, len(words)), 0, -1):
            key = tuple(words[:n])
            if key in self.spellings:
                return self.spellings[key]
        for suffix in _POSSESSIVE:
            if words[0].endswith(suffix) and (found := self.spellings.get((words[0].removesuffix(suffix),))):
                return (found[0] + words[0][-len(suffix) :],)
        return ()


def spelled(items: Iterable[Item], terms: Terms) -> Iterator[Item]:
    """Items whose words are written as the terms say.  A term does not go on over what breaks a sentence."""
    held, n_words = deque[Item](), 0
    for item in items:
        held.append(item)
        n_words += isinstance(item, SpokenWord)
        is_over = isinstance(item, Kept) and item.breaks
        while held and (is_over or not n_words or n_words >= terms.longest):
            for one in _first(held, terms):
                n_words -= isinstance(one, SpokenWord)
                yield one
    while held:
        yield from _first(held, terms)


def _first(held: deque[Item], terms: Terms) -> Iterator[Item]:
    """The items up to the first word, or to the last word of the term that begins with it."""
    words = [item.word.normal for item in held if isinstance(item, SpokenWord)]
    spellings = terms.match(words) if words else ()
    new, n_left = iter(spellings), max(1, len(spellings)) if words else len(held)
    while held and n_left:
        item = held.popleft()
        if isinstance(item, Kept):
            yield item
            n_left -= not words
            continue
        yield replace(item, word=replace(item.word, spelled=next(new, "")))
        n_left -= 1
