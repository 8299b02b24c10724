"""`t5punct prepare`: corpora -> a `datasets` folder of (source, target) chunks, and a tokenizer if asked.

In: a `PrepareConfig`.  Out: a folder with the splits `train` and `validation`, columns source, target, style,
n_words; beside them the resolved config, a report as text and as a picture, and `tokenizer/` where one was trained.

`t5punct prepare --config configs/large-prepare.yaml output=prepared/data` makes one.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ... import config as settings
from ...errors import ConfigError, InputError, T5PunctError
from ...t5.task import ENCODER_TASK, TaskConfig, checked_pauses
from ...text.spaces import unspaced
from ...text.spelling_table import write_table
from .chunks import Chunk, ChunkConfig, cut_into_chunks
from .contents import (
    PrepareReport,
    as_json,
    as_text,
    count_content,
    count_corpus,
    draw_report,
    explain_left_out,
    iter_warnings,
)
from .corpora import Piece, iter_documents, plan_pieces
from .corpus import CorpusConfig
from .folder import COUNTS, PICTURE, REPORT, SETTINGS, SPLITS, make_data_folder
from .spellings import learn_table
from .survey import Survey, survey_corpus
from .vocabulary import VocabularyConfig, train_tokenizer


@dataclass(frozen=True)
class PrepareConfig:
    """What a data set is made of."""

    output: str = "prepared/data"  # the folder that is made
    root: str = "."  # the folder that corpus paths are relative to
    corpora: list[CorpusConfig] = field(default_factory=list)  # a list: [{path: talks}, {path: books, style: prose}]
    chunks: ChunkConfig = field(default_factory=ChunkConfig)
    cased: bool = True  # false: all text in lower case, for a model that writes no capitals
    pause_ms: int | None = None  # where words have times: milliseconds of silence that become a pause token, e.g. 280
    long_pause_ms: int | None = None  # and those of a long silence, which becomes another token, e.g. 900
    holdout_percent: float = 1.0  # of each corpus's documents, the last ones, for validation; 0: none
    seed: int = 1  # the same seed makes the same data set
    tokenizer: str | None = None  # a model, to count tokens with (chunks.max_tokens); `train` learns a new vocabulary
    workers: int = 1  # processes; with more of them the chunks are the same, in another order
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)

    def __post_init__(self) -> None:
        settings.check_range(self, "", 0, "holdout_percent", below=100)
        _ = self.pauses_ms  # raises ConfigError if they are wrong
        settings.check_range(self, "", 0, "seed")
        settings.check_range(self, "", 1, "workers")

    @property
    def pauses_ms(self) -> tuple[int, ...]:
        """The silences that have tokens, as `TaskConfig.pauses_ms`."""
        return checked_pauses(self.pause_ms, self.long_pause_ms)


_GUESSED_SHARE = 0.1


def prepare(config: PrepareConfig) -> PrepareReport:
    """Make the data set.  Raises ConfigError if there is nothing to make it of."""
    from datasets import DatasetDict

    if not config.corpora:
        raise ConfigError("no corpora", expected="corpora: [{path: FILE, style: talk}]", fix="see configs/")
    task = _task(config)
    for corpus in _locate(config):
        task.prefix_for(corpus.style)  # an unknown style is reported here, not in training
        _check_apart(config.output, corpus)
    with make_data_folder(Path(config.output)) as output:
        here = replace(config, output=str(output))
        surveys = [_survey_with_text(corpus, config.pauses_ms) for corpus in _locate(config)]
        if config.tokenizer == "train":
            _learn_vocabulary(here, output, surveys)
        with tempfile.TemporaryDirectory(dir=output, prefix=".cache-") as cache:
            splits = {name: _split(here, name, cache) for name in SPLITS}
            if not len(splits["train"]):
                raise _no_chunk(config, surveys)
            DatasetDict(splits).save_to_disk(str(output))
            if config.cased:
                write_table(learn_table(row["target"] for row in splits["train"]), output)
            report = _report(config, surveys, splits)
        settings.save(config, output / SETTINGS)
        (output / REPORT).write_text(as_text(report), encoding="utf-8")
        (output / COUNTS).write_text(as_json(report), encoding="utf-8")
        draw_report(report, output / PICTURE)
    return report


def _plans(config: PrepareConfig, surveys: Sequence[Survey], split: str) -> Iterator[Iterator[Piece]]:
    """What is taken of each corpus for a split."""
    for corpus, survey in zip(_locate(config), surveys, strict=True):
        yield plan_pieces(corpus, survey, split, seed=config.seed, holdout_percent=config.holdout_percent)


def _report(config: PrepareConfig, surveys: Sequence[Survey], splits: dict[str, Any]) -> PrepareReport:
    train, corpora = splits["train"], _locate(config)
    plans = [_plans(config, surveys, split) for split in SPLITS]
    counts = [
        count_corpus(corpus, survey, taken, held_out, config.chunks.min_words)
        for corpus, survey, taken, held_out in zip(corpora, surveys, *plans, strict=True)
    ]
    notes = list(iter_warnings(corpora, surveys, cased=config.cased))
    if not len(splits["validation"]):
        notes.append(
            f"no chunk to validate with; expected held-out documents of {config.chunks.min_words} words and more; "
            "raise holdout_percent or add text"
        )
    n_words = sum(train["n_words"])
    # tokens of silences are counted among a document's words, and of a stream no words are
    is_counted = not config.pauses_ms and not any(survey.is_stream for survey in surveys)
    return PrepareReport(
        config.output,
        len(train),
        n_words,
        len(splits["validation"]),
        tuple(counts),
        count_content(Chunk(**row) for row in train),
        tuple(notes),
        explain_left_out(counts, n_words, config.chunks.min_words) if is_counted else "",
    )


def _no_chunk(config: PrepareConfig, surveys: Sequence[Survey]) -> ConfigError:
    lengths = [n_words for survey in surveys for n_words in survey.n_words]
    if not any(survey.is_stream for survey in surveys) and not any(
        any(pieces) for pieces in _plans(config, surveys, "train")
    ):
        return ConfigError(
            f"holdout_percent {config.holdout_percent:g}, which holds out all of {len(lengths)} documents",
            expected="a document to train on",
            fix="lower it, or add documents",
        )
    longest = f"the longest of {len(lengths)} documents has {max(lengths, default=0)} words"
    return ConfigError(
        "no chunk to train on",
        expected=f"documents of {config.chunks.min_words} words and more",
        fix=f"lower chunks.min_words ({longest}), make longer documents of lines with corpora.join or "
        "corpora.document, or add text",
    )


def _locate(config: PrepareConfig) -> list[CorpusConfig]:
    """The corpora, with the folder that their paths are relative to."""
    return [
        replace(corpus, path=str(Path(config.root) / corpus.path)) if corpus.path else corpus
        for corpus in config.corpora
    ]


def _check_apart(output: str, corpus: CorpusConfig) -> None:
    """Raise ConfigError where a data set would be made among the files that it is made of."""
    folder = Path(corpus.path).resolve()
    if corpus.path and folder.is_dir() and Path(output).resolve().is_relative_to(folder):
        raise ConfigError(
            f"output {output} lies in the corpus {corpus.path}", expected="another folder", fix="choose another output"
        )


def _survey_with_text(corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Survey:
    """What a corpus holds.  Raises InputError if it holds nothing, or most of it is in languages without spaces."""
    survey = survey_corpus(corpus, pauses_ms)
    if 2 * survey.sample.n_unspaced > len(survey.n_words):
        raise unspaced(corpus.title)
    if survey.n_words:
        return survey
    if survey.n_empty:
        raise InputError(
            f"no text in {corpus.title}, {survey.n_empty:,} empty rows",
            expected="rows with text",
            fix="check corpora.column",
        )
    raise InputError(f"no text in {corpus.title}", expected="a file with text", fix="check the path")


def all_chunks(
    config: PrepareConfig, split: str, *, check_tokens: bool = True, workers: Sequence[int] | None = None
) -> Iterator[Chunk]:
    """Yield the chunks of one split, corpus after corpus; all of them, or those of some workers."""
    n_tokens = _token_counter(config) if check_tokens else None
    for corpus, located in zip(config.corpora, _locate(config), strict=True):
        chosen = iter_documents(
            located, split, seed=config.seed, holdout_percent=config.holdout_percent, pauses_ms=config.pauses_ms
        )
        for number, document in enumerate(chosen):
            if workers is not None and number % config.workers not in workers:
                continue
            rng = random.Random(f"{config.seed} {corpus.title} {split} {number}")
            yield from cut_into_chunks(
                document, config.chunks, rng, style=corpus.style, cased=config.cased, n_tokens=n_tokens
            )


def _split(config: PrepareConfig, name: str, cache: str) -> Any:
    """One split as a shuffled `datasets.Dataset`; it may be empty."""
    from datasets import Dataset, Features, Value
    from datasets.exceptions import DatasetGenerationError

    text = Value("string")
    features = Features({"source": text, "target": text, "style": text, "n_words": Value("int64")})
    if next(_rows(config, name), None) is None:  # a generator must not be empty
        return Dataset.from_dict({column: [] for column in features}, features=features)
    # `datasets` splits the list
    shares = {"config": config, "split": name, "workers": list(range(config.workers))}
    n_processes = config.workers if config.workers > 1 else None
    try:
        rows = Dataset.from_generator(
            _rows, features=features, gen_kwargs=shares, cache_dir=cache, split=name, num_proc=n_processes
        )
    except DatasetGenerationError as error:  # it wraps whatever a generator raises
        if isinstance(error.__cause__, T5PunctError | OSError):
            raise error.__cause__ from None
        system_error = re.search(
            r"^OSError: (.*)$", str(error.__cause__), re.MULTILINE
        )  # all we get from another process
        if system_error:
            raise OSError(system_error[1]) from None
        if n_processes:  # an error in another process comes without its cause: run it here to raise it
            deque(_rows(config, name), maxlen=0)
        raise
    return rows.shuffle(seed=config.seed)


def _rows(config: PrepareConfig, split: str, workers: Sequence[int] | None = None) -> Iterator[dict[str, Any]]:
    for chunk in all_chunks(config, split, workers=workers):
        yield asdict(chunk)


def _learn_vocabulary(config: PrepareConfig, output: Path, surveys: Sequence[Survey]) -> None:
    """Sources and targets in turn, from chunks spread evenly over the corpora."""
    share = _sampled_share(config, surveys)
    chunks_in_order = all_chunks(config, "train", check_tokens=False)
    # the floor of `share * number` grows by one where a chunk is due
    sample = (chunk for number, chunk in enumerate(chunks_in_order) if int(share * (number + 1)) > int(share * number))
    lines = (chunk.source if index % 2 else chunk.target for index, chunk in enumerate(sample))
    train_tokenizer(lines, output / "tokenizer", config.vocabulary)


def _sampled_share(config: PrepareConfig, surveys: Sequence[Survey]) -> float:
    """The share of the chunks that hold `sample_words`; of a stream without a budget nobody knows, so that we guess."""
    n_words = 0
    for corpus, survey, pieces in zip(config.corpora, surveys, _plans(config, surveys, "train"), strict=True):
        if survey.is_stream and not corpus.words:
            return _GUESSED_SHARE
        n_words += corpus.words if survey.is_stream else sum(piece.n_words for piece in pieces)
    return min(1.0, config.vocabulary.sample_words / max(1, n_words))


def _task(config: PrepareConfig) -> TaskConfig:
    """The text form of the tokenizer's folder if it is a model's; else the default."""
    from ...model import find, read_task

    if config.tokenizer in (None, "train"):
        return TaskConfig()
    return read_task(find(config.tokenizer, "tokenizer"))


def _token_counter(config: PrepareConfig) -> Any:
    """A function from a chunk to the tokens of its longer side; None without a tokenizer."""
    if config.tokenizer is None:
        return None
    from ...model import find, load_tokenizer
    from ...t5.weights import is_encoder
    from ..start.from_encoder import encoder_tokenizer

    source = str(Path(config.output) / "tokenizer") if config.tokenizer == "train" else config.tokenizer
    folder = find(source, "tokenizer")
    if (folder / "config.json").is_file() and is_encoder(folder):
        tokenizer = encoder_tokenizer(folder, ENCODER_TASK)
    else:
        tokenizer = load_tokenizer(source, _task(config))

    def n_tokens(chunk: Chunk) -> int:
        target = tokenizer.encode_target(chunk.target)
        return max(len(tokenizer.source(chunk.source.split(), chunk.style).ids), len(target))

    return n_tokens
