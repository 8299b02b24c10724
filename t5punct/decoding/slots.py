"""Slot decoding in parallel: constrained greedy decoding as a fixed point.

In: windows of words.  Out: a `Solution` for each, with votes equal to those of `stepwise`.

The words are known, so a draft of the whole output can be scored in one decoder pass: at each `Turn` of the draft the
network says which token it would have taken there.  Where it disagrees the draft is rewritten, and passes are repeated
until nothing changes (DESIGN, section 5; Jacobi decoding, Santilli 2023, with a draft that is nearly the answer).
What comes before the first disagreement is exactly what step-by-step decoding writes, and so is the token that the
network wants there; thus every pass settles at least one more turn, and a draft without disagreements is the answer.

`we know that right` is drafted as `we know that right`, rewritten to `We know that, right?`, and confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from transformers import DynamicCache, EncoderDecoderCache

from ..batching import by_length
from ..marks import Case
from ..model import Model
from ..votes import Vote
from .candidates import Candidates, Turn
from .head import NO_TOKEN, CandidateHead
from .inputs import DecodingConfig, EncoderInput, WindowInput, encoder_input, sources_of
from .tally import Tally

_ENDS_SENTENCE = ".?!"


@dataclass(frozen=True, slots=True)
class Solution:
    """A window's votes, and how many decoder passes they took."""

    votes: tuple[Vote, ...]
    n_passes: int


@dataclass(frozen=True, slots=True)
class Site:
    """Where in a draft a turn stands: path `step` of place `place`, predicted by decoder position `position`."""

    place: int
    step: int
    position: int
    turn: Turn


@dataclass(frozen=True, slots=True)
class Scores:
    """What one pass says of all sites of a batch, window after window.

    probabilities: float32 (n_sites, n_candidates); best: for each site, the child that the network would take.
    """

    probabilities: torch.Tensor
    best: list[int]


class Draft:
    """One window as it would be written: for each place, marks, then the next word in some case, or the end."""

    def __init__(self, window: WindowInput, candidates: Candidates) -> None:
        self._window, self._candidates = window, candidates
        self.places = [[candidates.choice(window, place, 0).form(None)] for place in range(len(window.words) + 1)]
        self.n_passes = 0
        self._lay_out()

    def rewrite(self, best: Sequence[int]) -> bool:
        """Follow the network at the first turn of each place where it disagrees; False if it agrees everywhere."""
        self.n_passes += 1
        changed = -1
        for site, child in zip(self.sites, best, strict=True):
            if child != site.turn.taken and site.place != changed:
                changed = site.place
                self._turn_off(site, child)
        if changed >= 0:
            self._lay_out()
        return changed >= 0

    def solution(self, rows: Sequence[Sequence[float]]) -> Solution:
        """The votes of a confirmed draft; `rows` are its sites' probabilities."""
        tally, next_row = Tally(len(self._window.words)), 0
        for paths in self.places:
            for path in paths:
                end = next_row + len(path.turns)
                tally.count(path, path.masses(rows[next_row:end]))
                next_row = end
        return Solution(tally.votes(), self.n_passes)

    def _turn_off(self, site: Site, child: int) -> None:
        """Leave the draft at a site.  How the place goes on from there is a guess, for the next pass to judge."""
        paths = self.places[site.place]
        following = paths[site.step].choice.paths[site.turn.fork.heirs[child]]
        mark = following.option.mark
        if mark is None:
            self.places[site.place] = [*paths[: site.step], following]
            return
        case = Case.CAPITALISED if mark in _ENDS_SENTENCE else paths[-1].option.case
        word = self._candidates.choice(self._window, site.place, site.step + 1).form(case)
        self.places[site.place] = [*paths[: site.step], following, word]

    def _lay_out(self) -> None:
        """Number the draft's tokens and find its sites."""
        self.tokens: list[int] = []
        self.sites: list[Site] = []
        for place, paths in enumerate(self.places):
            for step, path in enumerate(paths):
                for turn in path.turns:
                    self.sites.append(Site(place, step, len(self.tokens) + turn.offset, turn))
                self.tokens += path.tokens


