"""`t5punct prepare`: corpora -> a `datasets` folder of (source, target) chunks, and a tokenizer if asked.

In: a `PrepareConfig`.  Out: a folder with the splits `train` and `validation`, columns source, target, style,
n_words; beside them the resolved config, a report, and `tokenizer/` where one was trained.

`t5punct prepare --config configs/large-prepare.yaml output=prepared/data` makes one.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ... import config as settings
from ...errors import ConfigError, OutputError, refused_by_system
from ...t5.task import ENCODER_TASK, TaskConfig, checked_pauses
from ...text.io.files import move, partial_folder
from ...text.spelling_table import TABLE_FILE, write_table
from ..lock import check_own, lock_folder
from .chunks import Chunk, ChunkConfig, cut_into_chunks
from .contents import REPORT, PrepareReport, as_json, as_text, check_text, count_content, count_corpus, explain_left_out
from .corpora import Documents, Piece, iter_texts, locate, plan_pieces, raise_own_error, read_documents
from .readers import CorpusConfig
from .spellings import learn_table
from .vocabulary import VocabularyConfig, train_tokenizer

SPLITS = ("train", "validation")
LAST = "dataset_dict.json"  # what `datasets` looks for: the last file to appear
COUNTS, SETTINGS = "report.json", "prepare.yaml"
_MADE = (LAST, SETTINGS, REPORT, COUNTS, TABLE_FILE, "tokenizer", *SPLITS)  # what a data set's folder holds


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


def prepare(config: PrepareConfig) -> PrepareReport:
    """Make the data set.  Raises ConfigError if there is nothing to make it of."""
    from datasets import DatasetDict

    if not config.corpora:
        raise ConfigError("no corpora", expected="corpora: [{path: FILE, style: talk}]", fix="see configs/")
    task = _task(config)
    corpora = [locate(corpus, config.root) for corpus in config.corpora]
    for corpus in corpora:
        task.prefix_for(corpus.style)  # an unknown style is reported here, not in training
        _check_apart(config.output, corpus)
    with (
        make_data_folder(Path(config.output)) as output,
        tempfile.TemporaryDirectory(dir=output, prefix=".cache-") as cache,
    ):
        here = replace(config, output=str(output))
        documents = [read_documents(corpus, config.pauses_ms, cache, config.holdout_percent) for corpus in corpora]
        warnings = [warning for each in documents for warning in check_text(each, cased=config.cased)]
        if config.tokenizer == "train":
            _learn_vocabulary(here, output, documents)
        splits = {name: _split(here, documents, name, cache) for name in SPLITS}
        if not len(splits["train"]):
            raise _no_chunk(config, documents)
        DatasetDict(splits).save_to_disk(str(output))
        if config.cased:
            write_table(learn_table(row["target"] for row in splits["train"]), output)
        report = _report(config, documents, splits, warnings)
        settings.save(config, output / SETTINGS)
        (output / REPORT).write_text(as_text(report), encoding="utf-8")
        (output / COUNTS).write_text(as_json(report), encoding="utf-8")
    return report


def _plan(config: PrepareConfig, documents: Documents, split: str) -> Iterator[Piece]:
    """What is taken of a corpus for a split."""
    return plan_pieces(documents, split, seed=config.seed, holdout_percent=config.holdout_percent)


def _report(
    config: PrepareConfig, documents: Sequence[Documents], splits: dict[str, Any], warnings: Sequence[str]
) -> PrepareReport:
    train, min_words = splits["train"], config.chunks.min_words
    counts = [
        count_corpus(each, _plan(config, each, "train"), _plan(config, each, "validation"), min_words)
        for each in documents
    ]
    notes = list(warnings)
    if not len(splits["validation"]):
        notes.append(
            f"no chunk to validate with; expected held-out documents of {min_words} words and more; "
            "raise holdout_percent or add text"
        )
    n_words = sum(train["n_words"][:])
    return PrepareReport(
        config.output,
        len(train),
        n_words,
        len(splits["validation"]),
        tuple(counts),
        count_content(Chunk(**row) for row in train),
        tuple(notes),
        # tokens of silences are counted among a document's words
        "" if config.pauses_ms else explain_left_out(counts, n_words, min_words),
    )


def _no_chunk(config: PrepareConfig, documents: Sequence[Documents]) -> ConfigError:
    lengths = [n_words for each in documents for n_words in each.n_words]
    if not any(piece for each in documents for piece in _plan(config, each, "train")):
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


def _check_apart(output: str, corpus: CorpusConfig) -> None:
    """Raise ConfigError where a data set would be made among the files that it is made of."""
    folder = Path(corpus.path).resolve()
    if corpus.path and folder.is_dir() and Path(output).resolve().is_relative_to(folder):
        raise ConfigError(
            f"output {output} lies in the corpus {corpus.path}", expected="another folder", fix="choose another output"
        )


def all_chunks(
    config: PrepareConfig,
    documents: Sequence[Documents],
    split: str,
    *,
    check_tokens: bool = True,
    workers: Sequence[int] | None = None,
) -> Iterator[Chunk]:
    """Yield the chunks of one split, corpus after corpus; all of them, or those of some workers."""
    n_tokens = _token_counter(config) if check_tokens else None
    for corpus, each in zip(config.corpora, documents, strict=True):
        for number, document in enumerate(iter_texts(each, _plan(config, each, split))):
            if workers is not None and number % config.workers not in workers:
                continue
            rng = random.Random(f"{config.seed} {corpus.title} {split} {number}")
            yield from cut_into_chunks(
                document, config.chunks, rng, style=corpus.style, cased=config.cased, n_tokens=n_tokens
            )


def _split(config: PrepareConfig, documents: Sequence[Documents], name: str, cache: str) -> Any:
    """One split as a shuffled `datasets.Dataset`; it may be empty."""
    from datasets import Dataset, Features, Value
    from datasets.exceptions import DatasetGenerationError

    text = Value("string")
    features = Features({"source": text, "target": text, "style": text, "n_words": Value("int64")})
    arguments: dict[str, Any] = {"config": config, "documents": tuple(documents), "split": name}
    if next(_rows(**arguments), None) is None:  # a generator must not be empty
        return Dataset.from_dict({column: [] for column in features}, features=features)
    shares = {**arguments, "workers": list(range(config.workers))}  # `datasets` splits the list
    n_processes = config.workers if config.workers > 1 else None
    try:
        with raise_own_error():
            rows = Dataset.from_generator(
                _rows, features=features, gen_kwargs=shares, cache_dir=cache, split=name, num_proc=n_processes
            )
    except DatasetGenerationError as error:
        # all that we get of an error in another process
        system_error = re.search(r"^OSError: (.*)$", str(error.__cause__), re.MULTILINE)
        if system_error:
            raise OSError(system_error[1]) from None
        for _ in _rows(**arguments):  # an error in another process comes without its cause: this raises it
            pass
        raise
    return rows.shuffle(seed=config.seed)


def _rows(
    config: PrepareConfig, documents: Sequence[Documents], split: str, workers: Sequence[int] | None = None
) -> Iterator[dict[str, Any]]:
    for chunk in all_chunks(config, documents, split, workers=workers):
        yield asdict(chunk)


def _learn_vocabulary(config: PrepareConfig, output: Path, documents: Sequence[Documents]) -> None:
    """Sources and targets in turn, from chunks spread evenly over the corpora."""
    n_words = sum(piece.n_words for each in documents for piece in _plan(config, each, "train"))
    share = min(1.0, config.vocabulary.sample_words / max(1, n_words))
    chunks_in_order = all_chunks(config, documents, "train", check_tokens=False)
    # the floor of `share * number` grows by one where a chunk is due
    sample = (chunk for number, chunk in enumerate(chunks_in_order) if int(share * (number + 1)) > int(share * number))
    lines = (chunk.source if index % 2 else chunk.target for index, chunk in enumerate(sample))
    train_tokenizer(lines, output / "tokenizer", config.vocabulary)


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


@contextmanager
def make_data_folder(folder: Path) -> Iterator[Path]:
    """Give a folder beside its place, whose files move there when it is whole.  What others laid into that place stays.

    Raises ConfigError if a data set would be overwritten or this is no folder of its own, and OutputError if there is
    no room for one.
    """
    check_own(folder)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"output {folder} is a file", expected="a folder", fix="choose another output")
    for name in _MADE:
        if (folder / name).exists():
            raise ConfigError(
                f"output {folder} holds {name} already",
                expected="a folder without a data set",
                fix="remove it or choose another output",
            )
    with lock_folder(folder), partial_folder(folder) as beside:
        try:
            beside.mkdir()
            yield beside
            move(beside, folder, last=LAST)
        except Exception as error:
            at = getattr(error, "filename", None)  # an input that cannot be read has one, in another folder
            if not refused_by_system(error) or (at and not Path(str(at)).is_relative_to(beside)):
                raise
            raise OutputError(
                f"{folder} cannot be written ({error})", expected="a folder with room", fix="free some space"
            ) from error
