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
    ids = network.generate(
        input_ids=source.input_ids,
        attention_mask=source.attention_mask,
        num_beams=beams,
        do_sample=False,
        max_new_tokens=int(_ROOM * source.input_ids.shape[1]) + _ROOM_TOKENS,
    )
    return [model.tokenizer.decode(row) for row in ids.tolist()]
