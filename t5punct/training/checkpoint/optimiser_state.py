"""What the next step depends on besides the weights: moments, step counts, adapters and the random state.

In: the live objects of a run.  Out: tensors by name, whole ones, and the way back.

    optimiser.network.shared.weight/exp_avg     a moment of an optimiser
    adapter.network. .. .q.lora_A.default.weight
    rng, rng.1, rng.cuda, rng.cuda.1            the random state of each process, on the CPU and on its device

Where FSDP shards a run, each process holds a part of each tensor; all of them must call `collect_tensors` together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from ..start.lora import is_adapter
from .plain import gather_whole, is_sharded, split_like

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
            state[parameter] = {slot: _as_it_was(parameter, value) for slot, value in slots_of[name].items()}


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


def _as_it_was(parameter: torch.Tensor, value: torch.Tensor) -> Any:
    """A saved moment where its parameter is, and so is a step count that is a tensor: AdamW's, fused, must be there."""
    if value.dim():
        return split_like(parameter, value)
    return value.to(parameter.device) if value.is_floating_point() else int(value)
