"""The marks of sentences are chosen together: the one that opens a sentence, `¿`, and the one that closes it, `?`.

In: what a tagger says of each word of a window, and of the slot behind it.  Out: the likeliest marks that fit.

The tagger decides each word and each slot alone, and often sees one half of a pair only.  A sentence is from one end to
the next.  Of all ways to write the window this takes the one with the highest product of chances in which each opening
mark has its closing mark at the end of its sentence, and each such end its opening mark, at any word of the sentence
(`pero, ¿qué quieres?`).  It is found word by word (Viterbi 1967).

No language is named: a sentence in which no word may well be opened is of a language without opening marks, and ends
with any mark.  A window may end inside a sentence, of whose end nothing is known then.

>>> pairs = Pairs(ends=(1, 2), closings={1: 2})  # none . ?, and none ¿
>>> que, hora = SaidOfWord((-0.1, -3.0, -3.0), (0.6, 0.4)), SaidOfWord((-2.3, -0.7, -0.9), (0.99, 0.01))
>>> [(choice.opening, choice.mark) for choice in pair_marks([que, hora], pairs)]
[(1, 0), (0, 2)]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# both chosen on Spanish speech and novels that are neither trained on nor scored (docs/results/languages.md)
ODDS = 3.0  # how many times an opening mark counts against none
LEAST = 0.02  # the chance from which a word may well have an opening mark; other languages stay below it

Kind = int  # of a sentence so far: the class of its opening mark, or one of these
UNOPENED = 0  # it has no opening mark, though a word of it may well have one
ANY_END = -1  # no word of it may well have one, so it ends with any mark


@dataclass(frozen=True, slots=True)
class Pairs:
    """Classes of marks: those that end a sentence, and, for each class of opening marks, the one that closes it."""

    ends: tuple[int, ...]
    closings: Mapping[int, int]

    def ends_of(self, kind: Kind) -> tuple[int, ...]:
        """Return how a sentence of this kind may end."""
        if kind == ANY_END:
            return self.ends
        if kind == UNOPENED:
            return tuple(end for end in self.ends if end not in self.closings.values())
        return (self.closings[kind],)


@dataclass(frozen=True, slots=True)
class SaidOfWord:
    """What the tagger says of a word; in both, the first class is no mark.

    marks: (n_mark_classes,), natural logarithms of the chances of each mark behind it.  openings: (n_opening_classes,),
    the chances of each mark before it, 0 to 1.
    """

    marks: Sequence[float]
    openings: Sequence[float]

    @property
    def may_open(self) -> bool:
        return max(self.openings[1:]) >= LEAST


@dataclass(frozen=True, slots=True)
class PairedMarks:
    """The classes of a word's marks; `end`: the one with which its sentence would end here; None: it may not."""

    opening: int
    mark: int
    end: int | None


class _Path(NamedTuple):
    """A way to write the first words; the score is the logarithm of its chance, but for a term that all share."""

    score: float
    choices: tuple[_Path, PairedMarks] | None  # the way to the word before the last, and the last one's marks


def pair_marks(words: Sequence[SaidOfWord], pairs: Pairs) -> list[PairedMarks]:
    """Return the likeliest marks of a window's words, of those that fit, one for each word (Viterbi 1967)."""
    paths: dict[Kind, _Path] = {ANY_END: _Path(0.0, None)}
    for word in words:
        steps = [step for kind, path in paths.items() for step in _iter_steps(kind, path, word, pairs)]
        paths = {}
        for kind, path in steps:
            if kind not in paths or path.score > paths[kind].score:
                paths[kind] = path
    path = max(paths.values(), key=lambda path: path.score)
    choices = list[PairedMarks]()
    while path.choices is not None:
        path, choice = path.choices
        choices.append(choice)
    return choices[::-1]


def _iter_steps(kind: Kind, path: _Path, word: SaidOfWord, pairs: Pairs) -> Iterable[tuple[Kind, _Path]]:
    """Yield each way to write one more word, with the kind of the sentence under way behind it.

    A way is an opening mark or none before the word, and behind it the likeliest mark that ends nothing, or the
    likeliest end that this kind allows.
    """
    openings: dict[int, float] = {0: 0.0}
    if word.may_open and kind in (ANY_END, UNOPENED):
        kind = UNOPENED
        openings |= {
            opening: math.log(ODDS * word.openings[opening] / max(word.openings[0], 1e-9))
            for opening in pairs.closings
            if word.openings[opening] > 0.0
        }
    inside = max((mark for mark in range(len(word.marks)) if mark not in pairs.ends), key=word.marks.__getitem__)
    for opening, log_odds in openings.items():
        kind_here = opening or kind
        end = max(pairs.ends_of(kind_here), key=word.marks.__getitem__, default=None)
        score = path.score + log_odds
        yield kind_here, _Path(score + word.marks[inside], (path, PairedMarks(opening, inside, end)))
        if end is not None and word.marks[end] > -math.inf:
            yield ANY_END, _Path(score + word.marks[end], (path, PairedMarks(opening, end, end)))
