"""Free generation, as in the papers: greedy or beam search, any text may come out.

In: windows of words.  Out: one generated text a window; the aligner projects it onto the words.

`generate_texts(model, [WindowInput.of(["we", "know"])])` might give `["We know."]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model import Model
from .inputs import WindowInput, encoder_input

_ROOM = 1.5  # how much longer than its source a target may grow; marks and capitals cost tokens
_ROOM_TOKENS = 16


@torch.inference_mode()
def generate_texts(model: Model, windows: Sequence[WindowInput], style: str | None = None, beams: int = 1) -> list[str]:
    """The text a model writes for each window (Melamud 2021: T5, source words to punctuated words)."""
    if not windows:
        return []
    network: Any = model.network
    source = encoder_input(windows, model, style)
    limits = [int(_ROOM * length) + _ROOM_TOKENS for length in source.attention_mask.sum(1).tolist()]
    ids = network.generate(
        input_ids=source.input_ids,
        attention_mask=source.attention_mask,
        num_beams=beams,
        do_sample=False,
        max_new_tokens=max(limits),
    )
    # each row keeps to its own limit, so that a runaway text does not depend on its neighbours in the batch
    return [model.tokenizer.decode(row[: limit + 1]) for row, limit in zip(ids.tolist(), limits, strict=True)]
