"""Networks and tokenizers that are read without transformers are those that transformers reads, in every family."""

import copy
import json
import pickle
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from from_encoder import from_encoder
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from stepwise import assert_same_votes
from tiny import TINY_SHAPE, t5_network, tiny_text
from tiny_encoders import FAMILIES, save_tiny_encoder

from t5punct import model as models
from t5punct.decoding.cached_decoder import output_scale
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ModelError
from t5punct.model import Model, with_precision
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.t5.encoder import Encoder
from t5punct.t5.inference import InferenceT5, PieceTokenizer, read_network, read_tokenizer

SHAPE: dict[str, Any] = {
    "d_model": TINY_SHAPE.d_model, "d_kv": 8, "num_heads": 3, "d_ff": 24, "num_layers": 3, "num_decoder_layers": 2,
    "decoder_start_token_id": 0,
}  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {
    "t5": {}, "t5 v1.1": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    "t5 silu": {"feed_forward_proj": "gated-silu"}, "mt5": {}, "umt5": {"feed_forward_proj": "gelu"},
}  # fmt: skip
KNOWN = [*KINDS, *(name for name, family in FAMILIES.items() if family.has_layers)]
WINDOWS = [WindowInput.of(text.split()) for text in ("we know that right", "no", "NASA said okay then is that so 🙂")]


@pytest.fixture(scope="module", params=KNOWN)
def folder(request: pytest.FixtureRequest, tiny_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A family's model as t5punct saves it, with weights by which each part counts."""
    name, folder = request.param, tmp_path_factory.mktemp("folder") / request.param
    torch.manual_seed(4)
    if name in KINDS:
        n_pieces = len(tiny_model.tokenizer.tokenizer)
        network = t5_network(name.split()[0], **SHAPE, **KINDS[name], vocab_size=n_pieces)
        if KINDS[name].get("tie_word_embeddings") is False:
            network.lm_head.weight = torch.nn.Parameter(torch.empty_like(network.lm_head.weight))
        model = Model(network, tiny_model.tokenizer, name)
    else:
        model = from_encoder(save_tiny_encoder(folder / "encoder", name), layers=2)
    for value in model.network.parameters():
        torch.nn.init.normal_(value, std=0.3)
    models.save(model, folder)
    return folder


@pytest.fixture(scope="module")
def whole(folder: Path) -> Model:
    """The model as transformers reads it."""
    return models.load(folder)


@pytest.fixture(scope="module")
def lean(folder: Path, whole: Model) -> Model:
    """The same model, read without transformers."""
    return replace(whole, network=read_network(folder))


def test_a_network_has_the_weights_of_transformers_also_in_int8(whole: Model, lean: Model, tmp_path: Path) -> None:
    own, wanted = lean.network.state_dict(), whole.network.state_dict()
    assert own.keys() == wanted.keys()
    for name, value in wanted.items():
        assert torch.equal(own[name], value), name
    models.save(whole, tmp_path, int8=True)
    own, wanted = read_network(tmp_path).state_dict(), models.load(tmp_path).network.state_dict()
    assert all(torch.equal(own[name], value) for name, value in wanted.items())


def _batch(lengths: list[int], seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    width = max(lengths) + seed % 2  # sometimes a column of padding alone
    mask = (torch.arange(width) < torch.tensor(lengths)[:, None]).long()
    return torch.randint(3, 60, mask.shape, generator=generator) * mask, mask


@settings(max_examples=25)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 9))
@torch.inference_mode()
def test_states_are_those_of_transformers_also_padded(whole: Model, lean: Model, lengths: list[int], seed: int) -> None:
    ids, mask = _batch(lengths, seed)
    expected = whole.network.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    for model, is_packed in product((whole, lean), (True, False)):
        states = Encoder(model.network.encoder).states(ids, mask, packed=is_packed)
        assert states.shape == expected.shape
        assert torch.allclose(states[mask.bool()], expected[mask.bool()], atol=2e-5)
        assert not states[~mask.bool()].any()


@torch.inference_mode()
def test_states_in_bfloat16_stay_bfloat16(whole: Model) -> None:
    encoder: Any = copy.deepcopy(whole.network).to(torch.bfloat16).encoder
    ids, mask = _batch([9, 5, 9], 0)
    states = Encoder(encoder).states(ids, mask)
    expected = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    assert states.dtype is torch.bfloat16
    assert torch.nn.functional.cosine_similarity(states[mask.bool()], expected[mask.bool()], dim=-1).min() > 0.99


def test_votes_and_scale_are_those_of_transformers(whole: Model, lean: Model) -> None:
    assert output_scale(lean) == pytest.approx(output_scale(whole), rel=1e-4)
    assert_same_votes(SlotDecoder(lean).votes(WINDOWS), SlotDecoder(whole).votes(WINDOWS))


