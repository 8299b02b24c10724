"""The model that a run starts from: its name, its marks, and whether it suits a text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from chunk_rows import rows
from transformers import ByT5Tokenizer

from t5punct import model as models
from t5punct.errors import ConfigError, ModelError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.t5.task import TaskConfig, task_token
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.text.words import split
from t5punct.training.config import change_task
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.starting_model import check_suitable, with_marks_of

MARKS = ".،؟!"  # as docs/guides/your-language.md has them


@pytest.fixture(scope="module")
def small() -> Model:
    return models.load("small")


def test_change_task(small: Model) -> None:
    odds = {mark: value for mark, value in small.task.mark_odds.items() if mark in MARKS}
    changed = change_task(small.task, {"marks": MARKS})
    assert changed == replace(small.task, marks=MARKS, mark_odds=odds) != small.task, "odds go with their marks"
    longest = {**small.task.style_max_marks, "prose": 2}
    changed = change_task(small.task, {"mark_odds": {}, "style_max_marks": {"prose": 2}})
    assert changed == replace(small.task, mark_odds={}, style_max_marks=longest), "merged, and emptied"
    assert change_task(small.task, None) == change_task(small.task, {}) == small.task
    for impossible in ({"marks": "ab"}, {"prefix": "{foo}"}):
        with pytest.raises(ConfigError, match="|".join(impossible)):
            change_task(small.task, impossible)


def test_new_marks_have_tokens_and_classes_and_known_ones_keep_theirs(small: Model) -> None:
    task = replace(small.task, marks=MARKS, mark_odds={})
    model = with_marks_of(small, task)
    assert model.task == task
    vocabulary = model.tokenizer.tokenizer.get_vocab()
    rows, old = model.network.shared.weight, small.network.shared.weight
    for mark in MARKS:
        assert model.tokenizer.mark_ids[mark] == (vocabulary[task_token(mark)],)
    known = [number for mark in small.task.marks for number in small.tokenizer.mark_ids[mark]]
    torch.testing.assert_close(rows[vocabulary[task_token("؟")]], old[known].mean(0))
    assert torch.equal(rows[: len(old)][known], old[known])
    assert model.tagger is not None and small.tagger is not None
    assert model.tagger.mark_classes == ("", *task.slot_marks)
    full_stop = [tagger.mark_classes.index(".") for tagger in (model.tagger, small.tagger)]
    assert torch.equal(model.tagger.marks.weight[full_stop[0]], small.tagger.marks.weight[full_stop[1]])
    assert with_marks_of(small, small.task).tagger is small.tagger
    sure = Punctuator(model, PunctuatorConfig()).with_config()
    assert split(sure.punctuate("how are you today my name is maria")).words[-1].marks in MARKS


def test_a_model_that_writes_marks_as_text_gets_no_tokens(tagged_model: Model) -> None:
    task = replace(tagged_model.task, marks=MARKS)
    model = with_marks_of(tagged_model, task)
    assert model.tokenizer.tokenizer.get_vocab() == tagged_model.tokenizer.tokenizer.get_vocab()
    assert model.tagger is not None and model.tagger.mark_classes == ("", *MARKS)


def without_byte_fallback(tokenizer: TaskTokenizer, task: TaskConfig) -> TaskTokenizer:
    """The tiny tokenizer as T5's own is: what it has no piece for is unknown."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    values = json.loads(tokenizer.tokenizer.backend_tokenizer.to_str())
    values["model"]["byte_fallback"] = False
    values["decoder"]["decoders"] = values["decoder"]["decoders"][1:]
    backend = Tokenizer.from_str(json.dumps(values))
    plain = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    return TaskTokenizer(plain, task)


def test_names_of_bundled_models_are_no_hub_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert models.find(None) == models.find("large") == models.bundled_folder("large")
    assert models.find("large", "tokenizer") == models.bundled_folder("large")
    assert models.load_tokenizer("large", TaskConfig()).tokenizer.vocab_size > 30_000
    (tmp_path / "large").mkdir()
    assert models.find("large") == models.bundled_folder("large"), "a folder without a model hides none"
    (tmp_path / "large" / "config.json").touch()
    assert models.find("large") == Path("large"), "a folder with a model of that name comes first"
    (tmp_path / "models" / "small").mkdir(parents=True)
    monkeypatch.setattr(models, "BUNDLED_MODELS", tmp_path / "models")
    assert models.find("small") == tmp_path / "models" / "small", "one that ships later has a name, too"
    monkeypatch.setattr(models, "BUNDLED_MODELS", tmp_path / "none")
    assert models.bundled_names() == (), "a checkout from which the models were left out"


def said_of(tokenizer: object, text: str, **task: Any) -> list[str]:
    """What is said of a model with this tokenizer, called mine, that is to learn from a text."""
    return check_suitable(ChunkExamples(rows((text, text)), TaskTokenizer(tokenizer, TaskConfig(**task))), "mine")  # type: ignore[arg-type]


def test_marks_that_are_lost_are_refused_and_words_are_named(tiny_model: Model) -> None:
    text, tiny = "we {we} know да we", tiny_model.tokenizer
    plain = without_byte_fallback(tiny, TaskConfig()).tokenizer
    assert said_of(tiny.tokenizer, text) == said_of(ByT5Tokenizer(), f"{text} naïve 🙂") == []
    assert said_of(models.load_tokenizer("base", TaskConfig()).tokenizer, "we don't o'clock", inline_case=True) == []
    (warning,) = said_of(plain, text)
    lost = "mine: 50.0 % of the different words do not survive the tokenizer's round trip ({we}, да)"
    assert warning.startswith(lost)
    with pytest.raises(ModelError, match=r"the tokenizer of mine has no 。 、; .*; set task.marks to the others"):
        said_of(plain, "we", marks=",.?。、")
    (warning,) = said_of(tiny.tokenizer, "we know " * 20, max_tokens=12)
    assert warning.startswith("100.0 % of the chunks have more than 12 tokens")
    assert "prepare with tokenizer=MODEL" in warning
