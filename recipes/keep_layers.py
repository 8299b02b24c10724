"""Keep some encoder layers of a model, or of an encoder such as a BERT: the start of a smaller one.

    python recipes/keep_layers.py roberta-base runs/six-layers 0 1 2 3 4 5

An encoder stays one; `from_encoder.py` puts a fresh decoder on it.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from from_encoder import own_tokenizer, read_encoder

from t5punct import model as models
from t5punct.config import check
from t5punct.errors import T5PunctError
from t5punct.model import Model
from t5punct.t5.encoder import blocks_of
from t5punct.t5.encoder_t5 import EncoderT5
from t5punct.t5.weights import KINDS, kind_of


def with_encoder_layers(model: Model, layers: Sequence[int]) -> Model:
    """Return a model with some of this one's encoder layers only, to be trained on.

    It forgets which layers look ahead with a delay (`t5/delay.py`): they are other layers now.  It forgets its tagger
    too, unless the last layer stays, whose states the tagger reads.  In most T5s only the first layer has relative
    position biases, which all layers use: they go to the first one that is kept.
    Raises ConfigError for layers that it does not have.
    """
    network: Any = copy.deepcopy(model.network)
    blocks = blocks_of(network.encoder)
    kept = _choose(blocks, layers)
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
    tagger = model.tagger if layers[-1] == len(blocks) - 1 else None
    return replace(model, network=network, tagger=tagger).with_task(delay_left_words=None, delay_layers=[])


def keep_of_encoder(folder: Path, output: str, layers: Sequence[int]) -> None:
    """Write an encoder with some of the layers of another, and its tokenizer."""
    encoder = read_encoder(folder, dropout_rate=0.0)
    encoder.encoder.layer = _choose(blocks_of(encoder), layers)
    encoder.config.num_hidden_layers = len(layers)
    encoder.save_pretrained(output)
    own_tokenizer(folder).save_pretrained(output)


def _choose(blocks: Any, layers: Sequence[int]) -> Any:
    """Return some of an encoder's layers, in order."""
    kinds = "a T5, BERT, RoBERTa, XLM-R, ELECTRA or MPNet"
    check(blocks is not None, "an encoder of an unknown kind", expected=kinds, fix="name another encoder")
    is_possible = layers and list(layers) == sorted(set(layers)) and 0 <= layers[0] <= layers[-1] < len(blocks)
    check(is_possible, f"encoder layers {layers}", expected=f"some of 0 to {len(blocks) - 1}", fix="name others")
    return type(blocks)(blocks[index] for index in layers)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read a model or an encoder, and write the model with some of its layers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", help="a folder, a hub id, or a model that ships with t5punct")
    parser.add_argument("output", help="the folder of the new model")
    parser.add_argument("layers", type=int, nargs="+", help="of the encoder, those to keep, from 0")
    options = parser.parse_args(arguments)
    folder = models.find(options.source)
    if kind_of(folder) not in KINDS:
        keep_of_encoder(folder, options.output, options.layers)
    else:
        models.save(with_encoder_layers(models.load(options.source), options.layers), options.output)


if __name__ == "__main__":
    try:
        main()
    except T5PunctError as error:
        raise SystemExit(str(error)) from None
