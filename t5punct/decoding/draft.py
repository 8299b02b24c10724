"""A draft: one window as it would be written, and what a decoder pass says of it.

In: a window, a guess at each slot and case, then the `SiteScores` of pass after pass.  Out: the window's votes, when
every branch of the draft is settled.

`slots` says why this is decoding: up to the first branch where the network disagrees the draft is what step-by-step
decoding writes.

E.g. `we know that right` is drafted as `we know that. Right?`; the network would write `,` after `that`, so this place
becomes `, right`; the next pass disagrees nowhere, and the draft is the solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..text.marks import ENDS_SENTENCE, NO_LABEL, Case
from ..text.words import APOSTROPHES
from ..windows.votes import Vote
from .accumulator import ChoiceAccumulator
from .candidates import Branch, Candidates, Path
from .inputs import WindowInput
from .pooling import NOTHING_SAID


@dataclass(frozen=True, slots=True)
class Solution:
    """A window's votes, and how many decoder passes they took."""

    votes: tuple[Vote, ...]
    n_passes: int


@dataclass(frozen=True, slots=True)
class Site:
    """Where in a draft a branch stands: path `step` of place `place`, predicted by decoder position `position`."""

    place: int
    step: int
    position: int
    branch: Branch


@dataclass(frozen=True, slots=True)
class SiteScores:
    """What one pass says about the open sites of one draft.

    rows: for each site, the probabilities of its tokens (and zeros); best: the child that the network would take.
    """

    rows: list[list[float]]
    best: list[int]


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess at the first mark of a slot, or none, and at the case of the word before it (None: its first form).

    inside: the case if the mark before the word ends no sentence, such as a comma.
    """

    mark: str = NO_LABEL
    case: Case | None = None
    inside: Case | None = None


class Draft:
    """One window as it would be written: for each place, marks, then the next word in some case, or the end."""

    def __init__(
        self, window: WindowInput, candidates: Candidates, guesses: Sequence[Guess], first_row: int = 0
    ) -> None:
        """`guesses`: one for each slot to be decided, and the word before it; `first_row`: the first slot's."""
        self._window, self._candidates, self.first_row = window, candidates, first_row
        pairs = pairwise([Guess(), *guesses, Guess()])  # a slot, then the word after it
        self._places = [self._draft_place(place, slot.mark, word) for place, (slot, word) in enumerate(pairs)]
        self._rows: list[list[float]] = []  # probabilities of the settled sites
        self._n_passes = 0
        self.n_settled = 0  # decoder positions that need not be computed again
        self._lay_out()

    @property
    def open_sites(self) -> list[Site]:
        """The branches that no pass has confirmed yet."""
        return self._sites[len(self._rows) :]

    @property
    def open_tokens(self) -> list[int]:
        """The tokens from the last settled one on: the decoder reads all but the last, which it only predicts."""
        return self._tokens[max(0, self.n_settled - 1) :]

    def tagged_row(self, site: Site) -> int:
        """Return the row of the tagger's logits that counts at a site, which only slots' first marks have."""
        return self.first_row + site.place - 1 if site.place and not site.step else NOTHING_SAID

    def rewrite(self, scores: SiteScores) -> None:
        """Settle everything up to the first disagreement; in each place, follow the network at its first one."""
        self._n_passes += 1
        wrong = [
            (index, site, child)
            for index, (site, child) in enumerate(zip(self.open_sites, scores.best, strict=True))
            if child != site.branch.taken
        ]
        if not wrong:
            self._rows += scores.rows
            return
        first, site, _ = wrong[0]
        self._rows += scores.rows[: first + 1]
        self.n_settled = site.position + 1
        changed: set[int] = set()
        for _, site, child in wrong:
            if site.place not in changed:
                changed.add(site.place)
                self._follow(site, child)
        self._lay_out()

    def solution(self) -> Solution:
        """Return the votes, when no site is open."""
        accumulator, next_row = ChoiceAccumulator(len(self._window.words)), 0
        for paths in self._places:
            for path in paths:
                end = next_row + len(path.branches)
                accumulator.count(path, path.masses(self._rows[next_row:end]))
                next_row = end
        return Solution(accumulator.votes(), self._n_passes)

    def _draft_place(self, place: int, mark: str, word: Guess) -> list[Path]:
        """`mark`: guessed before the word."""
        case = word.inside if mark else word.case
        if place < len(self._window.words) and self._window.words[place][:1] in APOSTROPHES:
            case = Case.LOWER  # of `i 'm` the tagger gives both words a capital, as it has learned to do with `I'm`
        choice = self._candidates.choice(self._window, place, 0)
        marked = choice.marks.get(mark)
        return [marked, self._word(place, 1, mark, case)] if marked else [choice.form(case)]

    def _word(self, place: int, n_marks: int, mark: str, case: Case | None) -> Path:
        """The next word, or the end, after a mark."""
        begins = mark in ENDS_SENTENCE and case is not Case.UPPER
        return self._candidates.choice(self._window, place, n_marks).form(Case.CAPITALISED if begins else case)

    def _follow(self, site: Site, child: int) -> None:
        """Change the draft at a site.  The rest of the place is a guess, which the next pass checks."""
        paths = self._places[site.place]
        following = paths[site.step].choice.paths[site.branch.node.first_options[child]]
        mark = following.option.mark
        if mark is None:
            self._places[site.place] = [*paths[: site.step], following]
            return
        word = self._word(site.place, site.step + 1, mark, paths[-1].option.case)
        self._places[site.place] = [*paths[: site.step], following, word]

    def _lay_out(self) -> None:
        """Number the draft's tokens and find its sites."""
        self._tokens: list[int] = []
        self._sites: list[Site] = []
        for place, paths in enumerate(self._places):
            for step, path in enumerate(paths):
                for branch in path.branches:
                    self._sites.append(Site(place, step, len(self._tokens) + branch.offset, branch))
                self._tokens += path.tokens
