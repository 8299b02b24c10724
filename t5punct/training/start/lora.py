"""Low-rank adapters (LoRA; Hu 2021), by peft: a large T5 learns a few small matrices, and all else stays.

In: a network and a `LoraConfig`.  Out: the same network with adapters, in place; and its weights with the adapters
merged into them, as any T5 has them.

A checkpoint's model is merged, so it loads like any other.  Its adapters lie beside the moments; to resume, they are
put on `init_from` again, whose weights the run has not changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...config import check_range
from ...errors import ConfigError
from ...extras import way_to_install

if TYPE_CHECKING:
    import torch

_ADAPTER = "default"
_SCALE = 2.0  # lora_alpha / r
_BASE, _DOWN, _UP = ".base_layer.", f".lora_A.{_ADAPTER}.", f".lora_B.{_ADAPTER}."


@dataclass(frozen=True)
class LoraConfig:
    """The adapters, in the words of peft's LoraConfig; the tagger is trained as a whole beside them."""

    r: int = 0  # their rank; 0 has no adapters and trains all weights
    # the linear layers that get one, by the last part of their names: attention's and the feed-forward's
    target_modules: list[str] = field(default_factory=lambda: ["q", "k", "v", "o", "wi", "wi_0", "wi_1", "wo"])

    def __post_init__(self) -> None:
        check_range(self, "lora.", 0, "r")


def add_adapters(network: Any, config: LoraConfig) -> None:
    """Put adapters on a network, in place; they alone require gradients.  They begin as zeros: nothing changes yet.

    Raises ConfigError if no layer has one of the names, or if peft is not installed.
    """
    try:
        from peft import LoraConfig as PeftConfig
        from peft import inject_adapter_in_model
    except ImportError as error:
        raise ConfigError("lora without peft", expected="peft", fix=way_to_install("lora")) from error
    adapters = PeftConfig(r=config.r, lora_alpha=_SCALE * config.r, target_modules=list(config.target_modules))
    try:
        inject_adapter_in_model(adapters, network, adapter_name=_ADAPTER)
    except ValueError as error:
        raise ConfigError(
            f"lora.target_modules {', '.join(config.target_modules)}",
            expected="names of linear layers",
            fix="check lora.target_modules",
        ) from error


def is_adapter(name: str) -> bool:
    """Return whether a parameter of this name is one of an adapter's."""
    return _DOWN in name or _UP in name


def merge_adapters(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights of a network with adapters, by the names that they have without, each W + 2 B A.

    state: a state dict; A: (rank, n_in), B: (n_out, rank), W: (n_out, n_in).  A state without adapters stays as it is.
    """
    merged_state: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        if is_adapter(name):
            continue
        down, up = (state.get(name.replace(_BASE, part)) for part in (_DOWN, _UP))
        if _BASE in name and down is not None and up is not None:
            value = value + _SCALE * (up @ down)  # noqa: PLW2901
        merged_state[name.replace(_BASE, ".")] = value
    return merged_state
