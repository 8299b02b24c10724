"""The model that a run starts from: some of the layers of another, other marks, a decoder that copies."""

from __future__ import annotations

import json
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from chunk_rows import rows
from datasets import load_from_disk
from tiny_encoders import save_tiny_encoder
from transformers import ByT5Tokenizer

from t5punct import model as models
from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import WindowInput
from t5punct.errors import ConfigError, ModelError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.t5.inference import InferenceT5
from t5punct.t5.task import ENCODER_TASK, TaskConfig, task_token
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.text.words import split
from t5punct.training.config import DataConfig, TrainConfig, change_task
from t5punct.training.examples.batches import make_collator
from t5punct.training.examples.example import IGNORED, ChunkExamples
from t5punct.training.loop.train import build
from t5punct.training.start.from_encoder import FreshDecoderConfig, from_encoder, with_copier
from t5punct.training.start.starting_model import (
    check_suitable,
    make_starting_model,
    with_marks_of,
)

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


WIDE = {"hidden_size": 768, "num_hidden_layers": 1, "num_attention_heads": 12, "intermediate_size": 32}
N_WORDS = 2500


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """An encoder as wide as MPNet, with a piece for each of many words and random weights, not trained."""
    folder = tmp_path_factory.mktemp("hub") / "encoder"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *",.?!:;-", *(f"w{number}" for number in range(N_WORDS))]
    (folder.parent / "vocab.txt").write_text("\n".join(pieces))
    transformers.BertTokenizer(str(folder.parent / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(1)
    transformers.BertModel(transformers.BertConfig(**WIDE, vocab_size=len(pieces))).save_pretrained(folder)
    return from_encoder(folder, FreshDecoderConfig(), None)


@pytest.fixture(scope="module")
def examples(begun: Model) -> ChunkExamples:
    """Windows of random words, some of them often, with marks and capitals by chance."""
    rng, chunks = random.Random(4), []
    for _ in range(60):
        words = [f"w{min(rng.randrange(N_WORDS), rng.randrange(N_WORDS))}" for _ in range(40)]
        forms = [word.upper() if rng.random() < 0.1 else word for word in words]
        written = [form + (rng.choice(",.?") if rng.random() < 0.15 else "") for form in forms]
        chunks.append((" ".join(words), " ".join(written)))
    return ChunkExamples(rows(*chunks), begun.tokenizer)


def share_copied(model: Model, examples: ChunkExamples) -> float:
    """How many of the target's words the decoder writes, of all tokens, when the right ones stand before."""
    network: Any = model.network
    batch = make_collator(model.tokenizer.pad_id)([examples[place] for place in range(20)])
    with torch.no_grad():
        logits = network(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.targets).logits
    deciding = torch.tensor(model.tokenizer.deciding_ids)
    words = (batch.targets != IGNORED) & ~torch.isin(batch.targets, deciding)
    return float((logits.argmax(-1) == batch.targets)[words].float().mean())


@pytest.fixture(scope="module")
def copier(begun: Model, examples: ChunkExamples) -> Model:
    torch.manual_seed(2)
    return with_copier(begun, examples, FreshDecoderConfig(), 1000)


def test_it_copies_four_words_in_five_before_training_and_words_that_come_back(
    begun: Model, copier: Model, examples: ChunkExamples
) -> None:
    assert share_copied(begun, examples) < 0.02, "a fresh decoder guesses"
    assert share_copied(copier, examples) > 0.8
    words = "w7 w8 w7 w9 w7 w8 w7 w8 w10".split()
    written = generate_texts(copier, [WindowInput.of(words)])[0].lower()
    assert re.sub(r"[^w0-9 ]", "", written).split() == words


def test_the_encoder_of_a_umt5_is_kept(begun: Model, examples: ChunkExamples, tmp_path: Path) -> None:
    shape: dict[str, Any] = {"d_model": 384, "d_kv": 32, "num_heads": 12, "d_ff": 32, "num_layers": 1}
    old: Any = begun.network.config
    ids = {"pad_token_id": 0, "eos_token_id": old.eos_token_id, "decoder_start_token_id": 0}
    torch.manual_seed(3)
    config = transformers.UMT5Config(**shape, **ids, vocab_size=old.vocab_size, num_decoder_layers=1)
    network: Any = transformers.UMT5ForConditionalGeneration(config)
    network.shared.weight.data.mul_(0.1)  # as that of a trained one
    model = replace(begun, network=network.eval())
    copier = with_copier(model, examples, FreshDecoderConfig(), 1000)
    assert share_copied(model, examples) < 0.02
    assert share_copied(copier, examples) > 0.8
    batch = make_collator(model.tokenizer.pad_id)([examples[0]])
    models.save(copier, tmp_path / "model")
    assert share_copied(models.load(tmp_path / "model"), examples) > 0.8, "transformers runs what was saved"
    lean = models.load(tmp_path / "model", precision="fp32")
    assert isinstance(lean.network, InferenceT5)
    states, kept, read = (each.encode(batch.input_ids, batch.attention_mask) for each in (model, copier, lean))
    assert torch.equal(kept, states)
    assert torch.allclose(read, states, atol=1e-5)


def test_encoder_and_embeddings_stay_and_what_is_saved_copies(
    begun: Model, copier: Model, examples: ChunkExamples, tmp_path: Path
) -> None:
    network: Any = copier.network
    old: Any = begun.network
    assert network.encoder is old.encoder
    assert network.shared.weight is old.shared.weight is network.lm_head.weight is network.decoder.embed_tokens.weight
    models.save(copier, tmp_path / "model")
    assert share_copied(models.load(tmp_path / "model"), examples) == share_copied(copier, examples)


def test_a_t5_of_its_own_kind_is_refused(tiny_model: Model, examples: ChunkExamples) -> None:
    refusal = r"fit\.copier_words .*; expected a umT5 or an encoder such as a BERT, of 12 heads"
    with pytest.raises(ConfigError, match=refusal):
        with_copier(tiny_model, examples, FreshDecoderConfig(), 100)


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


class Lowering:
    """A tokenizer that reads capitals as small letters."""

    def __init__(self, inner: object) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def encode(self, text: str, **options: bool) -> object:
        return self.inner.encode(text.lower(), **options)  # type: ignore[attr-defined]


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
    monkeypatch.setattr(models, "bundled_root", lambda: tmp_path / "none")
    assert models.bundled_names() == (), "a checkout from which the models were left out"


def said_of(tokenizer: object, text: str, **task: Any) -> tuple[str, ...]:
    """What is said of a model with this tokenizer, called mine, that is to learn from a text."""
    return check_suitable(ChunkExamples(rows((text, text)), TaskTokenizer(tokenizer, TaskConfig(**task))), "mine")  # type: ignore[arg-type]


def test_marks_and_capitals_that_are_lost_are_refused_and_words_are_named(tiny_model: Model) -> None:
    text, tiny = "we {we} know да we", tiny_model.tokenizer
    plain = without_byte_fallback(tiny, TaskConfig()).tokenizer
    assert said_of(tiny.tokenizer, text) == said_of(ByT5Tokenizer(), f"{text} naïve 🙂") == ()
    assert said_of(models.load_tokenizer("base", TaskConfig()).tokenizer, "we don't o'clock", inline_case=True) == ()
    (warning,) = said_of(plain, text)
    lost = "mine: 50.0 % of the different words do not survive the tokenizer's round trip ({we}, да)"
    assert warning.startswith(lost)
    with pytest.raises(ModelError, match=r"the tokenizer of mine has no 。 、; .*; set task.marks to the others"):
        said_of(plain, "we", marks=",.?。、")
    with pytest.raises(ModelError, match=r"the tokenizer of mine has no capitals; .*; set task.cased=false"):
        said_of(Lowering(tiny.tokenizer), "we")
    assert said_of(Lowering(tiny.tokenizer), "we", cased=False) == ()
    (warning,) = said_of(tiny.tokenizer, "we know " * 20, max_tokens=12)
    assert warning.startswith("100.0 % of the chunks have more than 12 tokens")
    assert "prepare with tokenizer=MODEL" in warning


def test_what_is_said_of_a_tokenizer_is_said_once_before_training(
    tiny_data: Path, config: TrainConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    strange = load_from_disk(str(tiny_data))["train"]
    strange = strange.map(lambda row: {name: row[name].replace("we", "да") for name in ("source", "target")})
    tiny = models.load_tokenizer(str(config.tokenizer), TaskConfig())
    without_byte_fallback(tiny, TaskConfig()).tokenizer.save_pretrained(tmp_path / "plain")
    strange.save_to_disk(str(tmp_path / "data" / "train"))
    shutil.copy(tiny_data / "dataset_dict.json", tmp_path / "data")
    build(replace(config, tokenizer=str(tmp_path / "plain"), data=replace(config.data, path=str(tmp_path / "data"))))
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{tmp_path / 'plain'}: ")
