"""A BERT becomes the encoder of an umT5, matrix by matrix.

In: a `Bert` and its scales on text.  Out: the weights of a `UMT5ForConditionalGeneration`'s encoder.

A BERT has a LayerNorm after each sublayer, biases and means; an umT5 has a RMSNorm before each sublayer and no bias.
So the stream is s = [h ; c ; 0]: h, the BERT's state without its mean, times k; c, a constant that carries every bias
as a column of the matrices that read it; zeros, room to learn.  RMSNorm gives q s with q = sqrt(D / (|h|^2 + c^2)),
which follows each token's own standard deviation as a LayerNorm does.  One difference stays: a LayerNorm resets a
token's scale, and the stream keeps it.

Before attention h = k C x, x the layer's input, C = I - 11'/d.  Before the feed-forward h = k C (u - b_o), u = x +
attention(x), b_o the output bias of attention.  Attention does not write b_o: the feed-forward reads as if it were
there, and adds it.  After it h = k' C y, y the layer's output.

Besides the BERT's units, the feed-forward has a constant unit (biases, the constant's growth) and pairs of units.  As
gelu(z) - gelu(-z) = z, the pairs together are a linear map.  It is needed because the BERT's skip goes through the
gains G1, G2 of two LayerNorms, C G2 C G1, and ours only through k' / k.  The pairs carry the difference M, in the
directions that are largest on the states seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import gelu

from ..errors import ConfigError
from .bert import Bert, BertLayer
from .calibration import LayerScales, centred


@dataclass(frozen=True)
class ResidualConfig:
    """The shape of the stream, and its scale at the start."""

    spare_channels: int = 8  # besides the BERT's: the constant, and room to learn
    pairs: int = 63  # of feed-forward units that carry what the skip does not; so d_ff is a multiple of 128
    start_std: float = 0.2  # of a token's embedding; it grows to about 1.3 by itself
    constant: float = 4.0  # how many times a state's standard deviation the constant is

    def __post_init__(self) -> None:
        if self.spare_channels < 1 or self.pairs < 1 or not self.start_std > 0 or not self.constant > 0:
            raise ConfigError(f"a stream of {self}", expected="all above 0", fix="check the stream's values")


@dataclass(frozen=True, slots=True)
class Level:
    """The stream at one place: h = k C x, and the constant c."""

    k: float
    c: float


@dataclass(frozen=True, slots=True)
class Attention:
    """q, k, v: (d_inner, D); o: (D, d_inner)."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    o: torch.Tensor


@dataclass(frozen=True, slots=True)
class FeedForward:
    """wi: (d_ff, D); wo: (D, d_ff); `level` is that of the stream after it."""

    wi: torch.Tensor
    wo: torch.Tensor
    level: Level


def start_level(embeddings: torch.Tensor, config: ResidualConfig) -> Level:
    """Return the stream that begins with these normed embeddings, (n_tokens, d)."""
    std = float(centred(embeddings).std(-1, correction=0).median())
    return Level(config.start_std / std, config.constant * config.start_std)


def stream(x: torch.Tensor, level: Level, spare: int) -> torch.Tensor:
    """Return BERT states (.., d) as the stream (.., d + spare) that stands for them."""
    room = x.new_zeros(*x.shape[:-1], spare)
    room[..., 0] = level.c
    return torch.cat([level.k * centred(x), room], -1)


def d_ff(bert: Bert, config: ResidualConfig) -> int:
    """Return the units of a converted feed-forward, a multiple of 8."""
    return 8 * math.ceil((len(bert.layers[0].expand.bias) + 1 + 2 * config.pairs) / 8)


