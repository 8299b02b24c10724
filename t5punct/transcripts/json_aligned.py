"""The words of one group of a recogniser's json, found in another that holds the same words.

In: words, each with something (its times, or how it is written now), and the words of another group, in the same order.
Out: for each of those, what it has here; None where it does not stand here.

A word that stands in pieces there, or here, is found too: Whisper splits `1,000` into `1` and `,000`.

>>> written = WrittenWords(iter([("it's", "It's"), ("1,000", "1,000.")]))
>>> written.found(["so", "it's", "1", ",000"])
[None, "It's", '1', ',000.']
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise
from typing import Generic, TypeVar

from rapidfuzz.distance import Levenshtein

from .items import SpokenWord

_ALIGNED_WORDS = 500  # are looked for together
_SEARCHED_WORDS = 50  # beyond so many more

_Found = TypeVar("_Found")


class Aligned(ABC, Generic[_Found]):
    """Words as the model reads them, each with something, in which those of another group are looked for."""

    def __init__(self, words: Iterator[tuple[str, _Found]]) -> None:
        self._words, self._ahead = words, list[tuple[str, _Found]]()

    def found(self, theirs: Sequence[str]) -> list[_Found | None]:
        """For each of the next words elsewhere, what it has here; None where it does not stand here."""
        return [
            one
            for begin in range(0, len(theirs), _ALIGNED_WORDS)
            for one in self._some(theirs[begin : begin + _ALIGNED_WORDS])
        ]

    @abstractmethod
    def _joined(self, pieces: Sequence[_Found]) -> _Found | None:
        """What a word has that stands here in pieces."""

    @abstractmethod
    def _parted(self, whole: _Found, pieces: Sequence[str]) -> Sequence[_Found | None]:
        """What the pieces have of a word that stands here as a whole."""

    def _some(self, theirs: Sequence[str]) -> list[_Found | None]:
        self._ahead += islice(self._words, max(0, len(theirs) + _SEARCHED_WORDS - len(self._ahead)))
        ahead = self._ahead[: len(theirs) + _SEARCHED_WORDS]
        ours, mine = [normal for normal, _ in ahead], [one for _, one in ahead]
        if ours[: len(theirs)] == [*theirs]:
            del self._ahead[: len(theirs)]
            return [*mine[: len(theirs)]]
        found: list[_Found | None] = [None] * len(theirs)
        n_used = our_place = their_place = 0
        for block in Levenshtein.opcodes(ours, theirs).as_matching_blocks():
            for here, there in _same_letters(ours, range(our_place, block.a), theirs, range(their_place, block.b)):
                found[there.start : there.stop] = self._pieces(
                    mine[here.start : here.stop], theirs[there.start : there.stop]
                )
                n_used = here.stop
            our_place, their_place = block.a + block.size, block.b + block.size
            found[block.b : their_place] = mine[block.a : our_place]
            n_used = our_place if block.size else n_used
        del self._ahead[:n_used]
        return found

    def _pieces(self, mine: Sequence[_Found], theirs: Sequence[str]) -> Sequence[_Found | None]:
        """One of them has one word."""
        if len(theirs) > 1:
            return self._parted(mine[0], theirs)
        return [self._joined(mine) if len(mine) > 1 else mine[0]]


class TimedWords(Aligned[SpokenWord]):
    """Words with their times."""

    def _joined(self, pieces: Sequence[SpokenWord]) -> SpokenWord:
        return replace(pieces[0], end_ms=pieces[-1].end_ms)

    def _parted(self, whole: SpokenWord, pieces: Sequence[str]) -> list[SpokenWord]:
        last = len(pieces) - 1
        return [
            replace(whole, start_ms=None if number else whole.start_ms, end_ms=whole.end_ms if number == last else None)
            for number in range(len(pieces))
        ]


class WrittenWords(Aligned[str]):
    """Words as they are written now."""

    def _joined(self, pieces: Sequence[str]) -> None:
        """None: there may be a mark behind each of them."""

    def _parted(self, whole: str, pieces: Sequence[str]) -> Sequence[str | None]:
        if not whole:  # it is removed
            return [""] * len(pieces)
        start = whole.lower().find("".join(pieces))
        if start < 0:  # a user spells it in another way
            return [None] * len(pieces)
        ends = accumulate(map(len, pieces[:-1]), initial=start)
        return [whole[begin:end] for begin, end in pairwise([0, *[*ends][1:], len(whole)])]


def _same_letters(
    ours: Sequence[str], here: range, theirs: Sequence[str], there: range
) -> Iterator[tuple[range, range]]:
    """From the start of two ranges: a word of one, and the pieces that make it up in the other."""
    i, j = here.start, there.start
    while i < here.stop and j < there.stop:
        k, m, our, their = i + 1, j + 1, ours[i], theirs[j]
        while our.rstrip(".") != their.rstrip("."):  # of `.s.`, the last full stop is a mark
            if len(our) < len(their) and k < here.stop:
                our, k = our + ours[k], k + 1
            elif len(their) < len(our) and m < there.stop:
                their, m = their + theirs[m], m + 1
            else:
                return
        if min(k - i, m - j) > 1:  # cut in other places
            return
        yield range(i, k), range(j, m)
        i, j = k, m
