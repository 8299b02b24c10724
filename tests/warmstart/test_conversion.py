"""A BERT's encoder as an umT5's: each sublayer alone, then the whole."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tiny_bert import N_PIECES, tiny_bert
from transformers import UMT5Config, UMT5ForConditionalGeneration

from t5punct.warmstart.bert import Bert
from t5punct.warmstart.calibration import centred, find_scales, fit_relative_biases
from t5punct.warmstart.conversion import (
    ResidualConfig,
    convert_attention,
    convert_feed_forward,
    d_ff,
    start_level,
    stream,
)
from t5punct.warmstart.warmstart import convert

CONFIG = ResidualConfig()


def umt5_like(bert: Bert) -> Any:
    """A network with room for a BERT."""
    return UMT5ForConditionalGeneration(
        UMT5Config(
            vocab_size=N_PIECES,
            d_model=bert.d_model + CONFIG.spare_channels,
            d_kv=bert.layers[0].d_head,
            num_heads=bert.layers[0].n_heads,
            d_ff=d_ff(bert, CONFIG),
            num_layers=len(bert.layers),
            num_decoder_layers=1,
            feed_forward_proj="gelu",
            dropout_rate=0.0,
        )
    ).eval()


def some_ids(n_batch: int, n_tokens: int, seed: int = 3) -> torch.Tensor:
    return torch.randint(N_PIECES, (n_batch, n_tokens), generator=torch.Generator().manual_seed(seed))


def rms_normed(hidden: torch.Tensor) -> torch.Tensor:
    return hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + 1e-6)


def error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Mean square error over the mean square of what is wanted."""
    return float((found - wanted).pow(2).mean() / wanted.pow(2).mean())


def attention_error(bert: Bert, index: int, calibration: torch.Tensor, ids: torch.Tensor) -> float:
    """Of what the attention of a layer adds, its output bias aside, on the BERT's own input to it."""
    layer, trace = bert.layers[index], bert.trace(ids, positions=False)[index]
    scale = find_scales(bert, [calibration])[index]
    level = start_level(trace.x.flatten(0, 1), CONFIG)
    made = convert_attention(layer, scale, level, CONFIG.spare_channels)
    normed = rms_normed(stream(trace.x, level, CONFIG.spare_channels))

    def heads(weight: torch.Tensor) -> torch.Tensor:
        return (normed @ weight.T).unflatten(-1, (layer.n_heads, layer.d_head)).transpose(1, 2)

    weights = (heads(made.q) @ heads(made.k).transpose(-1, -2)).softmax(-1)
    found = (weights @ heads(made.v)).transpose(1, 2).flatten(2) @ made.o.T
    wanted = level.k * centred(trace.u - trace.x - layer.output.bias)
    assert float(found[..., bert.d_model :].abs().max()) == 0.0, "spare channels stay as they are"
    return error(found[..., : bert.d_model], wanted)


def feed_forward_error(bert: Bert, index: int, calibration: torch.Tensor, ids: torch.Tensor) -> float:
    """Of the stream behind a layer, on the BERT's own states before its feed-forward."""
    layer, trace = bert.layers[index], bert.trace(ids, positions=False)[index]
    scale = find_scales(bert, [calibration])[index]
    level = start_level(trace.x.flatten(0, 1), CONFIG)
    made = convert_feed_forward(layer, scale, level, CONFIG, d_ff(bert, CONFIG))
    hidden = stream(trace.u - layer.output.bias, level, CONFIG.spare_channels)
    found = hidden + torch.nn.functional.gelu(rms_normed(hidden) @ made.wi.T) @ made.wo.T
    return error(found, stream(trace.y, made.level, CONFIG.spare_channels))


@pytest.mark.parametrize("index", range(3))
def test_a_sublayer_is_exact_on_the_token_that_gave_the_scales(index: int) -> None:
    """Only a token's scale is approximated, so with one token nothing is."""
    bert, one = Bert.of(tiny_bert(seed=index)), some_ids(1, 1)
    assert attention_error(bert, index, one, one) < 1e-6
    assert feed_forward_error(bert, index, one, one) < 1e-6


