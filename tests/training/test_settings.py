"""Settings of `task` change the text form of the model that a run begins with, and new marks are learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from t5punct import config as settings
from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.t5.task import ENCODER_TASK, TaskConfig, mark_token
from t5punct.text.words import split
from t5punct.training.settings import load_settings
from t5punct.training.start.starting_model import with_marks_of

MARKS = ".،؟!"  # as docs/guides/your-language.md has them
DATA = "data.path=prepared"


@pytest.fixture(scope="module")
def small() -> Model:
    return models.load("small")


def test_what_is_said_of_the_task_changes_the_models_own(small: Model, tmp_path: Path) -> None:
    changed = load_settings(None, [DATA, "init_from=small", f"task.marks={MARKS}"]).task
    odds = {mark: value for mark, value in small.task.mark_odds.items() if mark in MARKS}
    assert changed == replace(small.task, marks=MARKS, mark_odds=odds) != small.task
    mine = tmp_path / "mine.yaml"
    mine.write_text("init_from: small\ntask: {cased: false}\n")
    assert load_settings(mine, [DATA]).task == replace(small.task, cased=False)
    emptied = load_settings(mine, [DATA, "task.mark_odds={}", "task.style_max_marks.prose=2"]).task
    longest = {**small.task.style_max_marks, "prose": 2}
    assert emptied == replace(small.task, cased=False, mark_odds={}, style_max_marks=longest)
    mine.write_text("init_from: small\ntask: null\n")
    assert load_settings(mine, [DATA, "task.cased=false"]).task == replace(small.task, cased=False)
    for untouched in ([], ["task=null"]):
        assert load_settings(None, [DATA, "init_from=small", *untouched]).task is None
    assert load_settings(None, [DATA, "tokenizer=x", "task.cased=false"]).task == TaskConfig(cased=False)


def test_settings_that_do_not_fit_are_said_as_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- task\n")
    for path, words, said in (
        (None, ["task=5", "task.marks=x"], "setting 'task': 5; expected a mapping"),
        (None, ["task.mrks=x"], "unknown setting 'task.mrks'; .*is it task.marks"),
        (None, ["tsk.marks=x"], "unknown setting 'tsk'; .*is it task"),
        (tmp_path / "list.yaml", [], "settings in .*list.yaml"),
    ):
        with pytest.raises(ConfigError, match=said):
            load_settings(path, [DATA, "init_from=small", *words])


def test_an_encoder_begins_with_the_text_form_of_encoders(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    changed = load_settings(None, [DATA, f"init_from={tmp_path}", "task.default_style=talk"]).task
    assert changed == replace(ENCODER_TASK, default_style="talk")


def test_a_resumed_run_changes_the_task_that_it_began_with(tmp_path: Path) -> None:
    words = [DATA, "init_from=small", f"output={tmp_path}", "task.cased=false"]
    begun = load_settings(None, [*words, "task.max_tokens=99"])
    settings.save(begun, tmp_path / "train.yaml")
    assert load_settings(None, [*words, "resume=true"]).task == begun.task


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
