"""The words of one list of a recogniser's json, found in another that holds the same words.

In: two lists of words, each with its time and channel if they are known.  Out: `Match`es: which word stands where.

A word that stands in pieces in one of them is found too: Whisper splits `1,000` into `1` and `,000`.

>>> ours, theirs = (tuple(map(HeardWord, text.split())) for text in ("it's 1,000", "so it's 1 ,000"))
>>> aligned(ours, theirs)
[Match(ours=(0,), theirs=(1,)), Match(ours=(1,), theirs=(2, 3))]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from rapidfuzz.distance import Levenshtein

_MOST_COPIES = 3  # of all words in one list: Google's stand there once more, with their speakers
_MOST_PIECES = 20  # of a word
_Order = Callable[["HeardWord"], tuple[str, int]]


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


def aligned(ours: Sequence[HeardWord], theirs: Sequence[HeardWord]) -> list[Match]:
    """Return which words of `theirs` are which of `ours`; each of ours is found as often as they have it.

    A word without letters is none.
    """
    matches, left = list[Match](), [place for place, word in enumerate(theirs) if word.normal]
    for n_copies in range(_MOST_COPIES):
        more = _best(ours, [theirs[place] for place in left])
        if n_copies and 2 * _n_matched(more) < len(left):
            break
        matches += [Match(match.ours, tuple(left[place] for place in match.theirs)) for match in more]
        matched = {place for match in matches for place in match.theirs}
        left = [place for place in left if place not in matched]
        if 2 * len(left) < len(ours):
            break
    return matches


def _best(ours: Sequence[HeardWord], theirs: Sequence[HeardWord]) -> list[Match]:
    """The matches in the order in which most words are found; channels and times first, and the files' order last."""
    best = list[Match]()
    for order in _orders(ours, theirs):
        mine, others = (sorted(range(len(words)), key=lambda n: order(words[n])) for words in (ours, theirs))
        spans = _same_words([ours[n].normal for n in mine], [theirs[n].normal for n in others])
        matches = [Match((*mine[here],), (*others[there],)) for here, there in spans]
        if not best or _n_matched(matches) > _n_matched(best):
            best = matches
        if _n_matched(best) == len(theirs):
            break
    return best


def _orders(ours: Sequence[HeardWord], theirs: Sequence[HeardWord]) -> Iterator[_Order]:
    lists = (ours, theirs)
    has_channels = all(word.channel for words in lists for word in words)
    has_times = all(word.order_ms is not None for words in lists for word in words)
    if has_channels and len({word.channel for word in ours}) > 1:
        if has_times:
            yield lambda word: (word.channel, word.order_ms or 0)
        yield lambda word: (word.channel, 0)
    if has_times and not all(_is_sorted(words) for words in lists):
        yield lambda word: ("", word.order_ms or 0)
    yield lambda word: ("", 0)


def _is_sorted(words: Sequence[HeardWord]) -> bool:
    return all((before.order_ms or 0) <= (word.order_ms or 0) for before, word in pairwise(words))


def _n_matched(matches: Sequence[Match]) -> int:
    return sum(len(match.theirs) for match in matches)


def _same_words(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """The stretches of two lists that are one word each, in order."""
    our_place = their_place = 0
    for here, there in _same_letters(ours, range(len(ours)), theirs, range(len(theirs))):
        yield here, there
        our_place, their_place = here.stop, there.stop
    ours, theirs, begin, their_begin = ours[our_place:], theirs[their_place:], our_place, their_place
    our_place = their_place = 0
    for block in Levenshtein.opcodes(ours, theirs).as_matching_blocks():
        gaps = _same_letters(ours, range(our_place, block.a), theirs, range(their_place, block.b))
        our_place, their_place = block.a + block.size, block.b + block.size
        same = ((slice(block.a + n, block.a + n + 1), slice(block.b + n, block.b + n + 1)) for n in range(block.size))
        for here, there in chain(gaps, same):
            yield (
                slice(here.start + begin, here.stop + begin),
                slice(there.start + their_begin, there.stop + their_begin),
            )


def _same_letters(
    ours: Sequence[str], here: range, theirs: Sequence[str], there: range
) -> Iterator[tuple[slice, slice]]:
    """From the start of two ranges: a word of one, and the pieces that make it up in the other."""
    i, j = here.start, there.start
    while i < here.stop and j < there.stop:
        k, m, our, their = i + 1, j + 1, _letters(ours[i]), _letters(theirs[j])
        while our != their:
            if max(k - i, m - j) > _MOST_PIECES:
                return
            if len(our) < len(their) and k < here.stop:
                our, k = our + _letters(ours[k]), k + 1
            elif len(their) < len(our) and m < there.stop:
                their, m = their + _letters(theirs[m]), m + 1
            else:
                return
        if min(k - i, m - j) > 1:  # cut in other places
            return
        yield slice(i, k), slice(j, m)
        i, j = k, m


def _letters(word: str) -> str:
    """A word without full stops: the last one of `u` `.s.` is read as a mark."""
    return word.replace(".", "") or word
