"""Every family of T5, from a folder as the hub has it: checked, trained for some steps, saved, loaded, used.

The folders hold tiny networks with random weights, and the files that the families' own folders hold: weights with or
without an output layer of their own, a sentencepiece vocabulary without byte fallback, or none at all for bytes.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from tiny import t5_network, tiny_text
from transformers import ByT5Tokenizer

from t5punct import model as models
from t5punct.decoding.cached_decoder import output_scale
from t5punct.decoding.inputs import DecodingConfig
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.words import split
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop.train import train

SHAPE = {"d_model": 32, "d_kv": 8, "num_heads": 4, "d_ff": 64, "num_layers": 2, "num_decoder_layers": 2}
TEXT = "we know {x} naïve iPhone o'clock 42 да\nthis is  right isn't it NASA"


@dataclass(frozen=True)
class Family:
    """How a family's folder looks."""

    kind: str  # `model_type`
    activation: str
    tied: bool  # the output layer is the embeddings, scaled
    n_spare_rows: int = 0  # of the embeddings, beyond the vocabulary
    extra_ids: int | None = 100  # None: bytes


FAMILIES = {
    "t5": Family("t5", "relu", tied=True, n_spare_rows=5),
    "v1.1 and flan": Family("t5", "gated-gelu", tied=False),
    "byt5": Family("t5", "gated-gelu", tied=False, extra_ids=None),
    "mt5": Family("mt5", "gated-gelu", tied=False, n_spare_rows=7, extra_ids=0),
    "umt5": Family("umt5", "gated-gelu", tied=False, extra_ids=300),
}


@pytest.fixture(scope="module")
def spiece(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A vocabulary as T5's: unigram pieces, and no bytes."""
    sentences = tiny_text(400, seed=1)
    prefix = tmp_path_factory.mktemp("spiece") / "spiece"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*sentences, *(sentence.lower() for sentence in sentences)]), model_prefix=str(prefix),
        vocab_size=300, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, hard_vocab_limit=False,
        required_chars=",.?!:;-'", minloglevel=2, num_threads=1,
    )  # fmt: skip
    return prefix.with_suffix(".model").read_bytes()


LONG = ("mt5", "v1.1 and flan")  # what is new in them, another family has, too


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in FAMILIES])
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


@pytest.fixture
def folder(family: Family, spiece: bytes, tmp_path: Path) -> Path:
    """A folder of the family, as it was downloaded."""
    folder = tmp_path / "hub"
    folder.mkdir()
    if family.extra_ids is None:
        ByT5Tokenizer().save_pretrained(folder)
        n_pieces = len(ByT5Tokenizer())
    else:
        names = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "extra_ids": family.extra_ids}
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T5Tokenizer", **names}))
        (folder / "spiece.model").write_bytes(spiece)
        n_pieces = sentencepiece.SentencePieceProcessor(model_proto=spiece).vocab_size() + family.extra_ids
    n_rows = n_pieces + family.n_spare_rows
    values = {**SHAPE, "vocab_size": n_rows, "feed_forward_proj": family.activation, "decoder_start_token_id": 0}
    torch.manual_seed(3)
    weights = t5_network(family.kind, **values).state_dict()
    weights = {name: value.clone() for name, value in weights.items() if "embed_tokens" not in name}
    weights.pop("lm_head.weight", None)
    if not family.tied:
        weights["lm_head.weight"] = torch.randn(n_rows, SHAPE["d_model"]) / 4
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = {**values, "model_type": family.kind, "tie_word_embeddings": family.tied, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(config | {"eos_token_id": 1, "is_encoder_decoder": True}))
    return folder


def published(folder: Path, family: Family) -> float:
    """A weight of the output layer, as it was downloaded."""
    weights = load_file(folder / "model.safetensors")
    return float(weights["shared.weight" if family.tied else "lm_head.weight"][5, 5])


def has_own_output(model: models.Model) -> bool:
    return not torch.equal(model.network.lm_head.weight, model.network.shared.weight)


def logits(model: models.Model) -> torch.Tensor:
    ids = torch.tensor([[5, 6, 7, 1]])
    with torch.no_grad():
        return model.network(input_ids=ids, decoder_input_ids=ids, use_cache=False).logits


def test_a_family_goes_the_whole_way(
    family: Family, folder: Path, tiny_data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun = models.load(folder)
    assert has_own_output(begun) == (not family.tied)
    weight = begun.network.lm_head.weight.detach()[5, 5]
    scale = output_scale(begun) * float(weight / published(folder, family))
    assert scale == pytest.approx(SHAPE["d_model"] ** -0.5 if family.tied else 1.0), "as in the family's paper"
    models.save(begun, tmp_path / "saved")
    assert torch.equal(logits(models.load(tmp_path / "saved")), logits(begun))

    data, loss = DataConfig(str(tiny_data), batch_tokens=2000), LossConfig(tagger_weight=0.5, sampled_pieces=50)
    optim = OptimConfig(lr=1e-3, warmup_steps=0, max_steps=3)
    config = TrainConfig(str(tmp_path / "run"), init_from=str(folder), data=data, optim=optim, loss=loss)
    run = train(replace(config, validation=ValidationConfig(every_steps=0), checkpoint_every_steps=0))
    trained = models.load(run)
    assert has_own_output(trained) == (not family.tied)
    assert output_scale(trained) == pytest.approx(output_scale(begun))
    assert not torch.allclose(logits(trained), logits(begun), atol=1e-4), "it learned"
    advice = [record for record in caplog.records if record.name.startswith("transformers")]
    assert not advice, "nobody can follow it"

    for decoder in ("slots", "tagger"):
        chosen = replace(PunctuatorConfig(), decoding=DecodingConfig(decoder))
        written = Punctuator.from_pretrained(run, chosen).punctuate(TEXT)
        assert [word.normal for word in split(written).words] == [word.normal for word in split(TEXT).words]
        assert written.count("\n") == 1 and "  " in written
