"""The words of one list of a recogniser's json, found in another that holds the same words.

In: two lists of words, each with its time and channel if they are known.  Out: `Match`es: which word stands where.

A word that stands in pieces in one of them is found too: Whisper splits `1,000` into `1` and `,000`.

>>> ours, theirs = (tuple(map(HeardWord, text.split())) for text in ("it's 1,000", "so it's 1 ,000"))
>>> align_words(ours, theirs)
[Match(ours=(0,), theirs=(1,)), Match(ours=(1,), theirs=(2, 3))]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...text.words import APOSTROPHES

_MOST_PIECES = 20  # of a word
_ORDERS = (("channel", "order_ms"), ("channel",), ("order_ms",), ())  # by what of its words a list may be sorted


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word as the model reads it; when, by whom and in which channel it was said, as far as that is known.

    order_ms: when the string in which it stands was begun, or the word itself.
    """

    normal: str
    channel: str = ""
    order_ms: int | None = None
    speaker: str = ""
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """The places of a word in two lists: several in the one in which it stands in pieces."""

    ours: tuple[int, ...]
    theirs: tuple[int, ...]


def align_words(ours: Sequence[HeardWord], theirs: Sequence[HeardWord]) -> list[Match]:
    """Return which words of `theirs` are which of `ours`, in the order of both in which most are found.

    A word without letters is none.
    """
    best, n_most, tried = list[Match](), -1, list[tuple[list[int], list[int]]]()
    # both in the same order, if they tell it; else each in any that it tells
    for keys, their_keys in sorted(product(_ORDERS, _ORDERS), key=lambda pair: pair[0] != pair[1]):
        order, their_order = _order(ours, keys), _order(theirs, their_keys)
        if order is None or their_order is None or (order, their_order) in tried:
            continue
        tried.append((order, their_order))
        spans = _same_words([ours[n].normal for n in order], [theirs[n].normal for n in their_order])
        matches = [Match((*order[here],), (*their_order[there],)) for here, there in spans]
        n_found = sum(len(match.theirs) for match in matches)
        if n_found > n_most:
            best, n_most = matches, n_found
        if n_found == len(their_order):
            break
    return best


def _order(words: Sequence[HeardWord], keys: Sequence[str]) -> list[int] | None:
    """Return the places of a list's words, sorted; None: some do not tell by what."""
    places = [place for place, word in enumerate(words) if word.normal]
    if any(getattr(words[place], key) in (None, "") for key in keys for place in places):
        return None
    by_keys: Any = attrgetter(*keys) if keys else None
    return sorted(places, key=lambda place: by_keys(words[place])) if keys else places


def _same_words(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Yield the stretches of two lists that are one word each, in order."""
    begin = their_begin = 0
    for begin_here, there in _same_letters(ours, slice(0, len(ours)), theirs, slice(0, len(theirs))):
        yield begin_here, there
        begin, their_begin = begin_here.stop, there.stop
    end, their_end = begin, their_begin  # of what was looked at; mostly that is all
    for block in Levenshtein.opcodes(ours[begin:], theirs[their_begin:]).as_matching_blocks():
        start, their_start = begin + block.a, their_begin + block.b
        yield from _same_letters(ours, slice(end, start), theirs, slice(their_end, their_start))
        end, their_end = start + block.size, their_start + block.size
        for n in range(block.size):
            yield slice(start + n, start + n + 1), slice(their_start + n, their_start + n + 1)


def _same_letters(
    ours: Sequence[str], here: slice, theirs: Sequence[str], there: slice
) -> Iterator[tuple[slice, slice]]:
    """From the start of two stretches: a word of one, and the pieces that make it up in the other."""
    i, j = here.start, there.start
    while i < here.stop and j < there.stop:
        k, m, our, their = i + 1, j + 1, ours[i], theirs[j]
        while (letters := _letters(our)) != (their_letters := _letters(their)):
            if max(k - i, m - j) > _MOST_PIECES:
                return
            if len(letters) < len(their_letters) and k < here.stop:
                our, k = our + ours[k], k + 1
            elif len(their_letters) < len(letters) and m < there.stop:
                their, m = their + theirs[m], m + 1
            else:
                return
        yield slice(i, k), slice(j, m)
        i, j = k, m


def _letters(word: str) -> str:
    """Return a word without full stops, as the last one of `u` `.s.` is read as a mark, and without apostrophes around
    it.
    """
    return word.replace(".", "").strip(APOSTROPHES) or word
