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
        if annotated.is_removed or not word.has_slot:
            return cls(word.core, stays=True, is_removed=annotated.is_removed)
        (text, opening), (bare, had) = opening_apart(annotated.text), opening_apart(word.text)
        core, lead, tail = _parts(replace(word, text=bare))
        letters = word.spelled or text[len(lead) : len(lead) + len(core)]
        rest, closers = text[len(lead) + len(letters) :].removeprefix(tail), word.text[word.n_stem :]
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
        cut = self._cut([core])
        letters, marks = cut[0] if cut else (self.letters, "")  # else as a user spells it
        stops = core[len(letters) :] if cut else ""  # of the place: `U.S.` where the word is `U.S`
        marks = (marks + self.marks).removeprefix(stops)
        stem, closers = lead + (core if self.stays and cut else letters + stops) + tail, word.text[word.n_stem :]
        if not closers:
            return stem, marks
        inside, dash, behind = marks.partition(DASH_APART)
        return stem + inside + closers, dash + behind

    def cut(self, pieces: Sequence[str]) -> list[Spelling | None]:
        """Return the spellings of pieces of the word, which are given as their places have them.

        None of each where they are not cut between letters, or a user spells the word in another way.
        """
        if self.is_removed or len(pieces) == 1:
            return [self] * len(pieces)
        cut = [*self._cut(pieces)]
        if not cut:
            return [None] * len(pieces)
        cut[-1] = cut[-1][0], cut[-1][1] + self.marks
        openings = [self.opening, *[None if self.opening is None else ""] * (len(pieces) - 1)]
        return [
            Spelling(part, marks, self.stays, opening) for (part, marks), opening in zip(cut, openings, strict=True)
        ]

    def _cut(self, pieces: Sequence[str]) -> list[tuple[str, str]]:
        """The letters of each piece, and the marks behind them that the word has itself: the full stops of `U.S.`.

        Empty where the word does not have just these letters.  The apostrophes around it are those of the pieces.
        """
        said = "".join(pieces)
        if len(pieces) == 1 and said.lower() == self.letters.lower():  # nearly always
            return [(self.letters, "")]
        own = self.letters.strip(APOSTROPHES)
        lead, tail = said[: len(said) - len(said.lstrip(APOSTROPHES))], said[len(said.rstrip(APOSTROPHES)) :]
        stems = [piece.rstrip(".") or piece for piece in pieces]
        pattern = r"(\.*)".join(f"({re.escape(stem)})" for stem in stems)
        marks = f"([{re.escape(ALL_MARKS.characters)}]*)"
        match = re.fullmatch(pattern + marks, lead + own + tail if own else self.letters, re.IGNORECASE)
        groups = match.groups() if match else ()
        return [*zip(groups[::2], groups[1::2], strict=True)]


def _parts(word: Word) -> tuple[str, str, str]:
    """A word without quotes and brackets; what stands before, and behind it up to the marks."""
    core = word.core
    start = word.text.find(core)
    return core, word.text[:start], word.text[start + len(core) : word.n_stem]
