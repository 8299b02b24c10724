"""The optimiser: AdamW, or Muon for the matrices and AdamW for the rest.

In: an `Objective` and an `OptimConfig`.  Out: one torch optimiser.

`build_optimiser(objective, OptimConfig(name="muon", lr=2e-3, embedding_lr=1e-2))`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from .config import OptimConfig


class MuonWithAdamW(torch.optim.Optimizer):
    """Muon (Jordan 2024; update scaled as in Liu 2025, arXiv 2502.16982) and AdamW, stepped together.

    Muon makes each matrix's momentum orthogonal; it learns a T5 from random weights in far fewer steps.
    """

    def __init__(self, matrices: list[nn.Parameter], others: list[nn.Parameter], config: OptimConfig) -> None:
        super().__init__([*matrices, *others], {})
        self.muon = torch.optim.Muon(
            matrices, lr=config.lr, weight_decay=config.weight_decay, adjust_lr_fn="match_rms_adamw"
        )
        self.adamw = _adamw(others, config, lr=config.embedding_lr or config.lr)
        self.param_groups = self.muon.param_groups + self.adamw.param_groups
        self.state = _BothStates(self.muon, self.adamw)  # type: ignore[assignment]

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        self.muon.step()
        self.adamw.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.muon.zero_grad(set_to_none)
        self.adamw.zero_grad(set_to_none)


class _BothStates(dict[nn.Parameter, Any]):
    """The two optimisers' states under one name, for checkpoints."""

    def __init__(self, *optimisers: torch.optim.Optimizer) -> None:
        super().__init__()
        self._owner = {
            parameter: optimiser
            for optimiser in optimisers
            for group in optimiser.param_groups
            for parameter in group["params"]
        }

    def get(self, key: Any, default: Any = None) -> Any:
        return self._owner[key].state.get(key, default)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._owner[key].state[key] = value


def build_optimiser(objective: nn.Module, config: OptimConfig) -> torch.optim.Optimizer:
    """The optimiser that the config names."""
    named = [(name, parameter) for name, parameter in objective.named_parameters() if parameter.requires_grad]
    if config.name == "adamw":
        return _adamw((parameter for _, parameter in named), config, lr=config.lr)
    matrices = [parameter for name, parameter in named if _is_hidden_matrix(name, parameter)]
    chosen = {id(parameter) for parameter in matrices}
    return MuonWithAdamW(matrices, [parameter for _, parameter in named if id(parameter) not in chosen], config)


def _adamw(parameters: Iterable[nn.Parameter], config: OptimConfig, lr: float) -> torch.optim.AdamW:
    return torch.optim.AdamW(
        parameters, lr=lr, betas=(config.beta1, config.beta2), weight_decay=config.weight_decay
    )


def _is_hidden_matrix(name: str, parameter: nn.Parameter) -> bool:
    """Muon is for matrices between hidden states; embeddings, position biases and heads are left to AdamW."""
    outer = ("shared", "embed_tokens", "lm_head", "relative_attention_bias", "tagger")
    return parameter.ndim == 2 and not any(part in name for part in outer)
