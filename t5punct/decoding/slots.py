"""Slot decoding, step by step: constrained greedy decoding of a batch of windows.

In: windows of words.  Out: votes, one a slot, with distributions over labels and case.

This is the reference that faster forms must equal (DESIGN, section 5): at every step each window's decoder may write
only what `candidates` allows, so the words of the output are the words of the input by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model import Model
from ..votes import Vote
from .candidates import SlotWriter
from .inputs import WindowInput, encoder_input


@torch.inference_mode()
def decode_slots(
    model: Model, windows: Sequence[WindowInput], style: str | None = None, marks: str | None = None
) -> list[tuple[Vote, ...]]:
    """Votes for each window's words.  `marks` restricts the alphabet; None allows all of the task's."""
    writers = [SlotWriter(window, model.tokenizer, marks) for window in windows]
    if not any(window.words for window in windows):
        return [writer.votes() for writer in writers]
    network: Any = model.network
    source = encoder_input(windows, model, style)
    encoded = network.get_encoder()(input_ids=source.input_ids, attention_mask=source.attention_mask)
    written = torch.full((len(windows), 1), model.start_id, device=model.device)  # the last token of each window
    cache = None
    while not all(writer.done for writer in writers):
        output = network(
            encoder_outputs=encoded,
            attention_mask=source.attention_mask,
            decoder_input_ids=written,
            past_key_values=cache,
            use_cache=True,
        )
        cache = output.past_key_values
        logits = output.logits[:, -1].float()  # (n_batch, n_vocabulary)
        tokens = [_step(writer, row, model) for writer, row in zip(writers, logits, strict=True)]
        written = torch.tensor(tokens, device=model.device)[:, None]
    return [writer.votes() for writer in writers]


def _step(writer: SlotWriter, logits: torch.Tensor, model: Model) -> int:
    """Take the best allowed token (of equals, the first offered); logits: float32 (n_vocabulary,)."""
    if writer.done:
        return model.tokenizer.pad_id
    allowed = writer.allowed()
    if len(allowed) == 1:
        writer.take({allowed[0]: 1.0}, allowed[0])
        return allowed[0]
    probabilities = torch.softmax(logits[allowed], dim=0).tolist()
    best = max(range(len(allowed)), key=probabilities.__getitem__)
    writer.take(dict(zip(allowed, probabilities, strict=True)), allowed[best])
    return allowed[best]
