"""The encoder over a batch of windows, end to end: what stands in a window is computed, and no padding.

In: padded token ids and their mask.  Out: the encoder's states, as transformers gives them.

Everything that looks at one token alone (most of the work) runs on the tokens of all windows, one window after the
other.  Attention takes windows of equal length together: they lie side by side, so nothing is copied or masked, and the
position bias is one for all of them.

    padded  w e _ _   end to end  w e i t k n o w t h i s   attention  w e    k n o w
            k n o w                                                    i t    t h i s
            i t _ _
            t h i s

For a CPU; on a GPU, where it has not been measured, `Model.encode` has transformers read the padded batch.  The layers
are those of transformers' T5, mT5 and umT5, called one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention


@dataclass(frozen=True, slots=True)
class EqualWindows:
    """Windows of equal length: where their tokens stand among all, and how many windows they are."""

    start: int
    stop: int
    n_windows: int

    @property
    def n_tokens(self) -> int:
        """Of each window."""
        return (self.stop - self.start) // self.n_windows

    def heads(self, flat: torch.Tensor, n_heads: int) -> torch.Tensor:
        """(n_all_tokens, n_heads * d_kv) -> (n_windows, n_heads, n_tokens, d_kv), a view."""
        rows = flat[self.start : self.stop].view(self.n_windows, self.n_tokens, n_heads, -1)
        return rows.transpose(1, 2)


def encoded(encoder: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """The states of an encoder that is not being trained; zeros where padded, on the right.

    input_ids, attention_mask: int64 (n_batch, n_source).  Gives (n_batch, n_source, d_model).
    """
    order = attention_mask.sum(1).argsort(stable=True)
    real = attention_mask[order].bool()
    groups = equal_windows(real.sum(1).tolist())
    hidden = encoder.embed_tokens(input_ids[order][real])  # (n_tokens, d_model)
    n_source, bias = input_ids.shape[1], None
    for block in encoder.block:
        attending, feeding = block.layer[0], block.layer[-1]
        attention = attending.SelfAttention
        if attention.has_relative_attention_bias:  # T5 has one bias, the first layer's; umT5 one a layer
            bias = attention.compute_bias(n_source, n_source)  # (1, n_heads, n_source, n_source)
        hidden = hidden + _attention(attention, attending.layer_norm(hidden), groups, bias)
        hidden = hidden + feeding.DenseReluDense(feeding.layer_norm(hidden))
    padded: torch.Tensor = hidden.new_zeros((*input_ids.shape, hidden.shape[-1]))
    padded[real] = encoder.final_layer_norm(hidden)
    return padded[order.argsort()]


def equal_windows(lengths: Sequence[int]) -> list[EqualWindows]:
    """The windows of each length, given the lengths of all in ascending order.

    >>> equal_windows([2, 2, 4])
    [EqualWindows(start=0, stop=4, n_windows=2), EqualWindows(start=4, stop=8, n_windows=1)]
    """
    counts = [(length, len(list(group))) for length, group in groupby(lengths)]
    ends = accumulate(length * n_windows for length, n_windows in counts)
    return [EqualWindows(end - length * n, end, n) for end, (length, n) in zip(ends, counts, strict=True)]


def _attention(
    attention: Any, normed: torch.Tensor, groups: Sequence[EqualWindows], bias: torch.Tensor | None
) -> torch.Tensor:
    """Self-attention without scaling, as T5 has it; normed: (n_tokens, d_model), and so the result."""
    queries, keys, values = (make(normed) for make in (attention.q, attention.k, attention.v))
    found = torch.empty_like(queries)
    for group in groups:
        query, key, value = (group.heads(flat, attention.n_heads) for flat in (queries, keys, values))
        mask = None if bias is None else bias[..., : group.n_tokens, : group.n_tokens]
        attended = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
        group.heads(found, attention.n_heads).copy_(attended)
    result: torch.Tensor = attention.o(found)
    return result
