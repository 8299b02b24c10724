"""The layers of an encoder, of T5's kind (norm before a sublayer) or BERT's (norm behind it), behind one interface.

In: an encoder of transformers.  Out: an `EncoderLayers`: embed, layer by layer attend and feed, finish.

    hidden = layers.embed(ids, places)
    for layer in layers.layers:
        read = layer.read(hidden)
        attended = attend(layer.queries(read), layer.keys(read), layer.values(read), mask, layer.scale)
        hidden = layer.feed(layer.absorb(hidden, attended))
    states = layers.finish(hidden)

What runs over it decides which token sees which: whole windows (`encoding`) or a delay (`delay`, `streaming/kv_cache`).
The weights are those of the modules of transformers, which are called one by one; so are their dropouts, in training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import dropout, scaled_dot_product_attention

from ..errors import ModelError
from .int8_linear import share_rounding

Map = Callable[[torch.Tensor], torch.Tensor]
_T5, _BERT = "t5", "bert"
# how transformers names the parts of a BERT's layer in these kinds, as config.json has them
_BERT_KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet")


@dataclass(frozen=True, slots=True)
class EncoderLayer:
    """One layer; all maps take and give (.., n_channels) and work on each token alone."""

    read: Callable[[torch.Tensor], Any]  # a layer's input -> what queries, keys and values are made of
    queries: Callable[[Any], torch.Tensor]
    keys: Callable[[Any], torch.Tensor]
    values: Callable[[Any], torch.Tensor]
    absorb: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # a layer's input, what was attended -> between
    feed: Map
    n_heads: int
    scale: float  # of attention's logits
    attention_dropout: float  # of attention's weights, in training


@dataclass(frozen=True, slots=True)
class EncoderLayers:
    """An encoder, ready to be run layer by layer.

    embed: ids int64 (..), and each token's place in its window, of the same shape, or None for the mean place; a T5 has
    no places.  finish: what follows the last layer.  biases: of each layer, position biases (n_heads, 2 * farthest + 1)
    of keys from `farthest` tokens to the left to as many to the right; None for an encoder that has none.
    """

    embed: Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]
    layers: tuple[EncoderLayer, ...]
    finish: Map
    biases: Callable[[], list[torch.Tensor]] | None
    farthest: int = 0

    def check_delay(self) -> None:
        """Raise ModelError for an encoder whose states depend on where a window begins."""
        if self.biases is None:
            raise ModelError(
                "a delay with an encoder that has absolute positions only",
                expected="relative positions, as T5 and MPNet have",
                fix="use the policy fixed, or another model",
            )


def has_layers(encoder: Any) -> bool:
    """Return whether `encoder_layers` can read an encoder; others are run by transformers, and have no delay."""
    return _kind(encoder) is not None


def blocks_of(encoder: Any) -> Any:
    """Return the modules of an encoder's layers, an nn.ModuleList.  Raises ModelError for an unknown encoder."""
    kind = _kind(encoder)
    if kind is None:
        raise ModelError(
            f"layers of a {encoder.config.model_type}",
            expected=f"a T5, or one of {', '.join(_BERT_KINDS)}",
            fix="use all its layers, without a delay",
        )
    return encoder.block if kind == _T5 else encoder.encoder.layer


def encoder_layers(encoder: Any) -> EncoderLayers:
    """Return an encoder's layers.  Raises ModelError for an encoder that `has_layers` does not know."""
    blocks = blocks_of(encoder)
    return _of_t5(encoder, blocks) if _kind(encoder) == _T5 else _of_bert(encoder, blocks)


def attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None, scale: float
) -> torch.Tensor:
    """Return attention of heads: (.., n_heads, n_queries, d_kv), keys and values alike -> the same shape.

    mask: what is added to the logits, (.., n_heads, n_queries, n_keys).
    """
    return scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=scale)


def attend_in_training(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor, layer: EncoderLayer
) -> torch.Tensor:
    """Attend as `attend` does, with dropout; going backwards on a CPU, it is a quarter faster than torch's own."""
    logits = queries @ keys.transpose(-1, -2) * layer.scale + mask
    weights = dropout(logits.float().softmax(-1).type_as(logits), layer.attention_dropout)
    return weights @ values


def _kind(encoder: Any) -> str | None:
    if hasattr(encoder, "block"):
        return _T5
    return _BERT if encoder.config.model_type in _BERT_KINDS else None


