"""The marks of sentences are chosen together: the one that opens a sentence, `¿`, and the one that closes it, `?`.

In: the tagger's scores of each word of a window.  Out: the likeliest marks that fit each other.

The tagger decides each word and each slot alone, so it often sees only one half of a pair.  In the marks that fit, a
sentence with an opening mark, at any of its words (`pero, ¿qué quieres?`), ends with the mark that closes it, and a
sentence that ends with a closing mark has the opening one.  A sentence in which no word is likely to be opened may end
with any mark, as in a language without opening marks.  A window may end inside a sentence.

>>> pairs = Pairs(ends=(1, 2), closings={1: 2})  # none . ?, and none ¿
>>> que, hora = WordScores((-0.1, -3.0, -3.0), (0.6, 0.4)), WordScores((-2.3, -0.7, -0.9), (0.99, 0.01))
>>> [(choice.opening, choice.mark) for choice in pair_marks([que, hora], pairs)]
[(1, 0), (0, 2)]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# both chosen on Spanish speech and novels that are neither trained on nor scored (docs/results/languages.md)
ODDS = 3.0  # a factor of an opening mark's odds against no opening mark
LEAST = 0.02  # from this probability on an opening mark counts as likely; other languages stay below it

Kind = int  # of a sentence so far: the class of its opening mark, or one of these
UNOPENED = 0  # it has no opening mark, though one is likely at some word
ANY_END = -1  # an opening mark is likely at no word, so it ends with any mark


@dataclass(frozen=True, slots=True)
class Pairs:
    """Classes of marks: those that end a sentence, and, for each class of opening marks, the one that closes it."""

    ends: tuple[int, ...]
    closings: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class WordScores:
    """What the tagger says of a word; in both, the first class is no mark.

    marks: (n_mark_classes,), the natural logarithm of the probability of each mark behind the word.
    openings: (n_opening_classes,), the probability of each mark before it, 0 to 1.
    """

    marks: Sequence[float]
    openings: Sequence[float]

    @property
    def may_open(self) -> bool:
        return max(self.openings[1:]) >= LEAST


@dataclass(frozen=True, slots=True)
class PairedMarks:
    """The classes of a word's marks; end: the mark with which its sentence would end here, None if it may not end."""

    opening: int
    mark: int
    end: int | None


class _Path(NamedTuple):
    """A way to write the first words; score: the logarithm of its probability, but for a term that all ways share."""

    score: float
    last_step: tuple[_Path, PairedMarks] | None  # the way to the word before the last, and the marks of the last word


def pair_marks(words: Sequence[WordScores], pairs: Pairs) -> list[PairedMarks]:
    """Return the likeliest marks of a window's words, of those that fit, one for each word (Viterbi 1967)."""
    paths: dict[Kind, _Path] = {ANY_END: _Path(0.0, None)}
    for word in words:
        longer_paths = [step for kind, path in paths.items() for step in _iter_steps(kind, path, word, pairs)]
        paths = {}
        for kind, path in longer_paths:
            if kind not in paths or path.score > paths[kind].score:
                paths[kind] = path
    path = max(paths.values(), key=lambda path: path.score)
    choices = list[PairedMarks]()
    while path.last_step is not None:
        path, choice = path.last_step
        choices.append(choice)
    return choices[::-1]


def _iter_steps(kind: Kind, path: _Path, word: WordScores, pairs: Pairs) -> Iterable[tuple[Kind, _Path]]:
    """Yield each way to write one more word, with the kind of the sentence that is open after it.

    A way is an opening mark or none before the word, and behind it the likeliest mark that ends nothing, or the
    likeliest end that this kind allows.
    """
    opening_log_odds = {0: 0.0}  # by the class of an opening mark; 0: none
    if word.may_open and kind in (ANY_END, UNOPENED):
        kind = UNOPENED  # an opening mark is likely here, so without one the sentence may not end with `?`
        opening_log_odds |= {
            opening: math.log(ODDS * word.openings[opening] / max(word.openings[0], 1e-9))
            for opening in pairs.closings
            if word.openings[opening] > 0.0
        }
    inner_marks = (mark for mark in range(len(word.marks)) if mark not in pairs.ends)
    inner_mark = max(inner_marks, key=word.marks.__getitem__)
    for opening, log_odds in opening_log_odds.items():
        kind_here = opening if opening else kind  # a sentence with an opening mark is of that mark's kind
        end_mark = max(_ends_of(kind_here, pairs), key=word.marks.__getitem__, default=None)
        score = path.score + log_odds
        yield kind_here, _Path(score + word.marks[inner_mark], (path, PairedMarks(opening, inner_mark, end_mark)))
        if end_mark is not None and word.marks[end_mark] > -math.inf:
            yield ANY_END, _Path(score + word.marks[end_mark], (path, PairedMarks(opening, end_mark, end_mark)))


def _ends_of(kind: Kind, pairs: Pairs) -> Sequence[int]:
    """Return the classes of marks that may end a sentence of a kind."""
    if kind == ANY_END:
        return pairs.ends
    if kind == UNOPENED:
        return [mark for mark in pairs.ends if mark not in pairs.closings.values()]
    return [pairs.closings[kind]]
