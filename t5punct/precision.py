"""How precisely a model computes: fp32 as it was saved, or faster.

In: a `Model` and the name of a precision.  Out: the same model, its weights converted.

`bf16` halves the weights and is fast where the processor multiplies bfloat16 (AVX512-BF16, AMX, Arm BF16, any recent
GPU); elsewhere it is slower than fp32.  `int8` quantises the linear layers' weights, and their inputs on the fly
(torch's dynamic quantisation); it needs a CPU.  T5 overflows in fp16, so that is not offered.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from .errors import ConfigError
from .model import Model

PRECISIONS = ("fp32", "bf16", "int8")


def check_precision(name: str) -> None:
    """Raises ConfigError for a name that is none of `PRECISIONS`."""
    if name not in PRECISIONS:
        raise ConfigError(f"precision {name!r}", expected=f"one of {', '.join(PRECISIONS)}", fix="check --precision")


def with_precision(model: Model, name: str) -> Model:
    """A model that computes in another precision; the given one is used up."""
    check_precision(name)
    if name == "bf16":
        import torch

        tagger = model.tagger and model.tagger.to(torch.bfloat16)
        return replace(model, network=model.network.to(torch.bfloat16), tagger=tagger)
    if name == "int8":
        network: Any = model.network
        network.encoder, network.decoder = _quantised(network.encoder), _quantised(network.decoder)
    return model


def _quantised(stack: Any) -> Any:
    """Linear layers in int8; embeddings and the output layer, which slots read row by row, stay as they are."""
    import torch
    from torch.ao.quantization import quantize_dynamic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch moves this function to torchao; it is in every torch we allow
        return quantize_dynamic(stack, {torch.nn.Linear}, dtype=torch.qint8)  # type: ignore[no-untyped-call]
