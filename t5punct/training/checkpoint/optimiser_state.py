"""What the next step depends on besides the weights: moments, step counts, rates, adapters and the random state.

In: the live objects of a run.  Out: tensors by name, whole ones, and the way back.

    optimiser.network.shared.weight/exp_avg     a moment of an optimiser
    rate.network.shared.weight                  the learning rate at the start of the parameter's schedule
    adapter.network. .. .q.lora_A.default.weight
    rng, rng.1, rng.cuda, rng.cuda.1            the random state of each process, on the CPU and on its device

Where FSDP shards a run, each process holds a part of each tensor; all of them must call `training_tensors` together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..loop.objective import Objective
from ..loop.sharding import gather_whole, is_sharded, split_like
from ..start.lora import is_adapter

_RNG, _RNG_CUDA = "rng", "rng.cuda"


def training_tensors(objective: Objective, optimisers: Sequence[Any]) -> dict[str, torch.Tensor]:
    """Return the tensors that a checkpoint holds beside its model, on the CPU; no random state."""
    named = dict(objective.named_parameters())
    tensors = {f"optimiser.{name}": value for name, value in _moments(named, optimisers).items()}
    rates = _rates(named, optimisers)
    tensors |= {f"rate.{name}": torch.tensor(rate, dtype=torch.float64) for name, rate in rates.items()}
    tensors |= {f"adapter.{name}": value.detach() for name, value in named.items() if is_adapter(name)}
    return {name: gather_whole(tensor).contiguous().cpu() for name, tensor in tensors.items()}


def restore_tensors(tensors: Mapping[str, torch.Tensor], objective: Objective, optimisers: Sequence[Any]) -> None:
    """Put all but the random state back where it came from; the weights are already loaded as a model."""
    owners: dict[torch.Tensor, torch.optim.Optimizer] = {}
    groups: dict[torch.Tensor, dict[str, Any]] = {}
    for optimiser in map(_plain, optimisers):
        for group in optimiser.param_groups:
            owners |= dict.fromkeys(group["params"], optimiser)
            groups |= dict.fromkeys(group["params"], group)
    slots_of: dict[str, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimiser."):
            name, _, slot = key.removeprefix("optimiser.").rpartition("/")
            slots_of.setdefault(name, {})[slot] = value
    for name, parameter in objective.named_parameters():
        if f"adapter.{name}" in tensors:
            with torch.no_grad():
                parameter.copy_(split_like(parameter, tensors[f"adapter.{name}"]))
        if parameter not in owners:
            continue
        if f"rate.{name}" in tensors:  # computed from the weights at the start of the run, not from today's
            groups[parameter]["lr"] = float(tensors[f"rate.{name}"])
        if name in slots_of:
            owners[parameter].state[parameter] = {
                slot: _as_it_was(parameter, value) for slot, value in slots_of[name].items()
            }


def collect_tensors(objective: Objective, optimisers: Sequence[Any], accelerator: Any) -> dict[str, torch.Tensor]:
    """Return `training_tensors` and all processes' random states, on the first process; all must ask at once."""
    from accelerate.utils import gather_object

    tensors: dict[str, torch.Tensor] = {}
    if accelerator.is_main_process or is_sharded(accelerator):
        tensors = training_tensors(objective, optimisers)
    for random_states in gather_object([random_state(accelerator.process_index)]):
        tensors |= random_states
    return tensors


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


def _plain(optimiser: Any) -> torch.optim.Optimizer:
    """The optimiser that accelerate has wrapped."""
    plain: torch.optim.Optimizer = getattr(optimiser, "optimizer", optimiser)
    return plain


def _as_it_was(parameter: torch.Tensor, value: torch.Tensor) -> Any:
    """A saved moment where its parameter is, and so is a step count that is a tensor: AdamW's, fused, must be there."""
    if value.dim():
        return split_like(parameter, value)
    return value.to(parameter.device) if value.is_floating_point() else int(value)


def _rates(named: Mapping[str, torch.Tensor], optimisers: Sequence[Any]) -> dict[str, float]:
    """The learning rate at the start of each parameter's schedule."""
    groups = [group for optimiser in optimisers for group in _plain(optimiser).param_groups]
    rates = {parameter: float(group["initial_lr"]) for group in groups for parameter in group["params"]}
    return {name: rates[parameter] for name, parameter in named.items() if parameter in rates}


def _moments(named: Mapping[str, torch.Tensor], optimisers: Sequence[Any]) -> dict[str, torch.Tensor]:
    """The optimisers' moments and step counts, named by parameter: `network.shared.weight/exp_avg`."""
    states = {parameter: slots for optimiser in optimisers for parameter, slots in _plain(optimiser).state.items()}
    return {
        f"{name}/{slot}": torch.as_tensor(value)
        for name, parameter in named.items()
        for slot, value in states.get(parameter, {}).items()
    }
