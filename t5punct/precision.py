"""Where a model computes, and how precisely: fp32 as it was saved, or faster.

In: a `Model`, the name of a device or of a precision.  Out: the same model, moved or converted.

`bf16` halves the weights and is fast where the hardware multiplies bfloat16 (AVX512-BF16, AMX, any recent GPU);
elsewhere it is slower than fp32, so `auto` takes it only there.  `int8` quantises the linear layers' weights, and
their inputs on the fly (torch's dynamic quantisation); it needs a CPU.  T5 overflows in fp16, so that is not offered.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .errors import ConfigError
from .model import Model

if TYPE_CHECKING:
    import torch

PRECISIONS = ("fp32", "bf16", "int8", "auto")


def check_precision(name: str) -> None:
    """Raises ConfigError for a name that is none of `PRECISIONS`."""
    if name not in PRECISIONS:
        raise ConfigError(f"precision {name!r}", expected=f"one of {', '.join(PRECISIONS)}", fix="check --precision")


def on_device(model: Model, name: str) -> Model:
    """A model on a device of torch's; `auto` takes a GPU if there is one.  Raises ConfigError if there is not."""
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    expected, fix = "cpu, or a GPU that torch sees", "check --device"
    if name.startswith("meta"):  # torch's own device without memory
        raise ConfigError(f"device {name!r}", expected=expected, fix=fix)
    try:
        network: Any = model.network.to(torch.device(name))
        tagger = model.tagger and model.tagger.to(torch.device(name))
    except (RuntimeError, AssertionError) as error:  # an unknown name, or a device that this torch cannot reach
        raise ConfigError(f"device {name!r}", expected=expected, fix=fix) from error
    return replace(model, network=network, tagger=tagger)


def with_precision(model: Model, name: str) -> Model:
    """A model that computes in another precision; the given one is used up."""
    import torch

    check_precision(name)
    if name == "auto":
        name = "bf16" if multiplies_bf16(model.device) else "fp32"
    if name == "bf16":
        network: Any = model.network.to(torch.bfloat16)
        tagger = model.tagger and model.tagger.to(torch.bfloat16)
        return replace(model, network=network, tagger=tagger, precision=name)
    if name == "int8":
        if model.device.type != "cpu":
            raise ConfigError(f"int8 on {model.device}", expected="a CPU", fix="use --precision bf16 or --device cpu")
        network = model.network
        network.encoder, network.decoder = _quantised(network.encoder), _quantised(network.decoder)
        return replace(model, precision=name)
    return model


def multiplies_bf16(device: torch.device) -> bool:
    """Whether a device has instructions for bfloat16 (not just a way to do it in software)."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # older torch does not say
    return device.type == "cpu" and any(known.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def _quantised(stack: Any) -> Any:
    """Linear layers in int8; embeddings and the output layer, which slots read row by row, stay as they are."""
    import torch
    from torch.ao.quantization import quantize_dynamic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch moves this function to torchao; it is in every torch we allow
        return quantize_dynamic(stack, {torch.nn.Linear}, dtype=torch.qint8)  # type: ignore[no-untyped-call]
