"""On which device a model computes, and in which precision: fp32 as it was saved, or faster.

In: the name of a device or of a precision.  Out: the device; the fastest precision there (`model.load` converts).

`int8` has linear layers multiply in int8 (see `int8_linear`); it needs a CPU.  `bf16` is fast where the hardware
multiplies bfloat16 (AVX512-BF16, AMX, any recent GPU), elsewhere slower than fp32.  `auto` takes int8 on a CPU and bf16
on a GPU, where they are fast, else fp32.  T5 overflows in fp16, so that is not offered.

No word changes, in any precision.  In fp32 and int8 `slots` equals step-by-step decoding, and a window's result does
not depend on what else is in its batch (up to the order of sums, some 1e-6 of a probability; where it turns a rounding
of int8, some 1e-3).  In bf16 neither holds exactly: now and then a slot that was nearly even falls the other way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError

if TYPE_CHECKING:
    import torch

PRECISIONS = ("fp32", "bf16", "int8", "auto")


def find_device(name: str) -> torch.device:
    """Return torch's device of this name; of `auto`, a GPU if there is one.  Raises ConfigError if there is none."""
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type == "meta":  # torch's own device without memory
            raise RuntimeError
        if device.type != "cpu":
            torch.empty(0, device=device)
    except (RuntimeError, AssertionError, ImportError) as error:  # an unknown name, or one that this torch cannot use
        expected = "cpu, or a GPU that torch sees"
        raise ConfigError(f"device {name!r}", expected=expected, fix="check --device") from error
    return device


def fastest_precision(device: torch.device) -> str:
    """Return the fastest precision of a device that loses nothing that can be measured."""
    import torch

    if device.type == "cpu":  # whether int8 is faster on other processors, such as ARM's, nobody measured
        return "int8" if torch.backends.cpu.get_cpu_capability().startswith("AVX") else "fp32"
    return "bf16" if multiplies_bf16(device) else "fp32"


def multiplies_bf16(device: torch.device) -> bool:
    """Return whether a device has instructions for bfloat16 (not only an emulation in software)."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # older torch does not say
    return device.type == "cpu" and any(known.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))
