"""Slot decoding in parallel: constrained greedy decoding as a fixed point.

In: windows of words.  Out: a `Solution` for each, with votes equal to those of `stepwise` (in fp32; see `precision`).

The words are known, so a draft of the whole output can be scored in one decoder pass: at each `Branch` of the draft the
network says which token it would have taken there.  Where it disagrees the draft is rewritten, and passes are repeated
until nothing changes (docs/design.md; Jacobi decoding, Santilli 2023, with a draft that is nearly the answer).
What comes before the first disagreement is exactly what step-by-step decoding writes, and so is the token that the
network wants there.  So every pass settles at least one more branch, and a draft without disagreements is the answer.
What is settled is not computed again, and a window whose draft is confirmed leaves the batch.

Nothing depends on what is written later, so a window whose last slots are masked is written only up to them.

With a tagger the first draft has its marks and case, without one it has none; this changes only the speed.

E.g. `we know that right` is drafted as `we know that. Right?`, rewritten to `We know that, right?`, and confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

import numpy as np
import torch

from ..model import Model
from ..t5.tagger import TAGGED_CASES
from ..t5.tokenization import Source
from ..text.marks import ENDS_SENTENCE, NO_LABEL, Case
from ..windows.votes import Vote
from .accumulator import ChoiceAccumulator
from .batching import by_length
from .cached_decoder import CachedDecoder
from .candidates import Branch, Candidates, Path
from .head import NO_TOKEN, CandidateHead
from .inputs import DecodingConfig, WindowInput, encoder_input, sources_of


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
class Scores:
    """What one pass says about the open sites of one draft.

    rows: for each site, the probabilities of its tokens (and zeros); best: the child that the network would take.
    """

    rows: list[list[float]]
    best: list[int]


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess at the first mark of a slot, or none, and at the case of the word before it (None: its first form)."""

    mark: str = NO_LABEL
    case: Case | None = None


class Draft:
    """One window as it would be written: for each place, marks, then the next word in some case, or the end."""

    def __init__(self, window: WindowInput, candidates: Candidates, guesses: Sequence[Guess]) -> None:
        """`guesses`: one for each slot to be decided, and the word before it."""
        self._window, self._candidates = window, candidates
        marks, cases = [one.mark for one in guesses], [one.case for one in guesses]
        drafted = zip([NO_LABEL, *marks], [*cases, None], strict=True)  # a slot, then the word after it
        self._places = [self._drafted(place, mark, case) for place, (mark, case) in enumerate(drafted)]
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

    def rewrite(self, scores: Scores) -> None:
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
        """The votes, when no site is open."""
        accumulator, next_row = ChoiceAccumulator(len(self._window.words)), 0
        for paths in self._places:
            for path in paths:
                end = next_row + len(path.branches)
                accumulator.count(path, path.masses(self._rows[next_row:end]))
                next_row = end
        return Solution(accumulator.votes(), self._n_passes)

    def _drafted(self, place: int, mark: str, case: Case | None) -> list[Path]:
        choice = self._candidates.choice(self._window, place, 0)
        marked = choice.marks.get(mark)
        if not marked:
            return [choice.form(case)]
        if case is None:
            return [marked, self._word(place, 1, mark, None)]
        return [marked, self._candidates.choice(self._window, place, 1).form(case)]

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


@dataclass(frozen=True, slots=True)
class SlotRequest:
    """A window to be written, its source, and the source token from which the tagger guesses each slot.

    As many slots are written as there are such tokens.
    """

    window: WindowInput
    source: Source
    guessed_at: tuple[int, ...]


