"""The model that a run starts from, with all of its layers or some.

In: a `TrainConfig`.  Out: the model of its last checkpoint, of `init_from`, or one with random weights.

`make_starting_model(TrainConfig(init_from="small", encoder_layers=[0, 2, 4], data=...))` has three encoder layers:
copies of those that were chosen, as the bundled `small` begins.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import model as models
from ...errors import ConfigError
from ...t5.encoder_t5 import EncoderT5
from ...t5.layers import blocks_of, encoder_layers
from ...t5.task import PAUSES, TaskConfig
from ...t5.weights import is_encoder
from ...text.spelling_table import read_table
from ..config import TrainConfig
from ..examples.delays import check_layers
from ..examples.loading import load_split, read_prepare_config
from .from_encoder import from_encoder
from .more_tokens import match_disfluencies, with_marks_of, with_more_pieces, with_opening_tokens
from .suitability import check_tokenizer

_CHUNKS_AT_ONCE = 10_000


def make_starting_model(config: TrainConfig) -> models.Model:
    """Return the model of the checkpoint, of `init_from`, or a fresh one, with what it will learn of.

    A run with adapters goes on with `init_from`'s network, which it does not change, and the checkpoint's tagger.
    """
    if config.resume:
        model = models.load(config.output)
        if config.lora.rank:
            begun_from = match_disfluencies(_given(config), config.data.disfluencies)
            model = replace(begun_from, tokenizer=model.tokenizer, tagger=model.tagger)
    elif config.init_from is not None:
        model = _given(config)
    else:
        assert config.tokenizer is not None  # noqa: S101  (TrainConfig has checked it)
        model = models.fresh(config.fresh, models.load_tokenizer(config.tokenizer, config.task or TaskConfig()))
    model = match_disfluencies(model, config.data.disfluencies)
    delays = config.data.delays
    if delays.any:
        encoder_layers(model.network.get_encoder()).check_delay()
        check_layers(delays, model.network.config.num_layers)
        model = model.with_task(delay_left_words=delays.left_words, delay_layers=delays.layers)
    model = replace(model, spellings=model.spellings.including(read_table(Path(config.data.path))))
    data = read_prepare_config(config.data.path)
    pauses = (data.pause_ms, data.long_pause_ms) if data else (None, None)
    return model.with_task(pause_ms=pauses[0], long_pause_ms=pauses[1]) if data and data.pause_ms else model


def _given(config: TrainConfig) -> models.Model:
    """The model of `init_from`, with the layers that are asked for."""
    folder = models.find(config.init_from, revision=config.revision)
    if is_encoder(folder):
        if config.pieces_of is not None:  # of an encoder that has all of its own
            raise ConfigError(
                f"pieces_of {config.pieces_of} for {config.init_from}, which is an encoder with pieces of its own",
                expected="a model that was cut from that encoder, to be given more pieces",
                fix="drop pieces_of",
            )
        words = count_chunk_words(config.data.path) if config.pieces is not None else None
        model = from_encoder(folder, config.decoder, config.task, config.pieces, words)
    else:
        if config.pieces is not None and config.pieces_of is None:  # a model that writes already is not cut
            raise ConfigError(
                f"pieces {config.pieces} of {config.init_from}, which is no encoder alone",
                expected="an encoder such as an XLM-R, or pieces_of: the one that the model was cut from",
                fix="set pieces_of, or drop pieces",
            )
        model = models.load(config.init_from, revision=config.revision)
        model = model if config.task is None else with_marks_of(model, config.task)
        model = with_opening_tokens(model) if config.fit.copier_words else model
        if config.pieces_of is not None and config.pieces is not None:
            model = with_more_pieces(model, config.pieces_of, count_chunk_words(config.data.path), config.pieces)
    check_tokenizer(config, model)
    model = with_encoder_layers(model, config.encoder_layers) if config.encoder_layers else model
    return with_decoder_layers(model, config.decoder_layers) if config.decoder_layers else model


def count_chunk_words(path: str) -> Counter[str]:
    """Return how often each word occurs in the training chunks of a data set, as a model reads them."""
    rows, counts = load_split(path, "train"), Counter[str]()
    for batch in [] if rows is None else rows.select_columns("source").iter(_CHUNKS_AT_ONCE):
        for source in batch["source"]:
            counts.update(source.split())
    for pause in PAUSES:
        del counts[pause]
    return counts


def with_decoder_layers(model: models.Model, n_layers: int) -> models.Model:
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


def with_encoder_layers(model: models.Model, layers: Sequence[int]) -> models.Model:
    """Return a model with some of this one's encoder layers only, to be trained on.

    It forgets which layers look ahead with a delay (`t5/delay.py`): they are other layers now.  It forgets its tagger
    too, unless the last layer stays, whose states the tagger reads.  In most T5s only the first layer has relative
    position biases, which all layers use: they go to the first one that is kept.
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
    tagger = model.tagger if layers[-1] == n_found - 1 else None
    return replace(model, network=network, tagger=tagger).with_task(delay_left_words=None, delay_layers=[])
