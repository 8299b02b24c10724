"""Weights in int8: rows on disk are as near as a scale allows, and in layers no token depends on another."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from command import Invoke
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from share_weights import share_weights
from stepwise import assert_same_votes, decode_stepwise
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
from t5punct.t5.folder import FLOAT_FILE, INT8_FILE
from t5punct.t5.inference import read_network
from t5punct.t5.int8 import Int8Rows
from t5punct.t5.int8_linear import Int8Linear, in_int8


def made_of(model: Model, folder: Path) -> Model:
    models.save(model, folder, int8=True)
    return models.load(folder)


def test_a_folder_holds_one_form_of_the_weights(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path)
    assert made_of(tiny_model, tmp_path).tuned
    assert (tmp_path / INT8_FILE).is_file() and not (tmp_path / FLOAT_FILE).exists()
    models.save(tiny_model, tmp_path)
    assert not (tmp_path / INT8_FILE).exists()
    assert torch.equal(models.load(tmp_path).network.shared.weight, tiny_model.network.shared.weight)


def test_a_damaged_file_is_noticed(tiny_model: Model, tmp_path: Path) -> None:
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
        wide = models.fresh(shape, tiny_model.tokenizer)
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
    assert sum(tensor.nbytes for tensor in stored.values()) < 1.2 * sum(
        p.numel() for p in wide_model.network.parameters()
    )


def test_rows_written_again_are_the_same_also_by_the_command(wide_model: Model, tmp_path: Path, invoke: Invoke) -> None:
    models.save(wide_model, tmp_path / "first", int8=True)
    models.save(models.load(tmp_path / "first"), tmp_path / "second", int8=True)
    first, second = (load_file(tmp_path / name / INT8_FILE) for name in ("first", "second"))
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert torch.allclose(tensor.float(), second[name].float(), rtol=1e-6, atol=0), name
    models.save(wide_model, tmp_path / "run")
    assert invoke("export", tmp_path / "run", "-o", tmp_path / "out", "--dtype", "int8")[0] == 0
    models.save(wide_model, tmp_path / "rows", int8=True)
    ours, theirs = (models.load(tmp_path / name).network.state_dict() for name in ("out", "rows"))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    rows = Int8Rows.of(torch.randn(64, 96, generator=torch.Generator().manual_seed(1)))
    again = Int8Rows.of(rows.float())
    assert torch.equal(again.integers, rows.integers)
    assert torch.allclose(again.scales, rows.scales, rtol=1e-6)


def test_weights_in_common_are_read_from_the_folder_that_holds_them(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path / "large", int8=True)
    pupil = replace(wide_model, network=deepcopy(wide_model.network))
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
    for name, weight in pupil.network.state_dict().items():
        assert torch.equal(models.load(tmp_path / "base").network.state_dict()[name], weight), name
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
    encoder = direct.network.encoder
    layers = {name: layer for name, layer in encoder.named_modules() if isinstance(layer, Int8Linear)}
    assert len(layers) == 12 and not any(isinstance(layer, torch.nn.Linear) for layer in encoder.modules())
    for name, layer in layers.items():
        rounded = wanted.network.encoder.get_submodule(name)
        assert torch.equal(layer.integers(), rounded.integers()), name
        assert torch.allclose(layer.scales, rounded.scales, rtol=1e-6), name
    ids = torch.tensor([[5, 6, 7, 8, 9, 1]])
    states = [model.encode(ids, torch.ones_like(ids)) for model in (direct, wanted)]
    assert torch.allclose(*states, atol=1e-4)
    assert torch.equal(direct.network.shared.weight, wanted.network.shared.weight)


def test_what_is_not_in_int8_on_disk_is_rounded_when_it_is_used(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path)
    assert Punctuator.from_pretrained(tmp_path, precision="int8").model.precision == "int8"
    models.save(wide_model, tmp_path, int8=True)
    assert models.load(tmp_path).precision == "fp32", "what is trained is in float32"
    assert Punctuator.from_pretrained(tmp_path, precision="fp32").model.precision == "fp32"


def test_rows_that_are_not_finite_are_noticed(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path, int8=True)
    tensors = load_file(tmp_path / INT8_FILE)
    next(tensor for name, tensor in tensors.items() if name.endswith("q.weight.scale"))[0] = float("nan")
    save_file(tensors, tmp_path / INT8_FILE)
    for rows_in_int8 in (True, False):
        assert read_network(tmp_path, in_int8=rows_in_int8) is None
    with pytest.raises(ModelError, match="not finite"):
        Punctuator.from_pretrained(tmp_path, precision="int8")


WINDOWS = [WindowInput.of(words.split()) for words in ("we know that right", "no", "NASA said okay then is that so")]


def test_the_network_stays_as_it_is_and_its_embeddings_are_shared(tagged_model: Model) -> None:
    network = tagged_model.network
    before = {name: value.clone() for name, value in network.state_dict().items()}
    rounded = in_int8(network)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert rounded.shared.weight is network.shared.weight
    n_linear = sum(isinstance(layer, nn.Linear) for layer in network.encoder.modules())
    assert sum(isinstance(layer, Int8Linear) for layer in rounded.modules()) == n_linear > 10
    assert not any(isinstance(layer, nn.Linear) for layer in rounded.encoder.modules())


def test_slots_equal_step_by_step_and_a_batch_its_windows_alone_also_with_a_delay(tagged_model: Model) -> None:
    model = with_precision(tagged_model, "int8")
    slots = SlotDecoder(model).votes(WINDOWS)
    assert_same_votes(slots, decode_stepwise(model, WINDOWS), 1e-5)
    assert_same_votes([SlotDecoder(model).votes([window])[0] for window in WINDOWS], slots, 1e-5)
    assert SlotDecoder(tagged_model).votes(WINDOWS) != slots, "it is another computation"
    plain = tagged_model.with_task(delay_left_words=4)
    config = DecodingConfig("tagger", delay_words=1)
    model = with_precision(plain, "int8")
    tags = TagDecoder(model, config).votes(WINDOWS)
    assert tags != TagDecoder(plain, config).votes(WINDOWS)
    # other sums here, whose last digit may turn a rounding
    assert_same_votes([TagDecoder(model, config).votes([window])[0] for window in WINDOWS], tags, 0.05)
    with pytest.raises(ConfigError, match="int8 of a model in bf16"):
        with_precision(with_precision(tagged_model, "bf16"), "int8")


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
