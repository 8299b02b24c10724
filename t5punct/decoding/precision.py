"""On which device a model computes, and in which precision: fp32 as it was saved, or faster.

In: a `Model`, the name of a device or of a precision.  Out: the converted model; the given one does not change.

`bf16` halves the weights and is fast where the hardware multiplies bfloat16 (AVX512-BF16, AMX, any recent GPU);
elsewhere it is slower than fp32, so `auto` takes it only there, and asking for it gives a warning.  `int8` quantises
the linear layers' weights, and their inputs on the fly (torch's dynamic quantisation); it needs a CPU.  T5 overflows in
fp16, so that is not offered.  `onnx` and `onnx-int8` leave the encoder to onnxruntime, by a file that `t5punct export
--onnx` wrote; the decoder and the tagger, and an encoder with a delay, compute in fp32.

What holds where:

- No word changes, in any precision: that is a matter of what may be written, not of numbers.
- fp32, onnx: `slots` equals `stepwise`, and a window's result does not depend on what else is in its batch (both up to
  the order of sums, some 1e-6 of a probability).
- bf16: neither holds exactly.  It rounds what differs in the last digit of fp32 to another neighbour now and then, and
  then a slot that was nearly even falls the other way.
- int8, onnx-int8: neither holds.  They scale a layer's inputs by the largest value of the whole batch, so all that
  shares a batch (other windows, other streams, padding, the draft of a pass) changes every result a little.

So a score in another precision than fp32 is signed with the budget of tokens as well (`evaluation/files`).
"""

from __future__ import annotations

import copy
import logging
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..model import Model
from ..t5.folder import ONNX_FILES
from ..t5.int8 import on_grid
from ..t5.onnx import OnnxEncoder

if TYPE_CHECKING:
    import torch

_log = logging.getLogger(__name__)

PRECISIONS = ("fp32", "bf16", "int8", *ONNX_FILES, "auto")


def check_precision(name: str) -> None:
    """Raise ConfigError for a name that is not in `PRECISIONS`."""
    if name not in PRECISIONS:
        raise ConfigError(f"precision {name!r}", expected=f"one of {', '.join(PRECISIONS)}", fix="check --precision")


def on_device(model: Model, name: str) -> Model:
    """Return a model on a torch device; the given one stays where it is.  `auto` takes a GPU if there is one.

    Raises ConfigError if there is no such device.
    """
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    expected, fix = "cpu, or a GPU that torch sees", "check --device"
    if name.startswith("meta"):  # torch's own device without memory
        raise ConfigError(f"device {name!r}", expected=expected, fix=fix)
    try:
        wanted = torch.device(name)
        if wanted.type == model.device.type and wanted.index in (None, model.device.index):
            return model
        network: Any = copy.deepcopy(model.network).to(wanted)
        tagger = model.tagger and copy.deepcopy(model.tagger).to(wanted)
    except (RuntimeError, AssertionError, ImportError) as error:  # an unknown name, or one that this torch cannot use
        raise ConfigError(f"device {name!r}", expected=expected, fix=fix) from error
    return replace(model, network=network, tagger=tagger)


def with_precision(model: Model, name: str) -> Model:
    """Return a model that computes in another precision; the given one stays as it is.

    Raises ConfigError for a model that was already converted to another precision: what it lost does not come back.
    """
    check_precision(name)
    if name in ("auto", model.precision) and model.precision != "fp32":
        return model
    if model.precision != "fp32":
        raise ConfigError(f"{name} of a model in {model.precision}", expected="a model in fp32", fix="load it again")
    if name == "bf16" and not multiplies_bf16(model.device):
        _log.warning("bf16 is slow on this %s, which has no instructions for it; use --precision auto", model.device)
    if name == "bf16" or (name == "auto" and multiplies_bf16(model.device)):
        return _in_bf16(model)
    if name in ONNX_FILES:
        return _in_onnx(model, name)
    return _in_int8(model) if name == "int8" else model


def _in_bf16(model: Model) -> Model:
    import torch

    network: Any = copy.deepcopy(model.network).to(torch.bfloat16)
    tagger = model.tagger and copy.deepcopy(model.tagger).to(torch.bfloat16)
    return replace(model, network=network, tagger=tagger, precision="bf16")


def _in_onnx(model: Model, name: str) -> Model:
    _check_cpu(model, name)
    return replace(model, onnx=OnnxEncoder.of(model.network, model.folder, name), precision=name)


def _in_int8(model: Model) -> Model:
    _check_cpu(model, "int8")
    network = copy.deepcopy(model.network)
    network.encoder, network.decoder = _quantise(network.encoder), _quantise(network.decoder)
    return replace(model, network=network, precision="int8")


def _check_cpu(model: Model, name: str) -> None:
    if model.device.type != "cpu":
        raise ConfigError(f"{name} on {model.device}", expected="a CPU", fix="use --precision bf16 or --device cpu")


def int8_weights(model: Model) -> dict[str, torch.Tensor]:
    """Return the weights of a model's linear layers as `int8` computes with them, by name, for `model.save`."""
    from torch.ao.nn.quantized.dynamic import Linear

    network: Any = _in_int8(model).network
    return {
        f"{stack}.{name}.weight": layer.weight()  # type: ignore[no-untyped-call]
        for stack in ("encoder", "decoder")
        for name, layer in getattr(network, stack).named_modules()
        if isinstance(layer, Linear)
    }


def multiplies_bf16(device: torch.device) -> bool:
    """Return whether a device has instructions for bfloat16 (not only an emulation in software)."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # older torch does not say
    return device.type == "cpu" and any(known.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def _quantise(stack: Any) -> Any:
    """Linear layers in int8; embeddings and the output layer, which slots read row by row, stay as they are."""
    import torch
    from torch.ao.quantization import quantize_dynamic

    layers = {name: layer for name, layer in stack.named_modules() if isinstance(layer, torch.nn.Linear)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch moves this function to torchao; it is in every torch we allow
        kinds = {torch.nn.Linear}
        quantised = quantize_dynamic(stack, kinds, dtype=torch.qint8, inplace=True)  # type: ignore[no-untyped-call]
    for name, layer in layers.items():
        known = on_grid(layer)  # quantised anew, what was quantised before would get another scale
        if known is not None:
            quantised.get_submodule(name).set_weight_bias(known, layer.bias)
    return quantised
