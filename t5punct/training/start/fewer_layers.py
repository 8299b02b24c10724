"""A model with some of its layers only, to be trained on.

In: a model.  Out: another, with copies of the layers that were chosen; the given one stays as it is.

`with_encoder_layers(model, [0, 2, 4])` is how the bundled `small` begins; `with_decoder_layers(model, 1)` keeps the
decoder's first layer.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...errors import ConfigError
from ...model import Model
from ...t5.encoder_t5 import EncoderT5
from ...t5.layers import blocks_of


def with_decoder_layers(model: Model, n_layers: int) -> Model:
    """Return a model with this one's first decoder layers only, to be trained on.

    A shallow decoder is what slot decoding wants: the encoder runs once, the decoder several times (Kasai 2021).
    Raises ConfigError if it has fewer.
    """
    network: Any = copy.deepcopy(model.network)
    n_found = len(network.decoder.block)
    if not 1 <= n_layers <= n_found:
        raise ConfigError(f"{n_layers} decoder layers", expected=f"1 to {n_found}", fix="check decoder_layers")
    network.decoder.block = network.decoder.block[:n_layers]
    network.config.num_decoder_layers = network.decoder.config.num_layers = n_layers
    return replace(model, network=network)


def with_encoder_layers(model: Model, layers: Sequence[int]) -> Model:
    """Return a model with some of this one's encoder layers only, to be trained on.

    It forgets which layers look ahead with a delay (`t5/delay.py`): they are other layers now.  In most T5s only the
    first layer has relative position biases, which all layers use: they go to the first one that is kept.
    Raises ConfigError for layers that it does not have.
    """
    network: Any = copy.deepcopy(model.network)
    blocks = blocks_of(network.encoder)
    n_found = len(blocks)
    if not layers or list(layers) != sorted(set(layers)) or not 0 <= layers[0] <= layers[-1] < n_found:
        raise ConfigError(f"encoder layers {layers}", expected=f"some of 0 to {n_found - 1}", fix="set encoder_layers")
    kept = type(blocks)(blocks[index] for index in layers)
    network.config.num_layers = len(layers)
    if isinstance(network, EncoderT5):
        network.encoder.encoder.layer = kept
        network.encoder.config.num_hidden_layers = len(layers)
        network.config.encoder = {**network.config.encoder, "num_hidden_layers": len(layers)}
    else:
        old, new = (blocks[index].layer[0].SelfAttention for index in (0, layers[0]))
        if not new.has_relative_attention_bias:
            new.relative_attention_bias, new.has_relative_attention_bias = old.relative_attention_bias, True
        network.encoder.block = kept
        network.encoder.config.num_layers = len(layers)
    return replace(model, network=network).with_task(delay_left_words=None, delay_layers=[])
