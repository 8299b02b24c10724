"""The learning rate over the steps of a run, by transformers' schedules.

In: the config's schedule and a run's length.  Out: a torch scheduler, one for each optimiser.

`learning_rate(OptimConfig(schedule="cosine", warmup_steps=200), optimiser, n_steps=5000, done=0)`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .config import OptimConfig

if TYPE_CHECKING:
    import torch


def learning_rate(config: OptimConfig, optimiser: torch.optim.Optimizer, n_steps: int, done: int) -> Any:
    """The learning rate over the run's steps, of which `done` are over."""
    from transformers import get_scheduler

    schedule = get_scheduler(config.schedule, optimiser, config.warmup_steps, n_steps)
    with warnings.catch_warnings():
        # of a schedule that is stepped before its optimiser: an earlier process has made the optimiser's steps
        warnings.filterwarnings("ignore", ".*lr_scheduler.step.*", UserWarning)
        for _ in range(done):
            schedule.step()
    return schedule
