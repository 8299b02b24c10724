"""A pre-trained BERT as the warm start reads it: its matrices by the names of the paper, and its states on text.

In: a folder or hub id of a BERT-family encoder (BERT, MiniLM; any depth and width).  Out: a `Bert`, and for token ids
every state that the conversion needs (`Trace`).

`Bert.load("bert-base-uncased").trace(ids)` runs it once; `positions=False` gives every token the mean position.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import gelu, layer_norm

from ..errors import ConfigError, ModelError, first_line
from ..t5.hub import locate
from ..t5.weights import LOADING, kind_of, without_advice, without_bars

_EXPECTED = "a BERT (model_type bert, absolute positions, gelu) such as bert-base-uncased or MiniLM"


@dataclass(frozen=True, slots=True)
class Affine:
    """y = W x + b; weight: float32 (n_out, n_in), bias: float32 (n_out,)."""

    weight: torch.Tensor
    bias: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias


@dataclass(frozen=True, slots=True)
class Norm:
    """A LayerNorm: gain, bias float32 (d,)."""

    gain: torch.Tensor
    bias: torch.Tensor
    eps: float

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return layer_norm(x, x.shape[-1:], self.gain, self.bias, self.eps)


@dataclass(frozen=True, slots=True)
class BertLayer:
    """One layer (Devlin 2019): attention, norm, feed-forward, norm; each norm comes after its sublayer."""

    query: Affine
    key: Affine
    value: Affine
    output: Affine
    attention_norm: Norm
    expand: Affine
    contract: Affine
    final_norm: Norm
    n_heads: int

    @property
    def d_head(self) -> int:
        return len(self.query.bias) // self.n_heads

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """Return attention logits, scaled: (n_batch, n_heads, n_tokens, n_tokens) of x (n_batch, n_tokens, d)."""
        return self._heads(self.query(x)) @ self._heads(self.key(x)).transpose(-1, -2) / math.sqrt(self.d_head)

    def attend(self, x: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """Compute what attention adds to x, output bias included: (n_batch, n_tokens, d)."""
        mixed = logits.softmax(-1) @ self._heads(self.value(x))
        return self.output(mixed.transpose(1, 2).flatten(2))

    def feed(self, x: torch.Tensor) -> torch.Tensor:
        """Compute what the feed-forward adds to x."""
        return self.contract(gelu(self.expand(x)))

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:-1], self.n_heads, self.d_head).transpose(1, 2)


@dataclass(frozen=True, slots=True)
class LayerTrace:
    """One layer's states on text; each (n_batch, n_tokens, d) but `logits` (n_batch, n_heads, n_tokens, n_tokens).

    x: the layer's input; u: x and what attention adds, before its norm; v: the normed u and what the feed-forward adds,
    before its norm; y: the layer's output.
    """

    x: torch.Tensor
    logits: torch.Tensor
    u: torch.Tensor
    v: torch.Tensor
    y: torch.Tensor


@dataclass(frozen=True, slots=True)
class Bert:
    """An encoder's weights."""

    words: torch.Tensor  # (n_vocabulary, d)
    positions: torch.Tensor  # (n_positions, d)
    type_0: torch.Tensor  # (d,)
    embedding_norm: Norm
    layers: tuple[BertLayer, ...]
    eps: float

    @property
    def d_model(self) -> int:
        return self.words.shape[1]

    @classmethod
    def load(cls, source: str | Path) -> Bert:
        """Read a folder or hub id.  Raises ModelError for anything but a BERT."""
        from transformers import AutoConfig, AutoModel

        folder = locate(source, "encoder")
        kind_of(folder)  # raises ModelError where none is stated
        try:
            config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
            if not is_supported(config):
                raise ModelError(f"{source}: {_described(config)}", expected=_EXPECTED, fix="name another encoder")
            settings = {"use_safetensors": True, "dtype": torch.float32, "add_pooling_layer": False}
            with LOADING, without_bars(), without_advice():  # a masked language model has an output layer besides
                network, info = AutoModel.from_pretrained(
                    str(folder), output_loading_info=True, trust_remote_code=False, **settings
                )
            if missing := sorted(info["missing_keys"]):  # they would be random
                names = f"{len(missing)} weights are not there, {missing[0]} among them"
                raise ModelError(f"{source}: {names}", expected=_EXPECTED, fix="copy the folder anew")
        except ModelError:
            raise
        except Exception as error:  # a damaged folder raises errors without a common base class
            why = f"{source} cannot be loaded ({first_line(error)})"
            raise ModelError(why, expected=_EXPECTED, fix="check the name") from error
        return cls.of(network)

    @classmethod
    def of(cls, network: Any) -> Bert:
        """Return the weights of a transformers `BertModel`."""
        config, embeddings = network.config, network.embeddings
        return cls(
            _data(embeddings.word_embeddings.weight),
            _data(embeddings.position_embeddings.weight),
            _data(embeddings.token_type_embeddings.weight)[0],
            _norm(embeddings.LayerNorm),
            tuple(_layer(layer, config.num_attention_heads) for layer in network.encoder.layer),
            config.layer_norm_eps,
        )

    def first(self, n_layers: int) -> Bert:
        """Return a BERT with this one's first `n_layers` layers only.  Raises ConfigError if it has fewer."""
        if not 1 <= n_layers <= len(self.layers):
            raise ConfigError(f"{n_layers} layers", expected=f"1 to {len(self.layers)}", fix="lower layers")
        return replace(self, layers=self.layers[:n_layers])

    def embed(self, ids: torch.Tensor, *, positions: bool = True) -> torch.Tensor:
        """Return the embeddings (n_batch, n_tokens, d) of ids, int64 (n_batch, n_tokens)."""
        return self.embedding_norm(self.words[ids] + self._positions(ids.shape[1], positions) + self.type_0)

    def trace(self, ids: torch.Tensor, *, positions: bool = True) -> list[LayerTrace]:
        """Return the states of all layers on unpadded token ids, int64 (n_batch, n_tokens)."""
        x = self.embed(ids, positions=positions)
        traces = []
        for layer in self.layers:
            logits = layer.logits(x)
            u = x + layer.attend(x, logits)
            normed = layer.attention_norm(u)
            v = normed + layer.feed(normed)
            traces.append(LayerTrace(x, logits, u, v, layer.final_norm(v)))
            x = traces[-1].y
        return traces

    def _positions(self, n_tokens: int, has_places: bool) -> torch.Tensor:
        return self.positions[:n_tokens] if has_places else self.mean_position

    @property
    def mean_position(self) -> torch.Tensor:
        """(d,)"""
        return self.positions.mean(0)


