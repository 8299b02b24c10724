"""Linear layers in int8: close to float32, exact sums, and no token's result depends on another's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stepwise import decode_stepwise
from torch import nn

from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.precision import with_precision
from t5punct.decoding.slots import SlotDecoder
from t5punct.decoding.tagging import TagDecoder
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.int8 import Int8Rows
from t5punct.t5.int8_linear import Int8Linear, RoundedRows, fitting_rows, in_int8, largest_weight, share_rounding
from t5punct.windows.votes import Vote

WINDOWS = [WindowInput.of(words.split()) for words in ("we know that right", "no", "NASA said okay then is that so")]


def linear(n_in: int, n_out: int, *, bias: bool = True) -> nn.Linear:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(n_in)
        return nn.Linear(n_in, n_out, bias=bias).requires_grad_(False)


def int8(layer: nn.Linear) -> Int8Linear:
    return Int8Linear(fitting_rows(layer.weight), layer.bias)


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


def test_layers_that_share_a_rounding_give_what_each_gives_alone_to_the_bit() -> None:
    first, second = int8(linear(16, 4)), int8(linear(16, 9, bias=False))
    inputs = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(1))
    shared = share_rounding(first, inputs)
    assert isinstance(shared, RoundedRows)
    assert torch.equal(first(shared), first(inputs)) and torch.equal(second(shared), second(inputs))
    assert share_rounding(linear(16, 4), inputs) is inputs


def test_no_tokens_give_none() -> None:
    assert int8(linear(16, 4))(torch.zeros(0, 16)).shape == (0, 4)


def test_rows_of_zeros_and_large_values_are_finite() -> None:
    layer = int8(linear(16, 4))
    assert torch.equal(layer(torch.zeros(1, 16)), layer.bias[None])
    assert torch.isfinite(layer(torch.full((1, 16), 1e30))).all()


def test_the_network_stays_as_it_is_and_its_embeddings_are_shared(tagged_model: Model) -> None:
    network = tagged_model.network
    before = {name: value.clone() for name, value in network.state_dict().items()}
    copy = in_int8(network)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert copy.shared.weight is network.shared.weight
    n_linear = sum(isinstance(layer, nn.Linear) for layer in network.encoder.modules())
    assert sum(isinstance(layer, Int8Linear) for layer in copy.modules()) == n_linear > 10
    assert not any(isinstance(layer, nn.Linear) for layer in copy.encoder.modules())


def assert_same(votes: Sequence[Vote], others: Sequence[Vote], tolerance: float) -> None:
    for vote, other in zip(votes, others, strict=True):
        assert vote.labels.outcomes == other.labels.outcomes
        assert vote.labels.probabilities == pytest.approx(other.labels.probabilities, abs=tolerance)


def test_slots_equal_step_by_step_and_a_batch_its_windows_alone(tagged_model: Model) -> None:
    model = with_precision(tagged_model, "int8")
    slots = SlotDecoder(model).votes(WINDOWS)
    for votes, wanted in zip(slots, decode_stepwise(model, WINDOWS), strict=True):
        assert_same(votes, wanted, 1e-5)
    for window, votes in zip(WINDOWS, slots, strict=True):
        assert_same(SlotDecoder(model).votes([window])[0], votes, 1e-5)
    assert SlotDecoder(tagged_model).votes(WINDOWS) != slots, "it is another computation"


@given(st.lists(st.lists(st.integers(3, 400), min_size=1, max_size=60), min_size=1, max_size=6))
def test_states_in_a_batch_are_those_of_a_window_alone_to_the_bit(
    tagged_model: Model, windows: list[list[int]]
) -> None:
    """On one thread: several may share attention out otherwise, by the number of windows."""
    model, n_threads = with_precision(tagged_model, "int8"), torch.get_num_threads()
    longest = max(map(len, windows))
    ids = torch.tensor([window + [0] * (longest - len(window)) for window in windows])
    mask = torch.tensor([[1] * len(window) + [0] * (longest - len(window)) for window in windows])
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            together = model.encode(ids, mask)
            for window, states in zip(windows, together, strict=True):
                alone = model.encode(torch.tensor([window]), torch.ones(1, len(window), dtype=torch.long))
                assert torch.equal(alone[0], states[: len(window)])
    finally:
        torch.set_num_threads(n_threads)


def test_with_a_delay_it_computes_in_int8_too(tagged_model: Model) -> None:
    plain = tagged_model.with_task(delay_left_words=4)
    config = DecodingConfig("tagger", delay_words=1)
    model = with_precision(plain, "int8")
    tags = TagDecoder(model, config).votes(WINDOWS)
    assert tags != TagDecoder(plain, config).votes(WINDOWS)
    for window, votes in zip(WINDOWS, tags, strict=True):  # other sums here, whose last digit may turn a rounding
        assert_same(TagDecoder(model, config).votes([window])[0], votes, 0.05)


def test_rows_that_come_from_int8_on_disk_are_rounded_to_the_same_integers() -> None:
    rows = Int8Rows.of(torch.randn(64, 96, generator=torch.Generator().manual_seed(1)))
    again = Int8Rows.of(rows.float())
    assert torch.equal(again.integers, rows.integers)
    assert torch.allclose(again.scales, rows.scales, rtol=1e-6)


def test_it_needs_a_cpu_and_no_other_precision(tagged_model: Model) -> None:
    with pytest.raises(ConfigError, match="int8 of a model in bf16"):
        with_precision(with_precision(tagged_model, "bf16"), "int8")


@pytest.mark.parametrize("instructions", ["AVX2", "AVX512_CORE"])
def test_sums_are_exact_without_vnni_too(instructions: str) -> None:
    """oneDNN is asked to do without, in a process of its own, as it looks once."""
    code = (
        "import torch; from t5punct.t5.int8_linear import Int8Linear, fitting_rows, largest_weight; "
        "layer = Int8Linear(fitting_rows(torch.full((64, 512), float(largest_weight()))), None); "
        "print(int(layer(torch.full((9, 512), 127.0)).unique()) == 127 * 512 * largest_weight())"
    )
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": instructions}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "True"
    assert largest_weight() in (63, 127)
