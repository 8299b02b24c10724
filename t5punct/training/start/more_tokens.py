"""More tokens for a model that exists: other marks, the sign of disfluent words, and pieces for another language.

In: a model.  Out: the same with the tokens and their embeddings; whoever does not write them gets what the model gave.

A new mark's embedding, and its class of the tagger, begin as the mean of those of the marks that are known.  So does
the sign: it is first a mark that is unlikely everywhere.  As long as nobody asks for it, the model decides what it
decided before.
`with_disfluencies(load())` is the bundled model, ready to be trained with `data.disfluencies.marked` above 0.

Pieces come back to a vocabulary that was cut (`pieces`): those of the encoder that it was cut from which a text needs
most, each with the encoder's own row of embeddings.  The rows fit, because training leaves the embeddings as they are
(`optim.frozen: [words]`).
`with_more_pieces(load("multi"), "runs/parent/e5", Counter("ahoj ahoj".split()), 4000)` reads Czech in fewer pieces.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ...errors import ConfigError
from ...model import Model, find
from ...t5.tagger import Tagger
from ...t5.task import TaskConfig, mark_token
from ...t5.tokenization import TaskTokenizer
from ...text.marks import DISFLUENT, NO_LABEL
from ..examples.disfluencies import DisfluencyConfig
from .from_encoder import own_tokenizer, read_encoder, with_task_tokens
from .pieces import add_pieces

_log = logging.getLogger(__name__)

_COMPARED = 1000  # pieces that both have, at most
_SAME = 0.9  # the least mean cosine of their rows


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
    vocabulary = model.tokenizer.tokenizer.get_vocab()
    has_tokens = all(mark_token(mark) in vocabulary for mark in model.task.marks)
    unknown = [mark for mark in task.slot_marks if mark not in model.task.slot_marks]
    marks = unknown if has_tokens else [mark for mark in unknown if mark == DISFLUENT]
    tagger = None if model.tagger is None else _with_classes(model.tagger, task)
    return replace(_with_mark_tokens(model, task, marks), tagger=tagger)


def with_opening_tokens(model: Model) -> Model:
    """Return the model with a token for each opening mark of its task, for a new decoder that shall write them."""
    vocabulary = model.tokenizer.tokenizer.get_vocab()
    marks = [mark for mark in model.task.opening if mark_token(mark) not in vocabulary]
    return _with_mark_tokens(model, model.task, marks)


def _with_mark_tokens(model: Model, task: TaskConfig, marks: Sequence[str]) -> Model:
    """The model with a task, and with tokens for some marks that begin as the mean of those of the marks it knows."""
    from tokenizers import AddedToken

    own = copy.deepcopy(model.tokenizer.tokenizer)
    known = sorted({number for mark in model.task.marks for number in model.tokenizer.mark_ids[mark]})
    own.add_tokens([AddedToken(mark_token(mark), normalized=False) for mark in marks])
    new = own.convert_tokens_to_ids([mark_token(mark) for mark in marks])

    def begin_as_marks(weight: torch.Tensor) -> None:
        weight[new] = weight[known].mean(0)

    tokenizer = TaskTokenizer(own, task)
    return _with_rows(model, tokenizer, begin_as_marks) if marks else replace(model, tokenizer=tokenizer)


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
    old: torch.Tensor = model.network.get_input_embeddings().weight.detach()  # (n_pieces_before, d_model)
    old_places: dict[str, int] = own.get_vocab()
    places: dict[str, int] = tokenizer.tokenizer.get_vocab()
    kept = sorted(places.keys() & old_places.keys())
    new = sorted(places.keys() - old_places.keys(), key=places.__getitem__)

    def take_rows(weight: torch.Tensor) -> None:
        weight[[places[piece] for piece in kept]] = old[[old_places[piece] for piece in kept]]
        weight[[places[piece] for piece in new]] = parent[list(vocabulary.rows)].to(weight.dtype)

    _log.info("vocabulary: %s", vocabulary.report)
    return _with_rows(model, tokenizer, take_rows)


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


def _with_rows(model: Model, tokenizer: TaskTokenizer, fill: Callable[[torch.Tensor], None]) -> Model:
    """The model with a tokenizer that has more tokens; `fill` sets rows of embeddings, (n_vocabulary, d_model)."""
    network: Any = copy.deepcopy(model.network)
    n_pieces = len(tokenizer.tokenizer)
    if n_pieces > network.config.vocab_size:  # many a T5 has rows to spare
        network.resize_token_embeddings(n_pieces, mean_resizing=False)
    with torch.no_grad():
        for layer in (network.get_input_embeddings(), network.get_output_embeddings()):  # the same where they are tied
            fill(layer.weight)
    return replace(model, network=network, tokenizer=tokenizer)
