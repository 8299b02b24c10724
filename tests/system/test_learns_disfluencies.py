"""The whole way of disfluencies: a small model learns to say which words are said twice and which are fillers."""

import random
from pathlib import Path

import pytest
from learning import PLAN, learn

from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluation.evaluate import evaluate_file
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.render import RenderConfig
from t5punct.training.config import LossConfig
from t5punct.training.examples.disfluencies import DisfluencyConfig

pytestmark = pytest.mark.long
WORDS = "we saw that old friend near the big house".split()


def _sentence(rng: random.Random) -> list[str]:
    """Words of which none is the same as the one before it."""
    words = [rng.choice(WORDS)]
    while len(words) < 7 and (len(words) < 3 or rng.random() < 0.8):
        words.append(rng.choice([word for word in WORDS if word != words[-1]]))
    return words


def _document(seed: int, n_sentences: int) -> str:
    rng = random.Random(seed)
    return " ".join(" ".join([*_sentence(rng), "today."]).capitalize() for _ in range(n_sentences))


def _said(seed: int, n_sentences: int) -> str:
    """Speech with the sign behind what is to be left out: words said twice, and fillers."""
    rng, said = random.Random(seed), list[str]()
    for _ in range(n_sentences):
        for word in _sentence(rng):
            said += [f"{word}~"] * (rng.random() < 0.15) + [word] + ["um~"] * (rng.random() < 0.1)
        said.append("today.")
    return " ".join(said)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = {"talks.txt": "\n".join(_document(seed, 20) for seed in range(150))}
    return learn(
        tmp_path_factory.mktemp("said-twice"), texts, n_pieces=400, max_steps=450, batch_tokens=1000,
        loss=LossConfig(text_weight=0.0, tagger_weight=1.0),
        disfluencies=DisfluencyConfig(1.0, {"repeat": 0.15, "filler": 0.1}, marked=1.0),
    )  # fmt: skip


def test_words_said_twice_and_fillers_are_found(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "said.txt"
    file.write_text(_said(seed=-1, n_sentences=60) + "\n", encoding="utf-8")
    marking = RenderConfig(disfluencies="mark")
    punctuator = Punctuator.from_pretrained(
        trained, PunctuatorConfig(PLAN, decoding=DecodingConfig("tagger"), render=marking)
    )
    scores = evaluate_file(file, punctuator).scores
    assert scores.disfluent.reference > 60
    assert scores.disfluent.f1 is not None and scores.disfluent.f1 >= 85.0
    assert scores.words_changed == 0
