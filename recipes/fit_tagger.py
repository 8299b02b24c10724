"""Fit a tagger on the states of an encoder, before the first step of training.

In: the settings of a run, as `train.py` takes them.  Out: in `output`, the model that it would start from, with a
tagger that fits some thousand words; `init_from` names it.

    python recipes/fit_tagger.py --config configs/from-encoder-1-tag.yaml init_from=runs/encoder output=runs/start

Until it has learned, a tagger with random weights sends noise into a pre-trained encoder (Kumar 2022: train the head
first, then everything).  Fitting takes seconds: multinomial regression on standardised states.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch.nn.functional import cross_entropy

from t5punct import model as models
from t5punct.config import load
from t5punct.decoding.inputs import batch_by_length
from t5punct.errors import T5PunctError
from t5punct.model import Model
from t5punct.t5.tagger import Tagger, states_at_words
from t5punct.training.config import TrainConfig
from t5punct.training.examples.batches import load_data, make_collator
from t5punct.training.examples.example import IGNORED, ChunkExamples, Example
from t5punct.training.starting_model import make_starting_model

_DECAY = 1e-4  # on standardised weights, so that a class seen only twice gets no huge ones
_ITERATIONS = 60
_BATCH_TOKENS = 2048


def fit_tagger(model: Model, examples: ChunkExamples, n_words: int) -> Tagger:
    """Fit a tagger on the first examples that hold `n_words` words; the network does not change."""
    states, marks, cases, openings = _states(model, first_examples(examples, n_words))
    tagger = Tagger(states.shape[-1], model.task.slot_marks, model.task.opening)
    mean, std = states.mean(0), states.std(0)
    std = std.clamp(min=float(std.median()))  # a channel that hardly varies must not get huge weights
    standard = (states - mean) / std
    for head, classes in ((tagger.marks, marks), (tagger.cases, cases), (tagger.openings, openings)):
        if head is None:
            continue
        _fit(head, standard, classes)
        with torch.no_grad():
            head.weight.div_(std)
            head.bias.sub_(head.weight @ mean)
    return tagger


def first_examples(examples: ChunkExamples, n_words: int) -> list[Example]:
    """Return the first examples in which marks of `n_words` words are decided, or all that there are."""
    chosen = list[Example]()
    n_decided = 0
    for index in range(len(examples)):
        if n_decided >= n_words:
            break
        chosen.append(examples[index])
        n_decided += sum(mark != IGNORED for mark in chosen[-1].marks)
    return chosen


def _fit(head: torch.nn.Linear, states: torch.Tensor, classes: torch.Tensor) -> None:
    """states: (n_words, d_model), standardised; classes: int64 (n_words,)."""
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(head.bias)
    optimiser = torch.optim.LBFGS(head.parameters(), max_iter=_ITERATIONS, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss: torch.Tensor = cross_entropy(head(states), classes) + _DECAY * head.weight.pow(2).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimiser.step(closure)  # type: ignore[no-untyped-call]


@torch.no_grad()
def _states(model: Model, examples: Sequence[Example]) -> tuple[torch.Tensor, ...]:
    """Return states of each word's last token (n_words, d_model), and classes of its slot, case and opening mark."""
    make, encoder = make_collator(model.tokenizer.pad_id), model.network.encoder
    parts_of_batches: list[tuple[Any, ...]] = []
    for places in batch_by_length([len(example.input_ids) for example in examples], _BATCH_TOKENS):
        batch = make([examples[place] for place in places]).to(model.device)
        states = encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
        real = batch.marks != IGNORED
        classes = (batch.marks[real], batch.cases[real], batch.openings[real])
        parts_of_batches.append((states_at_words(states, batch.word_ends)[real].float(), *classes))
    return tuple(torch.cat(parts) for parts in zip(*parts_of_batches, strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--words", type=int, default=15_000, help="how many words are read, from the first chunk on")
    parser.add_argument("overrides", nargs="*", help="settings, key=value")
    options = parser.parse_args(arguments)
    config = load(TrainConfig, options.config, options.overrides)
    torch.manual_seed(config.seed)
    model = make_starting_model(config)
    _, loader = load_data(config, model, 1)
    tagger = fit_tagger(model, cast(ChunkExamples, loader.dataset), options.words)
    models.save(replace(model, tagger=tagger), Path(config.output))


if __name__ == "__main__":
    try:
        main()
    except T5PunctError as error:
        raise SystemExit(str(error)) from None
