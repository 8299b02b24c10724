"""Slot decoding in parallel: constrained greedy decoding as a fixed point.

In: windows of words.  Out: a `Solution` for each.  Its votes equal those of writing one token after the other (see
`precision`; the definition is in tests/stepwise.py).

The words are known, so one decoder pass can score a draft of the output: at each site of the draft the network says
which token it would have written.  Where it disagrees the draft is rewritten, and passes are repeated until nothing
changes (docs/design.md; Jacobi decoding, Santilli 2023, with a draft that is nearly the answer).  Up to the first
disagreement, and with the token that the network wants there, the draft is exactly what step-by-step decoding writes.
So every pass settles at least one more site, and a draft without disagreements is the answer.  What is settled is not
computed again, and a window whose draft is settled leaves the batch.

No token depends on later ones, so a window whose last slots are masked is written only up to them.

The first draft has the tagger's marks and case, if there is a tagger, else none.  This changes only the speed.

E.g. `we know that right` is drafted as `we know that. Right?`, rewritten to `We know that, right?`, and confirmed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise

import numpy as np
import torch

from ..model import Model
from ..t5.tagger import TAGGED_CASES
from ..t5.tokenization import Source
from ..text.marks import NO_MARKS, Case
from ..windows.votes import Vote
from .batching import batch_by_length
from .cached_decoder import NO_TOKEN, CachedDecoder, CandidateHead
from .candidates import Candidates
from .draft import ALL_TOKENS, Draft, Guess, SiteScores, Solution
from .inputs import DecodingConfig, WindowInput, encoder_input, sources_of
from .tagging import TagDecoder, Tagged, states_at_slots

# The tagger's capitals include those of sentences that may begin.  Behind a comma none does, so there the draft gives
# capitals half their odds (chosen on dev2012 and held-out text).  This changes only the speed.
_BEGINS = torch.tensor([math.log(2.0) if case is Case.CAPITALISED else 0.0 for case in TAGGED_CASES])


# A pass decides so many tokens.  What stands behind its first disagreement is decided again, so a pass that ends early
# wastes less (docs/results/speed.md).  On a GPU a long pass takes as long as a short one, so there it decides them all.
_PASS_TOKENS = 40


@dataclass(frozen=True, slots=True)
class SlotRequest:
    """A window to be written, its source, and the source token of each slot at which the tagger guesses.

    Only slots with such a token are written.
    """

    window: WindowInput
    source: Source
    guessed_at: tuple[int, ...]

    @property
    def tagged_at(self) -> tuple[int, ...]:
        """The tokens at which the tagger reads.  Of a whole window all words', as its marks are chosen together."""
        return self.source.word_ends if len(self.window.words) == len(self.source.word_ends) else self.guessed_at


