"""What the conversion must know about a BERT's states on real text: their scales, and what positions do to attention.

In: a `Bert` and token ids.  Out: a `LayerScales` for each layer, and a relative position bias for each.

Scales are medians over tokens: a few tokens ([CLS], [SEP]) have ten times the scale of the rest, so a mean would fit no
token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from .bert import Bert, BertLayer, LayerTrace

_FLOOR = 0.1  # of the weight of even attention, so that pairs to which the BERT does not attend count a little


@dataclass(frozen=True, slots=True)
class LayerScales:
    """Medians over tokens of one layer; standard deviations are over a token's channels.

    x_std, x_mean: of the layer's input; u_std: of the states before attention's norm; bare_std: the same without the
    output bias of attention, which the converted stream does not carry; v_std: of the states before the last norm;
    states: float32 (n_tokens, d), `u` without that bias, mean taken away, for the covariance.
    """

    x_std: float
    x_mean: float
    u_std: float
    bare_std: float
    v_std: float
    y_std: float
    states: torch.Tensor


def find_scales(bert: Bert, batches: Sequence[torch.Tensor]) -> list[LayerScales]:
    """Return the scales of each layer without positions, on batches of unpadded ids (n_batch, n_tokens)."""
    traces = [bert.trace(ids, positions=False) for ids in batches]
    return [_layer_scales(layer, [trace[index] for trace in traces]) for index, layer in enumerate(bert.layers)]


def _layer_scales(layer: BertLayer, traces: Sequence[LayerTrace]) -> LayerScales:
    def flat(name: str) -> torch.Tensor:
        return torch.cat([getattr(trace, name).flatten(0, 1) for trace in traces])  # (n_tokens, d)

    x, u, v, y = flat("x"), flat("u"), flat("v"), flat("y")
    bare = centred(u - layer.output.bias)
    return LayerScales(_std(x), float(x.mean(-1).median()), _std(u), _std(bare), _std(v), _std(y), bare)


def centred(x: torch.Tensor) -> torch.Tensor:
    """Return x without its mean over channels (the last dimension)."""
    return x - x.mean(-1, keepdim=True)


def _std(x: torch.Tensor) -> float:
    return float(x.std(-1, correction=0).median())


def fit_relative_biases(
    bert: Bert, batches: Sequence[torch.Tensor], bucket: Callable[[torch.Tensor], torch.Tensor], n_buckets: int
) -> list[torch.Tensor]:
    """Fit biases, for each layer float32 (n_buckets, n_heads), that replace absolute positions in attention.

    Weighted least squares of the BERT's logits with positions minus those without, by bucket of relative position
    (`bucket`: int64 key place minus query place -> bucket), with a free offset for each query, as softmax ignores it.
    Weight: the BERT's attention, and a floor.
    """
    fits = [[_Fit(n_buckets) for _ in range(layer.n_heads)] for layer in bert.layers]
    for ids in batches:
        places = torch.arange(ids.shape[1])
        buckets = bucket(places[None, :] - places[:, None])
        one_hot = torch.nn.functional.one_hot(buckets, n_buckets).float()  # (n_tokens, n_tokens, n_buckets)
        for row, placed, bare in zip(fits, bert.trace(ids), bert.trace(ids, positions=False), strict=True):
            weights = placed.logits.softmax(-1) + _FLOOR / ids.shape[1]
            wanted = placed.logits - bare.logits
            for head, fit in enumerate(row):
                fit.add(one_hot, wanted[:, head], weights[:, head])
    return [torch.stack([fit.solution() for fit in row], 1) for row in fits]


class _Fit:
    """The normal equations of one head."""

    def __init__(self, n_buckets: int) -> None:
        self._square = torch.zeros(n_buckets, n_buckets)
        self._right = torch.zeros(n_buckets)

    def add(self, one_hot: torch.Tensor, wanted: torch.Tensor, weights: torch.Tensor) -> None:
        """Add equations; one_hot: (n, n, n_buckets); wanted, weights: (n_batch, n, n)."""
        shares = weights / weights.sum(-1, keepdim=True)
        for target, weight, share in zip(wanted, weights, shares, strict=True):
            means = torch.einsum("ij,ijk->ik", share, one_hot)  # what the offset of a query takes away
            free = one_hot - means[:, None]
            centred_target = target - (share * target).sum(-1, keepdim=True)
            self._square += torch.einsum("ij,ijk,ijl->kl", weight, free, free)
            self._right += torch.einsum("ij,ijk,ij->k", weight, free, centred_target)

    def solution(self) -> torch.Tensor:
        """Return the biases, (n_buckets,); a bucket that was never seen, and the common level of all, are 0."""
        ridge = 1e-4 * float(self._square.diagonal().mean()) + 1e-12
        weights: torch.Tensor = torch.linalg.solve(self._square + ridge * torch.eye(len(self._right)), self._right)
        return weights
