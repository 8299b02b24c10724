"""Weights in int8: rows on disk are near, sums of layers are exact, and no token depends on another."""

import copy
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from from_scratch import fresh
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from share_weights import share_weights
from stepwise import assert_same_votes, decode_stepwise, noting_passes
from tiny import TINY_SHAPE
from torch import nn

from t5punct import Punctuator
from t5punct import model as models
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.decoding.tagging import TagDecoder
from t5punct.errors import ConfigError, ModelError
from t5punct.model import Model, with_precision
from t5punct.t5 import int8 as int8_module
from t5punct.t5 import int8_linear
from t5punct.t5.folder import FLOAT_FILE, INT8_FILE
from t5punct.t5.inference import read_network
from t5punct.t5.int8 import Int8Rows
from t5punct.t5.int8_linear import Int8Linear, RoundedRows, has_wide_sums, largest_sums, multiply, pack_weight
from t5punct.text.words import split


def made_of(model: Model, folder: Path) -> Model:
    models.save(model, folder, int8=True)
    return models.load(folder)


def test_a_folder_holds_one_form_of_weights_and_a_damaged_file_is_noticed(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path)
    assert made_of(tiny_model, tmp_path).tuned
    assert (tmp_path / INT8_FILE).is_file() and not (tmp_path / FLOAT_FILE).exists()
    models.save(tiny_model, tmp_path)
    assert not (tmp_path / INT8_FILE).exists()
    assert torch.equal(models.load(tmp_path).network.shared.weight, tiny_model.network.shared.weight)
    made_of(tiny_model, tmp_path)
    tensors = load_file(tmp_path / INT8_FILE)
    del tensors["decoder.block.1.layer.0.SelfAttention.q.weight"]
    save_file(tensors, tmp_path / INT8_FILE)
    with pytest.raises(ModelError, match=r"do not fit its config.json \(1 of them, such as decoder.block.1"):
        models.load(tmp_path)
    (tmp_path / INT8_FILE).write_bytes(b"half")
    with pytest.raises(ModelError, match="cannot be loaded"):
        models.load(tmp_path)


@pytest.fixture(scope="module")
def wide_model(tiny_model: Model) -> Model:
    """A model whose matrices are large enough to be worth a byte a weight."""
    shape = replace(TINY_SHAPE, d_model=64, d_kv=16, num_heads=4, d_ff=96)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(6)
        wide = fresh(shape, tiny_model.tokenizer)
        for parameter in wide.network.parameters():
            parameter.data.mul_(1.5)
    wide.network.eval()
    return wide


def test_rows_in_int8_come_back_with_a_small_error(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path, int8=True)
    stored, back = load_file(tmp_path / INT8_FILE), models.load(tmp_path).network.state_dict()
    n_in_int8 = 0
    for name, weight in wide_model.network.state_dict().items():
        if weight.ndim == 2 and min(weight.shape) >= 64:
            largest = weight.abs().amax(1, keepdim=True)
            assert torch.all((back[name] - weight).abs() <= largest / 254 * 1.001), name
            n_in_int8 += name in stored and stored[name].dtype is torch.int8
        else:
            assert torch.equal(back[name], weight), name
    assert n_in_int8 > 20
    assert stored["shared.weight"].dtype is torch.int8, "the embeddings too"
    assert sum(tensor.nbytes for tensor in stored.values()) < 1.2 * wide_model.network.num_parameters()


def test_what_weights_in_int8_have_learned_since_is_not_rounded_away() -> None:
    generator = torch.Generator().manual_seed(1)
    rows = Int8Rows.of(torch.randn(128, 256, generator=generator))
    weight = rows.float()
    again = Int8Rows.of(weight)
    assert torch.equal(again.integers, rows.integers), "rows written again are the same"
    assert torch.allclose(again.scales, rows.scales, rtol=1e-6)
    change = 0.25 * rows.scales * torch.randn(128, 256, generator=generator)  # a quarter of a step
    left = Int8Rows.of(weight + change).float() - weight
    assert float((left * change).sum() / (change**2).sum()) == pytest.approx(1.0, abs=0.1)


