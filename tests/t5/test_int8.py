"""Weights in int8 on disk: what comes back is what `--precision int8` of the full weights computes with, to the bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny import TINY_SHAPE

from t5punct import model as models
from t5punct.cli import main
from t5punct.decoding.precision import int8_weights, with_precision
from t5punct.errors import ModelError
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.t5.folder import FLOAT_FILE, INT8_FILE
from t5punct.t5.int8 import on_grid

TEXT = "we know that this is right what how are you today well i think it is time to go please tell us more"


def made_of(model: Model, folder: Path) -> Model:
    models.save(model, folder, int8=int8_weights(model))
    return models.load(folder)


def untied(model: Model) -> Model:
    """A T5 as of v1.1: gated, with an output layer of its own."""
    from transformers import T5ForConditionalGeneration

    config = models.fresh(replace(TINY_SHAPE, feed_forward_proj="gated-gelu"), model.tokenizer).network.config
    config.tie_word_embeddings = False
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return models.Model(T5ForConditionalGeneration(config).eval(), model.tokenizer, "untied")


@pytest.mark.parametrize("kind", ["tied", "untied", "bf16"])
def test_int8_of_the_folder_is_int8_of_the_full_weights(lively_model: Model, tmp_path: Path, kind: str) -> None:
    full = untied(lively_model) if kind == "untied" else lively_model
    if kind == "bf16":
        models.save(lively_model, tmp_path / "short", dtype=torch.bfloat16)
        full = models.load(tmp_path / "short")
    back = made_of(full, tmp_path / "int8")
    wanted, found = (int8_weights(one) for one in (full, back))
    assert wanted.keys() == found.keys() and len(wanted) > 20
    for name, weight in wanted.items():
        assert torch.equal(found[name].int_repr(), weight.int_repr()), name
        assert found[name].q_scale() == weight.q_scale(), name
    state = back.network.state_dict()
    for name, weight in full.network.state_dict().items():
        assert torch.equal(state[name], wanted[name].dequantize() if name in wanted else weight), name
    ours, theirs = (Punctuator(with_precision(one, "int8")).annotate(TEXT) for one in (back, full))
    assert ours == theirs
    again = made_of(back, tmp_path / "again")
    assert {name: weight.q_scale() for name, weight in int8_weights(again).items()} == {
        name: weight.q_scale() for name, weight in wanted.items()
    }


def test_linear_layers_take_a_byte_a_weight_and_nothing_else_is_lost(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path / "short", dtype=torch.bfloat16)
    made_of(models.load(tmp_path / "short"), tmp_path / "int8")
    tensors = load_file(tmp_path / "int8" / INT8_FILE)
    kinds = {name: tensor.dtype for name, tensor in tensors.items()}
    assert kinds["encoder.block.0.layer.0.SelfAttention.q.weight"] is torch.int8
    assert kinds["encoder.block.0.layer.0.SelfAttention.q.weight.scale"] is torch.float32
    assert kinds["shared.weight"] is torch.bfloat16, "what came from bf16 fits into it"
    assert not {"lm_head.weight", "encoder.embed_tokens.weight"} & kinds.keys(), "tied weights are written once"
    made_of(tiny_model, tmp_path / "long")
    assert load_file(tmp_path / "long" / INT8_FILE)["shared.weight"].dtype is torch.float32


def test_a_folder_holds_one_form_of_the_weights(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path)
    assert made_of(tiny_model, tmp_path).tuned
    assert (tmp_path / INT8_FILE).is_file() and not (tmp_path / FLOAT_FILE).exists()
    models.save(tiny_model, tmp_path)
    assert not (tmp_path / INT8_FILE).exists()
    assert torch.equal(models.load(tmp_path).network.shared.weight, tiny_model.network.shared.weight)


def test_weights_that_were_trained_on_are_quantised_anew(tiny_model: Model, tmp_path: Path) -> None:
    back = made_of(tiny_model, tmp_path)
    layer = back.network.encoder.block[0].layer[0].SelfAttention.q
    assert on_grid(layer) is not None
    with torch.no_grad():
        layer.weight.mul_(3.0)
    assert on_grid(layer) is None
    name = "encoder.block.0.layer.0.SelfAttention.q.weight"
    error = (int8_weights(back)[name].dequantize() - layer.weight).abs().max()
    assert error <= 0.51 * layer.weight.abs().max() / 127, "not cut at the old range"
    assert on_grid(tiny_model.network.encoder.block[0].layer[0].SelfAttention.q) is None


def test_a_damaged_file_is_noticed(tiny_model: Model, tmp_path: Path) -> None:
    made_of(tiny_model, tmp_path)
    tensors = load_file(tmp_path / INT8_FILE)
    del tensors["decoder.block.1.layer.0.SelfAttention.q.weight"]
    del tensors["decoder.block.1.layer.0.SelfAttention.q.weight.scale"]
    save_file(tensors, tmp_path / INT8_FILE)
    with pytest.raises(ModelError, match=r"do not fit its config.json \(1 of them, such as decoder.block.1"):
        models.load(tmp_path)
    (tmp_path / INT8_FILE).write_bytes(b"half")
    with pytest.raises(ModelError, match="cannot be loaded"):
        models.load(tmp_path)


def test_export_writes_it_and_punctuate_decides_as_with_the_full_weights(
    lively_model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models.save(lively_model, tmp_path / "run")
    (tmp_path / "talk.txt").write_text(TEXT)

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        assert stopped.value.code == 0
        return capsys.readouterr().out

    run("export", tmp_path / "run", "-o", tmp_path / "made", "--dtype", "int8")
    options = ("punctuate", tmp_path / "talk.txt", "--json", "--precision", "int8", "--model")
    assert run(*options, tmp_path / "made") == run(*options, tmp_path / "run")
