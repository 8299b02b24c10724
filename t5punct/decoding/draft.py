"""A draft: one window as it would be written, and what a decoder pass says of it.

In: a window, a guess at each slot and case, then what pass after pass says.  Out: the window's votes, when passes have
settled every site of the draft.

A window of n words has n + 1 places: place i has the marks behind word i, then word i + 1 in some case (the last one
has marks, then the end).  A site is a token of the draft where the network had a choice.  `slots` says why this is
decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..text.marks import ENDS_SENTENCE, NO_MARKS, Case, ends_sentence
from ..windows.votes import Distribution, Vote, normalise
from .candidates import Branch, Candidates, Choice, Path
from .inputs import WindowInput

ALL_TOKENS = 1 << 30  # more than any window has


@dataclass(frozen=True, slots=True)
class Site:
    """A token of a draft where others might stand, at a branch of path number `step` of a place.

    position: its number among the draft's tokens, and so the decoder position that predicts it.
    """

    place: int
    step: int
    position: int
    branch: Branch


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess at a slot's first mark, or none, and at the form of the word before the slot.

    case: of the word (None: the first form that it has).
    """

    mark: str = NO_MARKS
    case: Case | None = None
    opening: str = NO_MARKS


class Draft:
    """One window as it would be written: for each place, marks, then the next word in some case, or the end."""

    def __init__(
        self, window: WindowInput, candidates: Candidates, guesses: Sequence[Guess], pass_tokens: int = ALL_TOKENS
    ) -> None:
        """Take a guess for each slot to be decided, and the word before it; pass_tokens: how many a pass decides."""
        self._pass_tokens = pass_tokens
        self._window = window
        self._candidates = candidates
        self._places = list[list[Path]]()
        for index, (slot, word) in enumerate(pairwise([Guess(), *guesses, Guess()])):  # a slot, then the word after it
            choice = candidates.choice(window, index, 0)
            marked = choice.marks.get(slot.mark)
            if marked:
                self._places.append([marked, self._word(index, 1, slot.mark, word.case, word.opening)])
            else:
                self._places.append([choice.form(word.case, word.opening)])
        self._rows: list[list[float]] = []  # probabilities of the settled sites
        self.n_settled = 0  # decoder positions that need not be computed again
        self._tokens: list[int] = []
        self._sites: list[Site] = []
        self._join_places()

    @property
    def is_settled(self) -> bool:
        """Whether passes have confirmed the whole draft."""
        return len(self._rows) == len(self._sites)

    @property
    def open_sites(self) -> list[Site]:
        """The sites that the next pass decides: one at least."""
        stop = self._pass_stop
        return [site for site in self._sites[len(self._rows) :] if site.position < stop]

    @property
    def open_tokens(self) -> list[int]:
        """The next pass's tokens, from the last settled one on: it reads all but the last, which it only predicts."""
        return self._tokens[max(0, self.n_settled - 1) : self._pass_stop]

    @property
    def _pass_stop(self) -> int:
        """Where the next pass ends."""
        first_site = self._sites[len(self._rows)]
        return max(self.n_settled + self._pass_tokens, first_site.position + 1)

    def rewrite(self, rows: list[list[float]], best: list[int]) -> None:
        """Settle the sites before the first disagreement.  In each place behind it, write what the network would.

        rows: for each open site, the probabilities of the tokens that may stand there, then zeros; best: the index of
        the likeliest.
        """
        sites = self.open_sites
        disagreements = [index for index, site in enumerate(sites) if best[index] != site.branch.taken]
        if not disagreements:  # all that the pass has read is settled
            self.n_settled = min(self._pass_stop, len(self._tokens))
            self._rows += rows
            return
        first = disagreements[0]  # it is settled, too, with the token that the network would write
        self._rows += rows[: first + 1]
        self.n_settled = sites[first].position + 1
        # of each place its first site of disagreement, behind which all of the place is written anew
        first_in_place = {sites[index].place: index for index in reversed(disagreements)}
        for index in first_in_place.values():
            self._follow(sites[index], best[index])
        self._join_places()

    def votes(self) -> tuple[Vote, ...]:
        """Return the votes of a settled draft."""
        builder = VoteBuilder(len(self._window.words))
        rows = iter(self._rows)
        for paths in self._places:
            for path in paths:
                builder.add(path, path.option_probabilities([next(rows) for _ in path.branches]))
        return builder.votes()

    def _word(self, index: int, n_marks: int, mark: str, case: Case | None, opening: str) -> Path:
        """Return the path of the next word, or of the end, behind a mark; behind a sentence's end it has a capital."""
        begins = mark in ENDS_SENTENCE and case is not Case.UPPER
        choice = self._candidates.choice(self._window, index, n_marks)
        return choice.form(Case.CAPITALISED if begins else case, opening)

    def _follow(self, site: Site, child: int) -> None:
        """Write at a site what the network would: the option that begins with child number `child` of its branch.

        What comes behind that token is a guess, which the next pass checks.
        """
        paths = self._places[site.place]  # of the place's marks, one by one, and then of the next word
        choice = paths[site.step].choice
        chosen = choice.paths[site.branch.node.first_options[child]]
        new_paths = [*paths[: site.step], chosen]
        mark = chosen.option.mark
        if mark is not None:  # behind the mark the next word is guessed in the case that it had
            last = paths[-1].option
            new_paths.append(self._word(site.place, site.step + 1, mark, last.case, last.opening))
        self._places[site.place] = new_paths

    def _join_places(self) -> None:
        """Write the tokens of all places one after the other, and note the sites among them."""
        self._tokens = []
        self._sites = []
        for place, paths in enumerate(self._places):
            for step, path in enumerate(paths):
                begin = len(self._tokens)
                self._sites += [Site(place, step, begin + branch.offset, branch) for branch in path.branches]
                self._tokens += path.option.tokens