class SlotDecoder:
    """Decodes windows; keeps what all of them share."""

    def __init__(self, model: Model, config: DecodingConfig | None = None) -> None:
        self._model, self._config = model, config or DecodingConfig()
        self._candidates = Candidates(model.tokenizer, self._config.alphabet(model.task))
        self._head = CandidateHead(model)

    @torch.inference_mode()
    def decode(self, windows: Sequence[WindowInput]) -> list[Solution]:
        """A solution for each window, in order; batched by length under the config's budget of tokens."""
        sources = sources_of(windows, self._model, self._config.style)
        solutions: dict[int, Solution] = {}
        for batch in by_length([len(source.ids) for source in sources], self._config.batch_tokens):
            source = encoder_input([sources[index] for index in batch], self._model)
            drafts = [Draft(windows[index], self._candidates) for index in batch]
            solutions |= zip(batch, self._solve(source, drafts), strict=True)
        return [solutions[index] for index in range(len(windows))]

    def _solve(self, source: EncoderInput, drafts: list[Draft]) -> list[Solution]:
        """Pass after pass over the drafts that are not confirmed yet."""
        passes = DecoderPasses(self._model, source)
        solutions: dict[int, Solution] = {}
        open_rows = list(range(len(drafts)))
        while open_rows:
            active = [drafts[row] for row in open_rows]
            scores = self._score(passes, active)
            left = []
            for place, (draft, sites) in enumerate(zip(active, _spans(active), strict=True)):
                if draft.rewrite(scores.best[sites]):
                    left.append(place)
                else:
                    solutions[open_rows[place]] = draft.solution(scores.probabilities[sites].tolist())
            if len(left) < len(open_rows):
                passes.keep(left)
                open_rows = [open_rows[place] for place in left]
        return [solutions[row] for row in range(len(drafts))]

    def _score(self, passes: DecoderPasses, drafts: Sequence[Draft]) -> Scores:
        """One decoder pass over all drafts."""
        states = passes.states([draft.tokens for draft in drafts])  # (n_batch, n_target, d_model)
        rows = [row for row, draft in enumerate(drafts) for _ in draft.sites]
        positions = [site.position for draft in drafts for site in draft.sites]
        offered = [site.turn.fork.tokens for draft in drafts for site in draft.sites]
        width = max(map(len, offered), default=1)
        ids = torch.tensor(
            [(*tokens, *(NO_TOKEN,) * (width - len(tokens))) for tokens in offered], device=states.device
        ).reshape(-1, width)
        probabilities = self._head.logits(states[rows, positions], ids).softmax(-1)
        return Scores(probabilities, probabilities.argmax(-1).tolist())


class DecoderPasses:
    """The decoder over one batch of windows; the keys and values of the source are made once."""

    def __init__(self, model: Model, source: EncoderInput) -> None:
        self._network: Any = model.network
        self._start_id, self._pad_id = model.start_id, model.tokenizer.pad_id
        self._mask = source.attention_mask
        self._encoded = self._network.get_encoder()(
            input_ids=source.input_ids, attention_mask=source.attention_mask
        ).last_hidden_state
        self._source_cache = DynamicCache()

    def states(self, targets: Sequence[Sequence[int]]) -> torch.Tensor:
        """Teacher-forced states, (n_batch, n_target, d_model); the state at position t predicts token t."""
        width = max(map(len, targets))
        written = [(self._start_id, *tokens[:-1], *(self._pad_id,) * (width - len(tokens))) for tokens in targets]
        cache = EncoderDecoderCache(DynamicCache(), self._source_cache)
        states: torch.Tensor = self._network.get_decoder()(
            input_ids=torch.tensor(written, device=self._mask.device),
            encoder_hidden_states=self._encoded,
            encoder_attention_mask=self._mask,
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state
        return states

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all windows but these."""
        if rows:
            kept = torch.tensor(rows, device=self._mask.device)
            self._mask, self._encoded = self._mask[kept], self._encoded[kept]
            self._source_cache.batch_select_indices(kept)


def _spans(drafts: Sequence[Draft]) -> list[slice]:
    """Where each draft's sites lie among those of the batch."""
    ends = list(accumulate(len(draft.sites) for draft in drafts))
    return [slice(end - len(draft.sites), end) for end, draft in zip(ends, drafts, strict=True)]