def test_weights_in_common_are_read_from_the_folder_that_holds_them(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path / "large", int8=True)
    pupil = replace(wide_model, network=copy.deepcopy(wide_model.network))
    with torch.no_grad():
        for parameter in pupil.network.decoder.block.parameters():
            parameter.mul_(-1.0)
    pupil = made_of(pupil, tmp_path / "base")
    n_bytes = (tmp_path / "base" / INT8_FILE).stat().st_size
    assert 0 < share_weights(tmp_path / "base", tmp_path / "large") < n_bytes
    assert (tmp_path / "base" / INT8_FILE).stat().st_size < 0.7 * n_bytes
    for precision in (None, "fp32"):
        read = models.load(tmp_path / "base", precision=precision)
        assert_same_votes(SlotDecoder(read).votes(WINDOWS), SlotDecoder(pupil).votes(WINDOWS), 1e-5)
    shared = models.load(tmp_path / "base").network.state_dict()
    for name, weight in pupil.network.state_dict().items():
        assert torch.equal(shared[name], weight), name
    models.save(models.load(tmp_path / "base"), tmp_path / "whole", int8=True)
    (tmp_path / "large" / INT8_FILE).rename(tmp_path / "gone")
    with pytest.raises(ModelError, match=r"shares weights with large.*expected both folders beside each other"):
        models.load(tmp_path / "base")
    assert models.load(tmp_path / "whole").network
    models.save(wide_model, tmp_path / "base", int8=True)
    assert models.load(tmp_path / "base").network, "another model's weights are whole"


def test_shards_and_a_missing_one(wide_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models.save(wide_model, tmp_path / "one", int8=True)
    monkeypatch.setattr(int8_module, "_SHARD_BYTES", 60_000)
    models.save(wide_model, tmp_path / "shards", int8=True)
    files = sorted(path.name for path in (tmp_path / "shards").glob("model*.safetensors"))
    assert len(files) > 2
    assert files[0] == f"model-int8-00001-of-{len(files):05d}.safetensors"
    assert all(path.stat().st_size < 64_000 for path in (tmp_path / "shards").glob("model*"))
    whole, shards = (models.load(tmp_path / name).network.state_dict() for name in ("one", "shards"))
    assert all(torch.equal(whole[name], shards[name]) for name in whole)
    (tmp_path / "shards" / files[1]).unlink()
    with pytest.raises(ModelError, match="an incomplete set of weights"):
        models.load(tmp_path / "shards")
    models.save(wide_model, tmp_path / "shards")
    assert not list((tmp_path / "shards").glob("model-int8*")), "no shard of an earlier model stays"


def test_rows_on_disk_are_multiplied_as_they_are(wide_model: Model, tmp_path: Path) -> None:
    """What is in int8 on disk is the same model in int8 as one that was in float32 in between."""
    models.save(wide_model, tmp_path, int8=True)
    direct = models.load(tmp_path, precision="int8")
    wanted = with_precision(models.load(tmp_path), "int8")
    assert direct.precision == wanted.precision == "int8"
    network = direct.network
    layers = {name: layer for name, layer in network.named_modules() if isinstance(layer, Int8Linear)}
    assert len(layers) == 32
    assert [layer for layer in network.modules() if isinstance(layer, nn.Linear)] == [network.lm_head]
    for name, layer in layers.items():
        rounded = wanted.network.get_submodule(name)
        assert torch.equal(layer.integers(), rounded.integers()), name
        assert torch.allclose(layer.scales, rounded.scales, rtol=1e-6), name
    ids = torch.tensor([[5, 6, 7, 8, 9, 1]])
    states = [model.encode(ids, torch.ones_like(ids)) for model in (direct, wanted)]
    assert torch.allclose(*states, atol=1e-4)
    assert torch.equal(network.shared.weight, wanted.network.shared.weight)


def test_a_scale_that_is_not_finite_is_noticed(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path, int8=True)
    tensors = load_file(tmp_path / INT8_FILE)
    next(tensor for name, tensor in tensors.items() if name.endswith("q.weight.scale"))[0] = float("nan")
    save_file(tensors, tmp_path / INT8_FILE)
    for rows_in_int8 in (True, False):
        assert read_network(tmp_path, in_int8=rows_in_int8) is None
    with pytest.raises(ModelError, match="not finite"):
        Punctuator.from_pretrained(tmp_path, precision="int8")


WINDOWS = [WindowInput.of(words.split()) for words in ("we know that right", "no", "NASA said okay then is that so")]


def test_slots_equal_step_by_step_and_a_batch_its_windows_alone_also_with_a_delay(tagged_model: Model) -> None:
    model = with_precision(tagged_model, "int8")
    slots = SlotDecoder(model).votes(WINDOWS)
    assert_same_votes(slots, decode_stepwise(model, WINDOWS), 1e-5)
    assert_same_votes([SlotDecoder(model).votes([window])[0] for window in WINDOWS], slots, 1e-5)
    assert SlotDecoder(tagged_model).votes(WINDOWS) != slots, "the network itself stays as it is"
    assert model.network.shared.weight is tagged_model.network.shared.weight, "no memory for them twice"
    plain = tagged_model.with_task(delay_left_words=4)
    config = DecodingConfig("tagger", delay_words=1)
    model = with_precision(plain, "int8")
    tags = TagDecoder(model, config).votes(WINDOWS)
    assert tags != TagDecoder(plain, config).votes(WINDOWS)
    # other sums here, whose last digit may turn a rounding
    assert_same_votes([TagDecoder(model, config).votes([window])[0] for window in WINDOWS], tags, 0.05)
    with pytest.raises(ConfigError, match="int8 of a model in bf16"):
        with_precision(with_precision(tagged_model, "bf16"), "int8")


def test_a_token_is_the_same_in_whatever_pass_of_a_bundled_decoder_it_is_computed() -> None:
    """Without a draft there are more passes, and a window alone leaves no batch; sums differ in their last digit."""
    model = models.load("small", "cpu", "int8")
    text = (Path(__file__).parents[1] / "data/lectures/leaves.txt").read_text(encoding="utf-8")
    words = [word.normal for word in split(text).words][:240]
    windows = [WindowInput.of(words[start : start + 60]) for start in range(0, 240, 60)]
    config = DecodingConfig("slots")
    with noting_passes() as passes:
        drafted = SlotDecoder(model, config).votes(windows)
    with noting_passes() as passes_without_draft:
        written = SlotDecoder(replace(model, tagger=None), config).votes(windows)
    assert len(passes_without_draft) > len(passes)
    assert_same_votes(written, drafted, 1e-5)
    assert_same_votes([SlotDecoder(model, config).votes([window])[0] for window in windows], drafted, 1e-5)


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(3, 400), min_size=1, max_size=60), min_size=1, max_size=6))
def test_states_in_a_batch_are_those_of_one_alone_to_the_bit(tagged_model: Model, windows: list[list[int]]) -> None:
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


