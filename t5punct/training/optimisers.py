"""The optimisers: AdamW, or Muon for the matrices and AdamW for the rest.

In: an `Objective` and an `OptimConfig`.  Out: one or two torch optimisers, stepped together.

`build_optimisers(objective, OptimConfig(name="muon", lr=2e-3, embedding_lr=1e-2))` gives a Muon and an AdamW.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from .config import OptimConfig

_OUTER = ("shared", "embed_tokens", "lm_head", "relative_attention_bias", "tagger")


def build_optimisers(objective: nn.Module, config: OptimConfig) -> tuple[torch.optim.Optimizer, ...]:
    """The optimisers that the config names.

    Muon (Jordan 2024; its update scaled as in Liu 2025, arXiv 2502.16982) makes each matrix's momentum orthogonal
    and learns a T5 from random weights in far fewer steps.  It is for matrices between hidden states; embeddings,
    position biases, norms and heads are left to AdamW.
    """
    parameters = dict(objective.named_parameters())
    if config.name == "adamw":
        return (_adamw(parameters.values(), config, config.lr),)
    hidden = {name for name, value in parameters.items() if value.ndim == 2 and not any(o in name for o in _OUTER)}
    muon = torch.optim.Muon(
        [parameters[name] for name in parameters if name in hidden],
        lr=config.lr,
        weight_decay=config.weight_decay,
        adjust_lr_fn="match_rms_adamw",
    )
    others = [parameters[name] for name in parameters if name not in hidden]
    return muon, _adamw(others, config, config.embedding_lr or config.lr)


def _adamw(parameters: Iterable[nn.Parameter], config: OptimConfig, lr: float) -> torch.optim.AdamW:
    return torch.optim.AdamW(parameters, lr=lr, betas=(config.beta1, config.beta2), weight_decay=config.weight_decay)
