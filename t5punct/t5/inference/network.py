"""A folder -> a network for inference, without transformers.

In: a model's folder.  Out: an `InferenceT5` with its weights, in float32 or multiplying in int8, or None where
something does not fit.

`read_network(folder)` is None for another kind of model, an older config, weights by other names, missing or broken
ones: transformers may know what to do with them, or says what is wrong (`weights.load_network`).
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from ..folder import FLOAT_FILE
from ..int8 import Int8Rows, has_int8, read_stored
from ..int8_linear import take_rows
from ..layers import has_layers
from ..weights import broken_weights
from .modules import InferenceT5

_OUTPUT, _ENCODER = "lm_head.weight", "encoder."


def read_network(folder: Path, *, in_int8: bool = False) -> InferenceT5 | None:
    """Return a folder's network, on the CPU, ready for inference; None if it cannot be read here.

    It is in float32.  With `in_int8` its encoder multiplies in int8, by the rows on disk; None if there are none.
    """
    try:
        config = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
        weights: dict[str, Any] = read_stored(folder) if has_int8(folder) else load_file(folder / FLOAT_FILE)
        scales = [weight.scales for weight in weights.values() if isinstance(weight, Int8Rows)]
        if not all(scale.isfinite().all() for scale in scales) or (in_int8 and not scales):
            return None
        with torch.device("meta"):  # its weights are those of the file
            network = InferenceT5(config, has_own_output=_OUTPUT in weights)
        if not has_layers(network.encoder) or not _fits(network, weights):
            return None
        if in_int8:
            take_rows(network.encoder, weights, _ENCODER)
        network.load_state_dict({name: weight.float() for name, weight in weights.items()}, strict=False, assign=True)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, SafetensorError):
        return None
    network.tie()
    return None if broken_weights(network) else network.eval().requires_grad_(False)


def _fits(network: InferenceT5, weights: dict[str, Any]) -> bool:
    """Whether a file has all weights of a network, in their shapes, and no others."""
    if network.config.model_type == "umt5" and getattr(network.config, "tie_word_embeddings", None) is False:
        return False  # its weights as they were published: see `weights.load_network`
    wanted = {name: weight.shape for name, weight in network.named_parameters()}  # tied ones under their first name
    return wanted == {name: weight.shape for name, weight in weights.items()}
