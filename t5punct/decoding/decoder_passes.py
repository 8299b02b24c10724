"""The decoder over one batch of windows, pass after pass, computing only what changed.

In: for each window, the tokens that are not settled.  Out: the decoder's states at their positions.

The keys and values of the source are made once.  Those of a target's settled tokens are kept; as windows settle
at different places, each window's are moved to end where its open tokens begin:

    settled  w e l l          . . w e l l | t h i s
             w e              . . . . w e | k n o w    (left padding is exact: T5 knows only distances)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache, EncoderDecoderCache

from ..model import Model
from .inputs import EncoderInput


class DecoderPasses:
    """Keys and values of one batch, and the way to get more."""

    def __init__(self, model: Model, source: EncoderInput) -> None:
        self._network: Any = model.network
        self._start_id, self._pad_id = model.start_id, model.tokenizer.pad_id
        self._source_mask = source.attention_mask
        self.encoded = self._network.get_encoder()(
            input_ids=source.input_ids, attention_mask=source.attention_mask
        ).last_hidden_state
        self._source_cache, self._target_cache = DynamicCache(), DynamicCache()
        self._begins = [0] * len(source.input_ids)  # the column of each window's first key

    def states(self, tokens: Sequence[Sequence[int]], n_settled: Sequence[int]) -> torch.Tensor:
        """States at the positions from `n_settled` on, (n_batch, n_open, d_model), rows padded on the right.

        `tokens` begin with the last settled one, if there is any; the state at position t predicts token t.
        """
        inputs = [
            row[:-1] if settled else (self._start_id, *row[:-1]) for row, settled in zip(tokens, n_settled, strict=True)
        ]
        width, n_kept = max(map(len, inputs)), max(n_settled)
        self._target_cache = self._aligned(n_settled, n_kept)
        self._begins = [n_kept - settled for settled in n_settled]
        columns = torch.arange(n_kept + width, device=self._source_mask.device)
        begins = torch.tensor(self._begins, device=columns.device)
        states: torch.Tensor = self._network.get_decoder()(
            input_ids=torch.tensor(
                [(*row, *(self._pad_id,) * (width - len(row))) for row in inputs], device=columns.device
            ),
            attention_mask=(columns >= begins[:, None]).long(),
            encoder_hidden_states=self.encoded,
            encoder_attention_mask=self._source_mask,
            past_key_values=EncoderDecoderCache(self._target_cache, self._source_cache),
            use_cache=True,
        ).last_hidden_state
        return states

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all windows but these."""
        kept = torch.tensor(rows, device=self._source_mask.device)
        self._source_mask, self.encoded = self._source_mask[kept], self.encoded[kept]
        self._source_cache.batch_select_indices(kept)
        self._target_cache.batch_select_indices(kept)
        self._begins = [self._begins[row] for row in rows]

    def _aligned(self, n_settled: Sequence[int], n_kept: int) -> DynamicCache:
        """The settled keys and values, each window's moved to end at column `n_kept`."""
        aligned = DynamicCache()
        if not n_kept:
            return aligned
        shifts = [begin + settled - n_kept for begin, settled in zip(self._begins, n_settled, strict=True)]
        device = self._source_mask.device
        columns = (torch.arange(n_kept, device=device) + torch.tensor(shifts, device=device)[:, None]).clamp(min=0)
        for index, layer in enumerate(self._target_cache.layers):
            n_batch, n_heads, _, d_kv = layer.keys.shape
            places = columns[:, None, :, None].expand(n_batch, n_heads, n_kept, d_kv)
            aligned.update(layer.keys.gather(2, places), layer.values.gather(2, places), index)
        return aligned
