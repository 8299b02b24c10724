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
from t5punct.t5 import int8 as int8_module
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


@pytest.fixture(scope="module")
def wide_model(tiny_model: Model) -> Model:
    """A model whose matrices are large enough to be worth a byte a weight."""
    shape = replace(TINY_SHAPE, d_model=64, d_kv=16, num_heads=4, d_ff=96)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(6)
        made = models.fresh(shape, tiny_model.tokenizer)
        for parameter in made.network.parameters():
            parameter.data.mul_(1.5)
    made.network.eval()
    return made


def test_rows_in_int8_come_back_with_a_small_error(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path, rows=True)
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


def test_rows_written_again_are_the_same(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path / "first", rows=True)
    models.save(models.load(tmp_path / "first"), tmp_path / "second", rows=True)
    first, second = (load_file(tmp_path / name / INT8_FILE) for name in ("first", "second"))
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert torch.allclose(tensor.float(), second[name].float(), rtol=1e-6, atol=0), name


def test_what_is_large_comes_in_shards_and_one_that_is_missing_is_noticed(
    wide_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.save(wide_model, tmp_path / "one", rows=True)
    monkeypatch.setattr(int8_module, "_SHARD_BYTES", 60_000)
    models.save(wide_model, tmp_path / "shards", rows=True)
    files = sorted(path.name for path in (tmp_path / "shards").glob("model*.safetensors"))
    assert len(files) > 2
    assert files[0] == f"model-int8-00001-of-{len(files):05d}.safetensors"
    assert all(path.stat().st_size < 64_000 for path in (tmp_path / "shards").glob("model*"))
    one, shards = (models.load(tmp_path / name).network.state_dict() for name in ("one", "shards"))
    assert all(torch.equal(one[name], shards[name]) for name in one)
    (tmp_path / "shards" / files[1]).unlink()
    with pytest.raises(ModelError, match="an incomplete set of weights"):
        models.load(tmp_path / "shards")
    models.save(wide_model, tmp_path / "shards")
    assert not list((tmp_path / "shards").glob("model-int8*")), "no shard of an earlier model stays"


def test_the_command_writes_rows(wide_model: Model, tmp_path: Path) -> None:
    models.save(wide_model, tmp_path / "run")
    with pytest.raises(SystemExit) as ended:
        main(["export", str(tmp_path / "run"), "-o", str(tmp_path / "out"), "--dtype", "int8-rows"])
    assert ended.value.code == 0
    models.save(wide_model, tmp_path / "rows", rows=True)
    ours, theirs = (models.load(tmp_path / name).network.state_dict() for name in ("out", "rows"))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
