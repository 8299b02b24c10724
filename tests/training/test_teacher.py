"""A smaller model learns from a larger one."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import load_from_disk
from transformers import T5ForConditionalGeneration, UMT5ForConditionalGeneration

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.delay import Delay
from t5punct.t5.tagger import Tagger
from t5punct.training.config import LossConfig, TeacherConfig, TrainConfig
from t5punct.training.examples.batches import Batch, make_collator
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.loop.objective import Losses, Objective
from t5punct.training.loop.train import train
from t5punct.training.start.starting_model import with_encoder_layers
from t5punct.training.teacher.teacher import Teacher

LOSS = LossConfig(tagger_weight=1.0)


@pytest.fixture(scope="module")
def taught(tiny_model: Model) -> Model:
    torch.manual_seed(5)
    tagger = Tagger(tiny_model.network.config.d_model, tiny_model.task.marks)
    return replace(tiny_model, network=copy.deepcopy(tiny_model.network), tagger=tagger)


@pytest.fixture(scope="module")
def folder(taught: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("teacher")
    models.save(taught, path)
    return str(path)


@pytest.fixture
def batch(tiny_model: Model, tiny_data: Path) -> Batch:
    examples = ChunkExamples(load_from_disk(str(tiny_data))["train"], tiny_model.tokenizer)
    return make_collator(tiny_model.tokenizer.pad_id)([examples[0], examples[1], examples[2]])


def losses(model: Model, config: TeacherConfig, batch: Batch) -> Losses:
    with torch.no_grad():
        found: Losses = Objective(model, LOSS, Teacher(config, model))(batch)
    return found


def test_a_pupil_that_is_its_teacher_has_nothing_to_learn(taught: Model, folder: str, batch: Batch) -> None:
    assert float(losses(taught, TeacherConfig(folder), batch).teacher) == pytest.approx(0.0, abs=1e-5)
    other = replace(taught, tagger=Tagger(taught.network.config.d_model, taught.task.marks))
    assert float(losses(other, TeacherConfig(folder), batch).teacher) > 0.01
    assert float(losses(other, TeacherConfig(folder, labels_weight=0.0), batch).teacher) == pytest.approx(0.0, abs=1e-5)


def test_fewer_layers_have_other_states(taught: Model, folder: str, batch: Batch) -> None:
    fewer = with_encoder_layers(taught, [1])
    config = TeacherConfig(folder, states_weight=2.0, labels_weight=0.0)
    found = losses(fewer, config, batch)
    ids, mask = batch.input_ids, batch.attention_mask
    with torch.no_grad():
        states, wanted = (
            one.network.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state for one in (fewer, taught)
        )
    apart = [
        1 - float(torch.cosine_similarity(states[row, place], wanted[row, place], dim=0))
        for row in range(len(ids))
        for place in range(ids.shape[1])
        if mask[row, place]
    ]
    assert float(found.teacher) == pytest.approx(2.0 * sum(apart) / len(apart), rel=1e-4)
    assert float(found.total) == pytest.approx(
        float(found.text) + float(found.tags) + 0.5 * float(found.cases) + float(found.teacher), rel=1e-5
    )


def test_layers_that_are_kept(taught: Model) -> None:
    made = with_encoder_layers(taught, [1])
    assert made.network.config.num_layers == 1 and taught.network.config.num_layers == 2
    name = "layer.0.SelfAttention.q.weight"
    state, whole = made.network.encoder.block[0].state_dict(), taught.network.encoder.block[1].state_dict()
    assert torch.equal(state[name], whole[name])
    for layers in ([2], [1, 0], [0, 0], [-1]):
        with pytest.raises(ConfigError, match="some of 0 to 1"):
            with_encoder_layers(taught, layers)


@pytest.mark.parametrize("kind", [T5ForConditionalGeneration, UMT5ForConditionalGeneration])
def test_a_model_without_its_first_layer_keeps_its_positions(taught: Model, tmp_path: Path, kind: Any) -> None:
    """Of a T5 only the first layer has position biases; an umT5 has some in each."""
    shape = {"d_model": 32, "d_kv": 8, "num_heads": 4, "d_ff": 64, "num_layers": 3, "num_decoder_layers": 1}
    torch.manual_seed(2)
    network = kind(kind.config_class(**shape, vocab_size=taught.network.config.vocab_size, pad_token_id=0)).eval()
    made = with_encoder_layers(replace(taught, network=network, tagger=None), [1, 2])
    index = 0 if kind is T5ForConditionalGeneration else 1
    wanted = network.encoder.block[index].layer[0].SelfAttention.relative_attention_bias.weight
    assert torch.equal(made.network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight, wanted)
    models.save(made, tmp_path)
    ids = torch.tensor([[5, 6, 7, 8, 5, 6, 1]])
    states = [one.encode(ids, torch.ones_like(ids)) for one in (made, models.load(tmp_path))]
    assert torch.allclose(states[0], states[1], atol=1e-6)


def test_a_tagger_stays_with_the_layer_that_it_reads(taught: Model) -> None:
    assert with_encoder_layers(taught, [1]).tagger is taught.tagger
    assert with_encoder_layers(taught, [0]).tagger is None


def test_layers_that_are_kept_do_not_look_ahead_as_the_old_ones_did(taught: Model) -> None:
    """A delay of layer 1 would be nobody's in an encoder of one layer, and its words would never be seen."""
    delayed = taught.with_task(delay_left_words=32, delay_layers=[1, 0])
    made = with_encoder_layers(delayed, [0]).task
    assert (made.delay_left_words, made.delay_layers) == (None, [])
    assert sum(Delay.of_task(4, made).look_aheads(1)) == 4


def test_a_small_model_is_trained_and_the_teacher_stays(config: TrainConfig, folder: str, taught: Model) -> None:
    config = replace(config, tokenizer=None, init_from=folder, encoder_layers=[0], teacher=TeacherConfig(folder))
    output = train(config)
    made = models.load(output)
    assert made.network.config.num_layers == 1
    assert not any("teacher" in name for name in made.network.state_dict())
    for name, value in models.load(folder).network.state_dict().items():
        assert torch.equal(value, taught.network.state_dict()[name])


def test_a_teacher_of_other_tokens_or_without_a_tagger_is_refused(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path / "plain")
    with pytest.raises(ConfigError, match="a model with a tagger"):
        Teacher(TeacherConfig(str(tmp_path / "plain")), tiny_model)
    with pytest.raises(ConfigError, match="a model with a tagger, and the tokenizer"):
        Teacher(TeacherConfig(str(models.bundled_folder())), tiny_model)
