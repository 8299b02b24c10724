"""`t5punct prepare`: corpora -> a `datasets` folder of (source, target) chunks, and a tokenizer if asked.

In: a `PrepareConfig`.  Out: a folder with the splits `train` and `validation`, columns source, target, style,
n_words; the resolved config beside them; `tokenizer/` where one was trained.

`t5punct prepare --config configs/prepare-short.yaml output=prepared/short` is the whole of it.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import config as settings
from ..errors import ConfigError
from .chunks import Chunk, ChunkConfig, chunks
from .corpora import CorpusConfig, documents
from .vocabulary import VocabularyConfig, train_tokenizer

SPLITS = ("train", "validation")


@dataclass(frozen=True)
class PrepareConfig:
    """What a data set is made of."""

    output: str = "prepared/data"
    root: str = "."  # the folder that corpus paths are relative to
    corpora: list[CorpusConfig] = field(default_factory=list)
    chunks: ChunkConfig = field(default_factory=ChunkConfig)
    cased: bool = True
    holdout_percent: float = 1.0  # of each file's last documents, kept for validation
    seed: int = 1
    tokenizer: str | None = None  # a folder or hub id, to check max_tokens with; `train` learns a new one
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)


@dataclass(frozen=True)
class PrepareReport:
    """What was made."""

    output: str
    train_chunks: int
    train_words: int
    validation_chunks: int


def prepare(config: PrepareConfig) -> PrepareReport:
    """Make the data set.  Raises ConfigError where there is nothing to make it of."""
    from datasets import Dataset, DatasetDict

    if not config.corpora:
        raise ConfigError("no corpora", expected="corpora: [{path: FILE, style: talk}]", fix="see configs/")
    output = Path(config.output)
    output.mkdir(parents=True, exist_ok=True)
    if config.tokenizer == "train":
        _learn_vocabulary(config, output)
    cache = output / ".cache"
    splits = {}
    for name in SPLITS:
        rows = Dataset.from_generator(
            _rows, gen_kwargs={"config": config, "split": name}, cache_dir=str(cache), split=name
        )
        splits[name] = rows.shuffle(seed=config.seed)
    DatasetDict(splits).save_to_disk(str(output))
    shutil.rmtree(cache)
    settings.save(config, output / "prepare.yaml")
    train = splits["train"]
    return PrepareReport(str(output), len(train), sum(train["n_words"]), len(splits["validation"]))


def all_chunks(config: PrepareConfig, split: str, *, check_tokens: bool = True) -> Iterator[Chunk]:
    """The chunks of one split, corpus after corpus."""
    n_tokens = _token_counter(config) if check_tokens else None
    for corpus in config.corpora:
        rng = random.Random(f"{config.seed} {corpus.path} {split}")
        located = CorpusConfig(str(Path(config.root) / corpus.path), corpus.style, corpus.words)
        for document in documents(located, split, seed=config.seed, holdout_percent=config.holdout_percent):
            yield from chunks(document, config.chunks, rng, style=corpus.style, cased=config.cased, n_tokens=n_tokens)


def _rows(config: PrepareConfig, split: str) -> Iterator[dict[str, Any]]:
    for chunk in all_chunks(config, split):
        yield asdict(chunk)


def _learn_vocabulary(config: PrepareConfig, output: Path) -> None:
    """Sources and targets in turn, from chunks spread evenly over the corpora."""
    n_words = sum(corpus.words for corpus in config.corpora) or 10 * config.vocabulary.sample_words
    step = max(1, n_words // config.vocabulary.sample_words)
    sample = itertools.islice(all_chunks(config, "train", check_tokens=False), 0, None, step)
    lines = (chunk.source if index % 2 else chunk.target for index, chunk in enumerate(sample))
    train_tokenizer(lines, output / "tokenizer", config.vocabulary)


def _token_counter(config: PrepareConfig) -> Any:
    """A function from a chunk to the tokens of its longer side; None without a tokenizer."""
    if config.tokenizer is None:
        return None
    from ..model import load_tokenizer
    from ..tokenization import TaskConfig

    folder = str(Path(config.output) / "tokenizer") if config.tokenizer == "train" else config.tokenizer
    tokenizer = load_tokenizer(folder, TaskConfig())

    def n_tokens(chunk: Chunk) -> int:
        target = tokenizer.encode_target(chunk.target)
        return max(len(tokenizer.source(chunk.source.split(), chunk.style).ids), len(target))

    return n_tokens