class SlotDecoder:
    """Decodes windows; holds what all of them share."""

    def __init__(
        self, model: Model, config: DecodingConfig | None = None, candidates: Candidates | None = None
    ) -> None:
        self._model, self._config = model, config or DecodingConfig()
        self._alphabet, self._odds = self._config.alphabet(model.task), self._config.odds(model.task)
        self._candidates = candidates or Candidates(model.tokenizer, self._alphabet, self._odds)
        self._head = CandidateHead(model)

    def decode(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[Solution]:
        """A solution for each window, in order; with `n_slots`, only for its first so many slots."""
        sources = sources_of(windows, self._model, self._config.style)
        wanted = [len(window.words) for window in windows] if n_slots is None else n_slots
        return self.solve(
            [
                SlotRequest(window, source, source.word_ends[:n])
                for window, source, n in zip(windows, sources, wanted, strict=True)
            ]
        )

    def votes(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[tuple[Vote, ...]]:
        """The votes of `decode`'s solutions."""
        return [solution.votes for solution in self.decode(windows, n_slots)]

    @torch.inference_mode()
    def solve(self, requests: Sequence[SlotRequest]) -> list[Solution]:
        """A solution for each, in order; batched by length under the config's budget of tokens."""
        solutions: dict[int, Solution] = {}
        for batch in by_length([len(one.source.ids) for one in requests], self._config.batch_tokens):
            chosen = [requests[index] for index in batch]
            passes = CachedDecoder(self._model, encoder_input([one.source for one in chosen], self._model))
            guesses = self._guesses(passes.encoded, chosen)
            drafts = [Draft(one.window, self._candidates, found) for one, found in zip(chosen, guesses, strict=True)]
            self._settle(passes, drafts)
            solutions |= zip(batch, (draft.solution() for draft in drafts), strict=True)
        return [solutions[index] for index in range(len(requests))]

    def _guesses(self, encoded: torch.Tensor, requests: Sequence[SlotRequest]) -> list[list[Guess]]:
        """The tagger's guess for each slot of each window; encoded: (n_batch, n_source, d_model)."""
        tagger = self._model.tagger
        if tagger is None:
            return [[Guess()] * len(one.guessed_at) for one in requests]
        rows = [row for row, one in enumerate(requests) for _ in one.guessed_at]
        places = [place for one in requests for place in one.guessed_at]
        marks, cases = tagger(encoded[rows, places])  # (n_slots, n_classes)
        weighed = marks + tagger.log_odds(self._odds, self._alphabet.marks).to(marks.device)
        guesses = iter(
            [
                Guess(tagger.mark_classes[mark], TAGGED_CASES[case])
                for mark, case in zip(weighed.argmax(-1).tolist(), cases.argmax(-1).tolist(), strict=True)
            ]
        )
        return [list(islice(guesses, len(one.guessed_at))) for one in requests]

    def _settle(self, passes: CachedDecoder, drafts: Sequence[Draft]) -> None:
        """Pass after pass over the drafts that are not confirmed yet."""
        active = list(drafts)
        while True:
            left = [row for row, draft in enumerate(active) if draft.open_sites]
            if not left:
                return
            if len(left) < len(active):
                passes.keep(left)
                active = [active[row] for row in left]
            for draft, scores in zip(active, self._score(passes, active), strict=True):
                draft.rewrite(scores)

    def _score(self, passes: CachedDecoder, drafts: Sequence[Draft]) -> list[Scores]:
        """One decoder pass over the open part of all drafts."""
        sites = [draft.open_sites for draft in drafts]
        states = passes.states(
            [draft.open_tokens for draft in drafts],
            [draft.n_settled for draft in drafts],
            [[site.position for site in found] for found in sites],
        )  # (n_sites, d_model)
        nodes = [site.branch.node for found in sites for site in found]
        ids = _table([node.tokens for node in nodes], NO_TOKEN).to(states.device)
        logits = self._head.logits(states, ids)
        if any(node.log_odds for node in nodes):
            weights = [node.log_odds or (0.0,) * len(node.tokens) for node in nodes]
            logits = logits + _table(weights, 0.0).to(states.device)
        probabilities = logits.softmax(-1)
        best, values = probabilities.argmax(-1).tolist(), probabilities.tolist()
        ends = list(accumulate(map(len, sites)))
        return [Scores(values[start:end], best[start:end]) for start, end in pairwise([0, *ends])]


def _table(rows: Sequence[Sequence[float]], fill: float) -> torch.Tensor:
    """Rows of different lengths as a matrix; numpy makes it several times faster than torch."""
    width = max(map(len, rows))
    kind = np.float32 if isinstance(fill, float) else np.int64
    return torch.from_numpy(np.array([(*row, *(fill,) * (width - len(row))) for row in rows], dtype=kind))
