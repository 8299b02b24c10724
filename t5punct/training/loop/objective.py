"""What is minimised: the text loss, and the losses of a tagger that teach the encoder directly.

- Text: T5's cross-entropy over target tokens (Raffel 2020).  With `sampled_pieces` it is taken over the pieces of the
  batch's targets and so many others drawn at random, not over the whole vocabulary (Jean 2015, section 3.3).
- Slots: the same among the marks, the case tokens and the next word alone, as slot decoding does it.
- Tagger: each word's first mark and case, read off the encoder's state of the word's last token (deep supervision, Lee
  2015): the encoder learns where marks stand from the first step, while the decoder still learns to copy.
- Labels of a teacher (Hinton 2015): for the tagger, and for the first token that the decoder writes behind a word.

With a delay (`t5/delay.py`) only the tagger reads delayed states, as it alone decides then.  The decoder reads those of
a second pass, with the whole context.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from torch.utils._pytree import register_dataclass

from ...config import check
from ...decoding.cached_decoder import output_scale
from ...model import Model
from ...t5.delay import Delay, delayed_states
from ...t5.encoder import blocks_of
from ...t5.tagger import Tagger, states_at_words
from ...t5.word_memory import embed_targets
from ..config import LossConfig
from ..examples.batches import Batch
from ..examples.history import IGNORED
from ..labels import divergence, label_loss

_CASE_WEIGHT = 0.5  # of the tagger's loss of case, beside that of marks
Encode = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Losses:
    """Scalar tensors; `total`, which is minimised, has the config's weights.

    text, slots, tags, cases: mean cross-entropies in nats; teacher: divergences from its labels, of the tagger and of
    the decoder's slots, each of weight 1.
    """

    total: torch.Tensor
    text: torch.Tensor
    slots: torch.Tensor
    tags: torch.Tensor
    cases: torch.Tensor
    teacher: torch.Tensor

    def on_cpu(self) -> Losses:
        """Return the losses on the CPU: the device is waited for once, not for each number."""
        values = torch.stack([getattr(self, field.name).detach().float() for field in fields(self)]).cpu()
        return Losses(*values)


# FSDP looks for tensors in what a module gives back, by torch's trees
register_dataclass(Losses)


class Objective(nn.Module):
    """A T5 and its tagger."""

    def __init__(self, model: Model, config: LossConfig) -> None:
        super().__init__()
        self.network = model.network
        self.config = config
        self.model = model
        self._no_split_modules = getattr(model.network, "_no_split_modules", None)  # FSDP's units: the layers
        deciding: tuple[int, ...] = ()  # the tokens among which a slot is decided
        if config.slot_weight:
            deciding = model.tokenizer.deciding_ids or ()
            mistake = "a text form in which no single token decides a slot"
            expected = "inline casing or no case, and marks of one token"
            check(deciding, mistake, expected=expected, fix="set loss.slot_weight=0")
        self.deciding_ids: torch.Tensor
        self.register_buffer("deciding_ids", torch.tensor(deciding, dtype=torch.long), persistent=False)
        # where the marks are among them, in the tagger's order
        marks = model.task.slot_marks if deciding else ""
        self._mark_places = [deciding.index(model.tokenizer.mark_ids[mark][0]) for mark in marks]
        self.output_scale = output_scale(model)
        self._frozen_states = FrozenStates(config.kept_states) if config.kept_states else None
        if not config.text_weight:  # nothing asks the decoder, nor the memory that it alone reads
            for part in (self.network.decoder, getattr(self.network, "memory", None)):
                for parameter in part.parameters() if part else ():
                    if parameter is not self.network.shared.weight:
                        parameter.requires_grad_(False)
        self.tagger = None
        if config.tagger_weight:
            self.tagger = model.tagger or Tagger(self.network.config.d_model, model.task.slot_marks, model.task.opening)

    def forward(self, batch: Batch, delay: Delay | None = None) -> Losses:
        """Return the losses of a batch, those of the tagger with a delay if one is given."""
        states = self._states(batch, delay)
        text = slots = tags = cases = teacher = states.new_zeros(())
        if self.config.text_weight:
            whole = states if delay is None else self._states(batch)
            text, slots, teacher = self._text_losses(whole, batch)
        if self.tagger is not None:
            read = states_at_words(states, batch.word_ends)
            marks, forms = self.tagger(read)  # (n_batch, n_words, n_classes)
            tags = _mean_loss(marks, batch.marks)
            cases = _mean_loss(forms, batch.cases)
            if self.tagger.openings is not None and batch.openings is not None:
                tags = tags + _mean_loss(self.tagger.openings(read), batch.openings)
            if batch.taught is not None:
                teacher = teacher + label_loss(batch.taught, marks, forms, batch.marks != IGNORED)
        written = self.config.text_weight * text + self.config.slot_weight * slots
        # a text without capitals has nothing to say about them
        case_weight = _CASE_WEIGHT if self.model.task.cased else 0.0
        tagged = self.config.tagger_weight * (tags + case_weight * cases)
        total = written + tagged + teacher
        return Losses(total, text.detach(), slots.detach(), tags.detach(), cases.detach(), teacher.detach())

    def _states(self, batch: Batch, delay: Delay | None = None) -> torch.Tensor:
        """Return the encoder's states (n_batch, n_source, d_model); without gradients where its layers are frozen."""
        encoder = self.network.encoder
        layers = blocks_of(encoder) or encoder
        learns = any(parameter.requires_grad for parameter in layers.parameters())

        def encode(input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            states: torch.Tensor = encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            return states

        if self._frozen_states is not None and not learns and delay is None:
            encoder.eval()  # dropout would be kept too
            return self._frozen_states.encode(encode, batch.input_ids, batch.attention_mask)
        with torch.set_grad_enabled(learns and torch.is_grad_enabled()):
            if delay is not None:
                return delayed_states(encoder, batch.input_ids, batch.token_words, delay)
            return encode(batch.input_ids, batch.attention_mask)

    def _text_losses(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the mean cross-entropies of tokens and of slots, and the divergence from the labels.

        states: (n_batch, n_source, d_model).
        """
        inputs = self.network._shift_right(batch.written)  # the start, then all but the last
        written = self.network.decoder(
            inputs_embeds=embed_targets(self.network, inputs),
            encoder_hidden_states=self.model.remember(states, batch.input_ids),
            encoder_attention_mask=batch.attention_mask,
            use_cache=False,
        ).last_hidden_state
        real = batch.targets != IGNORED
        wanted, next_word_ids = batch.targets[real], batch.next_word_ids[real]  # (n_tokens,)
        pieces = self._pieces(wanted)
        rows = self.network.lm_head.weight
        outputs = written[real] * self.output_scale  # (n_tokens, d_model)
        logits = nn.functional.linear(outputs, rows if len(pieces) == len(rows) else rows[pieces]).float()
        places = torch.searchsorted(pieces, wanted)
        text = cross_entropy(logits, places)
        if not self.config.slot_weight:
            return text, text.new_zeros(()), text.new_zeros(())
        slots = self._slot_loss(logits, pieces, wanted, next_word_ids)
        return text, slots, self._slot_label_loss(logits, pieces, real, batch)

    def _slot_loss(
        self, logits: torch.Tensor, pieces: torch.Tensor, wanted: torch.Tensor, next_word_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return the mean cross-entropy in nats, among the deciding tokens and the next word; 0 without decisions.

        logits: float32 (n_tokens, n_pieces), of the `pieces`; wanted, next_word_ids: int64 (n_tokens,), the target and
        the next word, which is a later target.
        """
        decided = next_word_ids != IGNORED
        wanted = wanted[decided]
        # the place of the wanted token among the deciding ones; that of the next word, the last, if it is none of them
        taken = (wanted[:, None] == self.deciding_ids).int()
        classes = torch.where(taken.any(-1), taken.argmax(-1), len(self.deciding_ids))
        choices = self._choices(logits, pieces, decided.nonzero()[:, 0], next_word_ids[decided])
        summed = cross_entropy(choices, classes, reduction="sum")
        return summed / max(1, len(classes))

    def _slot_label_loss(
        self, logits: torch.Tensor, pieces: torch.Tensor, real: torch.Tensor, batch: Batch
    ) -> torch.Tensor:
        """Return the mean divergence in nats of what may be written behind a word from its label, a scalar.

        logits: float32 (n_tokens, n_pieces), of the `pieces`; real: bool (n_batch, n_target), the targets' tokens.
        """
        if batch.taught is None or batch.slot_starts is None:
            return logits.new_zeros(())
        taught = (batch.taught > 0).any(-1)  # (n_batch, n_words)
        rows = (real.flatten().cumsum(0).view_as(real) - 1).gather(1, batch.slot_starts)[taught]  # (n_taught,)
        choices = self._choices(logits, pieces, rows, batch.next_word_ids.gather(1, batch.slot_starts)[taught])
        is_mark = torch.zeros(choices.shape[1], dtype=torch.bool, device=choices.device)
        is_mark[self._mark_places] = True
        no_mark = choices[:, ~is_mark].logsumexp(-1, keepdim=True)
        marks = torch.cat([no_mark, choices[:, self._mark_places]], -1)  # (n_taught, n_classes)
        return divergence(marks, batch.taught[taught][:, : marks.shape[1]])

    def _choices(
        self, logits: torch.Tensor, pieces: torch.Tensor, rows: torch.Tensor, next_word_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return the logits (n_rows, n_deciding + 1) of the deciding tokens and of the next word, the last.

        logits: float32 (n_tokens, n_pieces), of the `pieces`; rows: int64 (n_rows,), tokens of the targets;
        next_word_ids: int64 (n_rows,).
        """
        following = torch.searchsorted(pieces, next_word_ids)[:, None]
        deciding = torch.searchsorted(pieces, self.deciding_ids).expand(len(rows), -1)
        return logits[rows[:, None], torch.cat([deciding, following], -1)]

    def _pieces(self, wanted: torch.Tensor) -> torch.Tensor:
        """Return the ids whose logits are computed, int64 (n_pieces,), ascending: all, or the wanted and some others.

        They are gathered once, since the gradient of each gathering is as large as the whole vocabulary.
        """
        n_vocabulary = len(self.network.lm_head.weight)
        if self.config.sampled_pieces is None:
            return torch.arange(n_vocabulary, device=wanted.device)
        sample = torch.randint(n_vocabulary, (self.config.sampled_pieces,), device=wanted.device)
        pieces: torch.Tensor = torch.cat([wanted, self.deciding_ids, sample]).unique()  # type: ignore[no-untyped-call]
        return pieces


def _mean_loss(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of logits (n_batch, n_words, n_classes) and classes (n_batch, n_words).

    It is 0 where all classes are IGNORED.
    """
    summed = cross_entropy(logits.flatten(0, 1).float(), classes.flatten(), ignore_index=IGNORED, reduction="sum")
    return summed / (classes != IGNORED).sum().clamp(min=1)


class FrozenStates:
    """States of up to `max_tokens` source tokens, by their ids; those that come later are computed each time."""

    def __init__(self, max_tokens: int) -> None:
        self._kept: dict[bytes, Any] = {}
        self._n_free = max_tokens

    def encode(self, encode: Encode, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return states (n_batch, n_source, d_model), rounded to float16, of ids and mask, int64 (n_batch, n_source).

        `encode` computes the states of those that are not kept.
        """
        lengths = attention_mask.sum(1).tolist()
        keys = [ids[:length].cpu().numpy().tobytes() for ids, length in zip(input_ids, lengths, strict=True)]
        states: list[Any] = [self._kept.get(key) for key in keys]
        new = [index for index, row in enumerate(states) if row is None]
        if new:
            longest = max(lengths[index] for index in new)
            with torch.no_grad():
                computed = encode(input_ids[new, :longest], attention_mask[new, :longest]).to("cpu", torch.float16)
            for index, row in zip(new, computed, strict=True):
                states[index] = row[: lengths[index]].clone()
                if lengths[index] <= self._n_free:
                    self._n_free -= lengths[index]
                    self._kept[keys[index]] = states[index]
        return pad_sequence(states, batch_first=True).to(input_ids.device, torch.float32)
