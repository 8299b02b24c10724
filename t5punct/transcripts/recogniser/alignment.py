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
from itertools import chain
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...text.words import APOSTROPHES

_MOST_COPIES = 3  # of all words in one list: Google's stand there once more, with their speakers
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
    """Return which words of `theirs` are which of `ours`; each of ours is found as often as they have it.

    A word without letters is none.
    """
    mine, left = ([place for place, word in enumerate(words) if word.normal] for words in (ours, theirs))
    matches, heard = list[Match](), [ours[place] for place in mine]
    for n_copies in range(_MOST_COPIES):
        more = _best(heard, _first_copy(heard, [theirs[place] for place in left]))
        if n_copies and 2 * _n_matched(more) < len(left):
            break
        matches += [
            Match(tuple(mine[place] for place in match.ours), tuple(left[place] for place in match.theirs))
            for match in more
        ]
        matched = {place for match in matches for place in match.theirs}
        left = [place for place in left if place not in matched]
        if 2 * len(left) < len(heard):
            break
    return matches


def _first_copy(heard: Sequence[HeardWord], words: Sequence[HeardWord]) -> Sequence[HeardWord]:
    """Return the words up to where they have said just what was heard: all of them, if they say something else."""
    said, place = "".join(_said(word) for word in heard), 0
    for n_words, word in enumerate(words):
        if place == len(said) and any(map(str.isalnum, word.normal)):  # `++` of `C` `++` is of the last word
            return words[:n_words]
        if not said.startswith(_said(word), place):
            break
        place += len(_said(word))
    return words


def _said(word: HeardWord) -> str:
    """Return the letters and digits of a word."""
    return "".join(filter(str.isalnum, word.normal))


def _best(ours: Sequence[HeardWord], theirs: Sequence[HeardWord]) -> list[Match]:
    """The matches in the order in which most words are found."""
    best = list[Match]()
    for our_places, their_places in _orders(ours, theirs):
        spans = _same_words([ours[n].normal for n in our_places], [theirs[n].normal for n in their_places])
        matches = [Match((*our_places[here],), (*their_places[there],)) for here, there in spans]
        if not best or _n_matched(matches) > _n_matched(best):
            best = matches
        if _n_matched(best) == len(theirs):
            break
    return best


def _orders(ours: Sequence[HeardWord], theirs: Sequence[HeardWord]) -> Iterator[tuple[list[int], list[int]]]:
    """The places of two lists, sorted by what all words of both have; and then, by what those of one have."""
    tried = list[tuple[list[int], list[int]]]()
    for needs_both in (True, False):
        for keys in _ORDERS:
            of_both = _values(ours, keys), _values(theirs, keys)
            if needs_both and None in of_both:
                continue
            our_places, their_places = (
                sorted(range(len(words)), key=values.__getitem__) if values else [*range(len(words))]
                for words, values in zip((ours, theirs), of_both, strict=True)
            )
            if (our_places, their_places) not in tried:
                tried.append((our_places, their_places))
                yield our_places, their_places


def _values(words: Sequence[HeardWord], keys: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """What words have of these; None: some have nothing."""
    values = [tuple(getattr(word, key) for key in keys) for word in words]
    return None if any(value in (None, "") for of_word in values for value in of_word) else values


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
        if min(k - i, m - j) > 1:  # cut in other places
            return
        yield slice(i, k), slice(j, m)
        i, j = k, m


def _letters(word: str) -> str:
    """A word without full stops, as the last one of `u` `.s.` is read as a mark, and without apostrophes around it."""
    return word.replace(".", "").strip(APOSTROPHES) or word
