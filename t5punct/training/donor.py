"""A decoder from another checkpoint: for an encoder that was trained on without it.

In: a model, and the folder of a donor with the same tokenizer.  Out: the model with the donor's decoder.

`init_from: runs/encoder` with `decoder_from: runs/writer` begins with the encoder and tagger of the one and the
decoder of the other; a few hundred steps together and they fit.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import torch

from .. import model as models
from ..errors import ConfigError
from ..t5.task import style_token


def with_decoder_of(model: models.Model, source: str) -> models.Model:
    """The model with the decoder of the donor `source`, and with its embeddings of what decoders write.

    The task's own tokens were learned with the decoder; those of styles stand in sources and stay the encoder's.
    Raises ConfigError for a donor of another shape, vocabulary or task.
    """
    donor = models.load(source)
    tokenizer, network = model.tokenizer, copy.deepcopy(model.network)
    shapes, found = (
        {name: tuple(value.shape) for name, value in one.state_dict().items()} for one in (network, donor.network)
    )
    same_marks = (donor.task.slot_marks, donor.task.inline_case) == (model.task.slot_marks, model.task.inline_case)
    if shapes != found or donor.tokenizer.task_ids != tokenizer.task_ids or not same_marks:
        raise ConfigError(
            f"decoder_from {source}, a model of another shape or task",
            expected="the shape, tokenizer and task of init_from",
            fix="name a checkpoint of the same model",
        )
    styles = {int(tokenizer.tokenizer.convert_tokens_to_ids(style_token(style))) for style in model.task.styles}
    rows = [number for number in tokenizer.task_ids if number not in styles]
    with torch.no_grad():
        network.get_input_embeddings().weight[rows] = donor.network.get_input_embeddings().weight[rows]
        decoder = {
            name: value for name, value in donor.network.get_decoder().state_dict().items() if "embed" not in name
        }
        network.get_decoder().load_state_dict(decoder, strict=False)
        if network.get_output_embeddings().weight is not network.get_input_embeddings().weight:
            network.get_output_embeddings().load_state_dict(donor.network.get_output_embeddings().state_dict())
    made = replace(model, network=network)
    return made.with_task(classifies=donor.task.classifies, unmarked_odds=donor.task.unmarked_odds)
