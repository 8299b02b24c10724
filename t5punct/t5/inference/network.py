"""A folder -> a network for inference, without transformers.

In: a model's folder.  Out: an `InferenceT5` in float32 with its weights, or None where something does not fit.

`read_network(folder)` is None for another kind of model, an older config, weights by other names, missing or broken
ones: transformers may know what to do with them, or says what is wrong (`weights.load_network`).
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from ..folder import FLOAT_FILE
from ..int8 import has_int8, read_int8_tensors
from ..layers import has_layers
from ..weights import broken_weights
from .modules import InferenceT5

_OUTPUT = "lm_head.weight"


def read_network(folder: Path) -> InferenceT5 | None:
    """Return a folder's network, in float32 on the CPU, ready for inference; None if it cannot be read here."""
    try:
        config = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
        tensors = read_int8_tensors(folder) if has_int8(folder) else load_file(folder / FLOAT_FILE)
        with torch.device("meta"):  # its weights are those of the file
            network = InferenceT5(config, has_own_output=_OUTPUT in tensors)
        if not has_layers(network.encoder) or not _fits(network, tensors):
            return None
        network.load_state_dict({name: value.float() for name, value in tensors.items()}, strict=False, assign=True)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, SafetensorError):
        return None
    network.tie()
    return None if broken_weights(network) else network.eval().requires_grad_(False)


def _fits(network: InferenceT5, tensors: dict[str, torch.Tensor]) -> bool:
    """Whether a file has all weights of a network, in their shapes, and no others."""
    if network.config.model_type == "umt5" and getattr(network.config, "tie_word_embeddings", None) is False:
        return False  # its weights as they were published: see `weights.load_network`
    wanted = {name: weight.shape for name, weight in network.named_parameters()}  # tied ones under their first name
    return wanted == {name: tensor.shape for name, tensor in tensors.items()}
