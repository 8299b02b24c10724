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

from ..text.marks import ENDS_SENTENCE, NO_MARKS, Case, ends_sentence
from ..text.words import APOSTROPHES
from ..windows.votes import Distribution, Vote, normalise
from .candidates import Branch, Candidates, Choice, Path
from .inputs import WindowInput


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

    inside: the case if the mark before the word ends no sentence, such as a comma.  opening: the mark before the word.
    """

    mark: str = NO_MARKS
    case: Case | None = None
    inside: Case | None = None
    opening: str = NO_MARKS


class Draft:
    """One window as it would be written: for each place, marks, then the next word in some case, or the end."""

    def __init__(self, window: WindowInput, candidates: Candidates, guesses: Sequence[Guess]) -> None:
        """`guesses`: one for each slot to be decided, and the word before it."""
        self._window = window
        self._candidates = candidates
        pairs = pairwise([Guess(), *guesses, Guess()])  # a slot, then the word after it
        self._places = [self._draft_place(index, slot.mark, word) for index, (slot, word) in enumerate(pairs)]
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
        accumulator = ChoiceAccumulator(len(self._window.words))
        next_row = 0
        for paths in self._places:
            for path in paths:
                end = next_row + len(path.branches)
                accumulator.count(path, path.masses(self._rows[next_row:end]))
                next_row = end
        return Solution(accumulator.votes(), self._n_passes)

    def _draft_place(self, index: int, mark: str, word: Guess) -> list[Path]:
        """`mark`: guessed before the word."""
        case = word.inside if mark else word.case
        if index < len(self._window.words) and self._window.words[index][:1] in APOSTROPHES:
            case = Case.LOWER  # of `i 'm` the tagger gives both words a capital, as it has learned to do with `I'm`
        choice = self._candidates.choice(self._window, index, 0)
        marked = choice.marks.get(mark)
        if marked:
            return [marked, self._word(index, 1, mark, case, word.opening)]
        return [choice.form(case, word.opening)]

    def _word(self, index: int, n_marks: int, mark: str, case: Case | None, opening: str) -> Path:
        """Return the next word, or the end, after a mark."""
        begins = mark in ENDS_SENTENCE and case is not Case.UPPER
        choice = self._candidates.choice(self._window, index, n_marks)
        return choice.form(Case.CAPITALISED if begins else case, opening)

    def _follow(self, site: Site, child: int) -> None:
        """Change the draft at a site.  The rest of the place is a guess, which the next pass checks."""
        paths = self._places[site.place]
        following = paths[site.step].choice.paths[site.branch.node.first_options[child]]
        mark = following.option.mark
        if mark is None:
            self._places[site.place] = [*paths[: site.step], following]
            return
        last = paths[-1].option
        word = self._word(site.place, site.step + 1, mark, last.case, last.opening)
        self._places[site.place] = [*paths[: site.step], following, word]

    def _lay_out(self) -> None:
        """Number the draft's tokens and find its sites."""
        self._tokens: list[int] = []
        self._sites: list[Site] = []
        for index, paths in enumerate(self._places):
            for step, path in enumerate(paths):
                for branch in path.branches:
                    self._sites.append(Site(index, step, len(self._tokens) + branch.offset, branch))
                self._tokens += path.tokens


class ChoiceAccumulator:
    """Collects one window's choices, in order, for the votes that they are.

    A slot's distribution over marks is made of chain-rule products: if `!` was taken first (0.6) and then no further
    mark (0.9), `!` has 0.54, and marks that go on (`!!`, `!?`) share 0.06.  For a mark that was not taken, all marks
    that begin with it are one outcome: what would follow it was never computed.
    """

    def __init__(self, n_words: int) -> None:
        self._n_words = n_words
        self._slots: list[Distribution] = []
        self._cases: list[Distribution] = []
        self._insides: list[Distribution | None] = []
        self._openings: list[Distribution | None] = []
        self._inside: Distribution | None  # the next word's case if the slot were empty
        self._open()

    @property
    def place(self) -> int:
        """How many words have been written."""
        return len(self._cases)

    @property
    def n_marks(self) -> int:
        """How many marks stand in the open slot."""
        return len(self._marks)

    @property
    def done(self) -> bool:
        return len(self._slots) == self._n_words

    def count(self, path: Path, masses: Sequence[float]) -> None:
        """Count a path; `masses` are those of all options of its choice."""
        choice = path.choice
        forms = masses[: len(choice.forms)]
        marks = masses[len(choice.forms) :]
        stop = sum(forms)  # the slot stays as it is
        if path.option.mark is None and not self._outcomes:  # nearly always: a slot in which nothing is written
            slot = dict(zip(choice.outcomes, (stop, *marks), strict=True))
        else:
            if path.option.mark is not None:  # mentioned first, so that it wins a tie: it is the one that was taken
                if not self._marks and not choice.is_end:
                    self._inside = _cases(choice, forms)
                self._outcomes.setdefault(self._marks + path.option.mark, 0.0)
            for mark, mass in zip(choice.marks, marks, strict=True):
                if mark != path.option.mark:
                    self._outcomes[self._marks + mark] = self._mass * mass
            self._outcomes[self._marks] = self._mass * stop
            if path.option.mark is not None:
                self._marks += path.option.mark
                self._mass *= masses[path.index]
                return
            slot = normalise(self._outcomes)
        if self.place:
            self._slots.append(slot)
        if path.option.case is not None:
            self._cases.append(_cases(choice, forms))
            self._openings.append(_openings(choice, forms))
            self._insides.append(self._inside if ends_sentence(self._marks) else None)
            self._open()

    def votes(self) -> tuple[Vote, ...]:
        """Return one vote for each slot that was decided; of the word after the last one, only the case is known."""
        words = zip(self._slots, self._cases, self._insides, self._openings, strict=False)
        return tuple(
            Vote(
                slot,
                cases,
                left_words=index,
                right_words=self._n_words - index - 1,
                inside=inside,
                openings=openings,
            )
            for index, (slot, cases, inside, openings) in enumerate(words)
        )

    def _open(self) -> None:
        """Begin the slot after the word just written."""
        self._marks = NO_MARKS
        self._mass = 1.0
        self._outcomes: dict[str, float] = {}
        self._inside = None


def _cases(choice: Choice, masses: Sequence[float]) -> Distribution:
    """Return the case of the word, given that it is written, of the masses of its forms.

    All are 0 where the network is sure of a mark, and the slot is full.
    """
    weights = dict.fromkeys(choice.cases, 0.0)
    for (case, _), mass in zip(choice.forms, masses, strict=True):
        assert case is not None  # noqa: S101  (there is a word)
        weights[case.value] += mass
    return normalise(weights)


def _openings(choice: Choice, masses: Sequence[float]) -> Distribution | None:
    """Return the mark before the word, of the masses of its forms; None where the decoder writes no opening marks."""
    if len(choice.openings) == 1:
        return None
    weights = dict.fromkeys(choice.openings, 0.0)
    for (_, opening), mass in zip(choice.forms, masses, strict=True):
        weights[opening] += mass
    return normalise(weights)
