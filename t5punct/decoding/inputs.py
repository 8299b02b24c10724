"""What a decoder is given, and its settings.

In: words of a window.  Out: `WindowInput`s, padded tensors.

>>> WindowInput.of(["Hello", "NASA"]).words
('hello', 'nasa')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..errors import ConfigError
from ..model import Model

DECODERS = ("slots", "generate")


@dataclass(frozen=True)
class DecodingConfig:
    """How windows are decoded."""

    decoder: str = "slots"
    beams: int = 1  # `generate` only; 1 is greedy
    batch_windows: int = 32
    style: str | None = None  # None takes the model's default

    def __post_init__(self) -> None:
        if self.decoder not in DECODERS:
            raise ConfigError(
                f"decoder {self.decoder!r}", expected=f"one of {', '.join(DECODERS)}", fix="check --decoder"
            )
        if self.beams < 1 or self.batch_windows < 1:
            raise ConfigError(
                f"{self.beams} beams, {self.batch_windows} windows a batch", expected="1 or more", fix="raise it"
            )


@dataclass(frozen=True, slots=True)
class WindowInput:
    """The words of one window: as the model reads them, as the input spells them, and whether marks may follow."""

    words: tuple[str, ...]
    spellings: tuple[str, ...]
    has_slot: tuple[bool, ...]

    @classmethod
    def of(cls, spellings: Sequence[str]) -> WindowInput:
        return cls(tuple(word.lower() for word in spellings), tuple(spellings), (True,) * len(spellings))


@dataclass(frozen=True, slots=True)
class EncoderInput:
    """input_ids, attention_mask: int64 (n_batch, n_source)."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor


def encoder_input(windows: Sequence[WindowInput], model: Model, style: str | None) -> EncoderInput:
    """Source tokens of a batch of windows, padded on the right."""
    sources = [model.tokenizer.source(window.words, style).ids for window in windows]
    width = max(len(ids) for ids in sources)
    pad = model.tokenizer.pad_id
    input_ids = torch.tensor([[*ids, *(pad,) * (width - len(ids))] for ids in sources], device=model.device)
    lengths = torch.tensor([len(ids) for ids in sources], device=model.device)
    mask = (torch.arange(width, device=model.device) < lengths[:, None]).long()  # (n_batch, n_source)
    return EncoderInput(input_ids, mask)
