"""Linear layers in int8: weights with a scale for each output channel, inputs with a scale for each token.

In: a network in float32 on a CPU.  Out: a copy of it that multiplies in int8; embeddings and the output are shared.

A layer computes y = (q(x) q(W)^T) s_x s_W + b: its input x, a row for each token, is divided by s_x (`steps`), a 127th
of its largest value, and rounded (dynamic quantisation, Jacob 2018; one scale for each row of both, as in LLM.int8(),
Dettmers 2022, equation 4; weights: `Int8Rows.of`).  Sums of integers are exact, and each row has a scale of its own.
So a token's result does not depend on the other tokens of its batch.

Processors with AVX512-VNNI or AMX multiply int8 about ten times as fast as float32.  On processors without VNNI
oneDNN's product is about twice as fast as float32, but it adds the products of two neighbours in 16 bits, so a row's
scale is such that the sum of two neighbours fits as well.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn

from .int8 import Int8Rows

_LARGEST = 127
_ROWS_STEP = 64  # between the numbers of rows that are multiplied


@dataclass(frozen=True, slots=True)
class RoundedRows:
    """Inputs as integers, int8 (.., n_in), and the step between two of them in each row, float32 (.., 1)."""

    integers: torch.Tensor
    steps: torch.Tensor

    @classmethod
    def of(cls, inputs: torch.Tensor) -> RoundedRows:
        """Round inputs, float32 (.., n_in)."""
        highest, lowest = inputs.amax(-1, keepdim=True), inputs.amin(-1, keepdim=True)  # no copy, as `abs` makes
        steps = torch.maximum(highest, lowest.neg_()).clamp_(min=torch.finfo(torch.float32).tiny).div_(_LARGEST)
        return cls((inputs / steps).round_().to(torch.int8), steps)


class Int8Linear(nn.Module):
    """A linear layer with weights in int8, (n_out, n_in); inputs and outputs are float32, (.., n_in), (.., n_out).

    Several layers of one input can share its `RoundedRows`.
    """

    weight: torch.Tensor
    scales: torch.Tensor

    def __init__(self, weight: torch.Tensor | Int8Rows, bias: nn.Parameter | None) -> None:
        """Take weights, (n_out, n_in), rounded as this machine multiplies them; bias: float32 (n_out,)."""
        super().__init__()
        if has_wide_sums():
            rows = weight if isinstance(weight, Int8Rows) else Int8Rows.of(weight)
        elif isinstance(weight, Int8Rows) and bool((largest_sums(weight.integers.int()) <= _LARGEST + 1).all()):
            rows = weight  # they fit already
        else:
            values = weight.float()
            rows = Int8Rows.of(values, largest_sums(values))
        self.n_out, self.n_in = rows.integers.shape
        self.register_buffer("weight", pack_weight(rows.integers))
        self.register_buffer("scales", rows.scales.squeeze(1))
        self.bias = bias

    def __reduce__(self) -> tuple[type[Int8Linear], tuple[Int8Rows, nn.Parameter | None]]:
        """Let pickle and `copy` keep the integers: the processor that loads them packs them anew in `__init__`.

        Where its sums are narrow, it rounds them again, too.
        """
        return Int8Linear, (Int8Rows(self.integers(), self.scales[:, None]), self.bias)

    def integers(self) -> torch.Tensor:
        """Return the weights, int8 (n_out, n_in)."""
        columns = multiply(torch.eye(self.n_in, dtype=torch.int8), self.weight, torch.ones(self.n_out))
        return columns.t().to(torch.int8).contiguous()

    def forward(self, inputs: torch.Tensor | RoundedRows) -> torch.Tensor:
        """Return outputs, float32 (.., n_out), of inputs, float32 (.., n_in), or of inputs that are rounded already."""
        rounded = RoundedRows.of(inputs) if isinstance(inputs, torch.Tensor) else inputs
        # scaled by the weights' scales; the inputs' steps are still to come
        products = multiply(rounded.integers.reshape(-1, self.n_in), self.weight, self.scales)
        products = products.view(*rounded.integers.shape[:-1], self.n_out)
        if self.bias is None:
            return products.mul_(rounded.steps)
        return torch.addcmul(self.bias, products, rounded.steps)  # bias + products * steps


def linear_layers(network: Any) -> dict[str, nn.Linear]:
    """Return the layers of a network that multiply in int8, by their names: all but its output.

    Attention stays in float32, as it gives the same sums in whatever pass of the decoder a token is computed.
    """
    layers = {name: layer for name, layer in network.named_modules() if isinstance(layer, nn.Linear)}
    return {name: layer for name, layer in layers.items() if layer is not network.lm_head}


def in_int8(network: Any) -> Any:
    """Return a copy of a network that multiplies in int8; all other weights are the network's own."""
    # what `deepcopy` takes in place of a copy, by the id of the original
    shared = {id(parameter): parameter for parameter in network.parameters()}
    layers = linear_layers(network).values()
    rounded = {id(layer): Int8Linear(layer.weight.detach(), layer.bias) for layer in layers}
    return copy.deepcopy(network, shared | rounded)


