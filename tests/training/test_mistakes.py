"""A beginner's mistakes, each answered in one line that says what was found, what was expected and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command import Invoke
from tiny import tiny_text
from transformers import BartConfig, ByT5Tokenizer

from t5punct import model as models
from t5punct.errors import T5PunctError
from t5punct.model import Model
from t5punct.training.config import TrainConfig
from t5punct.training.loop.train import train

TALKS = "".join(" ".join(tiny_text(10, seed)) + "\n" for seed in range(10))


@pytest.fixture
def answer(tmp_path: Path, invoke: Invoke) -> Callable[..., str]:
    """What a command says of a mistake; the files of a folder are there."""
    (tmp_path / "talks.txt").write_text(TALKS)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "slides.pdf").write_text("no text")
    (tmp_path / "latin.srt").write_bytes("1\n00:00:01,000 --> 00:00:02,000\nOlé.\n".encode("latin-1"))

    def asked(*arguments: str) -> str:
        code, _, errors = invoke(*arguments)
        assert code == 2
        (line,) = errors.splitlines()
        return line

    return asked


PREPARE = {
    "corpora=[{path: empty.txt}]": r"no text in .*empty.txt; expected a file with text; check the path",
    "corpora=[{path: talk.txt}]": r"no file .*talk.txt; expected an existing text file; check the path",
    "corpora=[{path: folder}]": r"folder .*folder holds no text; expected files that end with .*; name the files",
    "corpora=[{path: latin.srt}]": r"latin.srt line 3 is not UTF-8 .*; convert it, e.g. with iconv",
    "corpora=[{path: talks.txt, style: song}]": r"style 'song'; expected one of talk, meeting, prose, chat; .*",
    "corpora=[{path: talks.txt, colum: said}]": r"unknown setting '.*colum'; .*; check the spelling: is it .*column\?",
    "corpora=[{path: .}]": r"output .*made lies in the corpus .*; expected another folder; choose another output",
    "chunk.max_words=5": r"unknown setting 'chunk'; expected one like chunks.*; check the spelling: is it chunks\?",
    "chunks.min_words=500 chunks.max_words=600": r"no chunk to train on; .*; lower chunks.min_words \(the longest",
    "holdout_percent=99": r"holdout_percent 99, which holds out all of 10 documents; expected .*; lower it, or add",
    "holdout_percent=300": r"holdout_percent 300.0; expected 0 to below 100; set holdout_percent",
    "holdout_percent=-1": r"holdout_percent -1.0; expected 0 to below 100; set holdout_percent",
    "vocabulary.sample_words=0": r"vocabulary.sample_words 0; expected 1 or more; set vocabulary.sample_words",
    "corpora=[{path: a.txt, words: -1}]": r"-1 words of a.txt; expected 0 \(all\) or more; set corpora.words",
    "corpora=[{path: a.txt, join: 0}]": r"join 0 of a.txt; expected 1 or more; set corpora.join",
    "corpora=[{path: a.txt, holdout_every: 1}]": r"holdout_every 1 of a.txt; expected 0, or 2 and more; set corpora",
    "corpora=[{path: a.txt, document: page}]": r"corpora.document 'page'; expected one of auto, .*; check corpora",
    "corpora=[{path: a, dataset: b}]": r"path a and dataset b; expected one of them; drop one",
    "corpora=[{path: a, streaming: true, join: 2}]": r"join 2 of a stream; expected documents one by one; set corpora",
    "seed=-5": r"seed -5; expected 0 or more; set seed",
    "pause_ms=-5": r"pause_ms -5; expected 1 or more, or null; set pause_ms",
    "pause_ms=0": r"pause_ms 0; expected 1 or more, or null; set pause_ms",
    "corpora=[{style: talk}]": r"a corpus without a path; expected corpora: \[{path: FILE}\]; name a file",
    "chunks.min_words=0 chunks.max_words=8": r"windows of 0 to 8 words; expected 1 <= min_words <= max_words; .*",
    "chunks.min_words=9 chunks.max_words=8": r"windows of 9 to 8 words; expected 1 <= min_words <= max_words; .*",
    "chunks.max_tokens=0": r"chunks.max_tokens 0; expected 1 or more; set chunks.max_tokens",
    "chunks.max_tokens=3": r"the word '.*' alone has more than 3 tokens; .*; raise chunks.max_tokens or clean the text",
}


@pytest.mark.parametrize("overrides", PREPARE)
def test_a_mistake_in_preparing_is_one_line(
    answer: Callable[..., str], overrides: str, tmp_path: Path, tiny_tokenizer_folder: Path
) -> None:
    words = re.findall(r"\S+?=(?:\[.*\]|\S+)", overrides)
    given = [f"root={tmp_path}", f"output={tmp_path / 'made'}", f"tokenizer={tiny_tokenizer_folder}"]
    corpora = [] if any(word.startswith("corpora=") for word in words) else ["corpora=[{path: talks.txt}]"]
    message = answer("prepare", *given, *corpora, *words)
    assert re.match(f"t5punct: .*{PREPARE[overrides]}", message), message
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("lr", "optim.lr"), ("optim.learning_rate", ""), ("init", "init_from"), ("data.batch_size", "data.batch")],
)
def test_an_unknown_setting_is_answered_with_the_nearest(answer: Callable[..., str], wrong: str, near: str) -> None:
    message = answer("train", "data.path=x", "init_from=bundled", f"{wrong}=1")
    assert message.startswith(f"t5punct: unknown setting '{wrong}'; expected one like {near}")
    assert "docs/settings.md" in message and len(message) < 300
    assert f"; check the spelling: is it {near}" in message


def test_a_mistake_in_training_is_one_line(config: TrainConfig, tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path / "model")
    ByT5Tokenizer().save_pretrained(tmp_path / "bytes")
    BartConfig().save_pretrained(tmp_path / "bart")
    (tmp_path / "talks.txt").write_text(TALKS)
    begun = replace(config, init_from=str(tmp_path / "model"), tokenizer=None)
    mistakes = {
        r"no data set in .*talks.txt; expected a folder made by `t5punct prepare`; prepare first":
            replace(begun, data=replace(config.data, path=str(tmp_path / "talks.txt"))),
        r".*bart holds a bart; expected a T5, mT5, umT5 or byT5, or an encoder such as a BERT; name another model":
            replace(begun, init_from=str(tmp_path / "bart")),
        r"no model folder .*nothing; expected a T5 folder or hub id \(OWNER/NAME\), or one of base, .*; check the name":
            replace(begun, init_from=str(tmp_path / "nothing")),
        r"tokenizer .*bytes, which is not that of init_from .*model; expected .*; drop tokenizer: it is for random .*":
            replace(begun, tokenizer=str(tmp_path / "bytes")),
        r"revision v2 of the folder .*model; expected a hub id; drop revision": replace(begun, revision="v2"),
        r"output .*model is also init_from; expected a new or empty folder; choose another output":
            replace(begun, output=begun.init_from or ""),
    }  # fmt: skip
    for line, mistaken in mistakes.items():
        with pytest.raises(T5PunctError) as caught:
            train(mistaken)
        assert re.fullmatch(line, str(caught.value)), caught.value
