"""Linear layers in int8: sums are exact on every processor, and no token depends on another."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from t5punct.t5 import int8_linear
from t5punct.t5.int8 import Int8Rows
from t5punct.t5.int8_linear import Int8Linear, RoundedRows, has_wide_sums, largest_sums, multiply, pack_weight


def linear(n_in: int, n_out: int, *, bias: bool = True) -> nn.Linear:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(n_in)
        return nn.Linear(n_in, n_out, bias=bias).requires_grad_(False)


def int8(layer: nn.Linear) -> Int8Linear:
    return Int8Linear(layer.weight, layer.bias)


@pytest.mark.parametrize(("n_in", "n_out", "bias"), [(8, 5, True), (384, 96, False), (768, 33, True)])
def test_a_layer_is_close_to_the_one_it_replaces(n_in: int, n_out: int, bias: bool) -> None:
    whole = linear(n_in, n_out, bias=bias)
    inputs = torch.randn(2, 7, n_in, generator=torch.Generator().manual_seed(1))
    outputs, wanted = int8(whole)(inputs), whole(inputs)
    assert outputs.shape == wanted.shape
    assert 0 < float((outputs - wanted).abs().max()) < 0.04 * float(wanted.abs().max())


@given(st.integers(1, 40), st.integers(2, 300), st.integers(0, 2**31))
def test_what_a_token_gives_depends_on_no_other_token(n_tokens: int, n_in: int, seed: int) -> None:
    layer, generator = int8(linear(n_in, 24)), torch.Generator().manual_seed(seed)
    inputs = torch.randn(n_tokens, n_in, generator=generator) * 10 ** (4 * torch.rand(n_tokens, 1, generator=generator))
    together = layer(inputs)
    assert torch.equal(torch.cat([layer(row[None]) for row in inputs]), together)


def test_a_shared_rounding_no_tokens_zeros_and_large_values() -> None:
    first, second = int8(linear(16, 4)), int8(linear(16, 9, bias=False))
    inputs = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(1))
    shared = RoundedRows.of(inputs)
    assert torch.equal(first(shared), first(inputs)) and torch.equal(second(shared), second(inputs))
    layer = int8(linear(16, 4))
    assert layer(torch.zeros(0, 16)).shape == (0, 4)
    assert torch.equal(layer(torch.zeros(1, 16)), layer.bias[None])
    assert torch.isfinite(layer(torch.full((1, 16), 1e30))).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])  # noqa: S301
def test_a_layer_is_copied_and_pickled(copied: Callable[[Int8Linear], Int8Linear]) -> None:
    layer = int8(linear(16, 4))
    inputs = torch.randn(3, 16, generator=torch.Generator().manual_seed(1))
    assert torch.equal(copied(layer)(inputs), layer(inputs))
    assert torch.equal(copied(layer).integers(), layer.integers())


def test_a_layer_that_goes_to_a_processor_with_narrow_sums_fits_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As to a worker on another machine; what fits already stays, so that a copy is equal."""
    monkeypatch.setattr(int8_linear, "has_wide_sums", lambda: True)
    wide = int8(linear(16, 4))
    assert largest_sums(wide.integers().int()).max() > 128
    monkeypatch.setattr(int8_linear, "has_wide_sums", lambda: False)
    narrow = copy.deepcopy(wide)
    assert largest_sums(narrow.integers().int()).max() <= 128
    assert torch.equal(copy.deepcopy(narrow).integers(), narrow.integers())


needs_avx2 = pytest.mark.skipif(
    not torch.cpu._is_avx2_supported(), reason="oneDNN multiplies int8 on x86 processors with AVX2"
)


def on_a_processor_with(vnni: bool, amx: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: vnni)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)


