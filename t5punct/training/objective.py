"""What is minimised: the text loss, and the losses of a tagger that teach the encoder directly.

In: a `Batch`.  Out: `Losses`.

The text loss is T5's cross-entropy over target tokens (Raffel 2020); tokens that decide slots may count more.  With
`sampled_pieces` it is taken over the pieces of the batch's targets and so many others drawn at random, instead of the
whole vocabulary (Jean 2015, section 3.3): a wide vocabulary then costs little.

The tagger reads each word's slot and case off the encoder state of the word's last token.  It is deep supervision
(Lee 2015): the encoder learns where marks stand from the first step, while the decoder still learns to copy.  The
model keeps it, to draft with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from ..decoding.head import output_scale
from ..tagger import Tagger, at_words
from .batches import Batch
from .config import LossConfig
from .examples import IGNORED
from .teacher import Teacher

if TYPE_CHECKING:
    from ..model import Model


@dataclass(frozen=True, slots=True)
class Losses:
    """Scalar tensors; `total`, which is minimised, has the config's weights.

    text, tags, cases: mean cross-entropies in nats; teacher: `Teacher.loss`, its own weights in it.
    """

    total: torch.Tensor
    text: torch.Tensor
    tags: torch.Tensor
    cases: torch.Tensor
    teacher: torch.Tensor


class Objective(nn.Module):
    """A T5 and its tagger."""

    def __init__(self, model: Model, config: LossConfig, teacher: Teacher | None = None) -> None:
        super().__init__()
        self.network, self.config, self.teacher = model.network, config, teacher
        self.token_weights: torch.Tensor | None
        weights = None if config.slot_weight == 1.0 else _token_weights(model, config.slot_weight)
        self.register_buffer("token_weights", weights, persistent=False)
        self.output_scale = output_scale(model)
        if not config.text_weight:  # nothing asks the decoder
            for parameter in self.network.get_decoder().parameters():
                parameter.requires_grad_(parameter is self.network.get_input_embeddings().weight)
        self.tagger = None
        if config.tagger_weight:
            self.tagger = model.tagger or Tagger(self.network.config.d_model, model.task.marks)
            self.tagger.requires_grad_(True)

    def forward(self, batch: Batch) -> Losses:
        encoder = self.network.get_encoder()
        states = encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
        text = weighted = tags = cases = teacher = states.new_zeros(())
        if self.config.text_weight:
            text, weighted = self._text_losses(states, batch)
        if self.tagger is not None:
            marks, forms = self.tagger(at_words(states, batch.word_ends))  # (n_batch, n_words, n_classes)
            tags, cases = _mean_loss(marks, batch.marks), _mean_loss(forms, batch.cases)
            if self.teacher is not None:
                teacher = self.teacher.loss(batch, states, marks, forms, batch.marks != IGNORED)
        tagged = self.config.tagger_weight * (tags + self.config.case_weight * cases)
        total = self.config.text_weight * weighted + tagged + teacher
        return Losses(total, text.detach(), tags.detach(), cases.detach(), teacher.detach())

    def _text_losses(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean cross-entropy of the target's tokens, plain and weighted; states: (n_batch, n_source, d_model)."""
        inputs = self.network._shift_right(batch.labels)  # the start, then all but the last
        written = self.network.get_decoder()(
            input_ids=inputs, encoder_hidden_states=states, encoder_attention_mask=batch.attention_mask, use_cache=False
        ).last_hidden_state
        real = batch.labels != IGNORED
        wanted, found = batch.labels[real], written[real] * self.output_scale  # (n_tokens,), (n_tokens, d_model)
        rows, pieces = self._pieces(wanted)
        if pieces is not None:
            wanted = torch.searchsorted(pieces, wanted)
        logits = nn.functional.linear(found, rows).float()
        plain = cross_entropy(logits, wanted)
        if self.token_weights is None:
            return plain, plain
        weights = self.token_weights if pieces is None else self.token_weights[pieces]
        return plain, cross_entropy(logits, wanted, weights)

    def _pieces(self, wanted: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The output layer's rows that the loss is taken over, (n, d_model), and their ids if they are not all."""
        rows = self.network.get_output_embeddings().weight
        n_others = self.config.sampled_pieces
        if n_others is None:
            return rows, None
        others = torch.randint(len(rows), (n_others,), device=wanted.device)
        pieces = torch.unique(torch.cat([wanted, others]))
        return rows[pieces], pieces


def _mean_loss(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """logits: (n_batch, n_words, n_classes), classes: (n_batch, n_words); 0 where all are IGNORED."""
    summed = cross_entropy(logits.flatten(0, 1).float(), classes.flatten(), ignore_index=IGNORED, reduction="sum")
    return summed / (classes != IGNORED).sum().clamp(min=1)


def _token_weights(model: Model, slot_weight: float) -> torch.Tensor:
    """How much each token counts as a target: float32 (n_vocabulary,)."""
    weights = torch.ones(model.network.config.vocab_size)
    weights[sorted(model.tokenizer.deciding_ids)] = slot_weight
    return weights
