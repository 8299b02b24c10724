"""A model that is taught a further mark: what it knew stays, and what is new begins as a mark like the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from t5punct import model as models
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.t5.task import mark_token
from t5punct.text.marks import DISFLUENT
from t5punct.text.render import RenderConfig
from t5punct.training.config import DataConfig, OptimConfig, TrainConfig
from t5punct.training.examples.disfluencies import DisfluencyConfig
from t5punct.training.loop.train import train
from t5punct.training.start.new_marks import match_disfluencies, with_disfluencies

TEXT = "we know that this is right what how are you today well i think it's time to go"


def test_the_new_token_is_the_mean_of_the_marks_and_the_others_stay(tagged_model: Model) -> None:
    made = with_disfluencies(tagged_model)
    (sign,) = made.tokenizer.mark_ids[DISFLUENT]
    assert made.tokenizer.tokenizer.convert_ids_to_tokens(sign) == mark_token(DISFLUENT)
    old, new = (one.network.get_input_embeddings().weight for one in (tagged_model, made))
    assert len(new) == sign + 1 == len(old) + 1 == made.network.config.vocab_size
    assert torch.equal(new[:-1], old)
    marks = sorted({number for mark in ",.?!:;-" for number in made.tokenizer.mark_ids[mark]})
    assert torch.allclose(new[sign], old[marks].mean(0))
    assert made.tagger is not None
    assert tagged_model.tagger is not None
    assert torch.equal(made.tagger.marks.weight[:-1], tagged_model.tagger.marks.weight)
    assert torch.allclose(made.tagger.marks.bias[-1], tagged_model.tagger.marks.bias[1:].mean())
    assert sign in made.tokenizer.task_ids
    assert not tagged_model.task.disfluencies
    assert with_disfluencies(made) is made


def test_it_decides_as_before_and_comes_back_from_the_disk(tagged_model: Model, tmp_path: Path) -> None:
    made = with_disfluencies(tagged_model)
    models.save(made, tmp_path / "made")
    loaded = models.load(tmp_path / "made")
    assert loaded.task == made.task
    assert loaded.tagger is not None
    wanted = Punctuator(tagged_model).annotate(TEXT)
    for one in (made, loaded):
        assert Punctuator(one).annotate(TEXT) == wanted
    marking = Punctuator(loaded).with_config(render=RenderConfig(disfluencies="mark"))
    assert [word.word for word in marking.annotate(TEXT)] == TEXT.split()


def test_a_written_sign_is_a_word_like_others(tagged_model: Model) -> None:
    made = with_disfluencies(tagged_model)
    (sign,) = made.tokenizer.mark_ids[DISFLUENT]
    assert sign not in made.tokenizer.source(["we", mark_token(DISFLUENT), "go"]).ids
    ids = made.tokenizer.target(["we", "go"], [DISFLUENT + ",", "."])
    assert sign in ids
    assert made.tokenizer.decode(ids) == made.tokenizer.decode([one for one in ids if one != sign])


@pytest.mark.parametrize("marked", [0.0, 0.9])
def test_training_begins_with_the_new_mark_where_it_is_learned(
    tagged_model: Model, tiny_data: Path, tmp_path: Path, marked: float
) -> None:
    models.save(replace(tagged_model, name="start"), tmp_path / "start")
    disfluencies = DisfluencyConfig(0.5, phrase=0.1, repair=0.1, restart=0.2, marked=marked)
    config = TrainConfig(
        str(tmp_path / "run"),
        init_from=str(tmp_path / "start"),
        data=DataConfig(str(tiny_data), batch_tokens=600, disfluencies=disfluencies),
        optim=OptimConfig(max_steps=2),
    )
    config = replace(config, loss=replace(config.loss, tagger_weight=1.0))
    folder = train(config)
    assert models.read_task(folder).disfluencies == bool(marked)
    loaded = models.load(folder)
    assert loaded.tagger is not None
    assert len(loaded.tagger.mark_classes) == 8 + bool(marked)
    if marked:
        train(replace(config, resume=True, optim=OptimConfig(max_steps=3)))


def test_a_model_that_will_forget_the_sign_is_named(tagged_model: Model, caplog: pytest.LogCaptureFixture) -> None:
    made = with_disfluencies(tagged_model)
    assert match_disfluencies(made, DisfluencyConfig(marked=0.5)) is made
    assert match_disfluencies(tagged_model, DisfluencyConfig()) is tagged_model
    assert not caplog.records
    assert match_disfluencies(made, DisfluencyConfig()) is made
    assert "fresh knows disfluencies and will forget them" in caplog.text
