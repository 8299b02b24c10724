"""An encoder of T5's kind (norm before a sublayer) or BERT's (norm behind it), run layer by layer.

In: an encoder of transformers, or of `inference`, and token ids.  Out: its states, as transformers gives them.

`Encoder(network.encoder).states(ids, mask)` reads whole windows.  With a delay, `delay` and `streaming/kv_cache` decide
which token sees which, and run the layers themselves:

    hidden = encoder.embed(ids, places)
    for layer in encoder.layers:
        inputs = layer.read(hidden)
        attended = ...  # attention of layer.queries(inputs), layer.keys(inputs) and layer.values(inputs)
        hidden = layer.finish(hidden, attended)
    states = encoder.finish(hidden)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from ..config import check
from ..errors import ModelError
from .int8_linear import rounded_for

# kinds of models, by the names in config.json, whose layers are built like BERT's
_BERT_KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet")
_MPNET_BUCKETS, _MPNET_FARTHEST = 32, 128  # constants in transformers' MPNet, which ignores its config here


def blocks_of(encoder: Any) -> Any:
    """Return an encoder's layers, an nn.ModuleList; None for a kind of model that only transformers can run."""
    if hasattr(encoder, "block"):
        return encoder.block
    return encoder.encoder.layer if encoder.config.model_type in _BERT_KINDS else None