class SlotDecoder:
    """Decodes windows of one model with one config."""

    def __init__(
        self, model: Model, config: DecodingConfig | None = None, candidates: Candidates | None = None
    ) -> None:
        self._model = model
        self._config = config or DecodingConfig()
        self._alphabet, self._odds = self._config.alphabet(model.task), self._config.odds(model.task)
        self._candidates = candidates or Candidates(model.tokenizer, self._alphabet, self._odds)
        self._pass_tokens = _PASS_TOKENS if model.device.type == "cpu" else ALL_TOKENS
        self._head = CandidateHead(model)
        self._tagger = None if model.tagger is None else TagDecoder(model, self._config)
        # the bundled decoders learned no opening marks, so those of a tagger that did are taken
        self._has_tagged_openings = model.tagger is not None and model.tagger.openings is not None

    def decode(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[Solution]:
        """Return a solution for each window, in order; with `n_slots`, only for its first so many slots."""
        sources = sources_of(windows, self._model, self._config.style)
        wanted = [len(window.words) for window in windows] if n_slots is None else n_slots
        return self.solve(
            [
                SlotRequest(window, source, source.word_ends[:n])
                for window, source, n in zip(windows, sources, wanted, strict=True)
            ]
        )

    def votes(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[tuple[Vote, ...]]:
        """Return the votes of `decode`'s solutions."""
        return [solution.votes for solution in self.decode(windows, n_slots)]

    @torch.inference_mode()
    def solve(self, requests: Sequence[SlotRequest]) -> list[Solution]:
        """Return a solution for each, in order; batched by length under the config's budget of tokens."""
        solutions: dict[int, Solution] = {}
        for batch in batch_by_length([len(request.source.ids) for request in requests], self._config.batch_tokens):
            chosen = [requests[index] for index in batch]
            passes = CachedDecoder(self._model, encoder_input([request.source for request in chosen], self._model))
            guesses = self._guess(passes.encoded, chosen)
            drafts = [
                Draft(request.window, self._candidates, own, self._pass_tokens)
                for request, own in zip(chosen, guesses, strict=True)
            ]
            self._settle(passes, drafts)
            for index, draft, own in zip(batch, drafts, guesses, strict=True):
                solution = draft.solution()
                solutions[index] = _with_guessed_openings(solution, own) if self._has_tagged_openings else solution
        return [solutions[index] for index in range(len(requests))]

    def _guess(self, encoded: torch.Tensor, requests: Sequence[SlotRequest]) -> list[list[Guess]]:
        """Return the tagger's guesses of each window's slots; encoded: (n_batch, n_source, d_model)."""
        n_asked = [len(request.guessed_at) for request in requests]
        if self._tagger is None:
            return [[Guess()] * n for n in n_asked]
        places = [request.tagged_at for request in requests]
        windows = [request.window for request in requests]
        tagged = self._tagger.tag(states_at_slots(encoded, places), windows).first_of(list(map(len, places)), n_asked)
        best = (logits.argmax(-1).tolist() for logits in (tagged.marks, tagged.cases, tagged.cases - _BEGINS))
        guesses = iter(
            Guess(self._tagger.mark_classes[mark], TAGGED_CASES[case], TAGGED_CASES[inside_case], opening)
            for mark, case, inside_case, opening in zip(*best, self._guess_openings(tagged), strict=True)
        )
        return [list(islice(guesses, n)) for n in n_asked]

    def _guess_openings(self, tagged: Tagged) -> list[str]:
        """Return the opening mark before each word; none where the tagger knows none."""
        if tagged.openings is None:
            return [NO_MARKS] * len(tagged.marks)
        classes = (NO_MARKS, *self._model.task.opening)
        return [classes[index] for index in tagged.openings.argmax(-1).tolist()]

    def _settle(self, passes: CachedDecoder, drafts: Sequence[Draft]) -> None:
        """Run passes over the drafts until all are settled."""
        active = list(drafts)
        while True:
            left = [row for row, draft in enumerate(active) if not draft.is_settled]
            if not left:
                return
            if len(left) < len(active):
                passes.keep(left)
                active = [active[row] for row in left]
            for draft, scores in zip(active, self._score(passes, active), strict=True):
                draft.rewrite(scores)

    def _score(self, passes: CachedDecoder, drafts: Sequence[Draft]) -> list[SiteScores]:
        """Return one decoder pass over the open part of all drafts."""
        sites_of_drafts = [draft.open_sites for draft in drafts]
        states = passes.states(
            [draft.open_tokens for draft in drafts],
            [draft.n_settled for draft in drafts],
            [[site.position for site in sites] for sites in sites_of_drafts],
        )  # (n_sites, d_model)
        nodes = [site.branch.node for sites in sites_of_drafts for site in sites]
        ids = _pad_rows([node.tokens for node in nodes], NO_TOKEN).to(states.device)
        logits = self._head.logits(states, ids)
        if any(node.log_odds for node in nodes):
            weights = [node.log_odds or (0.0,) * len(node.tokens) for node in nodes]
            logits = logits + _pad_rows(weights, 0.0).to(states.device)
        probabilities = logits.softmax(-1)
        best = probabilities.argmax(-1).tolist()
        values = probabilities.tolist()
        ends = list(accumulate(map(len, sites_of_drafts)))
        return [SiteScores(values[start:end], best[start:end]) for start, end in pairwise([0, *ends])]


def _with_guessed_openings(solution: Solution, guesses: Sequence[Guess]) -> Solution:
    """Return a solution with the opening mark that was guessed before each word."""
    votes = [replace(vote, openings={guess.opening: 1.0}) for vote, guess in zip(solution.votes, guesses, strict=True)]
    return replace(solution, votes=tuple(votes))


def _pad_rows(rows: Sequence[Sequence[float]], fill: float) -> torch.Tensor:
    """Return rows of different lengths as a matrix; numpy makes it several times faster than torch."""
    width = max(map(len, rows))
    kind = np.float32 if isinstance(fill, float) else np.int64
    return torch.from_numpy(np.array([(*row, *(fill,) * (width - len(row))) for row in rows], dtype=kind))
