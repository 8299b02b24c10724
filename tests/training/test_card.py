"""The card of a model: the words of its data, its example, and what it must not tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tiny import tiny_text

from t5punct import config as settings
from t5punct import model as models
from t5punct.model import Model
from t5punct.t5.task import TaskConfig
from t5punct.training.config import DataConfig, LossConfig, TrainConfig
from t5punct.training.data.corpus import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.report.card import compose_card


def card_of(folder: Path, config: TrainConfig) -> str:
    (folder / "run").mkdir(exist_ok=True)
    settings.save(config, folder / "run" / "train.yaml")
    return compose_card(folder / "run", TaskConfig(), "mine")


@pytest.fixture
def prepared(tmp_path: Path) -> PrepareConfig:
    """A data set of a folder, `texts`, and of a file elsewhere: of ten documents of twelve words, nine are taken."""
    talks = "".join(" ".join(" ".join(tiny_text(9, seed)).split()[:12]) + "\n" for seed in range(10))
    for name in ("texts/talks.txt", "other/chats.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(talks)
    corpora = [CorpusConfig("."), CorpusConfig("../other/chats.txt", "chat", words=5000)]
    return PrepareConfig(str(tmp_path / "data"), str(tmp_path / "texts"), corpora, holdout_percent=10.0)


def test_words_are_those_that_were_taken_and_a_folder_has_its_name(prepared: PrepareConfig, tmp_path: Path) -> None:
    prepare(prepared)
    text = card_of(tmp_path, TrainConfig(init_from="base", data=DataConfig(prepared.output)))
    assert "| texts | talk | 108 |\n| chats.txt | chat | 108 |" in text
    Path(prepared.output, "report.json").unlink()  # as older versions left it
    text = card_of(tmp_path, TrainConfig(init_from="base", data=DataConfig(prepared.output)))
    assert "| texts | talk | all |\n| chats.txt | chat | 5,000 |" in text


def test_no_corpus_is_nameless_or_tells_a_path(tmp_path: Path) -> None:
    corpora = [CorpusConfig("."), CorpusConfig(dataset="someone/talks"), CorpusConfig(dataset="/home/me/saved")]
    (tmp_path / "data").mkdir()
    settings.save(PrepareConfig(corpora=corpora), tmp_path / "data" / "prepare.yaml")
    text = card_of(tmp_path, TrainConfig(init_from="base", data=DataConfig(str(tmp_path / "data"))))
    assert "| a folder | talk | all |\n| someone/talks | talk | all |\n| saved | talk | all |" in text


def test_what_only_the_tagger_learned_is_used_with_the_tagger(
    tmp_path: Path, tagged_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = TrainConfig(init_from="base", data=DataConfig("gone"), loss=LossConfig(tagger_weight=1.0))
    assert "--decoder" not in card_of(tmp_path, config)
    text = card_of(tmp_path, replace(config, loss=LossConfig(text_weight=0.0, tagger_weight=1.0)))
    assert "t5punct punctuate talk.txt --model mine --decoder tagger\n" in text
    code = text.split("```python\n")[1].split("```")[0]
    assert '"mine", PunctuatorConfig(decoding=DecodingConfig("tagger"))' in code
    models.save(tagged_model, tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    exec(code, {})  # noqa: S102