@needs_avx2
@pytest.mark.parametrize(("vnni", "amx", "packs"), [(False, False, True), (True, False, False), (True, True, True)])
def test_onednn_multiplies_where_fastest(vnni: bool, amx: bool, packs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without VNNI torch's own product is a plain loop."""
    on_a_processor_with(vnni, amx, monkeypatch)
    assert pack_weight(torch.ones(24, 16, dtype=torch.int8)).is_mkldnn is packs


@needs_avx2
@given(st.integers(0, 40), st.integers(2, 300), st.integers(1, 40), st.integers(0, 2**31))
def test_both_products_are_the_sums_of_integers(n_tokens: int, n_in: int, n_out: int, seed: int) -> None:
    """(torch's own is 0 for one channel on processors with AVX512, which no layer of a model has.)"""
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randn(n_out, n_in, generator=generator)
    rows = Int8Rows.of(matrix, largest_sums(matrix))
    weight, scales = rows.integers, rows.scales.squeeze(1)
    inputs = torch.randint(-127, 128, (n_tokens, n_in), generator=generator, dtype=torch.int8)
    wanted = (inputs.double() @ weight.double().T).float() * scales
    for packs in (False, True):
        with pytest.MonkeyPatch.context() as processor:
            on_a_processor_with(True, packs, processor)
            packed = pack_weight(weight)
        assert packed.is_mkldnn is packs
        assert torch.equal(multiply(inputs, packed, scales), wanted)


class Products(TorchDispatchMode):
    """Numbers of rows that oneDNN multiplies."""

    def __init__(self) -> None:
        super().__init__()
        self.n_rows: set[int] = set()

    def __torch_dispatch__(self, product: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if product is torch.ops.onednn.qlinear_pointwise.default:
            self.n_rows.add(len(args[0]))
        return product(*args, **kwargs or {})


@needs_avx2
def test_few_kernels_are_compiled_whatever_the_batches_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes milliseconds and some MiB, and is kept."""
    on_a_processor_with(False, False, monkeypatch)
    layer = int8(linear(16, 4))
    with Products() as products:
        for n_tokens in range(1025):
            assert len(layer(torch.zeros(n_tokens, 16))) == n_tokens
    assert products.n_rows - {0} == {1, 2, 4, 8, 16, 32, *range(64, 1025, 64)}


@given(st.integers(1, 9), st.integers(1, 3), st.sampled_from([1e-3, 1.0, 1e4]), st.integers(0, 2**31))
def test_neighbours_fit_into_16_bits_together(n_in: int, n_out: int, size: float, seed: int) -> None:
    """With the largest inputs, and those of the other sign; and no row is rounded more coarsely than it must be."""
    weight = size * torch.randn(n_out, n_in, generator=torch.Generator().manual_seed(seed))
    rows = Int8Rows.of(weight, largest_sums(weight))
    assert (rows.float() - weight).abs().max() <= rows.scales.max() * 0.501
    padded = torch.nn.functional.pad(rows.integers.int(), (0, n_in % 2)).view(n_out, -1, 2)
    highest = 255 * padded.clamp(min=0).sum(2) + padded.clamp(max=0).sum(2)
    lowest = 255 * padded.clamp(max=0).sum(2) + padded.clamp(min=0).sum(2)
    assert highest.max() < 2**15 and lowest.min() >= -(2**15)
    if n_in % 4 == 0:
        assert (torch.maximum(padded.abs().amax((1, 2)), padded.sum(2).abs().amax(1)) >= 126).all()


@needs_avx2
@pytest.mark.parametrize("has_vnni", [False, True])
@pytest.mark.parametrize("instructions", ["AVX2", "AVX512_CORE"])
def test_sums_are_exact_whatever_onednn_uses(instructions: str, has_vnni: bool) -> None:
    """oneDNN is asked to do without, in a process of its own, as it looks once."""
    code = (
        f"import torch; torch.cpu._is_vnni_supported = lambda: {has_vnni}; "
        "torch.cpu._is_amx_tile_supported = lambda: False; "
        "from t5punct.t5.int8_linear import Int8Linear; "
        "pairs = torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, -1.0], [1.0, -1.0]]).repeat(13, 256); "
        "layer = Int8Linear(pairs, None); "
        "inputs = torch.tensor([[127.0, 127.0], [-127.0, -127.0], [127.0, -127.0]]).repeat(3, 256); "
        "wanted = (inputs.double() @ layer.integers().double().T).float() * layer.scales; "
        "print(torch.equal(layer(inputs), wanted), layer.integers().abs().amax(1)[:5].tolist())"
    )
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": instructions}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("True [")
    if not has_vnni and not has_wide_sums():
        assert ended.stdout.strip() == "True [64, 127, 127, 64, 127]"
