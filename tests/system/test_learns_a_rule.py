"""The whole way, from text to scores: a small T5 learns the rules of a made-up language (after sockeye's system tests).

The language has five rules: `stop` ends a sentence with a full stop, `really` with `?!`, `well` is followed by a
comma, `nasa` is in capitals, and a sentence begins with a capital.  A model that has learned them scores nearly 100;
one that has not, or a slip anywhere between text and scores, does not.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from t5punct.data.chunks import ChunkConfig
from t5punct.data.corpora import CorpusConfig
from t5punct.data.prepare import PrepareConfig, prepare
from t5punct.data.vocabulary import VocabularyConfig
from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluate_files import Report, evaluate_file
from t5punct.model import FreshModelConfig
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.training.config import DataConfig, OptimConfig, TrainConfig
from t5punct.training.loop import train
from t5punct.windows import WindowConfig

SHAPE = FreshModelConfig(d_model=64, d_kv=16, num_heads=4, d_ff=128, num_layers=2, num_decoder_layers=1)
PLAN = WindowConfig(window=16, mask_left=2, mask_right=2)
ORDINARY = "we know that this is right how are they going home with some old friends".split()


def _sentence(rng: random.Random) -> str:
    words = rng.choices([*ORDINARY, "well,", "NASA"], weights=[*(1 for _ in ORDINARY), 3, 2], k=rng.randint(2, 7))
    text = " ".join(words) + rng.choice([" stop.", " stop.", " really?!"])
    return text[0].upper() + text[1:]


def _document(seed: int, n_sentences: int) -> str:
    rng = random.Random(seed)
    return " ".join(_sentence(rng) for _ in range(n_sentences))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained on the language for 350 short steps."""
    folder = tmp_path_factory.mktemp("language")
    (folder / "talks.txt").write_text("\n".join(_document(seed, 20) for seed in range(300)), encoding="utf-8")
    data = folder / "prepared"
    prepare(
        PrepareConfig(
            output=str(data),
            root=str(folder),
            corpora=[CorpusConfig("talks.txt")],
            chunks=ChunkConfig(4, 16),
            tokenizer="train",
            vocabulary=VocabularyConfig(size=450),
        )
    )
    return train(
        TrainConfig(
            output=str(folder / "run"),
            tokenizer=str(data / "tokenizer"),
            fresh=SHAPE,
            data=DataConfig(str(data), batch_tokens=1200),
            optim=OptimConfig(name="muon", lr=5e-3, embedding_lr=1e-2, warmup_steps=10, max_steps=350),
        )
    )


def _scores(model: Path, decoder: str, folder: Path) -> Report:
    file = folder / "unseen.txt"
    file.write_text(_document(seed=-1, n_sentences=60) + "\n", encoding="utf-8")
    return evaluate_file(
        file, Punctuator.from_pretrained(model, PunctuatorConfig(PLAN, decoding=DecodingConfig(decoder)))
    )


@pytest.mark.parametrize("decoder", ["slots", "generate"])
def test_the_rules_are_learned(trained: Path, decoder: str, tmp_path: Path) -> None:
    report = _scores(trained, decoder, tmp_path)
    scores = report.scores
    least = 95.0 if decoder == "slots" else 40.0  # free generation must also copy each word, which takes far longer
    assert scores.micro.f1 is not None and scores.micro.f1 >= least
    assert scores.words_changed == scores.words_inserted == scores.words_dropped == 0
    if decoder == "slots":
        assert scores.multiple_exact is not None and scores.multiple_exact >= 95.0
        assert scores.cased_accuracy is not None and scores.cased_accuracy >= 95.0


def test_the_trained_model_punctuates_a_text(trained: Path) -> None:
    punctuator = Punctuator.from_pretrained(trained, PunctuatorConfig(PLAN))
    written = punctuator.punctuate("home stop well we know nasa stop how are they really this is home stop")
    # training windows start anywhere, so nothing says whether the first word of a text begins a sentence
    assert written[1:] == "ome stop. Well, we know NASA stop. How are they really?! This is home stop."
