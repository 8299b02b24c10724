"""Pieces for another language: a model's cut vocabulary gets back some of those that its encoder was born with.

In: a model whose vocabulary was cut (`pieces`), the encoder that it was cut from, and the words of a text.  Out: the
model with the pieces that the text needs most; each has the encoder's own row of embeddings.

The rows fit, because training leaves the embeddings as they are (`optim.frozen: [shared, encoder.embeddings]`).

`with_more_pieces(load("multi"), "runs/parent/e5", Counter("ahoj ahoj".split()), 4000)` reads Czech in fewer pieces.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ...errors import ConfigError
from ...model import Model, find
from .from_encoder import own_tokenizer, read_encoder, with_task_tokens
from .pieces import add_pieces

_log = logging.getLogger(__name__)

_COMPARED = 1000  # pieces that both have, at most
_SAME = 0.9  # the least mean cosine of their rows


def with_more_pieces(model: Model, source: str | Path, words: Mapping[str, int], n_pieces: int) -> Model:
    """Return the model with n_pieces more at most, those of the encoder `source` that the counted words need most.

    Raises ConfigError if the model's vocabulary was not cut from that of the encoder.
    """
    folder = find(source)
    parent: torch.Tensor = read_encoder(folder, 0.0).get_input_embeddings().weight.detach()  # (n_whole, d_model)
    own, whole = model.tokenizer.tokenizer, own_tokenizer(folder)
    _check_same(model, whole, parent, source)
    vocabulary = add_pieces(own.backend_tokenizer, whole.backend_tokenizer, words, n_pieces)
    tokenizer = with_task_tokens(own, vocabulary.tokenizer, model.task)
    network: Any = copy.deepcopy(model.network)
    old: torch.Tensor = model.network.get_input_embeddings().weight.detach()  # (n_pieces_before, d_model)
    old_places = own.get_vocab()
    places: dict[str, int] = tokenizer.tokenizer.get_vocab()
    new_pieces = sorted(places.keys() - old_places.keys(), key=places.__getitem__)
    network.resize_token_embeddings(len(places), mean_resizing=False)
    with torch.no_grad():
        weight: torch.Tensor = network.get_input_embeddings().weight
        kept = sorted(places.keys() & old_places.keys())
        weight[[places[piece] for piece in kept]] = old[[old_places[piece] for piece in kept]]
        weight[[places[piece] for piece in new_pieces]] = parent[list(vocabulary.rows)].to(weight.dtype)
    _log.info("vocabulary: %s", vocabulary.report)
    return replace(model, network=network, tokenizer=tokenizer)


def _check_same(model: Model, whole: Any, parent: torch.Tensor, source: str | Path) -> None:
    """Raise ConfigError unless the rows of pieces that both have point the same way."""
    mine: torch.Tensor = model.network.get_input_embeddings().weight.detach().float()
    places, theirs = model.tokenizer.tokenizer.get_vocab(), whole.get_vocab()
    shared = sorted(piece for piece in places.keys() & theirs.keys() if piece not in whole.all_special_tokens)
    shared = shared[:: max(1, len(shared) // _COMPARED)]
    alike = mine.shape[1] == parent.shape[1] and bool(shared)
    if alike:
        rows = mine[[places[piece] for piece in shared]], parent[[theirs[piece] for piece in shared]]
        alike = float(torch.nn.functional.cosine_similarity(*rows).mean()) > _SAME
    if not alike:
        raise ConfigError(
            f"pieces_of {source}, whose embeddings are not those of {model.name}",
            expected="the encoder that its vocabulary was cut from",
            fix="set pieces_of",
        )
