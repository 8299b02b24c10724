"""`t5punct prepare`: corpora -> a `datasets` folder of (source, target) chunks, and a tokenizer if asked.

In: a `PrepareConfig`.  Out: a folder with the splits `train` and `validation`, columns source, target, style,
n_words; the resolved config beside them; `tokenizer/` where one was trained.

`t5punct prepare --config configs/prepare.yaml output=prepared/data` makes one.
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ... import config as settings
from ...errors import ConfigError, OutputError, T5PunctError, refused_by_system
from ...t5.task import TaskConfig
from .chunks import Chunk, ChunkConfig, chunks
from .corpora import CorpusConfig, documents
from .vocabulary import VocabularyConfig, train_tokenizer

SPLITS = ("train", "validation")
_MADE = ("dataset_dict.json", "prepare.yaml", "tokenizer", *SPLITS)  # what a data set's folder holds


@dataclass(frozen=True)
class PrepareConfig:
    """What a data set is made of."""

    output: str = "prepared/data"
    root: str = "."  # the folder that corpus paths are relative to
    corpora: list[CorpusConfig] = field(default_factory=list)
    chunks: ChunkConfig = field(default_factory=ChunkConfig)
    cased: bool = True
    pause_ms: int | None = None  # words with times: a silence of this length becomes a pause token (280 in the thesis)
    holdout_percent: float = 1.0  # of each file's last documents, kept for validation
    seed: int = 1
    tokenizer: str | None = None  # a folder or hub id, to check max_tokens with; `train` trains a new one
    workers: int = 1  # processes; with more of them the chunks are the same, in another order
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.holdout_percent < 100:
            raise ConfigError(
                f"holdout_percent {self.holdout_percent}", expected="0 to below 100", fix="set holdout_percent"
            )
        if self.workers < 1:
            raise ConfigError(f"{self.workers} workers", expected="1 or more", fix="set workers")


@dataclass(frozen=True)
class PrepareReport:
    """What was made."""

    output: str
    train_chunks: int
    train_words: int
    validation_chunks: int


def prepare(config: PrepareConfig) -> PrepareReport:
    """Make the data set.  Raises ConfigError if there is nothing to make it of."""
    from datasets import DatasetDict

    if not config.corpora:
        raise ConfigError("no corpora", expected="corpora: [{path: FILE, style: talk}]", fix="see configs/")
    task = _task(config)
    for corpus in config.corpora:
        task.prefix_for(corpus.style)  # an unknown style is reported here, not in training
    with _made(Path(config.output)) as output:
        if config.tokenizer == "train":
            _learn_vocabulary(config, output)
        with tempfile.TemporaryDirectory(dir=output, prefix=".cache-") as cache:
            splits = {name: _split(config, name, cache) for name in SPLITS}
            train = splits["train"]
            if not len(train):
                raise ConfigError(
                    "no chunk to train on",
                    expected=f"documents of {config.chunks.min_words} words and more",
                    fix="lower chunks.min_words or add text",
                )
            DatasetDict(splits).save_to_disk(str(output))
            report = PrepareReport(str(output), len(train), sum(train["n_words"]), len(splits["validation"]))
        settings.save(config, output / "prepare.yaml")
    return report


def all_chunks(
    config: PrepareConfig, split: str, *, check_tokens: bool = True, workers: Sequence[int] | None = None
) -> Iterator[Chunk]:
    """The chunks of one split, corpus after corpus; all of them, or those of some workers."""
    n_tokens = _token_counter(config) if check_tokens else None
    for corpus in config.corpora:
        located = replace(corpus, path=str(Path(config.root) / corpus.path))
        found = documents(
            located, split, seed=config.seed, holdout_percent=config.holdout_percent, pause_ms=config.pause_ms
        )
        for number, document in enumerate(found):
            if workers is not None and number % config.workers not in workers:
                continue
            rng = random.Random(f"{config.seed} {corpus.path} {split} {number}")
            yield from chunks(document, config.chunks, rng, style=corpus.style, cased=config.cased, n_tokens=n_tokens)


@contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """The output folder; what was made in it is removed again if the block fails.

    Raises ConfigError if a data set would be overwritten, and OutputError if there is no room for one.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"output {folder} is a file", expected="a folder", fix="choose another output")
    for name in _MADE:
        if (folder / name).exists():
            raise ConfigError(
                f"output {folder} holds {name} already",
                expected="a folder without a data set",
                fix="remove it or choose another output",
            )
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    except BaseException as error:
        _clear(folder, whole=is_new)
        at = getattr(error, "filename", None)  # an input that cannot be read has one, in another folder
        if not refused_by_system(error) or (at and not Path(str(at)).is_relative_to(folder)):
            raise
        raise OutputError(
            f"{folder} cannot be written ({error})", expected="a folder with room", fix="free some space"
        ) from error


