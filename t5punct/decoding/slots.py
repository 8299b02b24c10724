"""Slot decoding in parallel: constrained greedy decoding as a fixed point.

In: windows of words.  Out: the votes of each.  They equal those of writing one token after the other (see `precision`;
the definition is in tests/stepwise.py).

The words are known, so one decoder pass can score a draft of the output: at each site of the draft the network says
which token it would have written.  Where it disagrees the draft is rewritten, and passes are repeated until nothing
changes (docs/design.md; Jacobi decoding, Santilli 2023, with a draft that is nearly the answer).  Up to the first
disagreement, and with the token that the network wants there, the draft is exactly what step-by-step decoding writes.
So every pass settles at least one more site, and a draft without disagreements is the answer.  What is settled is not
computed again, and a window whose draft is settled leaves the batch.

E.g. `we know that right` is drafted as `we know that. Right?`, rewritten to `We know that, right?`, and confirmed.  The
first draft has the tagger's marks and case, if there is a tagger, else none.  This changes only the speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import torch

from ..model import Model
from ..t5.tagger import TAGGED_CASES
from ..t5.tokenization import Source
from ..text.marks import NO_MARKS
from ..windows.votes import Vote
from .cached_decoder import CachedDecoder, output_scale
from .candidates import Candidates
from .draft import ALL_TOKENS, Draft, Guess
from .inputs import DecodingConfig, WindowInput, batch_by_length, encoder_input
from .tagging import TagDecoder

_NO_TOKEN = -1  # fills up rows with fewer tokens; its logit is minus infinity

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


class SlotDecoder:
    """Decodes windows of one model with one config."""

    def __init__(
        self, model: Model, config: DecodingConfig | None = None, candidates: Candidates | None = None
    ) -> None:
        self._model = model
        self._config = config or DecodingConfig()
        self._candidates = candidates or Candidates(
            model.tokenizer, self._config.alphabet(model.task), self._config.odds(model.task)
        )
        self._pass_tokens = _PASS_TOKENS if model.device.type == "cpu" else ALL_TOKENS  # that a pass decides
        self._output_scale = output_scale(model)
        self._tagger = None if model.tagger is None else TagDecoder(model, self._config)
        # the bundled decoders learned no opening marks: if the tagger did, its opening marks are taken
        self._has_tagged_openings = model.tagger is not None and model.tagger.openings is not None

    def votes(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[tuple[Vote, ...]]:
        """Return votes for each window, in order; with `n_slots`, only for its first so many slots."""
        wanted = [len(window.words) for window in windows] if n_slots is None else n_slots
        sources = [window.source(self._model.tokenizer, self._config.style) for window in windows]
        requests = [
            SlotRequest(window, source, source.word_ends[:n])
            for window, source, n in zip(windows, sources, wanted, strict=True)
        ]
        return self.solve(requests)

    @torch.inference_mode()
    def solve(self, requests: Sequence[SlotRequest]) -> list[tuple[Vote, ...]]:
        """Return votes for each request, in order; batched by length under the config's budget of tokens."""
        votes: dict[int, tuple[Vote, ...]] = {}
        for batch in batch_by_length([len(request.source.ids) for request in requests], self._config.batch_tokens):
            chosen = [requests[index] for index in batch]
            input_ids, attention_mask = encoder_input([request.source for request in chosen], self._model)
            passes = CachedDecoder(self._model, input_ids, attention_mask)
            guesses = self._guess(passes.encoded, chosen)
            drafts = [
                Draft(request.window, self._candidates, guesses_of_window, self._pass_tokens)
                for request, guesses_of_window in zip(chosen, guesses, strict=True)
            ]
            active = drafts  # those in `passes`, by their rows there
            while not all(draft.is_settled for draft in active):
                open_rows = [row for row, draft in enumerate(active) if not draft.is_settled]
                if len(open_rows) < len(active):
                    passes.keep(open_rows)
                    active = [active[row] for row in open_rows]
                self._run_pass(passes, active)
            for index, draft, guesses_of_window in zip(batch, drafts, guesses, strict=True):
                votes[index] = draft.votes()
                if self._has_tagged_openings:
                    votes[index] = tuple(
                        replace(vote, openings={guess.opening: 1.0})
                        for vote, guess in zip(votes[index], guesses_of_window, strict=True)
                    )
        return [votes[index] for index in range(len(requests))]

    def _guess(self, encoded: torch.Tensor, requests: Sequence[SlotRequest]) -> list[list[Guess]]:
        """Return the tagger's guesses of each window's slots; encoded: (n_batch, n_source, d_model)."""
        if self._tagger is None:
            return [[Guess()] * len(request.guessed_at) for request in requests]
        # of a whole window the tagger reads all words, as its marks are chosen together
        is_whole = [len(request.window.words) == len(request.source.word_ends) for request in requests]
        places = [
            request.source.word_ends if whole else request.guessed_at
            for request, whole in zip(requests, is_whole, strict=True)
        ]
        tagged = self._tagger.tag(encoded, places, [request.window for request in requests])
        marks = [self._tagger.mark_classes[number] for number in tagged.marks.argmax(-1).tolist()]
        cases = [TAGGED_CASES[number] for number in tagged.cases.argmax(-1).tolist()]
        openings = [NO_MARKS] * len(marks)
        if tagged.openings is not None:
            opening_classes = (NO_MARKS, *self._model.task.opening)
            openings = [opening_classes[number] for number in tagged.openings.argmax(-1).tolist()]
        read = map(Guess, marks, cases, openings)  # of all places, one window after the other
        guesses_of_windows = [list(islice(read, len(tokens))) for tokens in places]
        return [
            guesses[: len(request.guessed_at)] for guesses, request in zip(guesses_of_windows, requests, strict=True)
        ]

    def _run_pass(self, passes: CachedDecoder, drafts: Sequence[Draft]) -> None:
        """Run one decoder pass over the open part of all drafts, and rewrite them as it says."""
        sites_of_drafts = [draft.open_sites for draft in drafts]
        states = passes.states(
            [draft.open_tokens for draft in drafts],
            [draft.n_settled for draft in drafts],
            [[site.position for site in sites] for sites in sites_of_drafts],
        )  # (n_sites, d_model)
        nodes = [site.branch.node for sites in sites_of_drafts for site in sites]  # the tokens that may stand there
        ids = _pad_rows([node.tokens for node in nodes], _NO_TOKEN).to(states.device)
        # a slot offers about ten tokens: one product with the batch's distinct ones is fastest
        distinct, columns = torch.unique(ids.clamp(min=0), return_inverse=True)
        weight = self._model.network.lm_head.weight[distinct]  # (n_distinct, d_model)
        logits = ((states @ weight.T).float() * self._output_scale).gather(1, columns)
        logits = logits.masked_fill(ids == _NO_TOKEN, float("-inf"))
        if any(node.log_odds for node in nodes):
            weights = [node.log_odds or (0.0,) * len(node.tokens) for node in nodes]
            logits = logits + _pad_rows(weights, 0.0).to(states.device)
        probabilities = logits.softmax(-1)
        best = probabilities.argmax(-1).tolist()
        rows = probabilities.tolist()
        start = 0
        for draft, sites in zip(drafts, sites_of_drafts, strict=True):
            stop = start + len(sites)
            draft.rewrite(rows[start:stop], best[start:stop])
            start = stop


def _pad_rows(rows: Sequence[Sequence[float]], fill: float) -> torch.Tensor:
    """Return rows of different lengths as a matrix; numpy makes it several times faster than torch."""
    width = max(map(len, rows))
    kind = np.float32 if isinstance(fill, float) else np.int64
    return torch.from_numpy(np.array([(*row, *(fill,) * (width - len(row))) for row in rows], dtype=kind))
