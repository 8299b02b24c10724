"""On which device a model computes, and in which precision: fp32 as it was saved, or faster.

In: a `Model`, the name of a device or of a precision.  Out: the converted model; the given one does not change.

`int8` has linear layers multiply in int8 (see `t5/int8_linear`); it needs a CPU.  `bf16` halves the weights and is fast
where the hardware multiplies bfloat16 (AVX512-BF16, AMX, any recent GPU); elsewhere it is slower than fp32, and asking
for it gives a warning.  `auto`, which a model that is loaded by name has, takes int8 on a CPU and bf16 on a GPU, where
they are fast, else fp32.  T5 overflows in fp16, so that is not offered.

What holds where:

- No word changes, in any precision: that is a matter of what may be written, not of numbers.
- fp32, int8: `slots` equals step-by-step decoding, and a window's result does not depend on what else is in its batch
  (up to the order of sums, some 1e-6 of a probability; where it turns a rounding of int8, some 1e-3).
- bf16: neither holds exactly.  It rounds what differs in the last digit of fp32 to another neighbour now and then, and
  then a slot that was nearly even falls the other way.

So a score in bf16 is signed with the budget of tokens as well (`evaluation/evaluate`).
"""

from __future__ import annotations

import copy
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..model import Model

if TYPE_CHECKING:
    import torch

_log = logging.getLogger(__name__)

PRECISIONS = ("fp32", "bf16", "int8", "auto")


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


def computes_in_int8(precision: str | None, device: str | None) -> bool:
    """Return whether a model will compute in int8 on a device by these names; None is `auto`."""
    import torch

    on_cpu = not torch.cuda.is_available() if device in (None, "auto") else device == "cpu"
    return on_cpu and (precision == "int8" or (precision in (None, "auto") and multiplies_int8()))


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
    if name == "auto":
        name = _fastest(model.device)
    if name == "bf16":
        return _in_bf16(model)
    return _in_int8(model) if name == "int8" else model


def _in_bf16(model: Model) -> Model:
    import torch

    network: Any = copy.deepcopy(model.network).to(torch.bfloat16)
    tagger = model.tagger and copy.deepcopy(model.tagger).to(torch.bfloat16)
    return replace(model, network=network, tagger=tagger, precision="bf16")


def _in_int8(model: Model) -> Model:
    from ..t5.int8_linear import in_int8

    if model.device.type != "cpu":
        raise ConfigError(f"int8 on {model.device}", expected="a CPU", fix="use --precision bf16 or --device cpu")
    return replace(model, network=in_int8(model.network), precision="int8")


def _fastest(device: torch.device) -> str:
    """The fastest precision of a device that loses nothing that can be measured."""
    if device.type == "cpu":
        return "int8" if multiplies_int8() else "fp32"
    return "bf16" if multiplies_bf16(device) else "fp32"


def multiplies_int8() -> bool:
    """Return whether this processor multiplies int8 faster than float32: on others, such as ARM's, nobody measured."""
    import torch

    return torch.backends.cpu.get_cpu_capability().startswith("AVX")


def multiplies_bf16(device: torch.device) -> bool:
    """Return whether a device has instructions for bfloat16 (not only an emulation in software)."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # older torch does not say
    return device.type == "cpu" and any(known.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))
