"""The model that a run starts from: some or all of the layers of another, with the marks that it will learn.

In: a `TrainConfig`.  Out: the model of its last checkpoint, of `init_from`, or one with random weights.

`make_starting_model(TrainConfig(init_from="small", encoder_layers=[0, 2, 4], data=...))` has three encoder layers:
copies of those that were chosen, as the bundled `base` begins.

A new mark's embedding, and its class of the tagger, begin as the mean of those of the marks that are known.  So does
the sign of disfluent words: as long as nobody asks for it, the model decides what it decided before.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ... import model as models
from ...errors import ConfigError
from ...model import Model
from ...t5.encoder_t5 import EncoderT5
from ...t5.layers import blocks_of, encoder_layers
from ...t5.tagger import Tagger
from ...t5.task import TaskConfig, mark_token
from ...t5.tokenization import TaskTokenizer
from ...t5.weights import is_encoder
from ...text.marks import DISFLUENT, NO_LABEL
from ...text.spelling_table import read_table
from ..config import TrainConfig
from ..examples.delays import check_layers
from ..examples.disfluencies import DisfluencyConfig
from ..examples.loading import read_prepare_config
from .from_encoder import from_encoder
from .suitability import check_tokenizer

_log = logging.getLogger(__name__)


def make_starting_model(config: TrainConfig) -> Model:
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


def _given(config: TrainConfig) -> Model:
    """The model of `init_from`, with the layers that are asked for."""
    folder = models.find(config.init_from, revision=config.revision)
    if is_encoder(folder):
        model = from_encoder(folder, config.decoder, config.task)
    else:
        model = models.load(config.init_from, revision=config.revision)
        model = model if config.task is None else with_marks_of(model, config.task)
    check_tokenizer(config, model)
    return with_encoder_layers(model, config.encoder_layers) if config.encoder_layers else model


def with_encoder_layers(model: Model, layers: Sequence[int]) -> Model:
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


def match_disfluencies(model: Model, config: DisfluencyConfig) -> Model:
    """Return the model with the sign if training has it; warn if it knows the sign and training does not have it."""
    if config.marked:
        return with_disfluencies(model)
    if model.task.disfluencies:
        _log.warning("%s knows disfluencies and will forget them: data.disfluencies.marked is 0", model.name)
    return model


def with_disfluencies(model: Model) -> Model:
    """Return the model, whose slots may hold `DISFLUENT` as well; one that knows it already is returned as it is."""
    return model if model.task.disfluencies else with_marks_of(model, replace(model.task, disfluencies=True))


def with_marks_of(model: Model, task: TaskConfig) -> Model:
    """Return the model with another text form, and with tokens and classes for marks that it does not know.

    A T5 that writes marks as text has no tokens for them, and gets none but that of the sign.
    """
    from tokenizers import AddedToken

    own = copy.deepcopy(model.tokenizer.tokenizer)
    has_tokens = all(mark_token(mark) in own.get_vocab() for mark in model.task.marks)
    known = sorted({number for mark in model.task.marks for number in model.tokenizer.mark_ids[mark]})
    unknown = [mark for mark in task.slot_marks if mark not in model.task.slot_marks]
    marks = unknown if has_tokens else [mark for mark in unknown if mark == DISFLUENT]
    own.add_tokens([AddedToken(mark_token(mark), normalized=False) for mark in marks])
    tokenizer = TaskTokenizer(own, task)
    new = [number for mark in marks for number in tokenizer.mark_ids[mark]]

    def begin_as_marks(weight: torch.Tensor) -> None:
        weight[new] = weight[known].mean(0)

    tagger = None if model.tagger is None else _with_classes(model.tagger, task)
    changed = with_tokenizer(model, tokenizer, begin_as_marks) if marks else replace(model, tokenizer=tokenizer)
    return replace(changed, tagger=tagger)


def _with_classes(tagger: Tagger, task: TaskConfig) -> Tagger:
    """The tagger with the classes of another task: those that it has, and the mean of its marks for each new one."""
    if (tagger.mark_classes, tagger.opening_classes) == ((NO_LABEL, *task.slot_marks), (NO_LABEL, *task.opening)):
        return tagger
    wider = Tagger(tagger.marks.in_features, task.slot_marks, task.opening)
    places = {mark: place for place, mark in enumerate(tagger.mark_classes)}
    with torch.no_grad():
        wider.cases.load_state_dict(tagger.cases.state_dict())
        if wider.openings is not None and tagger.opening_classes == wider.opening_classes:
            wider.openings.load_state_dict(tagger.openings.state_dict())  # type: ignore[union-attr]
        for new, old in ((wider.marks.weight, tagger.marks.weight), (wider.marks.bias, tagger.marks.bias)):
            new.copy_(torch.stack([  # the first class is no mark
                old[places[mark]] if mark in places else old[1:].mean(0) for mark in wider.mark_classes
            ]))  # fmt: skip
    return wider.to(tagger.marks.weight.device).requires_grad_(False)


def with_tokenizer(model: Model, tokenizer: TaskTokenizer, fill: Callable[[torch.Tensor], None]) -> Model:
    """Return a model with a tokenizer of more tokens; `fill` sets rows of embeddings, (n_vocabulary, d_model)."""
    network: Any = copy.deepcopy(model.network)
    n_pieces = len(tokenizer.tokenizer)
    if n_pieces > network.config.vocab_size:  # many a T5 has rows to spare
        network.resize_token_embeddings(n_pieces, mean_resizing=False)
    with torch.no_grad():
        for layer in (network.get_input_embeddings(), network.get_output_embeddings()):  # the same where they are tied
            fill(layer.weight)
    return replace(model, network=network, tokenizer=tokenizer)
