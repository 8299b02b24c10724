"""Chunks as a prepared data set has them, and the batches that they make."""

from typing import Any

from datasets import Dataset

from t5punct.model import Model
from t5punct.training.examples.batches import Batch, make_collator
from t5punct.training.examples.example import ChunkExamples


def rows(*chunks: tuple[str, str]) -> Any:
    """A split of talks, of sources and targets."""
    return Dataset.from_list(
        [
            {"source": source, "target": target, "style": "talk", "n_words": len(source.split())}
            for source, target in chunks
        ]
    )


def batch_of(model: Model, data: Any, *places: int) -> Batch:
    """The batch of some chunks of a split; of all, if no places are named."""
    examples = ChunkExamples(data, model.tokenizer)
    return make_collator(model.tokenizer.pad_id)([examples[place] for place in places or range(len(data))])
