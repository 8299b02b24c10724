"""The states of an encoder that does not learn: computed once for each source, and kept.

For a decoder that is trained alone, where texts come back: after the first epoch only what is new, such as sources with
other errors, is encoded (docs/results/large.md has the speed).  A state takes 2 bytes a channel (3 GB for 2 million
tokens of 768).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.utils.rnn import pad_sequence

Encode = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class FrozenStates:
    """States of up to `max_tokens` source tokens, by their ids; those that come later are computed each time."""

    def __init__(self, max_tokens: int) -> None:
        self._kept: dict[bytes, torch.Tensor] = {}
        self._n_free = max_tokens

    def encode(self, encode: Encode, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return states (n_batch, n_source, d_model), rounded to float16, of ids and mask, int64 (n_batch, n_source).

        `encode` computes the states of those that are not kept.
        """
        lengths = attention_mask.sum(1).tolist()
        keys = [row[:length].cpu().numpy().tobytes() for row, length in zip(input_ids, lengths, strict=True)]
        rows = {index: self._kept[key] for index, key in enumerate(keys) if key in self._kept}
        new = [index for index in range(len(keys)) if index not in rows]
        if new:
            longest = max(lengths[index] for index in new)
            with torch.no_grad():
                states = encode(input_ids[new, :longest], attention_mask[new, :longest])
            rounded = states.to("cpu", torch.float16)
            for index, row in zip(new, rounded, strict=True):
                rows[index] = row[: lengths[index]].clone()
                if lengths[index] <= self._n_free:
                    self._n_free -= lengths[index]
                    self._kept[keys[index]] = rows[index]
        padded = pad_sequence([rows[index] for index in range(len(keys))], batch_first=True)
        return padded.to(input_ids.device, torch.float32)
