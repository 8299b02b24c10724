"""What a chain of training runs has seen, so that held-out text can be held to be unseen.

Its stages may have kept different documents back, and one text may stand in two corpora.  The order of examples is
known from each run's settings and state: the same chunks are looked up again, in data sets that must be those it had.

`Seen.of([Path("runs/tag"), Path("runs/read")], texts)` tells of which texts at least half the runs of six words stand
in chunks that a run was trained on (of a shorter text: whether it is a chunk).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import load_from_disk

from t5punct import config
from t5punct.model import load_tokenizer, read_task
from t5punct.text.words import split
from t5punct.training.checkpoint import STATE_FILE, TRAIN_FILE, TrainState
from t5punct.training.config import TrainConfig
from t5punct.training.examples.batches import BatchSampler
from t5punct.training.examples.example import ChunkExamples

N_WORDS = 6  # in a row: fewer are shared by chance, and long texts share some with any other
SHARE = 0.5

Gram = tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """Of some texts, those that were seen, as they are read."""

    texts: frozenset[str]

    @classmethod
    def of(cls, runs: Sequence[Path], texts: Iterable[str]) -> Seen:
        """Look every text up in what the runs were trained on."""
        wanted = {text: _grams(text.split()) for text in map(as_read, texts)}
        unseen = {gram for grams in wanted.values() for gram in grams}
        for run in runs:
            for source in sources(run):
                unseen.difference_update(_grams(source.split()))
        shares = {text: sum(gram not in unseen for gram in grams) / len(grams) for text, grams in wanted.items()}
        return cls(frozenset(text for text, share in shares.items() if share >= SHARE))

    def __contains__(self, text: str) -> bool:
        return as_read(text) in self.texts


def as_read(text: str) -> str:
    """Return a text's words as a model reads them."""
    return " ".join(word.normal for word in split(text).words if word.has_slot)


def sources(run: Path) -> Iterator[str]:
    """Yield the sources of the chunks that a run was trained on."""
    trained = config.load(TrainConfig, run / TRAIN_FILE)
    state = TrainState(**json.loads((run / STATE_FILE).read_text(encoding="utf-8")))
    rows: Any = load_from_disk(str(Path(trained.data.path) / "train"))
    examples = ChunkExamples(rows, load_tokenizer(run, read_task(run)), trained.data, trained.seed)
    sampler = BatchSampler(examples.lengths, trained.data.batch_tokens, trained.seed, state.processes)
    for epoch in range(state.epoch + 1):
        sampler.set_position(epoch)
        batches = list(sampler)[: state.batch * state.processes] if epoch == state.epoch else list(sampler)
        for batch in batches:
            yield from rows[[examples.chunks[index] for index in batch]]["source"]


def _grams(words: Sequence[str]) -> list[Gram]:
    """Return all runs of six words; of a shorter text, itself."""
    return [tuple(words[start : start + N_WORDS]) for start in range(max(1, len(words) - N_WORDS + 1))]