def test_what_does_not_fit_is_left_to_transformers_which_says_so(tagged_model: Model, tmp_path: Path) -> None:
    models.save(tagged_model, tmp_path)
    file, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    weights, values = load_file(file), json.loads(config.read_text())
    spoiled = {"encoder.final_layer_norm.weight": torch.full((32,), torch.nan)}
    for changed in (weights | spoiled, weights | {"unknown": torch.ones(2)}, dict([*weights.items()][1:])):
        save_file(changed, file, metadata={"format": "pt"})
        assert read_network(tmp_path) is None
    save_file(weights, file, metadata={"format": "pt"})
    for name, value in (("d_ff", 65), ("num_layers", None), ("model_type", "umt9"), ("feed_forward_proj", "tanh")):
        config.write_text(json.dumps(values | {name: value}))
        assert read_network(tmp_path) is None, name
    config.write_text(json.dumps({name: value for name, value in values.items() if name != "d_kv"}))
    assert read_network(tmp_path) is None
    config.write_text(json.dumps(values))
    assert read_network(tmp_path) is not None
    file.write_bytes(b"no weights")
    with pytest.raises(ModelError, match="cannot be loaded"):
        Punctuator.from_pretrained(tmp_path)


@pytest.mark.parametrize("name", ["base", "small"])
def test_the_bundled_models_are_equal_in_every_output(name: str) -> None:
    text = " ".join(tiny_text(12, seed=7)) + " naïve C++ 3.5 don't U.S. 🙂 co-op {x}"
    config = replace(PunctuatorConfig(), decoding=DecodingConfig(precision="fp32"))
    lean = Punctuator.from_pretrained(name, config)
    assert isinstance(lean.model.network, InferenceT5)
    assert isinstance(lean.model.tokenizer.tokenizer, PieceTokenizer)
    assert lean.annotate(text) == Punctuator(models.load(name), config).annotate(text)


TEXTS = [
    "we know that's right", "naïve [UNK] <unk> </s> 3.5%, {x}\u2014да \U0001f642", "", "  two  spaces ",
    "<extra_id_0>,",
]  # fmt: skip


@pytest.mark.parametrize("source", ["base", "small", *FAMILIES])
def test_a_tokenizer_gives_what_transformers_gives(source: str, tmp_path: Path) -> None:
    if source in FAMILIES:
        model = from_encoder(save_tiny_encoder(tmp_path / "encoder", source))
        models.save(model, tmp_path)
    folder = tmp_path if source in FAMILIES else models.bundled_folder(source)
    own: Any = read_tokenizer(folder)
    wanted: Any = models.load_tokenizer(folder, models.read_task(folder)).tokenizer
    assert own is not None and len(own) == len(wanted)
    assert own.get_vocab() == wanted.get_vocab()
    for name in ("pad_token_id", "eos_token_id", "unk_token_id"):
        assert getattr(own, name) == getattr(wanted, name)
    assert sorted(own.all_special_ids) == sorted(wanted.all_special_ids)
    for text in TEXTS:
        ids = own.encode(text, add_special_tokens=False)
        assert ids == wanted.encode(text, add_special_tokens=False)
        assert own.encode(text) == wanted.encode(text)
        assert own.convert_ids_to_tokens(ids) == wanted.convert_ids_to_tokens(ids)
        for skips in (False, True):
            settings = {"skip_special_tokens": skips, "clean_up_tokenization_spaces": False}
            assert own.decode(ids, **settings) == wanted.decode(ids, **settings)
    for token in ("we", "no such piece", "<extra_id_0>", "<extra_id_99>"):
        assert own.convert_tokens_to_ids(token) == wanted.convert_tokens_to_ids(token)


def test_a_tokenizer_that_transformers_builds_is_left_to_it(tagged_model: Model, tmp_path: Path) -> None:
    models.save(tagged_model, tmp_path)
    config = tmp_path / "tokenizer_config.json"
    values = json.loads(config.read_text())
    config.write_text(json.dumps(values | {"tokenizer_class": "TokenizersBackend"}))
    assert read_tokenizer(tmp_path) is not None
    for changed in (
        {"tokenizer_class": "T5Tokenizer"},
        {"tokenizer_class": "TokenizersBackend", "add_prefix_space": True},
        {"tokenizer_class": "TokenizersBackend", "eos_token": "<no such token>"},
    ):
        config.write_text(json.dumps(values | changed))
        assert read_tokenizer(tmp_path) is None, changed


def test_what_was_loaded_to_infer_is_pickled_and_saved_with_changes(tmp_path: Path) -> None:
    model = models.load("small", precision="fp32")
    network: Any = copy.deepcopy(model.network)
    network.shared.weight += 1
    models.save(replace(model, network=network).with_task(max_tokens=77), tmp_path)
    again = models.load(tmp_path)
    assert torch.equal(again.network.state_dict()["shared.weight"], model.network.state_dict()["shared.weight"] + 1)
    assert again.task.max_tokens == 77
    assert models.tokenizer_fingerprint(again.tokenizer) == models.tokenizer_fingerprint(model.tokenizer)
    punctuator = Punctuator.from_pretrained("small")
    assert pickle.loads(pickle.dumps(punctuator)).punctuate("how are you today") == "How are you today?"  # noqa: S301


def test_what_was_loaded_to_infer_generates_in_each_precision() -> None:
    model = models.load("small", precision="fp32")
    config = replace(PunctuatorConfig(), decoding=DecodingConfig("generate"))
    for changed in (model, with_precision(model, "int8")):
        punctuator = Punctuator(changed, config)
        assert not isinstance(punctuator.model.network, InferenceT5)
        assert punctuator.model.precision == changed.precision
        wanted = Punctuator(with_precision(models.load("small"), changed.precision), config)
        assert punctuator.punctuate(TEXTS[0]) == wanted.punctuate(TEXTS[0]) != TEXTS[0]
