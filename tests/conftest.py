"""Fixtures that many tests share: a tiny tokenizer, and a tiny T5 with random weights."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before transformers and datasets are imported
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from t5punct import model as models
from t5punct.data.vocabulary import VocabularyConfig, train_tokenizer
from t5punct.tokenization import TaskConfig

settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")

TINY_SHAPE = models.FreshModelConfig(
    d_model=32, d_kv=8, num_heads=4, d_ff=64, num_layers=2, num_decoder_layers=2, dropout_rate=0.0
)
_VOCABULARY = (
    "we know that this is right what how are you today well i think it's time to go don't stop now "
    "he said she came from the big house and asked me why not please tell us more about your work"
)


def tiny_text(n_sentences: int, seed: int) -> list[str]:
    """Sentences of common words in random order, with marks and capitals."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(n_sentences):
        words = rng.choices(_VOCABULARY.split(), k=rng.randint(3, 12))
        words[len(words) // 2] += rng.choice(["", ",", ",", ";", ":", " -"])
        sentences.append(" ".join(words).capitalize() + rng.choice(["?", ".", ".", "!", "...", "?!"]))
    return sentences


@pytest.fixture(scope="session")
def tiny_tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 tokenizer of about 500 pieces, byte fallback and sentinels included."""
    folder = tmp_path_factory.mktemp("tiny-tokenizer")
    sentences = tiny_text(400, seed=1)
    train_tokenizer([*sentences, *(sentence.lower() for sentence in sentences)], folder, VocabularyConfig(size=500))
    return folder


@pytest.fixture(scope="session")
def tiny_model(tiny_tokenizer_folder: Path) -> models.Model:
    """A T5 of 2 + 2 layers with seeded random weights, ready for inference.  Shared: do not train it."""
    import torch

    tokenizer = models.load_tokenizer(tiny_tokenizer_folder, TaskConfig())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = models.fresh(TINY_SHAPE, tokenizer)
    model.network.eval()
    return model