def _of_t5(encoder: Any, blocks: Any) -> EncoderLayers:
    attentions = [block.layer[0].SelfAttention for block in blocks]
    # T5 has one bias, the first layer's; umT5 one a layer
    biased = [own if own.has_relative_attention_bias else attentions[0] for own in attentions]
    farthest = int(attentions[0].relative_attention_max_distance)

    def bias(attention: Any) -> torch.Tensor:
        right = attention.compute_bias(1, farthest + 1)[0, :, 0]  # (n_heads, farthest + 1)
        left = attention.compute_bias(farthest + 1, 1)[0, :, :, 0]
        return torch.cat([left.flip(-1)[:, :-1], right], -1)

    def biases() -> list[torch.Tensor]:
        distinct = {id(attention): bias(attention) for attention in biased}
        return [distinct[id(attention)] for attention in biased]

    return EncoderLayers(
        lambda ids, places: encoder.dropout(encoder.embed_tokens(ids)),
        tuple(_t5_layer(block) for block in blocks),
        lambda hidden: encoder.dropout(encoder.final_layer_norm(hidden)),
        biases,
        farthest,
    )


def _t5_layer(block: Any) -> EncoderLayer:
    attending = block.layer[0]
    feeding = block.layer[-1]
    attention, norm = attending.SelfAttention, attending.layer_norm
    return EncoderLayer(
        lambda hidden: share_rounding(attention.q, norm(hidden)),
        attention.q,
        attention.k,
        attention.v,
        absorb=lambda hidden, attended: hidden + attending.dropout(attention.o(attended)),
        feed=lambda hidden: hidden + feeding.dropout(feeding.DenseReluDense(feeding.layer_norm(hidden))),
        n_heads=attention.n_heads,
        scale=1.0,
        attention_dropout=attention.dropout if block.training else 0.0,
    )


def _of_bert(encoder: Any, blocks: Any) -> EncoderLayers:
    """BERT and its kin; MPNet has T5's relative bias besides, one for all layers."""
    embeddings, config = encoder.embeddings, encoder.config
    positions: torch.Tensor = embeddings.position_embeddings.weight
    # RoBERTa and MPNet count from behind the place of padding
    first = 0 if embeddings.position_embeddings.padding_idx is None else embeddings.position_embeddings.padding_idx + 1
    types = getattr(embeddings, "token_type_embeddings", None)

    def embed(ids: torch.Tensor, places: torch.Tensor | None) -> torch.Tensor:
        place = positions[first:].mean(0) if places is None else positions[first + places]
        words = embeddings.word_embeddings(ids) + place
        hidden: torch.Tensor = embeddings.LayerNorm(words if types is None else words + types.weight[0])
        return embeddings.dropout(hidden)  # type: ignore[no-any-return]

    bias = getattr(encoder.encoder, "relative_attention_bias", None)
    farthest = 128  # tokens; from there on all are equally far, as in T5 (Song 2020, MPNet)

    def biases() -> list[torch.Tensor]:
        assert bias is not None  # noqa: S101  (only called where it is not)
        distances = torch.arange(-farthest, farthest + 1, device=bias.weight.device)
        buckets = encoder.encoder.relative_position_bucket(distances)  # 32, whatever the config says, as its forward
        return [bias(buckets).T] * len(blocks)

    layers = tuple(_bert_layer(block, config) for block in blocks)
    return EncoderLayers(embed, layers, lambda hidden: hidden, None if bias is None else biases, farthest)


def _bert_layer(block: Any, config: Any) -> EncoderLayer:
    attention, fed = block.attention, block.output
    if config.model_type == "mpnet":
        own = attention.attn
        queries, keys, values, out = own.q, own.k, own.v, own.o
        norm, drop = attention.LayerNorm, attention.dropout
    else:
        own = attention.self
        queries = own.query
        keys = own.key
        values = own.value
        out = attention.output.dense
        norm, drop = attention.output.LayerNorm, attention.output.dropout
    n_heads = config.num_attention_heads
    return EncoderLayer(
        lambda hidden: share_rounding(queries, hidden),
        queries,
        keys,
        values,
        absorb=lambda hidden, attended: norm(hidden + drop(out(attended))),
        feed=lambda hidden: fed.LayerNorm(hidden + fed.dropout(fed.dense(block.intermediate(hidden)))),
        n_heads=n_heads,
        scale=(config.hidden_size // n_heads) ** -0.5,
        attention_dropout=config.attention_probs_dropout_prob if block.training else 0.0,
    )
