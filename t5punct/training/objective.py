"""What is minimised: the text loss, and a tagger's loss that teaches the encoder directly.

In: a `Batch`.  Out: `Losses`.

The text loss is T5's cross-entropy over target tokens (Raffel 2020); tokens that decide slots may count more.  The
tagger is one linear layer that reads each word's slot off the encoder state of the word's last token.  It is deep
supervision (Lee 2015): the encoder learns where marks stand from the first step, while the decoder still learns to
copy.  The model keeps it, to draft with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

from .batches import Batch
from .examples import IGNORED

if TYPE_CHECKING:
    from ..model import Model


@dataclass(frozen=True, slots=True)
class Losses:
    """Scalar tensors, mean cross-entropies in nats; `total`, which is minimised, has the config's weights."""

    total: torch.Tensor
    text: torch.Tensor
    tags: torch.Tensor


class Objective(nn.Module):
    """A T5 and its tagger."""

    def __init__(self, model: Model, tagger_weight: float, slot_weight: float = 1.0) -> None:
        super().__init__()
        self.network = model.network
        self.tagger_weight = tagger_weight
        self.token_weights: torch.Tensor | None
        weights = None if slot_weight == 1.0 else _token_weights(model, slot_weight)
        self.register_buffer("token_weights", weights, persistent=False)
        self.tagger = None
        if tagger_weight:
            self.tagger = model.tagger or nn.Linear(self.network.config.d_model, 1 + len(model.task.marks))
            self.tagger.requires_grad_(True)

    def forward(self, batch: Batch) -> Losses:
        output = self.network(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.labels, use_cache=False
        )
        text = output.loss if self.token_weights is None else self._weighed_loss(output.logits, batch.labels)
        tags = self._tag_loss(output.encoder_last_hidden_state, batch)
        return Losses(text + self.tagger_weight * tags, output.loss.detach(), tags.detach())

    def _weighed_loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Weighted mean cross-entropy; logits: (n_batch, n_target, n_vocabulary), labels: (n_batch, n_target)."""
        flat = logits.flatten(0, 1).float()
        return nn.functional.cross_entropy(flat, labels.flatten(), self.token_weights, ignore_index=IGNORED)

    def _tag_loss(self, states: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Mean cross-entropy of the slots' classes; states: float (n_batch, n_source, d_model)."""
        if self.tagger is None:
            return states.new_zeros(())
        ends = batch.word_ends.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        logits = self.tagger(states.gather(1, ends))  # (n_batch, n_words, n_classes)
        marks = batch.marks
        summed = nn.functional.cross_entropy(
            logits.flatten(0, 1).float(), marks.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        return summed / (marks != IGNORED).sum().clamp(min=1)


def _token_weights(model: Model, slot_weight: float) -> torch.Tensor:
    """How much each token counts as a target: float32 (n_vocabulary,)."""
    weights = torch.ones(model.network.config.vocab_size)
    weights[sorted(model.tokenizer.deciding_ids)] = slot_weight
    return weights
