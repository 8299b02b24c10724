"""The model that a run starts from: that of `init_from`, with the marks that it will learn.

A new mark's embedding, and its class of the tagger, begin as the mean of those of the known marks.  So does the sign of
disfluent words; as long as nobody asks for it, the model decides what it decided before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from .. import config as settings
from .. import model as models
from ..config import check
from ..errors import ModelError
from ..model import Model
from ..t5.delay import LEFT_WORDS
from ..t5.encoder import Encoder
from ..t5.tagger import Tagger
from ..t5.task import PAUSES, TaskConfig, task_token
from ..t5.tokenization import TaskTokenizer
from ..text.marks import DISFLUENT, NO_MARKS
from ..text.spelling_table import read_table
from .config import TrainConfig, change_task
from .data.prepare import SETTINGS, PrepareConfig
from .examples.example import ChunkExamples

_SAMPLED_CHUNKS = 300  # `prepare` has shuffled them
_MANY_LOST = 0.01  # of the different words; some vocabularies lose names and emoji of any text
_NAMED = 5  # lost words that a warning lists, at most
_MANY_LONG = 0.01  # of the chunks


def make_starting_model(config: TrainConfig) -> Model:
    """Return the model of `init_from`, or of the checkpoint if the run is resumed, set up for what it will learn.

    Raises ConfigError for settings that do not fit the model or the data set.
    """
    saved = models.load(config.output) if config.resume else None
    if saved is None or config.lora.r:  # a run with adapters does not change the network of `init_from`
        model = models.load(config.init_from, revision=config.revision)
        if config.task:
            model = with_marks_of(model, change_task(model.task, config.task))
    else:
        model = saved
    if config.data.disfluencies.marked:
        model = with_disfluencies(model)
    if saved is not None:  # beside the network of `init_from` with adapters, what the run has saved
        model = replace(model, tokenizer=saved.tokenizer, tagger=saved.tagger)
    if config.data.delays.is_used:
        layers = config.data.delays.layers
        n_layers = model.network.config.num_layers
        Encoder(model.network.encoder).check_delay()
        check(
            all(0 <= layer < n_layers for layer in layers),
            f"look-ahead in layers {layers} of an encoder with {n_layers}",
            expected=f"some of 0 to {n_layers - 1}", fix="check data.delays.layers",
        )  # fmt: skip
        model = model.with_task(delay_left_words=LEFT_WORDS, delay_layers=layers)
    model = replace(model, spellings=model.spellings.including(read_table(Path(config.data.path))))
    file = Path(config.data.path) / SETTINGS
    if not file.is_file():  # a data set from elsewhere says nothing
        return model
    data = settings.load_plain(PrepareConfig, file)
    check(  # a task without capitals can be learned from data with them
        not model.task.cased or data.cased, f"{config.data.path} prepared without capitals, for a task with them",
        expected="both with or both without", fix="set task.cased=false or prepare with cased=true",
    )  # fmt: skip
    if data.pause_ms:
        model = model.with_task(pause_ms=data.pause_ms, long_pause_ms=data.long_pause_ms)
    return model


def with_disfluencies(model: Model) -> Model:
    return model if model.task.disfluencies else with_marks_of(model, replace(model.task, disfluencies=True))


def with_marks_of(model: Model, task: TaskConfig) -> Model:
    """Return the model with another task, and with tokens and classes of the tagger for its new marks.

    A T5 that writes marks as text, and has no tokens for them, gets one for the sign of disfluent words alone.
    """
    new_marks = [mark for mark in task.slot_marks if mark not in model.task.slot_marks]
    vocabulary = model.tokenizer.tokenizer.get_vocab()
    if not all(task_token(mark) in vocabulary for mark in model.task.marks):
        new_marks = [mark for mark in new_marks if mark == DISFLUENT]
    tagger = None if model.tagger is None else _tagger_for(task, model.tagger)
    return replace(with_mark_tokens(model, task, new_marks), tagger=tagger)


def with_mark_tokens(model: Model, task: TaskConfig, marks: Sequence[str]) -> Model:
    """Return the model with a task, and with tokens for new marks."""
    from tokenizers import AddedToken

    backend = copy.deepcopy(model.tokenizer.tokenizer)
    known_ids = sorted({number for mark in model.task.marks for number in model.tokenizer.mark_ids[mark]})
    backend.add_tokens([AddedToken(task_token(mark), normalized=False) for mark in marks])
    new_ids = backend.convert_tokens_to_ids([task_token(mark) for mark in marks])

    def fill(weight: torch.Tensor) -> None:
        weight[new_ids] = weight[known_ids].mean(0)

    tokenizer = TaskTokenizer(backend, task)
    return with_tokenizer(model, tokenizer, fill) if marks else replace(model, tokenizer=tokenizer)


def _tagger_for(task: TaskConfig, tagger: Tagger) -> Tagger:
    """Return a tagger with the classes of a task, whose weights are those of the tagger's classes."""
    if tagger.mark_classes == task.mark_classes and tagger.opening_classes == (NO_MARKS, *task.opening):
        return tagger  # so that no random numbers are drawn for another one
    changed = Tagger(tagger.marks.in_features, task.slot_marks, task.opening)
    with torch.no_grad():
        changed.cases.load_state_dict(tagger.cases.state_dict())
        if changed.openings is not None and tagger.opening_classes == changed.opening_classes:
            changed.openings.load_state_dict(tagger.openings.state_dict())  # type: ignore[union-attr]
        for name, weight in tagger.marks.named_parameters():  # a row for each class
            mean = weight[1:].mean(0)  # of all marks; the class 0 is no mark
            rows = dict(zip(tagger.mark_classes, weight, strict=True))
            changed.marks.get_parameter(name).copy_(torch.stack([rows.get(mark, mean) for mark in task.mark_classes]))
    return changed.to(tagger.marks.weight.device).requires_grad_(False)  # as one that is loaded


