"""Losses and scores during training, on text that the model does not train on; which model is the best of a run.

The losses are means over at most 200 chunks: of the text over target tokens, of the tagger over slots.  The scores are
those of `t5punct evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from ...config import check
from ...decoding.inputs import DecodingConfig, batch_by_length
from ...evaluation.evaluate import evaluate_file
from ...evaluation.references import read_references
from ...model import Model
from ...punctuator import Punctuator, PunctuatorConfig
from ...text.marks import Alphabet
from ..checkpoint import TrainState
from ..config import LossConfig, TrainConfig
from ..examples.batches import make_collator
from ..examples.example import IGNORED, ChunkExamples
from .objective import Objective

_MAX_CHUNKS = 200  # `prepare` has shuffled them
_MAX_WORDS = 4000  # of a file, the first ones


class Validator:
    """Measures a model on held-out text."""

    def __init__(self, config: TrainConfig, rows: Any) -> None:
        """rows: the data set's split `validation`, or None.

        Raises InputError for a file that cannot be scored, and ConfigError for a score that there is no text for.
        """
        self.config = config
        self.rows = None if rows is None else rows.select(range(min(_MAX_CHUNKS, len(rows))))
        path = config.validation.file
        if path is not None:
            for _ in read_references(path, Alphabet(), max_words=_MAX_WORDS):  # a bad file is reported before training
                pass
        score = deciding_score(config)
        can_score = self.rows is not None if score in LOGGED else path is not None
        expected = "a data set with a split `validation` for a loss, a validation.file for F1"
        fix = "name a file, prepare with a holdout or set validation.every_steps=0"
        check(can_score, f"validation by {score} without a text for it", expected=expected, fix=fix)

    def measure(self, model: Model, step: int) -> dict[str, float]:
        """Return a line for the log: the step, losses in nats and F1 in percent.  Leaves the model in training mode."""
        line: dict[str, float] = {"step": step}
        model.network.eval()
        with torch.no_grad():
            if self.rows is not None:
                examples = ChunkExamples(self.rows, model.tokenizer)
                make = make_collator(model.tokenizer.pad_id)
                objective = Objective(model, LossConfig(tagger_weight=float(model.tagger is not None)))
                text_loss = tag_loss = 0.0
                n_tokens = n_slots = 0
                for indices in batch_by_length(examples.lengths, self.config.data.batch_tokens):
                    batch = make([examples[index] for index in indices]).to(model.device)
                    losses = objective(batch)
                    n_tokens_here = int((batch.targets != IGNORED).sum())
                    n_slots_here = int((batch.marks != IGNORED).sum())
                    text_loss += float(losses.text) * n_tokens_here
                    tag_loss += float(losses.tags) * n_slots_here
                    n_tokens += n_tokens_here
                    n_slots += n_slots_here
                line[LOGGED["loss"]] = round(text_loss / n_tokens, 4)
                if model.tagger is not None:
                    line[LOGGED["tag_loss"]] = round(tag_loss / n_slots, 4)
            file = self.config.validation.file
            if file is not None:
                decoding = DecodingConfig(self.config.loss.decoder)
                punctuator = Punctuator(model, PunctuatorConfig(decoding=decoding))
                scores = evaluate_file(file, punctuator, max_words=_MAX_WORDS).scores
                f1s = {"micro_f1": scores.micro.f1, "macro_f1": scores.macro_f1}
                f1s |= {f"{name.lower()}_f1": of_class.f1 for name, of_class in scores.per_class.items()}
                line |= {name: round(f1 or 0.0, 2) for name, f1 in f1s.items()}
        model.network.train()
        return line


LOGGED = {"loss": "validation_loss", "tag_loss": "validation_tag_loss"}  # names in the log, if not the scores' own


def deciding_score(config: TrainConfig) -> str:
    """Return the name of the score that decides which model is the best."""
    if config.validation.score is not None:
        return config.validation.score
    if config.validation.file is not None:
        return "micro_f1"
    return "loss" if config.loss.text_weight else "tag_loss"


def update_best(state: TrainState, line: Mapping[str, float], score: str) -> TrainState:
    """Return the state after a validation; `line`: what it has measured, by the names in the log.

    With another score than before (a resumed run may change it) the search for the best begins anew.
    """
    value = line[LOGGED.get(score, score)]
    if state.best is None or state.score != score:
        is_better = True
    elif score in LOGGED:  # a loss
        is_better = value < state.best
    else:
        is_better = value > state.best
    if is_better:
        return replace(state, score=score, best=value, best_step=state.step, stale=0)
    return replace(state, stale=state.stale + 1)


def is_stale(state: TrainState, patience: int | None) -> bool:
    """Return whether `patience` validations in a row have found nothing better."""
    return patience is not None and state.stale >= patience