def is_supported(config: Any) -> bool:
    """Return whether a transformers config is that of an encoder which converts."""
    position_kind = getattr(config, "position_embedding_type", "absolute")
    return (
        config.model_type == "bert"
        and config.hidden_act == "gelu"
        and position_kind == "absolute"
        and not getattr(config, "is_decoder", False)
    )


def _described(config: Any) -> str:
    act, kind = getattr(config, "hidden_act", "?"), getattr(config, "position_embedding_type", "absolute")
    return f"a {config.model_type} with {act} and {kind} positions"


def _data(parameter: Any) -> torch.Tensor:
    tensor: torch.Tensor = parameter.detach().float()
    return tensor


def _affine(linear: Any) -> Affine:
    return Affine(_data(linear.weight), _data(linear.bias))


def _norm(norm: Any) -> Norm:
    return Norm(_data(norm.weight), _data(norm.bias), float(norm.eps))


def _layer(layer: Any, n_heads: int) -> BertLayer:
    attention = layer.attention.self
    return BertLayer(
        _affine(attention.query),
        _affine(attention.key),
        _affine(attention.value),
        _affine(layer.attention.output.dense),
        _norm(layer.attention.output.LayerNorm),
        _affine(layer.intermediate.dense),
        _affine(layer.output.dense),
        _norm(layer.output.LayerNorm),
        n_heads,
    )
