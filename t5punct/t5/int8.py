"""Weights of linear layers in int8 on disk: written as they are computed with, and read back to the bit.

In: a T5 and its quantised weights, or a folder with `model-int8.safetensors`.  Out: that file, or a T5 in float32.

The layer `encoder.block.0.layer.0.SelfAttention.q` has two tensors there: `...q.weight` (int8) and `...q.weight.scale`.
Their product is the weight in float32.  The file has a name of its own, since transformers would read it wrongly.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from .folder import INT8_FILE

_SCALE, _KNOWN = ".scale", "int8_scale"  # the attribute of a layer whose weights lie on a grid of this step


def write_int8(network: Any, folder: Path, quantised: Mapping[str, torch.Tensor]) -> None:
    """Write a network of which some weights, by name, are quantised: (n_out, n_in) in qint8, with one scale each.

    Other weights are written in bfloat16 where that loses nothing, else in float32.
    """
    tensors: dict[str, torch.Tensor] = {}
    written = set[int]()
    for name, weight in network.state_dict().items():
        if name in quantised:
            tensors[name] = quantised[name].int_repr().contiguous()
            tensors[name + _SCALE] = torch.tensor(quantised[name].q_scale())
        elif weight.data_ptr() not in written:  # tied embeddings are one tensor of several names
            written.add(weight.data_ptr())
            tensors[name] = _without_loss(weight).contiguous()
    network.config.save_pretrained(str(folder))
    network.generation_config.save_pretrained(str(folder))
    save_file(tensors, folder / INT8_FILE, metadata={"format": "pt"})


def read_int8(folder: Path) -> tuple[Any, Any]:
    """The network in float32, in which each layer remembers its scale; and what transformers says of its weights."""
    from transformers import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING, AutoConfig, GenerationConfig

    tensors = load_file(folder / INT8_FILE)
    scales = {name.removesuffix(_SCALE): tensors.pop(name) for name in list(tensors) if name.endswith(_SCALE)}
    for name, scale in scales.items():
        tensors[name] = tensors[name].float() * scale
    config = AutoConfig.from_pretrained(str(folder))
    network, found = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING[type(config)].from_pretrained(
        None,
        config=config,
        state_dict=tensors,
        dtype=torch.float32,
        output_loading_info=True,
        ignore_mismatched_sizes=True,
    )
    network.generation_config = GenerationConfig.from_pretrained(str(folder))
    for name, scale in scales.items():
        setattr(network.get_submodule(name.removesuffix(".weight")), _KNOWN, float(scale))
    return network, found


def on_grid(layer: nn.Module) -> torch.Tensor | None:
    """The weights of a linear layer as they were quantised; None if they never were, or have changed since."""
    scale, weight = getattr(layer, _KNOWN, None), layer.weight
    if scale is None or not isinstance(weight, torch.Tensor):
        return None
    found = torch.quantize_per_tensor(weight.detach().float(), scale, 0, torch.qint8)
    return found if torch.equal(found.dequantize(), weight) else None


def _without_loss(weight: torch.Tensor) -> torch.Tensor:
    short = weight.to(torch.bfloat16)
    return short if torch.equal(short.to(weight.dtype), weight) else weight
