"""The optimisers, AdamW, Adafactor, or Muon for the matrices and AdamW for the rest; and their rates over the steps.

In: an `Objective` and an `OptimConfig`.  Out: one or two torch optimisers, stepped together, and a scheduler for each.

`build_optimisers(objective, OptimConfig(name="muon", lr=2e-3, embedding_lr=1e-2))` gives a Muon and an AdamW,
`learning_rate(OptimConfig(schedule="cosine", warmup_steps=200), optimiser, n_steps=5000, done=0)` a scheduler.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from ...errors import ConfigError
from ..config import OptimConfig

_OUTER = ("shared", "embed_tokens", "lm_head", "relative_attention_bias", "tagger")
_EMBEDDINGS = "shared.weight"
# embeddings of words, and what an encoder that is no T5's adds to them before its first layer: positions, a norm
_WORDS = ("shared", "encoder.embeddings")
_TYPICAL_RMS = 0.045  # of a matrix whose rate is `lr`: that of a BERT with 384 channels
_BIAS_RATE = 10.0  # times `lr`: relative position biases are few, and are logits of order 1


def build_optimisers(objective: nn.Module, config: OptimConfig) -> tuple[torch.optim.Optimizer, ...]:
    """Return the optimisers that the config names, for the parameters that are trained.

    Muon (Jordan 2024; its update scaled as in Liu 2025, arXiv 2502.16982) makes each matrix's momentum orthogonal
    and learns a T5 from random weights in far fewer steps.  It is for matrices between hidden states; embeddings,
    position biases, norms and heads are left to AdamW.  Raises ConfigError if there are none to be trained.
    """
    parameters = {name: value for name, value in objective.named_parameters() if value.requires_grad}
    if not parameters:
        raise ConfigError("nothing to train", expected="parameters that are not frozen", fix="check optim.frozen")
    if config.name == "adafactor":
        return (_adafactor(parameters, config),)
    hidden = [name for name in parameters if config.name == "muon" and _is_hidden(name, parameters[name])]
    matrices = [parameters.pop(name) for name in hidden]
    optimisers = list[torch.optim.Optimizer]()
    if matrices:
        decay = config.weight_decay
        optimisers.append(torch.optim.Muon(matrices, lr=config.lr, weight_decay=decay, adjust_lr_fn="match_rms_adamw"))
    if parameters:
        lr = config.lr if config.embedding_lr is None else config.embedding_lr
        groups, betas = _groups(parameters, config, lr), (config.beta1, config.beta2)
        optimisers.append(torch.optim.AdamW(groups, lr=lr, betas=betas, weight_decay=config.weight_decay, fused=True))
    return tuple(optimisers)


def freeze(objective: nn.Module, parts: Sequence[str]) -> None:
    """Freeze the parameters whose names contain one of these parts; `words` names what every model reads words with.

    Raises ConfigError for a part that none has.
    """
    for part in parts:
        wanted = _WORDS if part == "words" else (part,)
        matching = [value for name, value in objective.named_parameters() if any(each in name for each in wanted)]
        if not matching:
            raise ConfigError(f"frozen {part!r}", expected="part of a parameter's name", fix="check optim.frozen")
        for value in matching:
            value.requires_grad_(False)


def freeze_words(embeddings: nn.Embedding, task_ids: Sequence[int]) -> None:
    """Train only the embeddings of the task's own tokens.  What a BERT knows about rare words would soon be lost: Adam
    moves a row by its whole rate whenever its word comes.  Raises ConfigError for a tokenizer without such tokens.
    """
    if not task_ids:
        raise ConfigError("a tokenizer without tokens of the task", expected="some", fix="set optim.embeddings=all")
    learns = torch.zeros(embeddings.num_embeddings, 1, device=embeddings.weight.device)
    learns[list(task_ids)] = 1.0
    embeddings.weight.register_hook(lambda gradient: gradient * learns)  # type: ignore[no-untyped-call]


def _is_hidden(name: str, value: torch.Tensor) -> bool:
    """Whether a parameter is a matrix between hidden states."""
    return value.ndim == 2 and not any(outer in name for outer in _OUTER)


def _adafactor(parameters: Mapping[str, nn.Parameter], config: OptimConfig) -> torch.optim.Optimizer:
    """Shazeer 2018, by transformers, with the rates and the schedule of the config and without momentum.

    Of a matrix's squared gradients it keeps the means of rows and columns: the memory of AdamW's moments is saved.
    """
    from transformers.optimization import Adafactor

    groups, decay = _groups(parameters, config, config.lr), config.weight_decay
    optimiser: torch.optim.Optimizer = Adafactor(
        groups, lr=config.lr, weight_decay=decay, scale_parameter=False, relative_step=False
    )
    return optimiser


def _groups(parameters: Mapping[str, nn.Parameter], config: OptimConfig, lr: float) -> list[dict[str, Any]]:
    """Return one group for each rate and decay; with `rates: matrix` each parameter has its own rate (see `rate`).

    Raises ConfigError for a part in `factors` that no parameter has in its name.
    """
    for part in config.factors:
        if not any(part in name for name in parameters):
            raise ConfigError(f"factors of {part!r}", expected="part of a parameter's name", fix="check optim.factors")
    groups = defaultdict[tuple[float, float], list[nn.Parameter]](list)
    for name, value in parameters.items():
        factor = next((factor for part, factor in config.factors.items() if part in name), 1.0)
        own = rate(name, value, lr) if config.rates == "matrix" else lr
        # where words' embeddings stay (`embeddings: task`), they do not decay either
        stays = config.embeddings == "task" and name.endswith(_EMBEDDINGS)
        groups[factor * own, 0.0 if stays else config.weight_decay].append(value)
    return [{"params": values, "lr": own, "weight_decay": decay} for (own, decay), values in groups.items()]


def rate(name: str, value: torch.Tensor, lr: float) -> float:
    """Return a rate in proportion to the root mean square of a parameter's weights, as Adafactor's (Shazeer 2018).

    A converted encoder's matrices differ in scale by a factor of ten: one rate for all breaks some and leaves others.
    """
    if "relative_attention_bias" in name:
        return _BIAS_RATE * lr
    if value.ndim < 2:
        return lr
    rms = float(value.detach().float().pow(2).mean().sqrt())
    return lr * max(rms, 0.1 * _TYPICAL_RMS) / _TYPICAL_RMS


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
