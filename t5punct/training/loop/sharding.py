"""Weights in parts on several devices (FSDP; Zhao 2023), as configs/accelerate-fsdp.yaml asks for them.

In: accelerate's object, and tensors of which this process may hold a part.  Out: whole tensors, and parts again.

Every process must ask for a whole tensor at the same time: each hands over its part.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.tensor import DTensor, distribute_tensor

from ...errors import ConfigError
from ..config import OptimConfig


def is_sharded(accelerator: Any) -> bool:
    """Return whether FSDP holds the weights in parts."""
    return bool(accelerator.distributed_type == "FSDP")


def check_sharded(accelerator: Any, optim: OptimConfig) -> None:
    """Raise ConfigError for settings that do not work on parts of weights."""
    if not is_sharded(accelerator):
        return
    fix = "use configs/accelerate-fsdp.yaml, or no --config_file for whole weights on each device"
    if not accelerator.is_fsdp2:
        raise ConfigError("FSDP of version 1", expected="fsdp_version: 2 in accelerate's config", fix=fix)
    if optim.name != "adamw" or optim.embeddings != "all":
        raise ConfigError(
            f"optim.name {optim.name} and optim.embeddings {optim.embeddings} with FSDP",
            expected="adamw and all: the others need whole matrices",
            fix=fix,
        )


def gather_whole(tensor: torch.Tensor) -> torch.Tensor:
    """Gather a tensor of which each process may hold a part."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def split_like(parameter: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Return a copy of a whole tensor where its parameter is; in parts, if the parameter of this shape is.

    A copy, as what is read from a file may lie anywhere in memory, and kernels then add in another order.
    """
    value = value.to(parameter.device, copy=True)
    if isinstance(parameter, DTensor) and value.shape == parameter.shape:
        return distribute_tensor(value, parameter.device_mesh, parameter.placements)
    return value
