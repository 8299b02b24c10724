"""The encoder in ONNX: its states are those of torch, it belongs to its weights, and it travels."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from t5punct import model as models
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.precision import with_precision
from t5punct.decoding.slots import SlotDecoder
from t5punct.decoding.stepwise import decode_stepwise
from t5punct.decoding.tagging import TagDecoder
from t5punct.errors import ConfigError, ModelError
from t5punct.model import Model
from t5punct.t5.folder import ONNX_FILES
from t5punct.t5.onnx import write_encoder
from t5punct.windows.votes import Vote

WINDOWS = [WindowInput.of(words.split()) for words in ("we know that right", "no", "NASA said okay then is that so")]


@pytest.fixture(scope="module")
def folder(tagged_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved model with its encoder in ONNX, in both precisions."""
    made = tmp_path_factory.mktemp("onnx")
    models.save(tagged_model, made)
    for precision in ONNX_FILES:
        write_encoder(models.load(made).network, made, precision)
    return made


def change(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).abs().max() / expected.std())


def padded(n_windows: int, n_tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random tokens; every second window is half as long."""
    ids = torch.randint(5, 400, (n_windows, n_tokens), generator=torch.Generator().manual_seed(n_tokens))
    mask = torch.ones_like(ids)
    mask[1::2, max(1, n_tokens // 2) :] = 0
    return ids, mask


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (4, 40), (2, 200)])
def test_states_are_those_of_torch_whatever_the_shape(folder: Path, shape: tuple[int, int]) -> None:
    model = models.load(folder)
    ids, mask = padded(*shape)
    seen = mask.bool()
    with torch.inference_mode():
        expected = model.encode(ids, mask)[seen]
    exact, rough = (with_precision(model, name).encode(ids, mask)[seen] for name in ONNX_FILES)
    assert change(exact, expected) < 1e-5
    assert 1e-5 < change(rough, expected) < 0.2, "int8 is another computation, and close"


def test_what_is_padded_is_not_seen(folder: Path) -> None:
    model = with_precision(models.load(folder), "onnx")
    ids, mask = padded(2, 40)
    other = torch.where(mask.bool(), ids, 7)
    assert change(model.encode(other, mask)[mask.bool()], model.encode(ids, mask)[mask.bool()]) < 1e-5


def largest_difference(some: list[tuple[Vote, ...]], others: list[tuple[Vote, ...]]) -> float:
    pairs = [pair for votes in zip(some, others, strict=True) for pair in zip(*votes, strict=True)]
    assert len(pairs) == sum(len(window.words) for window in WINDOWS)
    return max(
        abs(p - other.labels.probability(outcome))
        for one, other in pairs
        for outcome, p in zip(one.labels.outcomes, one.labels.probabilities, strict=True)
    )


def test_every_decoder_computes_with_it(folder: Path) -> None:
    """Slots equal step by step, and the tagger equals torch's; in int8 all of them are another computation."""
    plain = models.load(folder)
    exact, rough = (with_precision(plain, name) for name in ONNX_FILES)
    assert largest_difference(SlotDecoder(exact).votes(WINDOWS), decode_stepwise(exact, WINDOWS)) < 1e-5
    for decoder in (SlotDecoder, TagDecoder):
        expected = decoder(plain).votes(WINDOWS)
        assert largest_difference(decoder(exact).votes(WINDOWS), expected) < 1e-5
        assert largest_difference(decoder(rough).votes(WINDOWS), expected) > 1e-6


def test_with_a_delay_the_encoder_is_that_of_torch(folder: Path) -> None:
    plain = models.load(folder).with_task(delay_left_words=4)
    config = DecodingConfig("tagger", delay_words=1)
    found = TagDecoder(with_precision(plain, "onnx-int8"), config).votes(WINDOWS)
    assert largest_difference(found, TagDecoder(plain, config).votes(WINDOWS)) == 0


def test_it_opens_its_file_where_it_is_unpickled(folder: Path) -> None:
    model = with_precision(models.load(folder), "onnx")
    ids, mask = padded(2, 9)
    expected = model.encode(ids, mask)
    assert torch.equal(pickle.loads(pickle.dumps(model.onnx))(ids, mask), expected)  # noqa: S301


def test_one_of_other_weights_is_refused(folder: Path, lively_model: Model, tmp_path: Path) -> None:
    models.save(lively_model, tmp_path)
    shutil.copy(folder / "encoder.onnx", tmp_path)
    with pytest.raises(ModelError, match=r"encoder\.onnx of .* was made of other weights; .*: t5punct export"):
        with_precision(models.load(tmp_path), "onnx")


def test_a_missing_or_broken_one_is_said(folder: Path, tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path)
    with pytest.raises(ModelError, match=r"no encoder-int8\.onnx in .*t5punct export MODEL -o FOLDER --onnx int8"):
        with_precision(models.load(tmp_path), "onnx-int8")
    with pytest.raises(ModelError, match=r"no encoder\.onnx in a model that was not loaded"):
        with_precision(tiny_model, "onnx")
    (tmp_path / "encoder.onnx").write_bytes((folder / "encoder.onnx").read_bytes()[:1000])
    with pytest.raises(ModelError, match=r"encoder\.onnx cannot be loaded"):
        with_precision(models.load(tmp_path), "onnx")


def test_it_needs_a_cpu_and_a_model_in_fp32(folder: Path) -> None:
    model = models.load(folder)
    with pytest.raises(ConfigError, match="onnx of a model in int8"):
        with_precision(with_precision(model, "int8"), "onnx")
    with pytest.raises(ConfigError, match="onnx on meta; expected a CPU"):
        with_precision(replace(model, network=model.network.to("meta")), "onnx")


def test_a_model_saved_over_it_leaves_none(folder: Path, tiny_model: Model, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    models.save(tiny_model, tmp_path)
    assert not list(tmp_path.glob("*.onnx"))
