"""A further mark for a model that exists: the sign of disfluent words.

In: a model that does not know it.  Out: the same with a token, its embedding, and a class of the tagger for it.

They begin as the mean of those of the other marks, so the sign is first a mark that is unlikely everywhere.  Nothing
else of the model changes: as long as nobody asks for the sign, it decides what it decided before.

`with_disfluencies(load())` is the bundled model, ready to be trained with `data.disfluencies.marked` above 0.
"""

from __future__ import annotations

import copy
import logging
from dataclasses import replace
from typing import Any

import torch

from ...model import Model
from ...t5.tagger import Tagger
from ...t5.task import TaskConfig, mark_token
from ...t5.tokenization import TaskTokenizer
from ...text.marks import DISFLUENT
from ..examples.disfluencies import DisfluencyConfig

_log = logging.getLogger(__name__)


def match_disfluencies(model: Model, config: DisfluencyConfig) -> Model:
    """Return the model with the sign if training has it; warn if it knows the sign and training does not have it."""
    if config.marked:
        return with_disfluencies(model)
    if model.task.disfluencies:
        _log.warning("%s knows disfluencies and will forget them: data.disfluencies.marked is 0", model.name)
    return model


def with_disfluencies(model: Model) -> Model:
    """Return the model, whose slots may hold `DISFLUENT` as well; one that knows it already is returned as it is."""
    if model.task.disfluencies:
        return model
    task = replace(model.task, disfluencies=True)
    tokenizer, network = _tokenizer(model.tokenizer, task), copy.deepcopy(model.network)
    n_pieces = len(tokenizer.tokenizer)
    if n_pieces > network.config.vocab_size:  # many a T5 has rows to spare
        network.resize_token_embeddings(n_pieces, mean_resizing=False)
    (sign,) = tokenizer.mark_ids[DISFLUENT]
    marks = sorted({number for mark in task.marks for number in tokenizer.mark_ids[mark]})
    with torch.no_grad():
        for layer in (network.get_input_embeddings(), network.get_output_embeddings()):
            weight: torch.Tensor = layer.weight  # (n_vocabulary, d_model); of both layers the same where they are tied
            weight[sign] = weight[marks].mean(0)
    tagger = None if model.tagger is None else _with_class(model.tagger, task)
    return replace(model, network=network, tokenizer=tokenizer, tagger=tagger)


def _tokenizer(known: TaskTokenizer, task: TaskConfig) -> TaskTokenizer:
    from tokenizers import AddedToken

    tokenizer: Any = copy.deepcopy(known.tokenizer)
    tokenizer.add_tokens([AddedToken(mark_token(DISFLUENT), normalized=False)])
    return TaskTokenizer(tokenizer, task)


def _with_class(tagger: Tagger, task: TaskConfig) -> Tagger:
    """The tagger with one more class of marks, behind the others."""
    wider = Tagger(tagger.marks.in_features, task.slot_marks, task.opening)
    with torch.no_grad():
        wider.cases.load_state_dict(tagger.cases.state_dict())
        if wider.openings is not None and tagger.openings is not None:
            wider.openings.load_state_dict(tagger.openings.state_dict())
        for new, old in ((wider.marks.weight, tagger.marks.weight), (wider.marks.bias, tagger.marks.bias)):
            new.copy_(torch.cat([old, old[1:].mean(0, keepdim=True)]))  # the first class is no mark
    return wider.to(tagger.marks.weight.device).requires_grad_(False)
