"""Which of a run's models is its best, and when a run has stopped getting better.

In: what validation found, and where the run stands.  Out: where it stands with its best score, and whether to stop.

>>> state = update_best(TrainState(step=5), {"step": 5, "micro_f1": 61.0}, "micro_f1")
>>> state = update_best(replace(state, step=10), {"step": 10, "micro_f1": 60.5}, "micro_f1")
>>> state.best, state.best_step, state.stale, is_stale(state, patience=2), is_stale(state, patience=1)
(61.0, 5, 1, False, True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..checkpoint.checkpoint import TrainState
from ..config import TrainConfig

LOGGED = {"loss": "validation_loss", "tag_loss": "validation_tag_loss"}  # other scores are logged by their own names


def score_of(config: TrainConfig) -> str:
    """Return the score that decides: the config's, else what the run has of micro F1, text loss and tagger's loss."""
    if config.validation.score is not None:
        return config.validation.score
    if config.validation.file is not None:
        return "micro_f1"
    return "loss" if config.loss.text_weight else "tag_loss"


def update_best(state: TrainState, line: Mapping[str, float], score: str) -> TrainState:
    """Return the state after a validation, whose line of the log is given; an equal score is no better one.

    With another score than before (a resumed run may change it) the search for the best begins anew.
    """
    value = line[LOGGED.get(score, score)]
    known = state.best if state.score == score else None
    if known is None or (value < known if score in LOGGED else value > known):
        return replace(state, score=score, best=value, best_step=state.step, stale=0)
    return replace(state, stale=state.stale + 1)


def is_stale(state: TrainState, patience: int | None) -> bool:
    """Return whether so many validations in a row have found nothing better; never without a patience."""
    return patience is not None and state.stale >= patience
