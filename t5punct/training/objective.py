"""What is minimised: the text loss, and a tagger's loss that teaches the encoder directly.

In: a `Batch`.  Out: `Losses`.

The text loss is T5's cross-entropy over target tokens (Raffel 2020).  The tagger is one linear layer that reads each
word's slot off the encoder state of the word's last token.  It is deep supervision (Lee 2015): the encoder learns
where marks stand from the first step, while the decoder still learns to copy.  The model keeps it, to draft with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

from .batches import IGNORED, Batch

if TYPE_CHECKING:
    from ..model import Model


@dataclass(frozen=True, slots=True)
class Losses:
    """Scalar tensors, mean cross-entropies in nats; `total` is what is minimised."""

    total: torch.Tensor
    text: torch.Tensor
    tags: torch.Tensor


class Objective(nn.Module):
    """A T5 and its tagger."""

    def __init__(self, model: Model, tagger_weight: float) -> None:
        super().__init__()
        self.network = model.network
        self.tagger_weight = tagger_weight
        self.tagger = None
        if tagger_weight:
            self.tagger = model.tagger or nn.Linear(self.network.config.d_model, 1 + len(model.task.marks))
            self.tagger.requires_grad_(True)

    def forward(self, batch: Batch) -> Losses:
        output = self.network(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.labels, use_cache=False
        )
        tags = self._tag_loss(output.encoder_last_hidden_state, batch)
        return Losses(output.loss + self.tagger_weight * tags, output.loss.detach(), tags.detach())

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
