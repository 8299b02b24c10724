"""Models on disk: what is saved comes back; what is no usable T5 is said in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from t5punct import __version__
from t5punct import model as models
from t5punct.decoding.inputs import WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ModelError
from t5punct.model import Model
from t5punct.tokenization import TaskConfig, TaskTokenizer

WINDOW = WindowInput.of("we know what this is don't we 🙂".split())


def test_a_saved_model_comes_back_whole(tiny_model: Model, tmp_path: Path) -> None:
    task = TaskConfig(marks=",.?", max_marks=2, default_style="chat")
    model = Model(tiny_model.network, TaskTokenizer(tiny_model.tokenizer.tokenizer, task), "tiny")
    models.save(model, tmp_path / "saved")
    loaded = models.load(tmp_path / "saved")
    assert loaded.task == task
    assert not loaded.network.training
    for name, tensor in tiny_model.network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], tensor), name
    assert SlotDecoder(loaded).decode([WINDOW]) == SlotDecoder(model).decode([WINDOW])
    assert (tmp_path / "saved/t5punct-version.txt").read_text() == __version__ + "\n"
    assert not list((tmp_path / "saved").glob("*.bin"))


def test_bf16_halves_the_file_and_loads_as_float32(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path / "full")
    models.save(tiny_model, tmp_path / "half", dtype=torch.bfloat16)
    full, half = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("full", "half"))
    assert half < 0.6 * full
    loaded = models.load(tmp_path / "half")
    for name, tensor in tiny_model.network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], tensor.bfloat16().float()), name
    assert json.loads((tmp_path / "half/config.json").read_text())["dtype"] == "bfloat16"


def test_a_folder_without_a_task_has_the_default_one(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path)
    (tmp_path / models.TASK_FILE).unlink()
    assert models.load(tmp_path).task == TaskConfig()


def test_a_fresh_model_is_the_same_for_the_same_seed(tiny_model: Model) -> None:
    shape = models.FreshModelConfig(d_model=16, d_kv=4, num_heads=2, d_ff=32, num_layers=1, num_decoder_layers=1)
    weights = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        weights.append(models.fresh(shape, tiny_model.tokenizer).network.state_dict()["shared.weight"])
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
    shallow = models.fresh(replace(shape, num_layers=3), tiny_model.tokenizer).network
    assert (len(shallow.encoder.block), len(shallow.decoder.block)) == (3, 1)


@pytest.mark.parametrize("source", ["nowhere/at/all", "file.txt", "empty"])
def test_a_wrong_model_is_one_clear_line(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("no model")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="expected a T5 folder") as caught:
        models.load(source)
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_refused(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(tiny_model.network.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"expected a T5 with model\.safetensors"):
        models.load(tmp_path)


def test_damaged_weights_are_one_clear_line(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        models.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_an_unknown_bundled_name_lists_what_there_is() -> None:
    with pytest.raises(ModelError, match="no bundled model 'huge'; expected base"):
        models.bundled_folder("huge")
