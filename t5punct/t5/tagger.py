"""The tagger: linear heads on the encoder's states, for a slot's first mark, a word's case, and its opening mark.

In: the encoder's state of each word's last token.  Out: logits of marks and of case.
`Tagger(d_model=392, marks=",.?!:;-")` has 8 classes of marks (0: none; k: the task's mark k - 1) and 3 of case.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

from ..errors import first_line
from ..text.marks import NO_MARKS, OPENING, Case

_log = logging.getLogger(__name__)

TAGGED_CASES = (Case.LOWER, Case.CAPITALISED, Case.UPPER)


class Tagger(nn.Module):
    """Linear layers side by side; `openings` is None without opening marks in the task."""

    def __init__(self, d_model: int, marks: str, opening: str = "") -> None:
        super().__init__()
        self.opening_classes = (NO_MARKS, *opening)
        self.openings = nn.Linear(d_model, len(self.opening_classes)) if opening else None
        self.mark_classes = (NO_MARKS, *marks)
        self.marks = nn.Linear(d_model, len(self.mark_classes))
        self.cases = nn.Linear(d_model, len(TAGGED_CASES))

    def forward(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (.., 1 + n_marks) and (.., n_cases) of states (.., d_model)."""
        return self.marks(states), self.cases(states)

    def opening_probabilities(self, states: torch.Tensor, marks: str) -> torch.Tensor | None:
        """Return the probability of each class of opening marks before words, (n_words, n_opening_classes).

        The first class is none.  Returns None if the tagger knows no opening marks.  states: (n_words, d_model).
        marks: those that may be written; `¿` may only be if `?` may.
        """
        if self.openings is None:
            return None
        is_forbidden = [mark != NO_MARKS and OPENING[mark] not in marks for mark in self.opening_classes]
        logits = self.openings(states).float().cpu().masked_fill(torch.tensor(is_forbidden), -math.inf)
        return torch.softmax(logits, dim=-1)

    def log_odds(self, odds: Mapping[str, float], marks: str) -> torch.Tensor:
        """Return a bias for the marks' logits, (n_classes,); minus infinity for marks that may not be written."""
        weights = [odds.get(mark, 1.0) if mark in marks else 0.0 for mark in self.mark_classes[1:]]
        return torch.tensor([0.0, *(math.log(weight) if weight else -math.inf for weight in weights)])

    def of_marks(self, marks: str) -> Tagger:
        """Return a tagger with these marks as classes, in their order; itself if it has them so, or lacks one of them.

        A model's task may name fewer marks than it was trained with, or in another order.
        """
        classes = (NO_MARKS, *marks)
        if classes == self.mark_classes or not {*classes} <= {*self.mark_classes}:
            return self
        tagger = deepcopy(self)
        tagger.mark_classes = classes
        tagger.marks.out_features = len(classes)
        rows = [self.mark_classes.index(mark) for mark in classes]  # of the layer's weight and bias
        for name, value in self.marks.named_parameters():
            tagger.marks.register_parameter(name, nn.Parameter(value.detach()[rows], value.requires_grad))
        return tagger


def states_at_words(states: torch.Tensor, word_ends: torch.Tensor) -> torch.Tensor:
    """Return states (n_batch, n_source, d_model) at tokens, int64 (n_batch, n_words): (n_batch, n_words, d_model)."""
    return states.gather(1, word_ends.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def load_tagger(file: Path, d_model: int, marks: str, opening: str = "") -> Tagger | None:
    """Return the tagger in a file; None if there is none, or, with a warning, if it does not fit."""
    if not file.is_file():
        return None
    tagger = Tagger(d_model, marks, opening)
    try:
        tagger.load_state_dict(load_file(file))
    except Exception as error:  # slot decoding works without a tagger
        _log.warning("%s does not fit the marks %r, and is left out (%s)", file, marks, first_line(error))
        return None
    return tagger.requires_grad_(False)
