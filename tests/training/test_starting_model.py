"""The model that a run starts from: some of the layers of another, other marks, another task."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny import TINY_SHAPE
from tiny_encoders import save_tiny_encoder
from transformers import T5ForConditionalGeneration, UMT5ForConditionalGeneration

from t5punct import config as settings
from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.t5.delay import Delay
from t5punct.t5.task import ENCODER_TASK, mark_token
from t5punct.text.words import split
from t5punct.training.config import DataConfig, TrainConfig, change_task
from t5punct.training.start.starting_model import make_starting_model, with_encoder_layers, with_marks_of


def test_layers_that_are_kept_are_copies_and_a_tagger_stays_with_the_layer_that_it_reads(tagged_model: Model) -> None:
    shallow = with_encoder_layers(tagged_model, [1])
    assert shallow.network.config.num_layers == 1 and tagged_model.network.config.num_layers == 2
    name = "layer.0.SelfAttention.q.weight"
    state, whole = shallow.network.encoder.block[0].state_dict(), tagged_model.network.encoder.block[1].state_dict()
    assert torch.equal(state[name], whole[name])
    assert shallow.tagger is tagged_model.tagger and with_encoder_layers(tagged_model, [0]).tagger is None
    for layers in ([2], [1, 0], [0, 0], [-1]):
        with pytest.raises(ConfigError, match="some of 0 to 1"):
            with_encoder_layers(tagged_model, layers)


@pytest.mark.parametrize("kind", [T5ForConditionalGeneration, UMT5ForConditionalGeneration])
def test_a_model_without_its_first_layer_keeps_its_positions(tagged_model: Model, tmp_path: Path, kind: Any) -> None:
    """Of a T5 only the first layer has position biases; an umT5 has some in each."""
    shape = {**asdict(TINY_SHAPE), "num_layers": 3, "vocab_size": tagged_model.network.config.vocab_size}
    torch.manual_seed(2)
    network = kind(kind.config_class(**shape, pad_token_id=0)).eval()
    shallow = with_encoder_layers(replace(tagged_model, network=network, tagger=None), [1, 2])
    index = 0 if kind is T5ForConditionalGeneration else 1
    wanted = network.encoder.block[index].layer[0].SelfAttention.relative_attention_bias.weight
    assert torch.equal(shallow.network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight, wanted)
    models.save(shallow, tmp_path)
    ids = torch.tensor([[5, 6, 7, 8, 5, 6, 1]])
    states = [model.encode(ids, torch.ones_like(ids)) for model in (shallow, models.load(tmp_path))]
    assert torch.allclose(states[0], states[1], atol=1e-6)


def test_layers_that_are_kept_do_not_look_ahead_as_the_old_ones_did(tagged_model: Model) -> None:
    """A delay of layer 1 would be nobody's in an encoder of one layer, and its words would never be seen."""
    delayed = tagged_model.with_task(delay_left_words=32, delay_layers=[1, 0])
    task = with_encoder_layers(delayed, [0]).task
    assert (task.delay_left_words, task.delay_layers) == (None, [])
    assert sum(Delay.of_task(4, task).look_aheads(1)) == 4


MARKS = ".،؟!"  # as docs/guides/your-language.md has them
TYPED = ("data.path=prepared", "init_from=small")


@pytest.fixture(scope="module")
def small() -> Model:
    return models.load("small")


def test_change_task__marks_take_their_odds_along(small: Model) -> None:
    odds = {mark: value for mark, value in small.task.mark_odds.items() if mark in MARKS}
    changed = change_task(small.task, {"marks": MARKS})
    assert changed == replace(small.task, marks=MARKS, mark_odds=odds) != small.task


def test_change_task__mapping_is_merged_and_an_empty_one_empties(small: Model) -> None:
    longest = {**small.task.style_max_marks, "prose": 2}
    changed = change_task(small.task, {"mark_odds": {}, "style_max_marks": {"prose": 2}})
    assert changed == replace(small.task, mark_odds={}, style_max_marks=longest)


def test_change_task__nothing(small: Model) -> None:
    assert change_task(small.task, None) == change_task(small.task, {}) == small.task


@pytest.mark.parametrize(
    ("changes", "message"), [({"marks": "ab"}, r"^marks 'ab'|marks"), ({"prefix": "{foo}"}, "prefix")]
)
def test_change_task__impossible_value(small: Model, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        change_task(small.task, changes)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("task=5", "setting 'task': 5; expected a mapping"),
        ("task.mrks=x", "unknown setting 'task.mrks'; .*is it task.marks"),
        ("tsk.marks=x", "unknown setting 'tsk'; .*is it task"),
        ("fresh.d_modl=8", "unknown setting 'fresh.d_modl'; .*is it fresh.d_model"),
    ],
)
def test_load__setting_of_a_part_that_does_not_exist(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        settings.load(TrainConfig, None, [*TYPED, override])


def test_make_starting_model__encoder_with_the_task_of_encoders(tiny_data: Path, tmp_path: Path) -> None:
    folder = save_tiny_encoder(tmp_path / "encoder", "roberta")
    config = TrainConfig(init_from=str(folder), data=DataConfig(str(tiny_data)), task={"default_style": "chat"})
    task = make_starting_model(config).task
    assert task == replace(ENCODER_TASK, default_style="chat", max_tokens=task.max_tokens)


def test_new_marks_have_tokens_and_classes_and_known_ones_keep_theirs(small: Model) -> None:
    task = replace(small.task, marks=MARKS, mark_odds={})
    model = with_marks_of(small, task)
    assert model.task == task
    vocabulary = model.tokenizer.tokenizer.get_vocab()
    rows, old = model.network.get_input_embeddings().weight, small.network.get_input_embeddings().weight
    for mark in MARKS:
        assert model.tokenizer.mark_ids[mark] == (vocabulary[mark_token(mark)],)
    known = [number for mark in small.task.marks for number in small.tokenizer.mark_ids[mark]]
    torch.testing.assert_close(rows[vocabulary[mark_token("؟")]], old[known].mean(0))
    assert torch.equal(rows[: len(old)][known], old[known])
    assert model.tagger is not None and small.tagger is not None
    assert model.tagger.mark_classes == ("", *task.slot_marks)
    full_stop = [tagger.mark_classes.index(".") for tagger in (model.tagger, small.tagger)]
    assert torch.equal(model.tagger.marks.weight[full_stop[0]], small.tagger.marks.weight[full_stop[1]])
    assert with_marks_of(small, small.task).tagger is small.tagger
    sure = Punctuator(model, PunctuatorConfig()).with_config()
    assert split(sure.punctuate("how are you today my name is maria")).words[-1].label in MARKS


def test_a_model_that_writes_marks_as_text_gets_no_tokens(tagged_model: Model) -> None:
    task = replace(tagged_model.task, marks=MARKS)
    model = with_marks_of(tagged_model, task)
    assert model.tokenizer.tokenizer.get_vocab() == tagged_model.tokenizer.tokenizer.get_vocab()
    assert model.tagger is not None and model.tagger.mark_classes == ("", *MARKS)