class EncoderLayer:
    """One layer; all maps take and give (.., n_channels) and work on each token alone."""

    def __init__(self, block: Any, config: Any) -> None:
        # the two sublayers, each with its norm and dropout: attention, and the feed-forward's parts
        self.has_norm_first = not hasattr(block, "attention")  # as in T5
        if self.has_norm_first:
            self._attending, self._feeding = block.layer[0], block.layer[-1]
            attention = self._attending.SelfAttention
            maps = attention.q, attention.k, attention.v, attention.o
            self._norm, self._feed_norm = self._attending.layer_norm, self._feeding.layer_norm
            self._feeds = [self._feeding.DenseReluDense]
            self.n_heads = attention.n_heads
            self.scale = 1.0
            dropout = attention.dropout if block.training else 0.0
        else:
            if config.model_type == "mpnet":
                self._attending = block.attention
                attention = block.attention.attn
                maps = attention.q, attention.k, attention.v, attention.o
            else:
                self._attending = block.attention.output
                attention = block.attention.self
                maps = attention.query, attention.key, attention.value, self._attending.dense
            self._feeding = block.output
            self._norm, self._feed_norm = self._attending.LayerNorm, self._feeding.LayerNorm
            self._feeds = [block.intermediate.dense, block.intermediate.intermediate_act_fn, self._feeding.dense]
            self.n_heads = config.num_attention_heads
            self.scale = (config.hidden_size // self.n_heads) ** -0.5
            dropout = config.attention_probs_dropout_prob if block.training else 0.0
        self.queries, self.keys, self.values, self._out = maps
        self.attention_dropout: float = dropout  # of attention's weights

    def read(self, hidden: torch.Tensor) -> Any:
        """Return the inputs of queries, keys and values; rounded once for all three, if they multiply in int8."""
        if self.has_norm_first:
            hidden = self._norm(hidden)
        return rounded_for(self.queries, hidden)

    def finish(self, hidden: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """Return the layer's result, given its input and the result of attention."""
        hidden = hidden + self._attending.dropout(self._out(attended))
        if not self.has_norm_first:
            hidden = self._norm(hidden)
        fed = self._feed_norm(hidden) if self.has_norm_first else hidden
        for feed in self._feeds:
            fed = feed(fed)
        hidden = hidden + self._feeding.dropout(fed)
        return hidden if self.has_norm_first else self._feed_norm(hidden)


class Encoder:
    """An encoder whose layers are run one by one.

    Raises ModelError for a kind of model that only transformers can run.  Such a model is read by its own forward
    (`Model.encode`), with all its layers and without a delay.
    """

    def __init__(self, encoder: Any) -> None:
        blocks = blocks_of(encoder)
        if blocks is None:
            mistake = f"layers of a {encoder.config.model_type}"
            expected = f"a T5, or one of {', '.join(_BERT_KINDS)}"
            raise ModelError(mistake, expected=expected, fix="choose another model, or no delay and no fewer layers")
        self._encoder = encoder
        self.layers = [EncoderLayer(block, getattr(encoder, "config", None)) for block in blocks]
        if self.layers[0].has_norm_first:
            attentions = [block.layer[0].SelfAttention for block in blocks]
            first_bias = attentions[0].relative_attention_bias
            # each layer of a umT5 has a bias; all layers of a T5 share the first one's
            self._biases = [
                attention.relative_attention_bias if attention.has_relative_attention_bias else first_bias
                for attention in attentions
            ]
            self._n_buckets = first_bias.num_embeddings
            self.farthest = int(attentions[0].relative_attention_max_distance)  # tokens; from there on all are alike
        else:  # MPNet has one bias for all layers; others have absolute positions only, and no use for buckets
            bias = getattr(encoder.encoder, "relative_attention_bias", None)
            self._biases = [] if bias is None else [bias] * len(self.layers)
            self._n_buckets = _MPNET_BUCKETS
            self.farthest = _MPNET_FARTHEST

    def check_delay(self) -> None:
        """Raise ModelError for an encoder whose states depend on where a window begins."""
        check(
            self._biases, "a delay with an encoder that has absolute positions only, as the one of multi",
            expected="large, base, small, or another model with relative positions",
            fix="choose one of these, or another policy, such as fixed", kind=ModelError,
        )  # fmt: skip

    def embed(self, ids: torch.Tensor, places: torch.Tensor | None) -> torch.Tensor:
        """Return the first layer's input, (.., d_model), of ids, int64 (..).

        places: of each token, its number in its window, int64 (..); None: all have the mean of all absolute positions.
        """
        if self.layers[0].has_norm_first:
            return self._encoder.dropout(self._encoder.embed_tokens(ids))
        embeddings = self._encoder.embeddings
        positions = embeddings.position_embeddings
        # RoBERTa and MPNet count from behind the place of padding
        first = 0 if positions.padding_idx is None else positions.padding_idx + 1
        place = positions.weight[first:].mean(0) if places is None else positions.weight[first + places]
        words = embeddings.word_embeddings(ids) + place
        types = getattr(embeddings, "token_type_embeddings", None)
        hidden = embeddings.LayerNorm(words if types is None else words + types.weight[0])
        return embeddings.dropout(hidden)

    def position_biases(self) -> list[torch.Tensor]:
        """Return each layer's position biases, (n_heads, 2 * farthest + 1); none if positions are absolute only.

        Column d holds the biases of keys d - farthest tokens to the right of the query.
        """
        if not self._biases:
            return []
        distances = torch.arange(-self.farthest, self.farthest + 1, device=self._biases[0].weight.device)
        buckets = position_buckets(distances, self._n_buckets, self.farthest, both_sides=True)
        biases_by_id = {id(bias): bias(buckets).T for bias in self._biases}  # layers may share one, as in T5 and MPNet
        return [biases_by_id[id(bias)] for bias in self._biases]

    def finish(self, hidden: torch.Tensor) -> torch.Tensor:
        if not self.layers[0].has_norm_first:
            return hidden
        return self._encoder.dropout(self._encoder.final_layer_norm(hidden))

    def states(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, *, packed: bool = True) -> torch.Tensor:
        """Return the states, (n_batch, n_source, d_model), without dropout of attention; zeros where padded.

        input_ids, attention_mask: int64 (n_batch, n_source), padded on the right.  packed: whether the tokens of all
        windows stand in one row, without padding, and attention takes windows of equal length together:

            padded  w e _ _   packed  w e i t k n o w t h i s   attention  w e    k n o w
                    k n o w                                                i t    t h i s
                    i t _ _
                    t h i s
        """
        n_batch, n_source = input_ids.shape
        places = torch.arange(n_source, device=input_ids.device)
        bias_columns = (places - places[:, None]).clamp(-self.farthest, self.farthest) + self.farthest
        tables: Sequence[torch.Tensor | None] = self.position_biases() or [None] * len(self.layers)
        biases = {id(table): table[None, :, bias_columns] for table in tables if table is not None}
        if packed:
            order = attention_mask.sum(1).argsort(stable=True)
            is_token = attention_mask[order].bool()
            lengths = is_token.sum(1).tolist()
            hidden = self.embed(input_ids[order][is_token], places.expand_as(is_token)[is_token])  # (n_tokens, d_model)
        else:
            lengths = [n_source] * n_batch
            hidden = self.embed(input_ids.flatten(), places.expand_as(input_ids).flatten())
        hides = hidden.new_zeros(n_batch, 1, 1, n_source)  # what is added to the logits of keys
        hides = hides.masked_fill((attention_mask == 0)[:, None, None], float("-inf")).expand(-1, 1, n_source, -1)
        equal_windows = [(length, len([*equal])) for length, equal in groupby(lengths)]
        for layer, table in zip(self.layers, tables, strict=True):
            bias = biases.get(id(table))  # (1, n_heads, n_source, n_source)
            if not packed:
                bias = hides if bias is None else hides + bias
            inputs = layer.read(hidden)
            queries, keys, values = layer.queries(inputs), layer.keys(inputs), layer.values(inputs)
            attended = torch.empty_like(queries)
            start = 0
            for length, n_windows in equal_windows:
                tokens = slice(start, start + length * n_windows)
                start = tokens.stop
                query, key, value, result = (  # (n_windows, n_heads, length, d_kv), views
                    rows[tokens].view(n_windows, length, layer.n_heads, -1).transpose(1, 2)
                    for rows in (queries, keys, values, attended)
                )
                mask = None if bias is None else bias[..., :length, :length]
                result.copy_(scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=layer.scale))
            hidden = layer.finish(hidden, attended)
        hidden = self.finish(hidden)
        if not packed:
            return hidden.view(n_batch, n_source, -1) * attention_mask[..., None]
        states = hidden.new_zeros(n_batch, n_source, hidden.shape[-1])
        states[is_token] = hidden
        return states[order.argsort()]


def position_buckets(distances: torch.Tensor, n_buckets: int, farthest: int, *, both_sides: bool) -> torch.Tensor:
    """Return the bucket, int64, of each distance from a query to a key, int64 (Raffel 2020, section 2.1).

    Half of the buckets have one distance each, the others ever wider ranges, up to `farthest` tokens.  both_sides:
    whether half of them are for keys to the right of the query; else all are for keys to the left.
    """
    rows = torch.zeros_like(distances)
    if both_sides:
        n_buckets //= 2
        rows += (distances > 0).long() * n_buckets
        distances = distances.abs()
    else:
        distances = -distances.clamp(max=0)
    n_exact = n_buckets // 2
    steps = torch.log(distances.float() / n_exact) / math.log(farthest / n_exact) * (n_buckets - n_exact)
    wide = (n_exact + steps.long()).clamp(max=n_buckets - 1)
    return rows + torch.where(distances < n_exact, distances, wide)
