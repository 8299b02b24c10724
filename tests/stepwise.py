"""Slot decoding, step by step: constrained greedy decoding as it is defined, one token at a time.

In: windows of words.  Out: votes, one a slot, with distributions over labels and case.

This is the reference that `slots` must equal in fp32 (docs/design.md), kept as simple as possible.  At every step each
window's decoder may write only what `candidates` allows, so the words of the output are always the words of the input.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
import torch
from transformers.modeling_outputs import BaseModelOutput

from t5punct.decoding.candidates import Candidates, TrieNode
from t5punct.decoding.draft import Draft, VoteBuilder
from t5punct.decoding.inputs import DecodingConfig, WindowInput, encoder_input
from t5punct.model import Model
from t5punct.t5.word_memory import embed_targets
from t5punct.windows.votes import Distribution, Vote


@contextmanager
def noting_passes() -> Iterator[list[Draft]]:
    """Give a list that gets the draft of each window that a decoder pass of `slots` reads, pass after pass."""
    passes = list[Draft]()
    rewrite = Draft.rewrite

    def note(draft: Draft, rows: list[list[float]], best: list[int]) -> None:
        passes.append(draft)
        rewrite(draft, rows, best)

    with patch.object(Draft, "rewrite", note):
        yield passes


class SlotWriter:
    """One window being written: offers tokens, takes the chosen one, collects the votes."""

    def __init__(self, window: WindowInput, candidates: Candidates) -> None:
        self._window, self._candidates = window, candidates
        self._builder = VoteBuilder(len(window.words))
        self._n_forms = 0  # that are written: words, then the end
        self._n_marks = 0  # that are written behind the last word
        self._rows: list[Sequence[float]] = []
        self._node: TrieNode
        if not self.done:
            self._offer()

    @property
    def done(self) -> bool:
        return not self._window.words or self._n_forms > len(self._window.words)

    @property
    def allowed(self) -> tuple[int, ...]:
        """The tokens that may be written now; a single one is forced."""
        return self._node.tokens

    @property
    def log_odds(self) -> tuple[float, ...]:
        """What is added to the logits of the allowed tokens."""
        return self._node.log_odds or (0.0,) * len(self._node.tokens)

    def take(self, child: int, probabilities: Sequence[float]) -> None:
        """Write a token, by its place in `allowed`; the probabilities are theirs, and sum to 1."""
        if len(self.allowed) > 1:
            self._rows.append(probabilities)
        following = self._node.children[child]
        if isinstance(following, TrieNode):
            self._node = following
            return
        path = self._choice.paths[following]
        self._builder.add(path, path.option_probabilities(self._rows))
        if path.option.mark is None:
            self._n_forms += 1
            self._n_marks = 0
        else:
            self._n_marks += 1
        if not self.done:
            self._offer()

    def votes(self) -> tuple[Vote, ...]:
        """Return one vote a word, when done."""
        return self._builder.votes()

    def _offer(self) -> None:
        self._choice = self._candidates.choice(self._window, self._n_forms, self._n_marks)
        self._node, self._rows = self._choice.root, []


@torch.inference_mode()
def decode_stepwise(
    model: Model, windows: Sequence[WindowInput], config: DecodingConfig | None = None
) -> list[tuple[Vote, ...]]:
    """Return votes for each window's words; all windows are one batch."""
    config = config or DecodingConfig()
    candidates = Candidates(model.tokenizer, config.alphabet(model.task), config.odds(model.task))
    writers = [SlotWriter(window, candidates) for window in windows]
    if not any(window.words for window in windows):
        return [writer.votes() for writer in writers]
    network: Any = model.network
    sources = [window.source(model.tokenizer, config.style) for window in windows]
    input_ids, mask = encoder_input(sources, model)
    states = model.encode(input_ids, mask)
    encoded = BaseModelOutput(last_hidden_state=model.remember(states, input_ids))
    written = torch.full((len(windows), 1), model.start_id, device=model.device)  # by each window so far
    cache = None
    while not all(writer.done for writer in writers):
        output = network(
            encoder_outputs=encoded, attention_mask=mask,
            decoder_inputs_embeds=embed_targets(network, written)[:, -1:], past_key_values=cache, use_cache=True,
        )  # fmt: skip
        cache = output.past_key_values
        logits = output.logits[:, -1].float()  # (n_batch, n_vocabulary)
        tokens = [_step(*step, model) for step in zip(writers, logits, strict=True)]
        written = torch.cat([written, torch.tensor(tokens, device=model.device)[:, None]], 1)
    return [writer.votes() for writer in writers]


def _step(writer: SlotWriter, logits: torch.Tensor, model: Model) -> int:
    """Take the best allowed token (of equals, the first offered); logits: float32 (n_vocabulary,)."""
    if writer.done:
        return model.tokenizer.pad_id
    allowed = writer.allowed
    offered = logits[list(allowed)]  # (n_allowed,)
    weighed = offered + torch.tensor(writer.log_odds, device=logits.device)
    probabilities = torch.softmax(weighed, dim=0).tolist()
    best = max(range(len(allowed)), key=probabilities.__getitem__)
    writer.take(best, probabilities)
    return allowed[best]


def assert_same_votes(
    votes: Sequence[Sequence[Vote]], wanted: Sequence[Sequence[Vote]], tolerance: float = 1e-4
) -> None:
    """Votes of some windows are those of a reference: outcomes in their order, and chances but for rounding."""
    assert list(map(len, votes)) == list(map(len, wanted))
    for window, other_window in zip(votes, wanted, strict=True):
        for vote, other in zip(window, other_window, strict=True):
            for name in ("marks", "cases", "inside", "openings"):
                chances: Distribution | None = getattr(vote, name)
                expected: Distribution | None = getattr(other, name)
                assert list(chances or {}) == list(expected or {})
                assert chances == (expected and pytest.approx(dict(expected), abs=tolerance))
            assert (vote.left_words, vote.right_words) == (other.left_words, other.right_words)
