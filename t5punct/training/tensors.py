"""The tensors of a run as a checkpoint has them: whole, although FSDP holds them in parts, and merged with adapters.

    optimiser.network.shared.weight/exp_avg     a moment of AdamW
    adapter.network. .. .q.lora_A.default.weight
    rng, rng.1, rng.cuda, rng.cuda.1            the random state of each process, on the CPU and on its device

With adapters (LoRA; Hu 2021, by peft) or FSDP (Zhao 2023) others cannot load the trained network.  So the first process
keeps a copy from before, into which `PlainModel` writes the weights.  A resumed run puts its adapters on `init_from`
again, whose weights it has not changed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.distributed.tensor import DTensor, distribute_tensor

from ..errors import ConfigError
from ..extras import way_to_install
from ..model import Model
from .config import LoraConfig

_SCALE = 2.0  # lora_alpha / r


def collect_tensors(objective: nn.Module, optimiser: Any, accelerator: Any) -> dict[str, torch.Tensor]:
    """Return what a checkpoint has beside its model, on the CPU of the first process.  All processes must call it.

    optimiser: as accelerate has wrapped it.
    """
    from accelerate.utils import gather_object

    tensors: dict[str, torch.Tensor] = {}
    if accelerator.is_main_process or accelerator.is_fsdp2:  # with FSDP each process holds a part
        moments = optimiser.optimizer.state  # by parameter, and by name
        for name, parameter in objective.named_parameters():
            for moment, tensor in moments.get(parameter, {}).items():
                tensors[f"optimiser.{name}/{moment}"] = _whole(tensor).contiguous().cpu()
            if ".lora_" in name:  # an adapter's weight, as peft names it
                tensors[f"adapter.{name}"] = _whole(parameter.detach()).contiguous().cpu()
    suffix = _suffix(accelerator.process_index)
    random_state = {f"rng{suffix}": torch.get_rng_state()}
    if torch.cuda.is_available():
        random_state[f"rng.cuda{suffix}"] = torch.cuda.get_rng_state()
    for random_state_of_process in gather_object([random_state]):
        tensors |= random_state_of_process
    return tensors


def restore_tensors(
    tensors: Mapping[str, torch.Tensor], objective: nn.Module, optimiser: Any, accelerator: Any
) -> None:
    """Restore moments, adapters and the random state of this process.  The other weights are loaded as a model."""
    parameters = dict(objective.named_parameters())
    moments = optimiser.optimizer.state
    for key, tensor in tensors.items():
        kind, _, name = key.partition(".")
        if kind == "adapter":
            with torch.no_grad():
                parameters[name].copy_(_place_like(parameters[name], tensor))
        elif kind == "optimiser":
            name, _, moment = name.rpartition("/")
            if name in parameters and parameters[name].requires_grad:  # a resumed run may train other losses
                moments[parameters[name]][moment] = _place_like(parameters[name], tensor)
    suffix = _suffix(accelerator.process_index)
    torch.set_rng_state(tensors[f"rng{suffix}"])
    if f"rng.cuda{suffix}" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors[f"rng.cuda{suffix}"])


def _suffix(process: int) -> str:
    return f".{process}" if process else ""


def _place_like(parameter: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Return a saved tensor on the device of its parameter, and in parts if a parameter of this shape is."""
    # a copy: what is read from a file may have any alignment in memory, and then kernels add in another order
    value = value.to(parameter.device, copy=True)
    if isinstance(parameter, DTensor) and value.shape == parameter.shape:
        return distribute_tensor(value, parameter.device_mesh, parameter.placements)
    return value


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def add_adapters(network: Any, config: LoraConfig) -> None:
    """Put adapters on a network, in place.  They alone require gradients, and do not change its output at first.

    Raises ConfigError if peft is not installed, or if no layer has one of the names.
    """
    try:
        from peft import LoraConfig as PeftConfig
        from peft import inject_adapter_in_model
    except ImportError as error:
        raise ConfigError("lora without peft", expected="peft", fix=way_to_install("lora")) from error
    adapters = PeftConfig(r=config.r, lora_alpha=_SCALE * config.r, target_modules=list(config.target_modules))
    try:
        inject_adapter_in_model(adapters, network)
    except ValueError as error:
        mistake = f"lora.target_modules {', '.join(config.target_modules)}"
        raise ConfigError(mistake, expected="names of linear layers", fix="check lora.target_modules") from error


class PlainModel:
    """Returns what is trained as a model like any other."""

    def __init__(self, objective: Any, config: LoraConfig, accelerator: Any) -> None:
        """objective: with adapters, if the config has any, and before FSDP changes it."""
        self.accelerator = accelerator
        self.has_adapters = bool(config.r)
        self.is_copied = accelerator.is_fsdp2 or self.has_adapters
        keeps_copy = self.is_copied and accelerator.is_main_process
        # network and tagger, if it has one
        self._parts: Any = copy.deepcopy(nn.ModuleDict(objective.named_children())) if keeps_copy else None

    def __call__(self, model: Model, objective: Any, *, to_use: bool = False) -> Model:
        """Return the model as it is now; `to_use`: on the device, and not on the CPU, if it is a copy.

        All processes must call it, since each may hold a part.  Only the first gets the model, the others `model`.
        """
        if not self.is_copied:
            return model
        state: dict[str, torch.Tensor] = self.accelerator.get_state_dict(objective)  # of parts, on the CPU
        if not self.accelerator.is_main_process:
            return model
        parts = copy.deepcopy(self._parts) if self.has_adapters else self._parts
        # on the CPU the copy takes no memory of the device
        parts.to(self.accelerator.device if to_use else "cpu").load_state_dict(state)
        if self.has_adapters:
            merge_adapters(parts.network)
        return replace(model, network=parts.network, tagger=getattr(parts, "tagger", None))


def merge_adapters(network: Any) -> None:
    """Merge the adapters of a network into its weights, in place, and take them off."""
    from peft.tuners.lora import LoraLayer

    for name, layer in [*network.named_modules()]:
        if isinstance(layer, LoraLayer):
            layer.merge()
            network.set_submodule(name, layer.get_base_layer())