class VoteBuilder:
    """Collects the choices of one window, in order, and makes votes of them.

    A slot's distribution over marks is made of chain-rule products: if `!` was taken first (0.6) and then no further
    mark (0.9), `!` has 0.54, and marks that go on (`!!`, `!?`) share 0.06.  For a mark that was not taken, all marks
    that begin with it are one outcome: what would follow it was never computed.
    """

    def __init__(self, n_words: int) -> None:
        self._n_words = n_words
        self._slots: list[Distribution] = []  # of each word that was written, the marks behind it
        self._cases: list[Distribution] = []  # its case
        self._cases_inside: list[Distribution | None] = []  # its case if no sentence began with it
        self._openings: list[Distribution | None] = []  # the mark before it
        self._begin_slot()

    def _begin_slot(self) -> None:
        """Begin the slot behind the word that was just written."""
        self._marks = NO_MARKS  # those written in the slot so far
        self._marks_probability = 1.0
        self._outcomes: dict[str, float] = {}  # of all marks that the slot may hold; empty while none is written
        self._next_case_inside: Distribution | None = None  # the next word's case if this slot were empty

    def add(self, path: Path, probabilities: Sequence[float]) -> None:
        """Add the path that was taken; probabilities: of all options of its choice."""
        choice = path.choice
        of_forms = probabilities[: len(choice.forms)]
        of_marks = probabilities[len(choice.forms) :]
        if path.option.mark is not None:
            if not self._marks and choice.cases:
                self._next_case_inside = _cases(choice, of_forms)
            marks = self._marks + path.option.mark
            self._outcomes.setdefault(marks, 0.0)  # the first outcome wins a tie: it is the one that was taken
            self._add_outcomes(choice, of_forms, of_marks)
            self._marks = marks
            self._marks_probability = self._outcomes[marks]
            return
        if self._outcomes:
            self._add_outcomes(choice, of_forms, of_marks)
            slot = normalise(self._outcomes)
        else:  # nearly always: nothing is written in the slot
            slot = {NO_MARKS: sum(of_forms), **dict(zip(choice.marks, of_marks, strict=True))}
        if self._cases:  # nothing is decided of the slot before the first word
            self._slots.append(slot)
        if path.option.case is not None:  # a word, and not the end
            self._cases.append(_cases(choice, of_forms))
            openings = None  # the decoder writes no opening marks
            if len(choice.openings) > 1:
                openings = dict.fromkeys(choice.openings, 0.0)
                for (_, opening), probability in zip(choice.forms, of_forms, strict=True):
                    openings[opening] += probability
                openings = normalise(openings)
            self._openings.append(openings)
            self._cases_inside.append(self._next_case_inside if ends_sentence(self._marks) else None)
            self._begin_slot()

    def _add_outcomes(self, choice: Choice, of_forms: Sequence[float], of_marks: Sequence[float]) -> None:
        """Add what the slot may hold, no more than so far or one more mark, with probabilities of forms and marks."""
        for mark, probability in zip(choice.marks, of_marks, strict=True):
            self._outcomes[self._marks + mark] = self._marks_probability * probability
        self._outcomes[self._marks] = self._marks_probability * sum(of_forms)

    def votes(self) -> tuple[Vote, ...]:
        """Return one vote for each slot that was decided; of the word after the last one, only the case is known."""
        words = zip(self._slots, self._cases, self._cases_inside, self._openings, strict=False)
        return tuple(
            Vote(slot, cases, left_words=index, right_words=self._n_words - index - 1, inside=inside, openings=openings)
            for index, (slot, cases, inside, openings) in enumerate(words)
        )


def _cases(choice: Choice, probabilities: Sequence[float]) -> Distribution:
    """Return the distribution over the next word's cases; probabilities: of its forms.

    They do not add up to 1, as marks may stand there too.  All are 0 where the network is sure of a mark: then the
    cases get equal shares.
    """
    weights = dict.fromkeys(choice.cases, 0.0)
    for (case, _), probability in zip(choice.forms, probabilities, strict=True):
        assert case is not None  # noqa: S101  (there is a word)
        weights[case.value] += probability
    return normalise(weights)
