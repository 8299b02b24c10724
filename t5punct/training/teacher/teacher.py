"""A larger model teaches a smaller one its states, and what its tagger says about every slot and word.

In: a batch, the pupil's encoder states and tagger logits on it.  Out: one loss.

The tagger's distributions are soft labels (Hinton 2015): they show how uncertain a comma is.  The last states are
compared by cosine (Sanh 2019), so that the teacher's decoder can read the pupil's.

`Teacher` reads each batch anew.  `LabelTeacher` has read the data set before (`labels`), and costs nothing; it says
nothing of states, nor of words that noise has put in, so the pupil may have another encoder and other tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch.nn.functional import cosine_similarity, kl_div

from ... import model as models
from ...errors import ConfigError
from ...model import Model
from ...t5.tagger import states_at_words
from ..config import TeacherConfig
from ..examples.batches import Batch
from .labels import is_labels, probabilities_of


def teacher_of(config: TeacherConfig, pupil: Model) -> Teacher | LabelTeacher | None:
    """Return the teacher that a config names: a model, or its labels, which come with each batch."""
    if config.source is None:
        return None
    return LabelTeacher(config) if is_labels(config.source) else Teacher(config, pupil)


class LabelTeacher:
    """A teacher that has labelled the data set."""

    def __init__(self, config: TeacherConfig) -> None:
        self.config = config

    def loss(
        self, batch: Batch, states: torch.Tensor, marks: torch.Tensor, cases: torch.Tensor, slots: torch.Tensor
    ) -> torch.Tensor:
        """Return a scalar; arguments as `Teacher.loss` has them."""
        if batch.taught is None:
            return marks.new_zeros(())
        said = (batch.taught > 0).any(-1) & slots
        of_marks, of_cases = batch.taught[said].tensor_split([marks.shape[-1]], -1)  # (n_words, n_codes)
        labels = _divergence(marks[said], probabilities_of(of_marks).log())
        return self.config.labels_weight * (labels + _divergence(cases[said], probabilities_of(of_cases).log()))


class Teacher:
    """A frozen model; it is not a submodule of the pupil, so it is not trained, saved or synchronised."""

    def __init__(self, config: TeacherConfig, pupil: Model) -> None:
        """Raises ConfigError for a teacher with other tokens or marks, or without a tagger."""
        assert config.source is not None  # noqa: S101  (the caller has checked it)
        self.config = config
        self._model = models.load(config.source)
        vocabulary, known = (model.tokenizer.tokenizer.get_vocab() for model in (self._model, pupil))
        if self._model.tagger is None or vocabulary != known or self._model.task.slot_marks != pupil.task.slot_marks:
            raise ConfigError(
                f"teacher {config.source}",
                expected="a model with a tagger, and the tokenizer and marks of init_from",
                fix="begin with the teacher's own weights (init_from) or name another teacher",
            )

    def loss(
        self, batch: Batch, states: torch.Tensor, marks: torch.Tensor, cases: torch.Tensor, slots: torch.Tensor
    ) -> torch.Tensor:
        """Return a scalar.

        states: the pupil's, (n_batch, n_source, d_model); marks, cases: its logits (n_batch, n_words, n_classes);
        slots: bool (n_batch, n_words), the words that are not padding.
        """
        wanted, wanted_marks, wanted_cases = self._read(batch)
        read = batch.attention_mask.bool()
        apart = 1.0 - cosine_similarity(states[read].float(), wanted[read].float(), dim=-1).mean()
        labels = _divergence(marks[slots], wanted_marks[slots]) + _divergence(cases[slots], wanted_cases[slots])
        return self.config.states_weight * apart + self.config.labels_weight * labels

    @torch.no_grad()
    def _read(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        device = batch.input_ids.device
        if self._model.device != device:
            tagger = self._model.tagger
            network: Any = self._model.network
            self._model = replace(self._model, network=network.to(device), tagger=tagger and tagger.to(device))
        encoder: Any = self._model.network.get_encoder()
        states = encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
        assert self._model.tagger is not None  # noqa: S101  (checked at the start)
        marks, cases = self._model.tagger(states_at_words(states, batch.word_ends))
        return states, marks, cases


def _divergence(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Kullback-Leibler divergence of logits (n_words, n_classes) from the teacher's, in nats a word; 0 for no words."""
    summed = kl_div(logits.float().log_softmax(-1), wanted.float().log_softmax(-1), reduction="sum", log_target=True)
    return summed / max(1, len(logits))
