"""What is checked before the first step: marks and words survive the tokenizer, and data and model fit."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from datasets import load_from_disk
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_word
from transformers import BertConfig, ByT5Tokenizer, GPT2Config

from t5punct import model as models
from t5punct.errors import ModelError
from t5punct.model import Model
from t5punct.t5.task import TaskConfig
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.training.config import TrainConfig
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.loop.train import build, train
from t5punct.training.start.starting_model import check_marks, check_suitable, round_trip


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


@given(st.lists(any_word.filter(lambda word: not word.startswith("<")), max_size=8))
def test_bytes_lose_nothing(words: list[str]) -> None:
    trip = round_trip(TaskTokenizer(ByT5Tokenizer(), TaskConfig()), words)
    assert (trip.lost_marks, trip.lost_words, trip.loses_case) == ((), (), False)
    assert trip.n_words == len(set(words))


def test_the_bundled_model_gives_back_its_marks_and_words() -> None:
    trip = round_trip(models.load_tokenizer("base", TaskConfig(inline_case=True)), "we don't o'clock co-op 42".split())
    assert trip.lost_marks == trip.lost_words == ()


def test_words_that_a_vocabulary_has_no_piece_for_are_named(tiny_model: Model) -> None:
    plain = without_byte_fallback(tiny_model.tokenizer, TaskConfig())
    trip = round_trip(plain, ["we", "{we}", "know", "да", "we"])
    assert (trip.n_words, trip.lost_words, trip.lost_share) == (4, ("{we}", "да"), 0.5)
    assert (trip.lost_marks, trip.loses_case) == ((), False)
    assert round_trip(tiny_model.tokenizer, ["{we}", "да"]).lost_words == (), "with byte fallback"


def test_a_mark_that_is_lost_is_refused(tiny_model: Model) -> None:
    plain = without_byte_fallback(tiny_model.tokenizer, TaskConfig(marks=",.?。、"))
    trip = round_trip(plain, ["we"])
    assert trip.lost_marks == ("。", "、")
    with pytest.raises(ModelError, match=r"the tokenizer of mine has no 。 、; .*; set task.marks to the others"):
        check_marks(trip, "mine")


class _Lowering:
    """A tokenizer that reads capitals as small letters."""

    def __init__(self, inner: object) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def encode(self, text: str, **options: bool) -> object:
        return self.inner.encode(text.lower(), **options)  # type: ignore[attr-defined]


def test_capitals_that_are_lost_are_refused_where_they_are_written(tiny_model: Model) -> None:
    lowering: object = _Lowering(tiny_model.tokenizer.tokenizer)
    trip = round_trip(TaskTokenizer(lowering, TaskConfig()), ["we"])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"the tokenizer of mine has no capitals; .*; set task.cased=false"):
        check_marks(trip, "mine")
    assert not round_trip(TaskTokenizer(lowering, TaskConfig(cased=False)), ["we"]).loses_case  # type: ignore[arg-type]


def test_lost_words_are_warned_about_once_before_training(
    tiny_model: Model, tiny_data: Path, config: TrainConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = load_from_disk(str(tiny_data))["train"]
    assert check_suitable(ChunkExamples(rows, tiny_model.tokenizer), "tiny") == ()
    strange = rows.map(lambda row: {name: row[name].replace("we", "да") for name in ("source", "target")})
    plain = without_byte_fallback(tiny_model.tokenizer, TaskConfig())
    (warning,) = check_suitable(ChunkExamples(strange, plain), "tiny")
    assert warning.startswith("tiny: ")
    assert "% of the different words do not survive the tokenizer's round trip (да" in warning
    plain.tokenizer.save_pretrained(tmp_path / "plain")
    strange.save_to_disk(str(tmp_path / "data" / "train"))
    shutil.copy(tiny_data / "dataset_dict.json", tmp_path / "data")
    changed = replace(config, tokenizer=str(tmp_path / "plain"), data=replace(config.data, path=str(tmp_path / "data")))
    build(changed)
    (record,) = caplog.records
    assert f"{tmp_path / 'plain'}: " in record.getMessage()


def test_chunks_that_no_window_is_as_long_as_are_warned_about(tiny_model: Model, tiny_data: Path) -> None:
    rows = load_from_disk(str(tiny_data))["train"]
    short = TaskTokenizer(tiny_model.tokenizer.tokenizer, TaskConfig(max_tokens=12))
    (warning,) = check_suitable(ChunkExamples(rows, short), "tiny")
    assert "% of the chunks have more than 12 tokens" in warning
    assert "prepare with tokenizer=MODEL" in warning


def test_an_encoder_without_weights_and_a_model_that_is_none_are_named(config: TrainConfig, tmp_path: Path) -> None:
    no_weights = r"other cannot be loaded \(.*model.safetensors.*\); expected an encoder such as a BERT"
    for wrong, message in ((BertConfig(), no_weights), (GPT2Config(), r"holds a gpt2; expected a T5")):
        wrong.save_pretrained(tmp_path / "other")
        with pytest.raises(ModelError, match=message):
            train(replace(config, init_from=str(tmp_path / "other"), tokenizer=None))


def test_a_tokenizer_beside_a_model_may_be_its_own(
    tiny_model: Model, config: TrainConfig, tmp_path: Path, tiny_tokenizer_folder: Path
) -> None:
    models.save(tiny_model, tmp_path / "model")
    build(replace(config, init_from=str(tmp_path / "model"), tokenizer=str(tiny_tokenizer_folder)))


def test_names_of_bundled_models_are_no_hub_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert models.find(None) == models.find("bundled") == models.find("large") == models.bundled_folder("large")
    assert models.find("bundled", "tokenizer") == models.bundled_folder("large")
    assert models.load_tokenizer("bundled", TaskConfig()).tokenizer.vocab_size > 30_000
    (tmp_path / "bundled").mkdir()
    assert models.find("bundled") == Path("bundled"), "a folder of that name comes first"
    (tmp_path / "models" / "small").mkdir(parents=True)
    monkeypatch.setattr(models, "bundled_root", lambda: tmp_path / "models")
    assert models.find("small") == tmp_path / "models" / "small", "one that ships later has a name, too"


def test_a_revision_of_the_model_is_asked_for(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def find(source: str, **options: object) -> None:
        asked.append((source, options["revision"]))
        raise ModelError("nothing", expected="something", fix="look")

    monkeypatch.setattr(models, "find", find)
    with pytest.raises(ModelError, match="nothing"):
        build(replace(config, init_from="someone/t5", tokenizer=None, revision="v2"))
    assert asked == [("someone/t5", "v2")]