def test_attention_is_exact_on_all_tokens_where_no_gain_changes_their_scale() -> None:
    bert = Bert.of(tiny_bert(seed=1, gain=0.0))
    ids = some_ids(4, 20)
    assert attention_error(bert, 0, ids, ids) < 1e-6


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("seed", range(3))
def test_sublayers_alone_are_reproduced(index: int, seed: int) -> None:
    bert = Bert.of(tiny_bert(seed=seed))
    calibration, ids = some_ids(8, 24, seed=10), some_ids(8, 24, seed=11)
    assert attention_error(bert, index, calibration, ids) < 0.02
    assert feed_forward_error(bert, index, calibration, ids) < 0.05


def test_a_wrong_scale_is_seen() -> None:
    """The bounds above can fail."""
    bert = Bert.of(tiny_bert(seed=0))
    other = Bert.of(tiny_bert(seed=0, gain=2.0))
    ids = some_ids(8, 24)
    layer, trace, scale = bert.layers[1], bert.trace(ids, positions=False)[1], find_scales(other, [ids])[1]
    level = start_level(trace.x.flatten(0, 1), CONFIG)
    made = convert_feed_forward(layer, scale, level, CONFIG, d_ff(bert, CONFIG))
    hidden = stream(trace.u - layer.output.bias, level, CONFIG.spare_channels)
    found = hidden + torch.nn.functional.gelu(rms_normed(hidden) @ made.wi.T) @ made.wo.T
    assert error(found, stream(trace.y, made.level, CONFIG.spare_channels)) > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_a_bert_without_positions_converts_almost_whole(seed: int) -> None:
    network = tiny_bert(seed=seed)
    with torch.no_grad():
        network.embeddings.position_embeddings.weight.zero_()
    bert, made = Bert.of(network), umt5_like(Bert.of(network))
    with torch.no_grad():
        convert(bert, made, [some_ids(8, 24)], CONFIG)
        found = encoder_layers(made, some_ids(2, 24, seed=9))
    for trace, hidden in zip(bert.trace(some_ids(2, 24, seed=9)), found, strict=True):
        cosine = torch.cosine_similarity(hidden[..., : bert.d_model], centred(trace.y), dim=-1)
        assert float(cosine.median()) > 0.95


def encoder_layers(network: Any, ids: torch.Tensor) -> list[torch.Tensor]:
    """The stream behind each layer."""
    found: list[torch.Tensor] = []

    def keep(_module: Any, _inputs: Any, output: Any) -> None:
        found.append(output[0] if isinstance(output, tuple) else output)

    hooks = [block.register_forward_hook(keep) for block in network.encoder.block]
    network.encoder(input_ids=ids)
    for hook in hooks:
        hook.remove()
    return found


def test_relative_biases_are_found_where_positions_are_relative() -> None:
    """Sinusoids read by one map as query and as key give logits that depend on the distance only."""
    network = tiny_bert(seed=2, gain=0.0)
    n_tokens = 16
    with torch.no_grad():
        angles = 0.2 * torch.arange(256.0)[:, None] * torch.tensor([1.0, 2.0])
        waves = torch.cat([angles.sin(), angles.cos(), -angles.sin(), -angles.cos()], 1)
        network.embeddings.position_embeddings.weight.zero_()
        network.embeddings.position_embeddings.weight[:, :8] = 3.0 * waves
        network.embeddings.word_embeddings.weight[:, :8] = 0.0
        for linear in (network.encoder.layer[0].attention.self.query, network.encoder.layer[0].attention.self.key):
            linear.weight.zero_()
            linear.bias.zero_()
            linear.weight[:, :8] = torch.eye(8).repeat(4, 1)
    bert, made = Bert.of(network), umt5_like(Bert.of(network))
    attention = made.encoder.block[0].layer[0].SelfAttention
    batches = [some_ids(8, n_tokens)]
    found = fit_relative_biases(bert, batches, attention._relative_position_bucket, 32)[0]  # (n_buckets, n_heads)
    places = torch.arange(n_tokens)
    buckets = attention._relative_position_bucket(places[None, :] - places[:, None])
    wanted = bert.layers[0].logits(bert.embed(batches[0])).mean(0)  # (n_heads, n_tokens, n_tokens)
    biased = found[buckets].permute(2, 0, 1)
    near = (places[None, :] - places[:, None]).abs() < 8  # each distance has a bucket of its own
    for head in range(4):
        apart = (biased[head] - wanted[head])[near]
        assert float(apart.std()) < 0.15 * float(wanted[head][near].std())
