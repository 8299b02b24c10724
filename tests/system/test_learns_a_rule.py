"""The whole way, from text to scores: a small T5 learns the rules of a made-up language (after sockeye's system tests).

The language has six rules: `stop` ends a sentence with a full stop, `really` with `?!`, `well` is followed by a
comma, `nasa` is in capitals, a sentence begins with a capital, and a silence in its middle is a semicolon.  A model
that has learned them scores nearly 100; one that has not, or a slip anywhere between text and scores, does not.  It
learns to write whole windows and to answer questions about single slots.
"""

import json
import random
import statistics
import string
from pathlib import Path

import pytest
from from_scratch import main as make_start

from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluation.evaluate import evaluate_file
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator, TimedWord
from t5punct.training.config import DataConfig, OptimConfig, QuestionConfig, TrainConfig, ValidationConfig
from t5punct.training.data.chunks import ChunkConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.loop.train import train
from t5punct.windows.plan import WindowConfig

pytestmark = pytest.mark.long
PLAN = WindowConfig(window=16, mask_left=2, mask_right=2)  # as the chunks that are learned from
SHAPE = ("d_model=64", "d_kv=16", "num_heads=4", "d_ff=128", "num_layers=2", "num_decoder_layers=1")
ORDINARY = "we know that this is right how are they going home with some old friends".split()


def _sentence(rng: random.Random) -> str:
    words = rng.choices([*ORDINARY, "well,", "NASA"], weights=[*(1 for _ in ORDINARY), 3, 2], k=rng.randint(2, 7))
    text = " ".join(words) + rng.choice([" stop.", " stop.", " really?!"])
    return text[0].upper() + text[1:]


def _document(seed: int, n_sentences: int) -> str:
    rng = random.Random(seed)
    return " ".join(_sentence(rng) for _ in range(n_sentences))


def _spoken(seed: int, n_sentences: int) -> list[TimedWord]:
    """Words that take 200 ms each, with silences of 400 ms and a semicolon before some."""
    rng, words, now_ms = random.Random(seed), list[TimedWord](), 0
    for word in _document(seed, n_sentences).split():
        if words and words[-1].word.isalpha() and word in ORDINARY and rng.random() < 0.3:
            words[-1] = TimedWord(words[-1].word + ";", words[-1].start_ms, words[-1].end_ms)
            now_ms += 400
        words.append(TimedWord(word, now_ms, now_ms + 200))
        now_ms += 200
    return words


def _event(word: TimedWord) -> dict[str, object]:
    return {"word": word.word, "start": word.start_ms / 1000, "end": word.end_ms / 1000}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the language, trained from random weights with its own vocabulary for some hundred short steps."""
    folder = tmp_path_factory.mktemp("language")
    prepared = str(folder / "prepared")
    spoken = [json.dumps({"words": [_event(word) for word in _spoken(seed, 20)]}) for seed in range(1000, 1200)]
    (folder / "talks.txt").write_text("\n".join(_document(seed, 20) for seed in range(200)))
    (folder / "spoken.jsonl").write_text("\n".join(spoken))
    corpora = [CorpusConfig("talks.txt"), CorpusConfig("spoken.jsonl")]
    prepare(PrepareConfig(prepared, str(folder), corpora, ChunkConfig(4, 16), pause_ms=280))
    make_start([prepared, str(folder / "start"), "--pieces", "450", *SHAPE])
    # from random weights, what stands outside of the matrices between states has to learn faster
    factors = dict.fromkeys(("shared", "layer_norm", "attention_bias"), 5.0)
    return train(
        TrainConfig(
            output=str(folder / "run"), init_from=str(folder / "start"),
            data=DataConfig(prepared, batch_tokens=1200, questions=QuestionConfig(share=0.3, l_max=4)),
            optim=OptimConfig(lr=2e-3, factors=factors, warmup_steps=20, max_steps=900),
            validation=ValidationConfig(every_steps=0), checkpoint_every_steps=0,
        )
    )  # fmt: skip


@pytest.mark.parametrize("decoder", ["slots", "generate"])
def test_the_rules_are_learned(trained: Path, decoder: str, tmp_path: Path) -> None:
    file = tmp_path / "unseen.txt"
    file.write_text(_document(seed=-1, n_sentences=60) + "\n", encoding="utf-8")
    config = PunctuatorConfig(PLAN, decoding=DecodingConfig(decoder))
    scores = evaluate_file(file, Punctuator.from_pretrained(trained, config)).scores
    least = 95.0 if decoder == "slots" else 40.0  # free generation must also copy each word, which takes far longer
    assert scores.micro.f1 is not None and scores.micro.f1 >= least
    assert scores.words_changed == 0
    if decoder == "slots":
        assert scores.multiple_exact is not None and scores.multiple_exact >= 95.0
        assert scores.cased_accuracy is not None and scores.cased_accuracy >= 95.0


@pytest.mark.parametrize("decide", ["seq2seq", "classify"])
def test_the_trained_model_hears_pauses_in_a_stream(trained: Path, decide: str) -> None:
    said = _spoken(seed=-2, n_sentences=40)
    punctuator = Punctuator.from_pretrained(trained)
    assert punctuator.model.task.classifies
    assert punctuator.model.task.pause_ms == 280
    heard = [TimedWord(word.word.rstrip(".;,?!").lower(), word.start_ms, word.end_ms) for word in said]

    def right(words: list[TimedWord]) -> dict[str, float]:
        """The share of each label's slots that get it."""
        stream = StreamingPunctuator(punctuator, StreamConfig("fixed", decide, window=16, lookahead=1))
        labels = [word.annotated.marks for word in (*stream.push(words), *stream.finish())]
        wanted = [word.word.lstrip(string.ascii_letters) for word in said]
        return {
            mark: statistics.mean(said == mark for said, label in zip(labels, wanted, strict=True) if label == mark)
            for mark in (".", ";", ",")
        }

    with_pauses = right(heard)
    assert min(with_pauses.values()) >= 0.8, with_pauses
    assert right([TimedWord(word.word) for word in heard])[";"] <= 0.2, "nothing but the silence tells"