# -- layers


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


def test_a_shared_rounding_no_tokens_zeros_and_large_values() -> None:
    first, second = int8(linear(16, 4)), int8(linear(16, 9, bias=False))
    inputs = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(1))
    shared = RoundedRows.of(inputs)
    assert torch.equal(first(shared), first(inputs)) and torch.equal(second(shared), second(inputs))
    layer = int8(linear(16, 4))
    assert layer(torch.zeros(0, 16)).shape == (0, 4)
    assert torch.equal(layer(torch.zeros(1, 16)), layer.bias[None])
    assert torch.isfinite(layer(torch.full((1, 16), 1e30))).all()


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
@pytest.mark.parametrize("instructions", ["AVX2", "AVX512_CORE"])
def test_sums_are_exact_whatever_onednn_uses(instructions: str) -> None:
    """oneDNN is asked to do without, in a process of its own, as it looks once."""
    code = """if True:
        import torch
        from t5punct.t5.int8_linear import Int8Linear, has_wide_sums

        torch.cpu._is_amx_tile_supported = lambda: False
        pairs = torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, -1.0], [1.0, -1.0]]).repeat(13, 256)
        inputs = torch.tensor([[127.0, 127.0], [-127.0, -127.0], [127.0, -127.0]]).repeat(3, 256)
        for has_vnni in (False, True):
            torch.cpu._is_vnni_supported = lambda: has_vnni
            has_wide_sums.cache_clear()
            layer = Int8Linear(pairs, None)
            wanted = (inputs.double() @ layer.integers().double().T).float() * layer.scales
            print(torch.equal(layer(inputs), wanted), layer.integers().abs().amax(1)[:5].tolist())
    """
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": instructions}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    without, with_vnni = ended.stdout.splitlines()
    assert without.startswith("True [") and with_vnni.startswith("True [")
    if not has_wide_sums():
        assert without == "True [64, 127, 127, 64, 127]"
