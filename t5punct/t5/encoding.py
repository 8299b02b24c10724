"""The encoder over a batch of windows, end to end: what stands in a window is computed, and no padding.

In: padded token ids and their mask.  Out: the encoder's states, as transformers gives them.

Everything that looks at one token alone (most of the work) runs on the tokens of all windows, one window after the
other.  Attention takes windows of equal length together: they lie side by side, so nothing is copied or masked, and the
position bias is one for all of them.

    padded  w e _ _   end to end  w e i t k n o w t h i s   attention  w e    k n o w
            k n o w                                                    i t    t h i s
            i t _ _
            t h i s

For a CPU.  On a GPU, where few large steps are faster than many small ones, a batch stays padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any

import torch

from .layers import EncoderLayer, EncoderLayers, attend, encoder_layers


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
        """Return (n_all_tokens, n_heads * d_kv) as (n_windows, n_heads, n_tokens, d_kv), a view."""
        rows = flat[self.start : self.stop].view(self.n_windows, self.n_tokens, n_heads, -1)
        return rows.transpose(1, 2)


def encode_windows(encoder: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """Return the states of an encoder that is not being trained; zeros where padded, on the right.

    input_ids, attention_mask: int64 (n_batch, n_source).  Gives (n_batch, n_source, d_model).
    """
    stack = encoder_layers(encoder)
    n_source = input_ids.shape[1]
    order = attention_mask.sum(1).argsort(stable=True)
    real = attention_mask[order].bool()
    groups = group_equal_windows(real.sum(1).tolist())
    places = torch.arange(n_source, device=input_ids.device)
    hidden = stack.embed(input_ids[order][real], places.expand_as(real)[real])  # (n_tokens, d_model)
    hidden = _run_layers(stack, hidden, groups, _whole_biases(stack, n_source))
    padded = hidden.new_zeros((*input_ids.shape, hidden.shape[-1]))
    padded[real] = hidden
    return padded[order.argsort()]


def encode_padded(encoder: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """Return the same states as `encode_windows`, of windows that are all as long as the longest."""
    stack = encoder_layers(encoder)
    (n_batch, n_source) = input_ids.shape
    places = torch.arange(n_source, device=input_ids.device).expand_as(input_ids)
    hidden = stack.embed(input_ids.flatten(), places.flatten())  # (n_batch * n_source, d_model)
    hides = torch.zeros(attention_mask.shape, dtype=hidden.dtype, device=hidden.device)
    hides = hides.masked_fill(attention_mask == 0, float("-inf"))[:, None, None]  # (n_batch, 1, 1, n_source)
    hides = hides.expand(-1, 1, n_source, -1)
    biases = [hides if bias is None else hides + bias for bias in _whole_biases(stack, n_source)]
    hidden = _run_layers(stack, hidden, [EqualWindows(0, n_batch * n_source, n_batch)], biases)
    return hidden.view(n_batch, n_source, -1) * attention_mask[..., None]


def _run_layers(
    stack: EncoderLayers, hidden: torch.Tensor, groups: Sequence[EqualWindows], biases: Sequence[torch.Tensor | None]
) -> torch.Tensor:
    """All layers, one after the other; hidden: (n_tokens, d_model), as is the result."""
    for layer, bias in zip(stack.layers, biases, strict=True):
        hidden = layer.feed(layer.absorb(hidden, _attend_groups(layer, hidden, groups, bias)))
    return stack.finish(hidden)


def _whole_biases(stack: EncoderLayers, n_source: int) -> list[torch.Tensor | None]:
    """The position biases of each layer between all tokens of a window, (1, n_heads, n_source, n_source)."""
    if stack.biases is None:
        return [None] * len(stack.layers)
    places = torch.arange(n_source)
    distances = (places - places[:, None]).clamp(-stack.farthest, stack.farthest) + stack.farthest
    tables = stack.biases()
    distinct = {id(table): table[None, :, distances.to(table.device)] for table in tables}
    return [distinct[id(table)] for table in tables]


def group_equal_windows(lengths: Sequence[int]) -> list[EqualWindows]:
    """Return the windows of each length, given the lengths of all in ascending order.

    >>> group_equal_windows([2, 2, 4])
    [EqualWindows(start=0, stop=4, n_windows=2), EqualWindows(start=4, stop=8, n_windows=1)]
    """
    counts = [(length, len(list(group))) for length, group in groupby(lengths)]
    ends = accumulate(length * n_windows for length, n_windows in counts)
    return [EqualWindows(end - length * n, end, n) for end, (length, n) in zip(ends, counts, strict=True)]


def _attend_groups(
    layer: EncoderLayer, hidden: torch.Tensor, groups: Sequence[EqualWindows], bias: torch.Tensor | None
) -> torch.Tensor:
    """What each token attends to in its window; hidden: (n_tokens, d_model), the result (n_tokens, n_heads * d_kv).

    bias: (1, n_heads, n_source, n_source), or of each window its own, where all are one group.
    """
    read = layer.read(hidden)
    queries, keys, values = layer.queries(read), layer.keys(read), layer.values(read)
    attended = torch.empty_like(queries)
    for group in groups:
        query, key, value = (group.heads(flat, layer.n_heads) for flat in (queries, keys, values))
        mask = None if bias is None else bias[..., : group.n_tokens, : group.n_tokens]
        group.heads(attended, layer.n_heads).copy_(attend(query, key, value, mask, layer.scale))
    return attended