def _clear(folder: Path, *, whole: bool) -> None:
    """Remove a folder, or only the files of a data set in it."""
    for path in [folder] if whole else [folder / name for name in _MADE]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _split(config: PrepareConfig, name: str, cache: str) -> Any:
    """One split as a shuffled `datasets.Dataset`; it may be empty."""
    from datasets import Dataset, Features, Value
    from datasets.exceptions import DatasetGenerationError

    text = Value("string")
    features = Features({"source": text, "target": text, "style": text, "n_words": Value("int64")})
    if next(_rows(config, name), None) is None:  # a generator must not be empty
        return Dataset.from_dict({column: [] for column in features}, features=features)
    shares = {"config": config, "split": name, "workers": list(range(config.workers))}  # `datasets` splits the list
    n_processes = config.workers if config.workers > 1 else None
    try:
        rows = Dataset.from_generator(
            _rows, features=features, gen_kwargs=shares, cache_dir=cache, split=name, num_proc=n_processes
        )
    except DatasetGenerationError as error:  # it wraps whatever a generator raises
        if isinstance(error.__cause__, T5PunctError | OSError):
            raise error.__cause__ from None
        told = re.search(r"^OSError: (.*)$", str(error.__cause__), re.MULTILINE)  # all we get from another process
        if told:
            raise OSError(told[1]) from None
        if n_processes:  # an error in another process comes without its cause: run it here to raise it
            deque(_rows(config, name), maxlen=0)
        raise
    return rows.shuffle(seed=config.seed)


def _rows(config: PrepareConfig, split: str, workers: Sequence[int] | None = None) -> Iterator[dict[str, Any]]:
    for chunk in all_chunks(config, split, workers=workers):
        yield asdict(chunk)


def _learn_vocabulary(config: PrepareConfig, output: Path) -> None:
    """Sources and targets in turn, from chunks spread evenly over the corpora."""
    n_words = sum(corpus.words for corpus in config.corpora) or 10 * config.vocabulary.sample_words
    step = max(1, n_words // config.vocabulary.sample_words)
    sample = itertools.islice(all_chunks(config, "train", check_tokens=False), 0, None, step)
    lines = (chunk.source if index % 2 else chunk.target for index, chunk in enumerate(sample))
    train_tokenizer(lines, output / "tokenizer", config.vocabulary)


def _task(config: PrepareConfig) -> TaskConfig:
    """The text form of the tokenizer's folder if it is a model's; else the default."""
    from ...model import read_task
    from ...t5.hub import locate

    if config.tokenizer in (None, "train"):
        return TaskConfig()
    return read_task(locate(str(config.tokenizer), "tokenizer"))


def _token_counter(config: PrepareConfig) -> Any:
    """A function from a chunk to the tokens of its longer side; None without a tokenizer."""
    if config.tokenizer is None:
        return None
    from ...model import load_tokenizer

    folder = str(Path(config.output) / "tokenizer") if config.tokenizer == "train" else config.tokenizer
    tokenizer = load_tokenizer(folder, _task(config))

    def n_tokens(chunk: Chunk) -> int:
        target = tokenizer.encode_target(chunk.target)
        return max(len(tokenizer.source(chunk.source.split(), chunk.style).ids), len(target))

    return n_tokens
