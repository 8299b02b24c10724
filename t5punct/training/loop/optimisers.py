"""AdamW, the parameters that it trains, and their learning rates over the steps.

In: an `Objective` and an `OptimConfig`.  Out: torch's AdamW, and a schedule of transformers for it.

`optimiser = build_optimiser(objective, OptimConfig(lr=1e-3))`, then
`build_schedule(OptimConfig(schedule="cosine", warmup_steps=200), optimiser, n_steps=5000, n_done=0)`.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from ...errors import ConfigError
from ..config import OptimConfig

_BETAS = 0.9, 0.98
_EMBEDDINGS = "shared.weight"
# embeddings of words, and what a BERT adds to them before its first layer: positions, a norm
_WORDS = ("shared", "encoder.embeddings")


def build_optimiser(objective: nn.Module, config: OptimConfig) -> torch.optim.AdamW:
    """Return AdamW for the parameters that are trained, with one group for each rate and decay.

    Raises ConfigError if nothing is trained, and for a part in `factors` that no parameter has in its name.
    """
    parameters = {name: value for name, value in objective.named_parameters() if value.requires_grad}
    if not parameters:
        raise ConfigError("nothing to train", expected="parameters that are not frozen", fix="check optim.frozen")
    for part in config.factors:
        if not any(part in name for name in parameters):
            raise ConfigError(f"factors of {part!r}", expected="part of a parameter's name", fix="check optim.factors")
    groups = defaultdict[tuple[float, float], list[nn.Parameter]](list)
    for name, value in parameters.items():
        factor = next((factor for part, factor in config.factors.items() if part in name), 1.0)
        # words' embeddings that must stay (`embeddings: task`) must not decay either
        stays = config.embeddings == "task" and name.endswith(_EMBEDDINGS)
        groups[factor * config.lr, 0.0 if stays else config.weight_decay].append(value)
    return torch.optim.AdamW(
        [{"params": values, "lr": lr, "weight_decay": decay} for (lr, decay), values in groups.items()],
        lr=config.lr,
        betas=_BETAS,
        fused=True,
    )


def freeze(objective: nn.Module, parts: Sequence[str]) -> None:
    """Freeze the parameters whose names contain one of these parts; `words` stands for the embeddings of any model.

    Raises ConfigError for a part that no name contains.
    """
    for part in parts:
        wanted = _WORDS if part == "words" else (part,)
        matching = [value for name, value in objective.named_parameters() if any(each in name for each in wanted)]
        if not matching:
            raise ConfigError(f"frozen {part!r}", expected="part of a parameter's name", fix="check optim.frozen")
        for value in matching:
            value.requires_grad_(False)


def freeze_words(embeddings: nn.Embedding, task_ids: Sequence[int]) -> None:
    """Train only the embeddings of the task's own tokens.

    Otherwise an encoder soon loses what it knows of rare words: Adam moves a row by the whole rate whenever its word
    comes.  Raises ConfigError for a tokenizer without such tokens.
    """
    if not task_ids:
        raise ConfigError(
            "a tokenizer without tokens of the task",
            expected="tokens for styles or marks",
            fix="set optim.embeddings=all",
        )
    learns = torch.zeros(embeddings.num_embeddings, 1, device=embeddings.weight.device)
    learns[list(task_ids)] = 1.0
    embeddings.weight.register_hook(lambda gradient: gradient * learns)  # type: ignore[no-untyped-call]


def scheduled_rate(config: OptimConfig, schedule: Any) -> float:
    """Return `optim.lr` at the current step; groups of parameters with a factor have other rates."""
    return config.lr * float(schedule.lr_lambdas[0](schedule.last_epoch))


def build_schedule(config: OptimConfig, optimiser: torch.optim.Optimizer, n_steps: int, n_done: int) -> Any:
    """Return the schedule of the learning rate over a run's steps, of which `n_done` are over."""
    from transformers import get_scheduler

    schedule = get_scheduler(config.schedule, optimiser, config.warmup_steps, n_steps)
    with warnings.catch_warnings():
        # of a schedule that is stepped before its optimiser: an earlier process has made the optimiser's steps
        warnings.filterwarnings("ignore", ".*lr_scheduler.step.*", UserWarning)
        for _ in range(n_done):
            schedule.step()
    return schedule
