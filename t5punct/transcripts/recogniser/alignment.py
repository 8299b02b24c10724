"""The words of one list of a recogniser's json, found in another that holds the same words.

In: two lists of words, each with its time and channel if they are known.  Out: which word stands where.

A word that stands in pieces in one of them is found too: Whisper splits `1,000` into `1` and `,000`.

>>> ours, theirs = (tuple(map(HeardWord, text.split())) for text in ("it's 1,000", "so it's 1 ,000"))
>>> align_words(ours, theirs)
[((0,), (1,)), ((1,), (2, 3))]
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


def align_words(
    ours: Sequence[HeardWord], theirs: Sequence[HeardWord]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return which words of `theirs` are which of `ours`, by their indices, in the order in which most are found.

    Each pair is one word; it has several indices in the list in which it stands in pieces.  A word without letters is
    none.
    """
    best, n_most, tried = list[tuple[tuple[int, ...], tuple[int, ...]]](), -1, list[tuple[list[int], list[int]]]()
    # both in the same order, if they tell it; else each in any that it tells
    for keys, their_keys in sorted(product(_ORDERS, _ORDERS), key=lambda pair: pair[0] != pair[1]):
        order, their_order = _order(ours, keys), _order(theirs, their_keys)
        if order is None or their_order is None or (order, their_order) in tried:
            continue
        tried.append((order, their_order))
        spans = _same_words([ours[n].normal for n in order], [theirs[n].normal for n in their_order])
        matches = [((*order[here],), (*their_order[there],)) for here, there in spans]
        n_matched = sum(len(there) for _, there in matches)
        if n_matched > n_most:
            best, n_most = matches, n_matched
        if n_matched == len(their_order):
            break
    return best


def _order(words: Sequence[HeardWord], keys: Sequence[str]) -> list[int] | None:
    """Return the indices of a list's words, sorted; None: some do not tell by what."""
    indices = [index for index, word in enumerate(words) if word.normal]
    if any(getattr(words[index], key) in (None, "") for key in keys for index in indices):
        return None
    by_keys: Any = attrgetter(*keys) if keys else None
    return sorted(indices, key=lambda index: by_keys(words[index])) if keys else indices


def _same_words(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Yield the stretches of two lists that are one word each, in order."""
    end = their_end = 0  # of what was looked at; mostly that is all
    for here, there in _same_letters(ours, slice(0, len(ours)), theirs, slice(0, len(theirs))):
        yield here, there
        end, their_end = here.stop, there.stop
    begin, their_begin = end, their_end
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
    """Return a word without full stops, as the last one of `u` `.s.` is read as a mark, and apostrophes around it."""
    return word.replace(".", "").strip(APOSTROPHES) or word
