"""A fresh decoder layer that copies from the first step, fitted on frozen states.

In: a model with a trained encoder and an untrained decoder, and some examples.  Out: new attention weights in the
decoder's first layer.

With inline casing most of a target is its source, token for token.  A decoder with random weights needs a million words
to find that out: until cross-attention points at the next word, nothing rewards it for doing so.  But what it must find
is linear in the encoder's states, so least squares gives it (the induction circuit of Olsson 2022, put in by hand):

- self-attention looks one token back and adds half of that token to the stream, so that after a mark or a case token
  the last word is still known;
- half of the heads of cross-attention look for the token whose predecessor was written last, and add that token;
- the others look for the token that was written last, and add its successor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ...errors import ConfigError
from ...model import Model
from ..examples.example import ChunkExamples

_RIDGE = 1e-3  # of the states' variance, which is about 1
_LOOK_BACK = 0.5  # weight of the last token but one, relative to the last
_BACK_LOGIT = 8.0  # of the token before, in self-attention
_SURE_LOGIT = 10.0  # of the place that is looked for, in cross-attention
_LOUD = 6.0  # how much larger what is found is than the embedding of what was written last


@dataclass(frozen=True, slots=True)
class _Readers:
    """Linear maps (d_model, d_model) from a state to the centred embedding of a token beside it."""

    own: torch.Tensor
    previous: torch.Tensor
    following: torch.Tensor


@torch.no_grad()
def fit_copier(model: Model, examples: ChunkExamples, n_words: int) -> None:
    """Write the first decoder layer's attention, from the states of examples with `n_words` words.

    Raises ConfigError if the heads together are wider than the model.
    """
    network: Any = model.network
    n_channels, n_wanted = network.config.d_model, network.config.num_heads * network.config.d_kv
    if n_wanted > n_channels:
        raise ConfigError(
            f"heads of {n_wanted} channels in a model of {n_channels}",
            expected="no more channels than the model's",
            fix="set fit.copier_words=0",
        )
    embeddings = network.get_input_embeddings().weight.detach()
    sources, states = _collect(model, examples, n_words)
    ids = torch.cat(sources)
    mean = embeddings[ids].mean(0)  # weighted by how often tokens come
    readers = _readers(states, [embeddings[source] - mean for source in sources])
    first = network.get_decoder().block[0]
    _write_self_attention(first.layer[0].SelfAttention, embeddings[ids])
    _write_cross_attention(first.layer[1].EncDecAttention, readers, embeddings[ids], torch.cat(states))


def _collect(model: Model, examples: ChunkExamples, n_words: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Sources int64 (n_tokens,), one by one, and their states (n_tokens, d_model)."""
    encoder: Any = model.network.get_encoder()
    sources: list[torch.Tensor] = []
    states: list[torch.Tensor] = []
    for example in examples.first(n_words):
        sources.append(torch.tensor(example.source, device=model.device))
        states.append(encoder(input_ids=sources[-1][None]).last_hidden_state[0].float())
    return sources, states


def _readers(states: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> _Readers:
    def fit_reader(here: slice, there: slice) -> torch.Tensor:
        inputs = torch.cat([rows[here] for rows in states])
        outputs = torch.cat([rows[there] for rows in wanted])
        square = inputs.T @ inputs
        ridge = _RIDGE * len(inputs) * torch.eye(len(square), device=inputs.device)
        reader: torch.Tensor = torch.linalg.solve(square + ridge, inputs.T @ outputs).T
        return reader

    every, all_but_first, all_but_last = slice(None), slice(1, None), slice(None, -1)
    return _Readers(
        fit_reader(every, every), fit_reader(all_but_first, all_but_last), fit_reader(all_but_last, all_but_first)
    )


def _write_self_attention(attention: Any, rows: torch.Tensor) -> None:
    """Look one token back, and add a part of its embedding; rows: the embeddings of all tokens of the examples."""
    d_inner = attention.inner_dim
    _, vectors = torch.linalg.eigh(rows.T @ rows)
    basis = vectors[:, -d_inner:]  # (d_model, d_inner)
    rms = float(rows.pow(2).mean(-1).sqrt().mean())  # what the norm before divides by
    attention.q.weight.mul_(0.1)
    attention.v.weight.copy_(basis.T * rms**0.5)
    attention.o.weight.copy_(basis * rms**0.5 * _LOOK_BACK)
    bias = attention.relative_attention_bias.weight
    bias.mul_(0.1)
    bias[1] += _BACK_LOGIT  # the decoder's buckets count back


def _write_cross_attention(attention: Any, readers: _Readers, rows: torch.Tensor, states: torch.Tensor) -> None:
    """rows: embeddings of all tokens in a row; states: the encoder's; both (n_tokens, d_model)."""
    d_kv, half = attention.key_value_proj_dim, attention.n_heads // 2
    centre = _centring(rows)
    written = rows + _LOOK_BACK * rows.roll(1, 0)  # roughly what the stream holds after each token
    asked = (written / written.pow(2).mean(-1, keepdim=True).sqrt()) @ centre.T
    loud = _LOUD / 2 * (rows - rows.mean(0)).norm(dim=-1).mean()
    plans = (  # heads, what they look for, where that is relative to the token written last, what they add
        (range(half), readers.previous, 1, readers.own),
        (range(half, attention.n_heads), readers.own, 0, readers.following),
    )
    for heads, keys, offset, values in plans:
        offered = (states @ keys.T).roll(-offset, 0)
        sharp = _SURE_LOGIT / (asked * offered).sum(-1).mean()
        outs, ins = _factors(values * (loud / (states @ values.T).norm(dim=-1).mean()), len(heads) * d_kv)
        for number, head in enumerate(heads):
            part = slice(head * d_kv, (head + 1) * d_kv)
            chosen = slice(number * d_kv, (number + 1) * d_kv)
            basis = torch.linalg.qr(torch.randn(len(centre), d_kv, device=rows.device))[0].T  # (d_kv, d_model)
            scale = (sharp * len(centre) / d_kv) ** 0.5
            attention.q.weight[part] = scale * basis @ centre
            attention.k.weight[part] = scale * basis @ keys
            attention.v.weight[part] = ins[chosen]
            attention.o.weight[:, part] = outs[:, chosen]


def _centring(rows: torch.Tensor) -> torch.Tensor:
    """A linear map (d_model, d_model) that subtracts the mean, with the help of the most constant channel."""
    mean = rows.mean(0)
    constant = int((mean.abs() / (rows.std(0) + 1e-6)).argmax())
    centre = torch.eye(len(mean), device=rows.device)
    centre[:, constant] -= mean / mean[constant]
    return centre


def _factors(matrix: torch.Tensor, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest product of (n, rank) and (rank, n)."""
    left, values, right = torch.linalg.svd(matrix)
    root = values[:rank].sqrt()
    return left[:, :rank] * root, root[:, None] * right[:rank]
