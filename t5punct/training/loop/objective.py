"""What is minimised: the text loss, and the losses of a tagger that teach the encoder directly.

- Text: T5's cross-entropy over target tokens (Raffel 2020).  With `sampled_pieces` it is taken over the pieces of the
  batch's targets and so many others drawn at random, not over the whole vocabulary (Jean 2015, section 3.3).
- Slots: the cross-entropy among marks, case tokens and the next word alone, as slot decoding chooses among these.
- Tagger: the cross-entropy of each word's first mark and of its case (deep supervision, Lee 2015).  So the encoder
  learns where marks stand from the first step, while the decoder still learns to copy.
- Teacher: the divergence from a teacher's labels (Hinton 2015), of the tagger, and of the first token that the decoder
  writes behind a word.

With a delay only the tagger, which decides alone, reads delayed states.  The decoder reads those of a second pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from ...config import check
from ...decoding.cached_decoder import output_scale
from ...model import Model
from ...t5.delay import Delay, delayed_states
from ...t5.encoder import blocks_of
from ...t5.tagger import Tagger, states_at_words
from ...t5.word_memory import embed_targets
from ..config import LossConfig
from ..examples.batches import Batch
from ..examples.example import IGNORED
from ..labels import divergence, label_loss

_CASE_WEIGHT = 0.5  # of the tagger's loss of case, beside that of marks


class Losses(NamedTuple):
    """Scalar tensors in nats; text, slots, tags, cases are mean cross-entropies."""

    total: torch.Tensor  # what is minimised: the sum of the others with the config's weights
    text: torch.Tensor
    slots: torch.Tensor
    tags: torch.Tensor
    cases: torch.Tensor
    teacher: torch.Tensor  # the sum of the divergences of tagger and decoder, whose weights are 1

    def on_cpu(self) -> Losses:
        # all are moved together, since each move waits for the device
        return Losses(*torch.stack([loss.detach().float() for loss in self]).cpu())


class Objective(nn.Module):
    """A T5 and its tagger, whose parameters are trained."""

    def __init__(self, model: Model, config: LossConfig) -> None:
        super().__init__()
        self.network = model.network
        self.config = config
        self.model = model
        self._no_split_modules = getattr(model.network, "_no_split_modules", None)  # for FSDP: classes of layers
        deciding = (model.tokenizer.deciding_ids or ()) if config.slot_weight else ()  # a slot against the next word
        mistake = "a text form in which no single token decides a slot"
        expected = "inline casing or no case, and marks of one token"
        check(deciding or not config.slot_weight, mistake, expected=expected, fix="set loss.slot_weight=0")
        self.deciding_ids: torch.Tensor
        self.register_buffer("deciding_ids", torch.tensor(deciding, dtype=torch.long), persistent=False)
        # columns of the marks among the deciding tokens, in the tagger's order
        marks = model.task.slot_marks if deciding else ""
        self._mark_columns = [deciding.index(model.tokenizer.mark_ids[mark][0]) for mark in marks]
        self.output_scale = output_scale(model)
        self._frozen_states = FrozenStates(config.kept_states) if config.kept_states else None
        if not config.text_weight:  # then the decoder is not trained, nor the memory that it alone reads
            for name, parameter in self.network.named_parameters():  # tied ones under their first name, `shared`
                if name.startswith(("decoder.", "memory.")):
                    parameter.requires_grad_(False)
        self.tagger = None
        if config.tagger_weight:
            self.tagger = model.tagger or Tagger(self.network.config.d_model, model.task.slot_marks, model.task.opening)

    def forward(self, batch: Batch, delay: Delay | None = None) -> Losses:
        """Return the losses of a batch; with a delay, the tagger's are those of delayed states."""
        states = self._states(batch, delay)
        text = slots = tags = cases = teacher = states.new_zeros(())
        if self.config.text_weight:
            undelayed_states = states if delay is None else self._states(batch)
            text, slots, teacher = self._text_losses(undelayed_states, batch)
        if self.tagger is not None:
            word_states = states_at_words(states, batch.word_ends)
            mark_logits, case_logits = self.tagger(word_states)  # (n_batch, n_words, n_classes)
            tags = _mean_loss(mark_logits, batch.marks)
            cases = _mean_loss(case_logits, batch.cases)
            if self.tagger.openings is not None:
                tags = tags + _mean_loss(self.tagger.openings(word_states), batch.openings)
            if batch.teacher_codes is not None:
                teacher = teacher + label_loss(batch.teacher_codes, mark_logits, case_logits, batch.marks != IGNORED)
        decoder_loss = self.config.text_weight * text + self.config.slot_weight * slots
        case_weight = _CASE_WEIGHT if self.model.task.cased else 0.0  # a text without capitals teaches no case
        tagger_loss = self.config.tagger_weight * (tags + case_weight * cases)
        total = decoder_loss + tagger_loss + teacher
        return Losses(total, text.detach(), slots.detach(), tags.detach(), cases.detach(), teacher.detach())

    def _states(self, batch: Batch, delay: Delay | None = None) -> torch.Tensor:
        """Return the encoder's states (n_batch, n_source, d_model), without gradients if its layers are frozen."""
        encoder = self.network.encoder
        layers = blocks_of(encoder) or encoder
        learns = any(parameter.requires_grad for parameter in layers.parameters())
        if self._frozen_states is not None and not learns and delay is None:
            return self._frozen_states.encode(encoder, batch.input_ids, batch.attention_mask)
        with torch.set_grad_enabled(learns and torch.is_grad_enabled()):
            if delay is not None:
                return delayed_states(encoder, batch.input_ids, batch.token_words, delay)
            return encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state

    def _text_losses(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the mean cross-entropies of tokens and of slots, and the divergence from the labels, in nats.

        states: (n_batch, n_source, d_model).
        """
        inputs = self.network._shift_right(batch.decoder_ids)  # the start, then all tokens but the last
        outputs = self.network.decoder(
            inputs_embeds=embed_targets(self.network, inputs),
            encoder_hidden_states=self.model.remember(states, batch.input_ids),
            encoder_attention_mask=batch.attention_mask,
            use_cache=False,
        ).last_hidden_state
        is_target = batch.targets != IGNORED
        targets = batch.targets[is_target]  # (n_tokens,)
        weight = self.network.lm_head.weight
        # the ids whose logits are computed, ascending, int64 (n_pieces,): all, or those needed and some others
        pieces = torch.arange(len(weight), device=targets.device)
        if self.config.sampled_pieces is not None:
            sample = torch.randint(len(weight), (self.config.sampled_pieces,), device=targets.device)
            pieces = torch.cat([targets, self.deciding_ids, sample]).unique()  # type: ignore[no-untyped-call]
            weight = weight[pieces]  # once for all losses, as the gradient of a gathering is as large as all weights
        scaled = outputs[is_target] * self.output_scale  # (n_tokens, d_model)
        logits = nn.functional.linear(scaled, weight).float()  # (n_tokens, n_pieces)
        text = cross_entropy(logits, torch.searchsorted(pieces, targets))
        if not self.config.slot_weight:
            return text, text.new_zeros(()), text.new_zeros(())
        next_word_ids = batch.next_word_ids[is_target]  # (n_tokens,)
        is_decision = next_word_ids != IGNORED
        is_deciding = (targets[is_decision][:, None] == self.deciding_ids).int()  # (n_decisions, n_deciding)
        # logits of the deciding tokens, then of the next word: (n_decisions, n_deciding + 1)
        choices = self._choices(logits, pieces, is_decision.nonzero()[:, 0], next_word_ids[is_decision])
        # the target's column: that of the next word, the last, if no deciding token is the target
        classes = torch.where(is_deciding.any(-1), is_deciding.argmax(-1), len(self.deciding_ids))
        slots = cross_entropy(choices, classes, reduction="sum") / max(1, len(classes))
        return text, slots, self._slot_label_loss(logits, pieces, is_target, batch)

    def _slot_label_loss(
        self, logits: torch.Tensor, pieces: torch.Tensor, is_target: torch.Tensor, batch: Batch
    ) -> torch.Tensor:
        """Return the mean divergence in nats of the first token behind each word from the word's label; 0 without any.

        is_target: bool (n_batch, n_target), the places that the rows of the logits belong to.
        """
        if batch.teacher_codes is None:
            return logits.new_zeros(())
        is_labelled = (batch.teacher_codes > 0).any(-1)  # (n_batch, n_words)
        row_at_place = is_target.flatten().cumsum(0).view_as(is_target) - 1  # (n_batch, n_target)
        rows = row_at_place.gather(1, batch.slot_starts)[is_labelled]  # (n_labelled,)
        choices = self._choices(logits, pieces, rows, batch.next_word_ids.gather(1, batch.slot_starts)[is_labelled])
        is_mark = torch.zeros(choices.shape[1], dtype=torch.bool, device=choices.device)
        is_mark[self._mark_columns] = True
        no_mark = choices[:, ~is_mark].logsumexp(-1, keepdim=True)
        marks = torch.cat([no_mark, choices[:, self._mark_columns]], -1)  # (n_labelled, n_classes)
        return divergence(marks, batch.teacher_codes[is_labelled][:, : marks.shape[1]])

    def _choices(
        self, logits: torch.Tensor, pieces: torch.Tensor, rows: torch.Tensor, next_word_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return the logits (n_rows, n_deciding + 1) of the deciding tokens and, last, of the next word.

        logits: float32 (n_tokens, n_pieces), a column for each of `pieces`; rows, next_word_ids: int64 (n_rows,).
        """
        next_word_columns = torch.searchsorted(pieces, next_word_ids)[:, None]
        deciding_columns = torch.searchsorted(pieces, self.deciding_ids).expand(len(rows), -1)
        return logits[rows[:, None], torch.cat([deciding_columns, next_word_columns], -1)]


def _mean_loss(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy, in nats, of logits (n_batch, n_words, n_classes) and classes (n_batch, n_words).

    It is 0 if all classes are IGNORED.
    """
    summed = cross_entropy(logits.flatten(0, 1).float(), classes.flatten(), ignore_index=IGNORED, reduction="sum")
    return summed / (classes != IGNORED).sum().clamp(min=1)


class FrozenStates:
    """Keeps the states of a frozen encoder for the first `max_tokens` source tokens; others are computed each time."""

    def __init__(self, max_tokens: int) -> None:
        self._states_by_ids: dict[bytes, Any] = {}  # ids as bytes -> float16 (n_source, d_model)
        self._n_free = max_tokens

    def encode(self, encoder: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return states (n_batch, n_source, d_model), rounded to float16; ids and mask: int64 (n_batch, n_source)."""
        encoder.eval()  # or states would be kept with dropout
        lengths = attention_mask.sum(1).tolist()
        keys = [ids[:length].cpu().numpy().tobytes() for ids, length in zip(input_ids, lengths, strict=True)]
        states: list[Any] = [self._states_by_ids.get(key) for key in keys]
        unknown = [index for index, key in enumerate(keys) if key not in self._states_by_ids]
        if unknown:
            longest = max(lengths[index] for index in unknown)
            ids, mask = input_ids[unknown, :longest], attention_mask[unknown, :longest]
            with torch.no_grad():
                computed = encoder(input_ids=ids, attention_mask=mask).last_hidden_state.to("cpu", torch.float16)
            for index, row in zip(unknown, computed, strict=True):
                states[index] = row[: lengths[index]].clone()
                if lengths[index] <= self._n_free:
                    self._n_free -= lengths[index]
                    self._states_by_ids[keys[index]] = states[index]
        return pad_sequence(states, batch_first=True).to(input_ids.device, torch.float32)