def rounded_for(layer: nn.Module, inputs: torch.Tensor) -> torch.Tensor | RoundedRows:
    """Return inputs in the form in which a layer multiplies them; all layers that read the same inputs can share it."""
    return RoundedRows.of(inputs) if isinstance(layer, Int8Linear) else inputs


def largest_sums(weight: torch.Tensor) -> torch.Tensor:
    """Return, for each row, the largest size of a weight or of the sum of two neighbours: (n_out, n_in) -> (n_out, 1).

    A row that is scaled so that this is 127 has neighbours that add up to 128 at most after rounding.  oneDNN adds 128
    to each input, so inputs are 0 to 255, and 255 * 128 fits into 16 bits.  Where n_in is no multiple of 4, oneDNN may
    add others than neighbours: then the result is twice the largest weight, which is safe.
    """
    largest = weight.abs().amax(1, keepdim=True)
    if weight.shape[1] % 4:
        return 2 * largest
    return torch.maximum(largest, weight.view(len(weight), -1, 2).sum(2).abs().amax(1, keepdim=True))


@cache
def has_wide_sums() -> bool:
    """Return whether this machine's products of int8 are exact whatever the weights are."""
    largest = torch.full((16, 64), _LARGEST, dtype=torch.int8)
    return bool((multiply(largest, pack_weight(largest), torch.ones(16)) == 64 * _LARGEST**2).all())


def pack_weight(weight: torch.Tensor) -> torch.Tensor:
    """Return a matrix, int8 (n_out, n_in), in the form in which this processor multiplies by it fastest.

    That is what oneDNN packs it into, but for processors that have VNNI and not AMX: torch's product of the matrix
    itself takes as long there for many tokens, and half the time for one.  Other processors than x86 have only that.
    """
    has_only_vnni = torch.cpu._is_vnni_supported() and not torch.cpu._is_amx_tile_supported()
    if has_only_vnni or not torch.cpu._is_avx2_supported():
        return weight
    return torch.ops.onednn.qlinear_prepack(weight, None)


def multiply(rows: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Return the products of rows, int8 (n_tokens, n_in), and weights, times a scale for each output channel.

    weight: from `pack_weight`.  The result is float32 (n_tokens, n_out).  Sums of integers are exact; they are rounded
    twice, to float32 and when they are scaled.
    """
    if not weight.is_mkldnn:  # it is not packed
        return torch._int_mm(rows, weight.t()).to(torch.float32).mul_(scales)
    # oneDNN compiles a kernel for each number of rows, and keeps it: so rows are filled up to one of few numbers
    n_rows, n_in = rows.shape
    step = min(_ROWS_STEP, 1 << (n_rows - 1).bit_length())
    shifted = torch.empty(-(-n_rows // step) * step, n_in, dtype=torch.uint8)
    torch.bitwise_xor(rows.view(torch.uint8), 128, out=shifted[:n_rows])  # unsigned ones are faster; 128 is their zero
    zeros = torch.zeros(len(scales), dtype=torch.int64)  # zero points of the weights
    products: torch.Tensor = torch.ops.onednn.qlinear_pointwise(
        shifted, 1.0, 128,  # the inputs, their scale and zero point
        weight, scales, zeros, None,  # no bias
        1.0, 0, torch.float32,  # the result's scale, zero point and dtype
        "none", [], "",  # nothing is done to the result
    )  # fmt: skip
    return products[:n_rows]
