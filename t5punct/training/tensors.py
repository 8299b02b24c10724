"""The tensors of a run, whole and plain, whatever it is trained with: what is validated, saved and restored.

In: the live objects of a run.  Out: a `Model` that is like any other; tensors by name, and the way back.

    optimiser.network.shared.weight/exp_avg     a moment of AdamW
    adapter.network. .. .q.lora_A.default.weight
    rng, rng.1, rng.cuda, rng.cuda.1            the random state of each process, on the CPU and on its device

With adapters (LoRA), or in parts on several devices (FSDP; Zhao 2023), the model is written into a second network on
the first process, made before the first one was changed.  All processes must ask at once: each hands over its part.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.distributed.tensor import DTensor, distribute_tensor

from ..errors import ConfigError
from ..model import Model
from ..t5.tagger import Tagger
from .config import OptimConfig
from .start.lora import LoraConfig, is_adapter, merge_adapters

_RNG, _RNG_CUDA = "rng", "rng.cuda"


def collect_tensors(objective: nn.Module, optimiser: Any, accelerator: Any) -> dict[str, torch.Tensor]:
    """Return what a checkpoint holds beside its model, on the first process's CPU; all processes must ask at once."""
    from accelerate.utils import gather_object

    tensors: dict[str, torch.Tensor] = {}
    if accelerator.is_main_process or is_sharded(accelerator):
        for name, parameter, state in _iter_trained(objective, optimiser):
            for slot, value in state.get(parameter, {}).items():
                tensors[f"optimiser.{name}/{slot}"] = torch.as_tensor(value)
        named = objective.named_parameters()
        tensors |= {f"adapter.{name}": value.detach() for name, value in named if is_adapter(name)}
        tensors = {name: gather_whole(tensor).contiguous().cpu() for name, tensor in tensors.items()}
    for random_states in gather_object([random_state(accelerator.process_index)]):
        tensors |= random_states
    return tensors


def restore_tensors(tensors: Mapping[str, torch.Tensor], objective: nn.Module, optimiser: Any) -> None:
    """Put all but the random state back where it came from; the weights are already loaded as a model."""
    slots_of = defaultdict[str, dict[str, torch.Tensor]](dict)
    for key, value in tensors.items():
        if key.startswith("optimiser."):
            name, _, slot = key.removeprefix("optimiser.").rpartition("/")
            slots_of[name][slot] = value
    for name, parameter in objective.named_parameters():
        if f"adapter.{name}" in tensors:
            with torch.no_grad():
                parameter.copy_(split_like(parameter, tensors[f"adapter.{name}"]))
    for name, parameter, state in _iter_trained(objective, optimiser):
        if name in slots_of:
            state[parameter] = {slot: place_like(parameter, value) for slot, value in slots_of[name].items()}


def _iter_trained(objective: nn.Module, optimiser: Any) -> Iterator[tuple[str, nn.Parameter, Any]]:
    """Yield each parameter that is trained: its name, itself, and the optimiser's state by parameters."""
    names = {parameter: name for name, parameter in objective.named_parameters()}
    inner = getattr(optimiser, "optimizer", optimiser)  # accelerate wraps it
    for group in inner.param_groups:
        yield from ((names[parameter], parameter, inner.state) for parameter in group["params"])


def random_state(process: int = 0) -> dict[str, torch.Tensor]:
    """Return the random state of this process, under its number."""
    states = {_of(_RNG, process): torch.get_rng_state()}
    if torch.cuda.is_available():
        states[_of(_RNG_CUDA, process)] = torch.cuda.get_rng_state()
    return states


def restore_random_state(tensors: Mapping[str, torch.Tensor], process: int) -> None:
    """Go on drawing where this process was; older checkpoints have the first process's state only."""
    on_cpu = tensors.get(_of(_RNG, process), tensors[_RNG])
    torch.set_rng_state(on_cpu)
    on_device = tensors.get(_of(_RNG_CUDA, process))
    if on_device is not None and torch.cuda.is_available():
        torch.cuda.set_rng_state(on_device)


def _of(name: str, process: int) -> str:
    return f"{name}.{process}" if process else name


def place_like(parameter: torch.Tensor, value: torch.Tensor) -> Any:
    """Return a saved moment or step count where its parameter is: AdamW, fused, reads a count there."""
    if value.dim():
        return split_like(parameter, value)
    return value.to(parameter.device) if value.is_floating_point() else int(value)


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
    if optim.embeddings != "all":
        raise ConfigError(
            f"optim.embeddings {optim.embeddings} with FSDP",
            expected="all: the other needs whole matrices",
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


class PlainModel:
    """Knows how to get a model's weights out of what is trained.  To be made before adapters or FSDP change it."""

    def __init__(self, model: Model, lora: LoraConfig, accelerator: Any) -> None:
        self.accelerator, self.lora = accelerator, lora
        self._copied = is_sharded(accelerator) or bool(lora.r)
        keeps_copy = self._copied and accelerator.is_main_process
        self._network: Any = copy.deepcopy(model.network) if keeps_copy else None

    def __call__(self, model: Model, objective: Any, *, to_use: bool = False) -> Model:
        """The model as it is now, on the device if it is to be used; on other processes than the first the given one.

        All processes must ask at once: those that hold a part each hand it over.
        """
        if not self._copied:
            return model
        state = self._gather(self.accelerator.unwrap_model(objective))
        if not self.accelerator.is_main_process:
            return model
        # a second copy takes the device's memory only while it is used
        network = self._network.to(self.accelerator.device if to_use else "cpu")
        own = {name.removeprefix("network."): value for name, value in state.items() if name.startswith("network.")}
        _write(network, merge_adapters(own) if self.lora.r else own)
        return replace(model, network=network, tagger=_tagger(model, state, network.device))

    def _gather(self, objective: nn.Module) -> dict[str, torch.Tensor]:
        """The trained weights, whole and on the CPU where they were in parts; only the first process keeps them all."""
        if not is_sharded(self.accelerator):
            return objective.state_dict()
        state = {}
        for name, value in objective.state_dict().items():
            full = gather_whole(value)
            if self.accelerator.is_main_process:
                state[name] = full.cpu()
        return state


def _write(network: Any, state: dict[str, Any]) -> None:
    """Load a state, in which tied weights may stand under one of their names only."""
    missing, unexpected = network.load_state_dict(state, strict=False)
    own = network.state_dict()
    known = {own[name].data_ptr() for name in state if name in own}
    lost = [name for name in missing if own[name].data_ptr() not in known]
    assert not lost and not unexpected, (lost, unexpected)  # noqa: S101  (the network is a copy of the trained one)


def _tagger(model: Model, state: dict[str, Any], device: Any) -> Tagger | None:
    if model.tagger is None:
        return None
    with torch.random.fork_rng(devices=[]):  # its first weights must not change the training's dropout
        tagger = Tagger(model.network.config.d_model, model.task.slot_marks, model.task.opening)
    tagger.load_state_dict({name.removeprefix("tagger."): v for name, v in state.items() if name.startswith("tagger.")})
    return tagger.to(device)
