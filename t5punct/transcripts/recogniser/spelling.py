"""How a word is written now, wherever it stands: in each place with the quotes and brackets of that place.

In: a word of a recording, as one place has it and as it is written there now; the same word in other places.
Out: what is written in these.

>>> from ...text.words import split
>>> here, there = (split(text).words[0] for text in ("(so?)", '"so"'))
>>> Spelling.of(here, AnnotatedWord("so", "(So,)", ",", "capitalised", 1, 1)).put_into(there)
('"So"', ',')
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from ...text.marks import DASH_APART, Case
from ...text.render import AnnotatedWord
from ...text.words import ALL_MARKS, APOSTROPHES, Word, opening_apart


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word as it is written now.

    letters: without quotes, brackets and marks; marks: all behind it; stays: whether each place keeps its own letters.
    """

    letters: str
    marks: str = ""
    stays: bool = False
    opening: str | None = None  # the mark before it; None: each place keeps its own
    is_removed: bool = False

    @classmethod
    def of(cls, word: Word, annotated: AnnotatedWord) -> Spelling:
        """Take the word apart as it is written."""
        if annotated.is_removed:
            return cls("", is_removed=True)
        text, opening = opening_apart(annotated.text)
        bare_word, had = opening_apart(word.text)
        if opening == had:
            core, lead, tail = _parts(word)
            text = annotated.text
        else:
            core, lead, tail = _parts(replace(word, text=bare_word))
        closers = word.text[word.n_stem :]
        letters = word.spelled or text[len(lead) : len(lead) + len(core)]
        rest = text.removeprefix(lead).removeprefix(letters).removeprefix(tail)
        inside, _, behind = rest.partition(closers) if closers else (rest, "", "")
        stays = not word.spelled and annotated.case == Case.VERBATIM.value and letters == core
        return cls(letters, inside + behind, stays, None if opening == had else opening)

    def put_into(self, word: Word) -> tuple[str, str]:
        """Return the word of a place as it is written there: with its quotes and brackets, and the marks behind it.

        Marks that stand inside quotes there are part of the former.
        """
        if self.is_removed:
            return "", ""
        word = word if self.opening is None else word.with_opening(self.opening)
        core, lead, tail = _parts(word)
        letters, marks = self._letters_and_marks(core)
        stem, closers = lead + letters + tail, word.text[word.n_stem :]
        if not closers:
            return stem, marks
        inside, dash, behind = marks.partition(DASH_APART)
        return stem + inside + closers, dash + behind

    def _letters_and_marks(self, core: str) -> tuple[str, str]:
        """The same for a core that may have a mark less, or one full stop more: `U.S` and `U.S.`."""
        n_more = len(core) - len(self.letters)
        if core.lower() == self.letters.lower():
            return core if self.stays else self.letters, self.marks
        if n_more > 0 and core.lower() == self.letters.lower() + "." * n_more:
            return (core if self.stays else self.letters + "." * n_more), self.marks.removeprefix("." * n_more)
        begun, more = self.letters[: len(core)], self.letters[len(core) :]
        if core.lower() == begun.lower() and not more.strip(ALL_MARKS.characters):
            return core if self.stays else begun, more + self.marks
        own, bare = core.strip(APOSTROPHES), self.letters.strip(APOSTROPHES)
        if own and own.lower() == bare.lower():  # each place has its own apostrophes: `'so` and `so`
            return core.replace(own, own if self.stays else bare, 1), self.marks
        return self.letters, self.marks  # as a user spells it

    def cut(self, pieces: Sequence[str]) -> list[Spelling | None]:
        """Return the spellings of pieces of the word, which are given as the model reads them.

        None of each where they are not cut between letters, or a user spells the word in another way.
        """
        if self.is_removed:
            return [self] * len(pieces)
        said = "".join(pieces)
        lead, tail = said[: len(said) - len(said.lstrip(APOSTROPHES))], said[len(said.rstrip(APOSTROPHES)) :]
        letters = lead + self.letters.strip(APOSTROPHES) + tail
        stems = [piece.rstrip(".") for piece in pieces]
        # full stops that follow a piece are marks behind it, as in `u` `s`
        pattern = "".join(rf"({re.escape(stem)})(\.*)" for stem in stems)
        if "" in stems or not (match := re.fullmatch(pattern, letters.lower())):
            return [None] * len(pieces)
        ends = {n: place for place, n in enumerate(accumulate((len(char.lower()) for char in letters), initial=0))}
        cuts = [ends.get(match.start(group), -1) for group in range(1, 2 * len(pieces) + 1)]
        if -1 in cuts:
            return [None] * len(pieces)
        parts = [letters[begin:end] for begin, end in pairwise([*cuts, len(letters)])]
        parts[-1] += self.marks
        openings = [self.opening, *[None if self.opening is None else ""] * (len(pieces) - 1)]
        return [
            replace(self, letters=part, marks=marks, opening=opening)
            for part, marks, opening in zip(parts[::2], parts[1::2], openings, strict=True)
        ]


def _parts(word: Word) -> tuple[str, str, str]:
    """A word without quotes and brackets; what stands before, and behind it up to the marks."""
    core = word.core
    start = word.text.find(core)
    return core, word.text[:start], word.text[start + len(core) : word.n_stem]
