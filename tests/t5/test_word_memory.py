"""The memory of words: what the decoder reads beside the encoder's states."""

from pathlib import Path
from typing import Any

import pytest
import torch
from from_encoder import from_encoder
from stepwise import assert_same_votes, decode_stepwise
from tiny_encoders import save_tiny_encoder
from torch import nn

from t5punct import model as models
from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import WindowInput, encoder_input
from t5punct.decoding.slots import SlotDecoder
from t5punct.model import Model
from t5punct.t5.encoder_t5 import EncoderT5, EncoderT5Config
from t5punct.t5.word_memory import WordMemory, frequencies

WINDOWS = [WindowInput.of(text.split()) for text in ("we know that right", "hello", "this is iPhone 3.5 no no no ok")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a memory and random weights, as it is saved."""
    root = tmp_path_factory.mktemp("memory")
    begun: Any = from_encoder(save_tiny_encoder(root / "encoder", "mpnet"), layers=2)
    values = {name: value for name, value in begun.network.config.to_dict().items() if name != "model_type"}
    style = begun.tokenizer.tokenizer.convert_tokens_to_ids("<meeting>")
    silent = [begun.start_id, style, *begun.tokenizer.deciding_ids]
    network: Any = EncoderT5(EncoderT5Config(**values | {"d_code": 24, "silent_ids": silent}))
    torch.manual_seed(2)
    for value in network.parameters():
        nn.init.normal_(value, std=0.3)
    models.save(Model(network, begun.tokenizer, "memory"), root / "model")
    return root / "model"


def test_memory_and_target_equal_their_formulas_token_by_token() -> None:
    torch.manual_seed(3)
    memory, embeddings = WordMemory(6, 4, silent_ids=[0, 7, 8]), nn.Embedding(12, 6)
    nn.init.normal_(memory.scale)
    nn.init.normal_(memory.shift)
    waves = frequencies()
    row = [7, 3, 4, 8, 5, 3, 2]
    states, ids = torch.randn(1, len(row), 6), torch.tensor([row])
    remembered = memory(states, ids, embeddings)[0]
    placed = memory.embed_targets(ids, memory.are_words(ids).cumsum(-1), embeddings)[0]
    n_words = 0
    for index, token in enumerate(row):
        expected = states[0, index] * memory.scale + memory.shift
        if token not in (7, 8):
            code = torch.cat([torch.cos(waves * n_words), torch.sin(waves * n_words)])
            own = memory.codes(embeddings(torch.tensor(token)))
            expected = expected + memory.words.weight @ own + memory.source_positions.weight @ code
            n_words += 1
        assert torch.allclose(remembered[index], expected, atol=1e-5), index
        upto = torch.cat([torch.cos(waves * n_words), torch.sin(waves * n_words)])
        expected = embeddings(torch.tensor(token)) + memory.target_positions.weight @ upto
        assert torch.allclose(placed[index], expected, atol=1e-5), index


def test_slots_equal_step_by_step_with_transformers_and_without(folder: Path) -> None:
    whole, lean = models.load(folder), models.load(folder, precision="fp32")
    expected = decode_stepwise(whole, WINDOWS)
    for model in (whole, lean):
        assert_same_votes(SlotDecoder(model).votes(WINDOWS), expected)


def test_generate_of_transformers_reads_the_memory(folder: Path) -> None:
    model = models.load(folder)
    network: Any = model.network
    input_ids, mask = encoder_input([window.source(model.tokenizer) for window in WINDOWS[:1]], model)
    written = network.generate(input_ids=input_ids, attention_mask=mask, max_new_tokens=12, do_sample=False)
    assert generate_texts(model, WINDOWS[:1])[0].startswith(model.tokenizer.decode(written[0].tolist()))
    labels = torch.tensor([[5, 6, 7]])
    loss = network(input_ids=input_ids, attention_mask=mask, labels=labels).loss
    network.memory.words.weight.data.mul_(3)
    assert loss != network(input_ids=input_ids, attention_mask=mask, labels=labels).loss
