"""The learning rate over the steps of a run, by transformers' schedules.

In: the config's schedule and a run's length.  Out: a torch scheduler, one for each optimiser.

`learning_rate(OptimConfig(schedule="cosine", warmup_steps=200), optimiser, n_steps=5000, done=0)`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..config import OptimConfig

if TYPE_CHECKING:
    import torch


def warm_up_warnings(config: OptimConfig, n_steps: int) -> Iterator[str]:
    """Yield warnings if a run ends before its warm-up does."""
    if config.schedule != "constant" and config.warmup_steps >= n_steps:
        yield (
            f"a warm-up of {config.warmup_steps} steps in a run of {n_steps}: the learning rate never reaches "
            "optim.lr; expected a warm-up that is shorter than the run; lower optim.warmup_steps"
        )


def rate_now(config: OptimConfig, schedule: Any) -> float:
    """Return the scheduled value of `optim.lr`: the groups of an optimiser may have rates of their own."""
    return config.lr * float(schedule.lr_lambdas[0](schedule.last_epoch))


def learning_rate(config: OptimConfig, optimiser: torch.optim.Optimizer, n_steps: int, done: int) -> Any:
    """Return the learning rate over the run's steps, of which `done` are over."""
    from transformers import get_scheduler

    schedule = get_scheduler(config.schedule, optimiser, config.warmup_steps, n_steps)
    with warnings.catch_warnings():
        # of a schedule that is stepped before its optimiser: an earlier process has made the optimiser's steps
        warnings.filterwarnings("ignore", ".*lr_scheduler.step.*", UserWarning)
        for _ in range(done):
            schedule.step()
    return schedule
