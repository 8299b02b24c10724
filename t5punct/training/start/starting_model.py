"""The model that a run starts from.

In: a `TrainConfig`.  Out: the model of its last checkpoint, of `init_from`, or one with random weights.

`make_starting_model(TrainConfig(init_from="t5-small", encoder_layers=[0, 2, 4], data=...))` has three encoder layers.
"""

from __future__ import annotations

from dataclasses import replace

from ... import model as models
from ...t5.layers import encoder_layers
from ...t5.task import TaskConfig
from ...t5.weights import is_encoder
from ..config import TrainConfig
from ..examples.delays import check_layers
from ..examples.loading import read_prepare_config
from .fewer_layers import with_decoder_layers, with_encoder_layers
from .from_encoder import from_encoder
from .new_marks import match_disfluencies
from .suitability import check_tokenizer


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
    data = read_prepare_config(config.data.path)
    pauses = (data.pause_ms, data.long_pause_ms) if data else (None, None)
    return model.with_task(pause_ms=pauses[0], long_pause_ms=pauses[1]) if data and data.pause_ms else model


def _given(config: TrainConfig) -> models.Model:
    """The model of `init_from`, with the layers that are asked for."""
    folder = models.find(config.init_from, revision=config.revision)
    if is_encoder(folder):
        model = from_encoder(folder, config.decoder, config.task)
    else:
        model = models.load(config.init_from, task=config.task, revision=config.revision)
    check_tokenizer(config, model)
    model = with_encoder_layers(model, config.encoder_layers) if config.encoder_layers else model
    return with_decoder_layers(model, config.decoder_layers) if config.decoder_layers else model