def convert_attention(layer: BertLayer, scales: LayerScales, level: Level, spare: int) -> Attention:
    """Convert attention, exactly but for the mean of x over channels, taken as its median, and each token's scale."""
    d = len(layer.output.bias)
    q_norm = _rms_gain(level.k * scales.x_std, level.c, d, spare)

    def read(affine: Any, scale: float = 1.0) -> torch.Tensor:
        bias = affine.bias + affine.weight.sum(1) * scales.x_mean
        return scale * _columns(affine.weight / (level.k * q_norm), bias / (q_norm * level.c), spare)

    d_head_scale = layer.d_head**-0.5  # T5 does not scale its logits
    out = torch.cat([level.k * centred(layer.output.weight.T).T, layer.output.weight.new_zeros(spare, d)])
    return Attention(read(layer.query, d_head_scale), read(layer.key), read(layer.value), out)


def convert_feed_forward(
    layer: BertLayer, scales: LayerScales, level: Level, config: ResidualConfig, n_units: int
) -> FeedForward:
    """Return the feed-forward with both norms: see the module."""
    d, spare = len(layer.output.bias), config.spare_channels
    q_norm = _rms_gain(level.k * scales.bare_std, level.c, d, spare)
    to_normed = 1 / (level.k * scales.u_std * q_norm)  # from what is read to C u / std(u)
    first, last = layer.attention_norm, layer.final_norm
    offset = centred(layer.output.bias) / scales.u_std * first.gain + first.bias  # of the normed u, beside what is read
    expand = _columns(
        layer.expand.weight * first.gain * to_normed,
        (layer.expand.bias + layer.expand.weight @ offset) / (q_norm * level.c),
        spare,
    )
    # k' is such that the pairs have as little as possible to add to the skip
    k_next = 1 / (q_norm * to_normed) * scales.v_std / float((first.gain * last.gain).median())
    written = k_next / scales.v_std  # from what the BERT adds before its last norm to the stream
    c_next = config.constant * k_next * scales.y_std

    def through_last_norm(columns: torch.Tensor) -> torch.Tensor:
        """Return C G2 C of columns (d, n)."""
        return centred((last.gain[:, None] * centred(columns.T).T).T).T

    contract = written * through_last_norm(layer.contract.weight)
    constant = written * through_last_norm((offset + layer.contract.bias)[:, None])[:, 0] + k_next * centred(last.bias)
    skip = written * to_normed * through_last_norm(torch.diag(first.gain)) - torch.eye(d) / q_norm
    pair_in, pair_out = _largest(skip, q_norm * level.k * scales.states, config.pairs)
    unit = gelu(torch.ones(())).item()
    wi = torch.zeros(n_units, d + spare)
    wo = torch.zeros(d + spare, n_units)
    n = len(layer.expand.bias)
    wi[:n], wo[:d, :n] = expand, contract
    wi[n, d] = 1 / (q_norm * level.c)
    wo[:d, n], wo[d, n] = constant / unit, (c_next - level.c) / unit
    n_pairs = pair_in.shape[0]
    for sign, start in ((1, n + 1), (-1, n + 1 + n_pairs)):
        wi[start : start + n_pairs, :d] = sign * pair_in
        wo[:d, start : start + n_pairs] = sign * pair_out
    return FeedForward(wi, wo, Level(k_next, c_next))


def _rms_gain(std: float, c: float, d: int, spare: int) -> float:
    """q of a token with the median's standard deviation."""
    return math.sqrt((d + spare) / (d * std**2 + c**2))


def _columns(weight: torch.Tensor, bias: torch.Tensor, spare: int) -> torch.Tensor:
    """A matrix that reads the stream: (n, d) and the constant's column (n,) -> (n, d + spare)."""
    room = weight.new_zeros(len(weight), spare)
    room[:, 0] = bias
    return torch.cat([weight, room], 1)


def _largest(matrix: torch.Tensor, states: torch.Tensor, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The part of a linear map (d, d) of this rank that explains most of its output on states (n, d).

    Gives (rank, d) and (d, rank), whose product is that part, with equal norms in both.
    """
    outputs = states @ matrix.T
    _, vectors = torch.linalg.eigh(outputs.T @ outputs)
    basis = vectors[:, -rank:]  # (d, rank)
    inner = basis.T @ matrix
    balance = (inner.norm(dim=1) / basis.norm(dim=0)).clamp(min=1e-6).sqrt()
    return inner / balance[:, None], basis * balance
