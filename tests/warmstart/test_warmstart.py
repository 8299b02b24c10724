"""`t5punct warmstart`: a folder in, a model that transformers loads and that decodes out."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from stepwise import SlotWriter, decode_stepwise
from tiny_bert import save_tiny_bert
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, UMT5ForConditionalGeneration

from t5punct import model as models
from t5punct.cli import main
from t5punct.decoding.candidates import Candidates
from t5punct.decoding.inputs import WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ModelError
from t5punct.t5.task import ENCODER_TASK as TASK
from t5punct.text.marks import Case
from t5punct.warmstart.bert import Bert
from t5punct.warmstart.vocabulary import bert_tokenizer, t5_tokenizer

WORDS = "we know that this is right how are you today go not now she said the big house"


def run(*arguments: object) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as stopped:
        main(["warmstart", *map(str, arguments)])
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("text") / "talks.txt"
    file.write_text("\n".join(" ".join([WORDS] * 12) for _ in range(3)))
    return file


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def warm(source: Path, text: Path) -> Path:
    output = source.parent / "warm"
    assert run(source, "-o", output, "--text", text) == 0
    return output


def test_a_warm_start_says_one_line(source: Path, text: Path, tmp_path: Path, capfd: Any) -> None:
    """transformers would report an output layer that is not needed."""
    weights = load_file(source / "model.safetensors") | {"cls.predictions.bias": torch.zeros(3)}
    shutil.copytree(source, tmp_path / "bert")
    save_file(weights, tmp_path / "bert" / "model.safetensors", metadata={"format": "pt"})
    assert run(tmp_path / "bert", "-o", tmp_path / "made", "--text", text) == 0
    assert capfd.readouterr() == (f"{tmp_path / 'made'}: made from {tmp_path / 'bert'}\n", "")


def test_transformers_loads_what_it_writes(warm: Path) -> None:
    network, found = AutoModelForSeq2SeqLM.from_pretrained(warm, output_loading_info=True)
    assert isinstance(network, UMT5ForConditionalGeneration)
    assert not found["missing_keys"] and not found["unexpected_keys"]
    assert (network.config.num_layers, network.config.num_decoder_layers) == (3, 1)


def test_words_of_the_target_are_those_of_the_source_token_for_token(warm: Path) -> None:
    tokenizer = models.load(warm).tokenizer
    words = ["we", "don't", "state-of-the-art", "i", "nasa"]
    source = tokenizer.source(words, "chat").ids[1:-1]
    target = tokenizer.target(["We", "don't", "state-of-the-art", "I", "NASA"], ["", ",", "-", "?!", ""])
    extra = {*(ids[0] for ids in tokenizer.mark_ids.values()), *(tokenizer.case_ids[c][0] for c in list(Case)[1:3])}
    assert tuple(token for token in target[:-1] if token not in extra) == source
    assert extra.isdisjoint(source), "a hyphen or an apostrophe in a word is no mark"
    assert len(target) - 1 - len(source) == 4 + 3  # marks, and the cases of We, I, NASA


def test_where_training_sees_a_choice_slot_decoding_has_it(warm: Path) -> None:
    """Along a target, `next_word_ids` and `deciding_ids` are what step-by-step decoding is offered."""
    tokenizer = models.load(warm).tokenizer
    words, labels = ["We", "don't", "state-of-the-art", "I", "NASA"], ["", ",", "-", "?!", "."]
    target, next_word_ids = tokenizer.target(words, labels), tokenizer.next_word_ids(words, labels)
    assert len(next_word_ids) == len(target)
    writer = SlotWriter(WindowInput.of([word.lower() for word in words]), Candidates(tokenizer))
    for token, following in zip(target, next_word_ids, strict=True):
        allowed = set(writer.allowed)
        assert (following is not None) == (len(allowed) > 1 or token == tokenizer.eos_id)
        if following is not None:
            assert following in allowed and token in allowed
            assert allowed <= {following, *(tokenizer.deciding_ids or ())}
        writer.take(writer.allowed.index(token), [1.0 / len(allowed)] * len(allowed))
    assert writer.done


def test_what_is_written_is_read_back(warm: Path) -> None:
    tokenizer = models.load(warm).tokenizer
    text = "We know, don't go - state-of-the-art? NASA said so!!!"
    assert tokenizer.decode(tokenizer.encode_target(text)) == text


def test_rows_of_the_task_in_a_text_are_unknown_words(warm: Path) -> None:
    tokenizer = models.load(warm).tokenizer
    unknown = tokenizer.tokenizer.unk_token_id
    for word in ("<,>", "<^>", "<talk>", "<extra_id_0>", "[SEP]"):
        assert set(tokenizer.word_ids(word)) == {unknown}, word


def test_parallel_equals_step_by_step_with_inline_casing(warm: Path) -> None:
    model = models.load(warm)
    windows = [WindowInput.of(text.split()) for text in (WORDS, "i NASA iPhone don't 42 #", "you")]
    found = [solution.votes for solution in SlotDecoder(model).decode(windows)]
    wanted = decode_stepwise(model, windows)
    for votes, others in zip(found, wanted, strict=True):
        for vote, other in zip(votes, others, strict=True):
            assert (vote.labels.best, vote.cases.best) == (other.labels.best, other.cases.best)
            assert vote.labels.probabilities == pytest.approx(other.labels.probabilities, abs=1e-4)


def test_a_bert_with_more_embeddings_than_pieces_is_converted(warm: Path, text: Path, tmp_path: Path) -> None:
    """Some are padded to a round number of rows, or have tokens that were added."""
    padded = save_tiny_bert(tmp_path / "padded")
    bert = AutoModel.from_pretrained(padded)
    bert.resize_token_embeddings(bert.config.vocab_size + 4, mean_resizing=False)
    bert.save_pretrained(padded)
    assert run(padded, "-o", tmp_path / "made", "--text", text) == 0
    made, plain = (models.load(folder).network.shared.weight for folder in (tmp_path / "made", warm))
    assert made.shape == plain.shape


def test_a_bert_without_some_of_its_weights_is_refused(text: Path, tmp_path: Path, capsys: Any) -> None:
    """transformers would fill them with random numbers."""
    source = save_tiny_bert(tmp_path / "bert")
    weights = load_file(source / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "layer.2.attention.self.query" not in name}
    save_file(kept, source / "model.safetensors", metadata={"format": "pt"})
    assert run(source, "-o", tmp_path / "made", "--text", text) == 2
    assert "2 weights are not there, encoder.layer.2.attention.self.query.bias among them" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_the_first_layers_alone(source: Path, text: Path, tmp_path: Path) -> None:
    assert run(source, "-o", tmp_path / "two", "--text", text, "--layers", 2) == 0
    assert models.load(tmp_path / "two").network.config.num_layers == 2


def test_a_second_layer_of_the_decoder_and_another_task(source: Path, text: Path, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text("marks: ',.?'\n")  # all else is as without a file
    output = tmp_path / "made"
    arguments = ["--decoder-layers", 2, "--task", tmp_path / "task.yaml"]
    assert run(source, "-o", output, "--text", text, *arguments) == 0
    model = models.load(output)
    assert model.network.config.num_decoder_layers == 2
    assert model.task == replace(TASK, marks=",.?")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"model_type": "roberta"}, "a roberta with gelu"),
        ({"hidden_act": "relu"}, "a bert with relu"),
        ({"model_type": "no-such"}, "cannot be loaded"),
    ],
)
def test_other_encoders_are_refused(source: Path, tmp_path: Path, changes: dict[str, str], found: str) -> None:
    config = json.loads((source / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises(ModelError, match=found):
        Bert.load(tmp_path)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda file: file.unlink(), "no tokenizer.json or vocab.txt in"),
        (lambda file: file.write_text("{"), "a tokenizer in"),
    ],
)
def test_a_bert_without_a_tokenizer_is_refused_in_one_line(
    damage: Callable[[Path], object], found: str, source: Path, text: Path, tmp_path: Path, capsys: Any
) -> None:
    damage(shutil.copytree(source, tmp_path / "bert") / "tokenizer.json")
    assert run(tmp_path / "bert", "-o", tmp_path / "made", "--text", text) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith(f"t5punct: {found} {tmp_path / 'bert'}") and "\n" not in error


def test_a_bert_with_fewer_unused_pieces_than_the_page_says_is_refused(source: Path, tmp_path: Path) -> None:
    assert "113" in (Path(__file__).parents[2] / "docs" / "results" / "warmstart.md").read_text(encoding="utf-8")

    def tokens_of(n_unused: int) -> int:
        file = shutil.copytree(source, tmp_path / f"{n_unused}") / "tokenizer.json"
        taken = re.compile("|".join(rf"\[unused{number}\]" for number in range(n_unused, 130)))
        file.write_text(taken.sub(lambda found: f"word{found[0][1:-1]}", file.read_text()))
        return len(t5_tokenizer(bert_tokenizer(file.parent), TASK)[1])

    assert tokens_of(113) == 113
    with pytest.raises(ModelError, match=r"a vocabulary with 112 unused pieces; expected 113 of them"):
        tokens_of(112)


@pytest.mark.parametrize("n_positions", [1, 8, 127])
def test_a_bert_of_fewer_positions_than_the_calibration_needs_is_refused(
    n_positions: int, text: Path, tmp_path: Path, capsys: Any
) -> None:
    folder = save_tiny_bert(tmp_path / "bert")
    config = AutoConfig.from_pretrained(folder, max_position_embeddings=n_positions)
    AutoModel.from_config(config).save_pretrained(folder)
    assert run(folder, "-o", tmp_path / "made", "--text", text) == 2
    error = capsys.readouterr().err.strip()
    assert error.endswith(
        f"{folder}: a BERT of {n_positions} positions (max_position_embeddings); expected 128 or more, as windows of "
        "the calibration text are so long; name another BERT"
    )


@pytest.mark.parametrize("source", ["nowhere/at-all", "empty"])
def test_mistakes_are_said_in_one_line(
    source: str, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert run(source, "-o", tmp_path / "out", "--text", text) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("t5punct: ") and "\n" not in error
    assert not (tmp_path / "out").exists()


def test_too_little_text_is_said(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "short.txt").write_text("We know.\n")
    assert run(source, "-o", tmp_path / "out", "--text", tmp_path / "short.txt") == 2
    assert "has no document of 128 words" in capsys.readouterr().err