def with_tokenizer(model: Model, tokenizer: TaskTokenizer, fill: Callable[[torch.Tensor], None]) -> Model:
    """Return a model with a tokenizer of more tokens; `fill` sets their rows in weights (n_vocabulary, d_model)."""
    network: Any = copy.deepcopy(model.network)
    n_pieces = len(tokenizer.tokenizer)
    if n_pieces > network.config.vocab_size:  # many T5s have unused rows
        network.resize_token_embeddings(n_pieces, mean_resizing=False)
    with torch.no_grad():
        for layer in (network.shared, network.lm_head):  # if they are tied, the same weight twice
            fill(layer.weight)
    return replace(model, network=network, tokenizer=tokenizer)


def check_suitable(examples: ChunkExamples, name: str) -> list[str]:
    """Return warnings about training a model on some examples.  Raises ModelError if its tokenizer loses a mark."""
    tokenizer = examples.tokenizer
    task = tokenizer.task
    unknown = tokenizer.tokenizer.unk_token_id
    lost_marks = []
    for mark in task.marks:
        ids = list(tokenizer.mark_ids[mark])
        if unknown in ids or tokenizer.tokenizer.decode(ids).strip() not in (mark, task_token(mark)):
            lost_marks.append(mark)
    mistake = f"the tokenizer of {name} has no {' '.join(lost_marks)}"
    fix = "set task.marks to the others, or take an mT5, umT5 or byT5"
    check(not lost_marks, mistake, expected="one that gives back every mark of the task", fix=fix, kind=ModelError)
    sources = examples.rows[:_SAMPLED_CHUNKS]["source"]
    words = list(dict.fromkeys(word for source in sources for word in source.split() if word not in PAUSES))
    ids_of_words = {word: tokenizer.word_ids(word, first=True) for word in words}
    lost_words = [word for word, ids in ids_of_words.items() if unknown in ids or tokenizer.decode(ids).strip() != word]
    warnings = []
    if len(lost_words) >= max(1, _MANY_LOST * len(words)):
        named = ", ".join(lost_words[:_NAMED]) + (", ..." if len(lost_words) > _NAMED else "")
        warnings.append(
            f"{name}: {100 * len(lost_words) / len(words):.1f} % of the different words do not survive the tokenizer's "
            f"round trip ({named}): they come out as they go in, but the model reads unknown ones; expected a "
            "tokenizer for this language; take an mT5, umT5 or byT5 if these are many"
        )
    if task.disfluencies and not examples.config.disfluencies.marked:
        warnings.append(f"{name} knows disfluencies and will forget them: data.disfluencies.marked is 0")
    n_long = sum(length > task.max_tokens for length in examples.lengths)
    if n_long > _MANY_LONG * len(examples):
        warnings.append(
            f"{100 * n_long / len(examples):.1f} % of the chunks have more than {task.max_tokens} tokens, the most "
            "that a model reads at once; prepare with tokenizer=MODEL, or with a smaller chunks.max_words"
        )
    return warnings
