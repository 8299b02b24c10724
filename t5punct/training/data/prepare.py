"""`t5punct prepare`: corpora -> a `datasets` folder of (source, target) chunks.

The folder has the splits `train` and `validation`, with the columns source, target, style, n_words.  Beside them lie
the resolved config, a report (`report.md`), and what a model's card needs of it (`report.json`).
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ... import config as settings
from ...config import check
from ...errors import ConfigError
from ...t5.task import TaskConfig, checked_pauses
from ...text.io.files import move, partial_folder
from ...text.languages import unspaced_error
from ...text.spelling_table import TABLE_FILE, write_table
from ...text.words import split
from ..lock import check_not_here, lock_folder
from .chunks import Chunk, ChunkConfig, cut_into_chunks
from .corpora import Documents, find_sources, iter_texts, make_table, plan_pieces, read_documents
from .readers import CorpusConfig
from .spellings import learn_table

_SPLITS = ("train", "validation")
_LAST = "dataset_dict.json"  # what `datasets` looks for: the last file to appear
COUNTS, SETTINGS, REPORT = "report.json", "prepare.yaml", "report.md"
_MADE = (_LAST, SETTINGS, REPORT, COUNTS, TABLE_FILE, *_SPLITS)  # what a data set's folder holds
_COLUMNS = {"source": "string", "target": "string", "style": "string", "n_words": "int64"}
_COUNTED_WORDS = 500_000  # of the training chunks, which are shuffled
_EXAMPLES = 3  # of each style
_SHOWN_CHARACTERS = 200  # of an example
_FEWEST_MARKS = 0.02  # a word; speech and prose have 0.1 to 0.2


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
    tokenizer: str | None = None  # a model, to count tokens with (chunks.max_tokens)
    workers: int = 1  # processes; with more of them the chunks are the same, in another order

    def __post_init__(self) -> None:
        settings.check_range(self, "", 0, "holdout_percent", most=99)
        _ = self.pauses_ms  # raises ConfigError if they are wrong
        settings.check_range(self, "", 0, "seed")
        settings.check_range(self, "", 1, "workers")

    @property
    def pauses_ms(self) -> tuple[int, ...]:
        """Return the silences that have tokens, as `TaskConfig.pauses_ms`."""
        return checked_pauses(self.pause_ms, self.long_pause_ms)


@dataclass(frozen=True)
class PrepareReport:
    """What was made."""

    output: str
    train_chunks: int
    train_words: int
    validation_chunks: int
    corpora: tuple[Mapping[str, Any], ...]  # what `_count_documents` returns for each
    marks: Mapping[str, int]  # how often each is in the counted training chunks, the most frequent first
    examples: tuple[Chunk, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]  # what was left out, and why


def prepare(config: PrepareConfig) -> PrepareReport:
    """Make a data set.  Raises ConfigError if there is nothing to make it of."""
    from datasets import DatasetDict

    check(config.corpora, "no corpora", expected="corpora: [{path: FILE, style: talk}]", fix="see configs/")
    task = _task(config)
    corpora = []
    for corpus in config.corpora:
        task.prefix_for(corpus.style)  # an unknown style is reported here, not in training
        folder = Path(config.root, corpus.path)
        if corpus.path and folder.is_dir():
            is_inside = Path(config.output).resolve().is_relative_to(folder.resolve())
            mistake = f"output {config.output} lies in the corpus {folder}"
            check(not is_inside, mistake, expected="another folder", fix="choose another output")
        corpora.append(replace(corpus, path=str(folder)) if corpus.path else corpus)
    with (
        make_data_folder(Path(config.output)) as output,
        tempfile.TemporaryDirectory(dir=output, prefix=".cache-") as cache,
    ):
        documents = [read_documents(corpus, config.pauses_ms, cache, config.holdout_percent) for corpus in corpora]
        warnings = [warning for each in documents for warning in check_text(each, cased=config.cased)]
        splits = {}
        for name in _SPLITS:
            arguments = {
                "config": config, "documents": tuple(documents), "split_name": name,
                "workers": list(range(config.workers)),  # a list: `datasets` gives each process a part of it
            }  # fmt: skip
            n_processes = config.workers if config.workers > 1 else None
            rows = make_table(_chunk_rows, _COLUMNS, arguments, cache, split=name, num_proc=n_processes)
            splits[name] = rows.shuffle(seed=config.seed)
        report = _report(config, documents, splits, warnings)
        DatasetDict(splits).save_to_disk(str(output))
        if config.cased:
            write_table(learn_table(row["target"] for row in splits["train"]), output)
        settings.save(config, output / SETTINGS)
        (output / REPORT).write_text(as_text(report), encoding="utf-8")
        (output / COUNTS).write_text(as_json(report), encoding="utf-8")
    return report


def read_prepare_config(path: str) -> PrepareConfig | None:
    """Return the settings that a data set was made with; None if its folder has none."""
    file = Path(path) / SETTINGS
    return settings.load_plain(PrepareConfig, file) if file.is_file() else None


@contextmanager
def make_data_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder, whose files move into `folder` at the end of the block.  Other files in `folder` stay.

    Raises ConfigError if a data set would be overwritten, or if `folder` is none of its own.
    """
    check_not_here(folder)
    in_the_way = [name for name in _MADE if (folder / name).exists()] if folder.is_dir() else []
    mistake = f"output {folder} holds {', '.join(in_the_way)} already"
    fix = "remove it or choose another output"
    check(not in_the_way, mistake, expected="a folder without a data set", fix=fix)
    with lock_folder(folder), partial_folder(folder) as beside:
        beside.mkdir()
        yield beside
        move(beside, folder, last=_LAST)


def check_text(documents: Documents, *, cased: bool) -> list[str]:
    """Return warnings, a line each, about a corpus that probably has not the text that training needs.

    Raises InputError if most of it is in languages without spaces between words.
    """
    rows = documents.rows
    title = documents.corpus.title
    if 2 * sum(rows["is_unspaced"][:]) > len(documents.lengths):
        raise unspaced_error(title)
    n_words = sum(rows["sampled"][:])
    n_marks = sum(rows["marks"][:])
    warnings = []
    if n_marks < _FEWEST_MARKS * n_words:
        warnings.append(
            f"{title}: {n_marks} marks in {n_words:,} words of samples; expected punctuated text, about one mark in "
            "eight words; leave it out, or check corpora.column"
        )
    if cased and not any(rows["is_cased"][:]):
        expected = "text with its own case"
        warnings.append(f"{title}: no capitals, or nothing else; expected {expected}; leave it out, or set cased=false")
    return warnings


def _chunk_rows(
    config: PrepareConfig, documents: Sequence[Documents], split_name: str, workers: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a split, corpus after corpus, that are made by the `workers` of these numbers."""
    n_tokens = _token_counter(config)
    for corpus, each in zip(config.corpora, documents, strict=True):
        for number, document in enumerate(iter_texts(each, plan_pieces(each, split_name, config.seed))):
            if number % config.workers not in workers:
                continue
            rng = random.Random(f"{config.seed} {corpus.title} {split_name} {number}")
            for chunk in cut_into_chunks(
                document, config.chunks, rng, style=corpus.style, cased=config.cased, n_tokens=n_tokens
            ):
                yield asdict(chunk)


def _task(config: PrepareConfig) -> TaskConfig:
    from ...model import find, read_task

    return TaskConfig() if config.tokenizer is None else read_task(find(config.tokenizer, "tokenizer"))


def _token_counter(config: PrepareConfig) -> Callable[[Chunk], int] | None:
    """Return a function that counts the tokens of a chunk's longer side; None without a tokenizer."""
    if config.tokenizer is None:
        return None
    from ...model import load_tokenizer

    tokenizer = load_tokenizer(config.tokenizer, _task(config))

    def n_tokens(chunk: Chunk) -> int:
        target = tokenizer.encode_target(chunk.target)
        return max(len(tokenizer.source(chunk.source.split(), chunk.style).ids), len(target))

    return n_tokens


def _report(
    config: PrepareConfig, documents: Sequence[Documents], splits: Mapping[str, Any], warnings: list[str]
) -> PrepareReport:
    """Return what was made of the corpora.  Raises ConfigError if there is no chunk to train on."""
    train = splits["train"]
    min_words = config.chunks.min_words
    corpora = [_count_documents(each, config) for each in documents]
    if not len(train):
        n_documents, n_held_out = (sum(corpus[name] for corpus in corpora) for name in ("documents", "held out"))
        longest = max(n_words for each in documents for n_words in each.lengths.values())
        raise ConfigError(
            f"no chunk to train on: {n_documents} documents, {n_held_out} held out, the longest with {longest} words",
            expected=f"documents of {min_words} words and more",
            fix="lower holdout_percent or chunks.min_words, make longer documents of lines with corpora.join or "
            "corpora.document, or add text",
        )
    if not len(splits["validation"]):
        warnings.append(
            f"no chunk to validate with; expected held-out documents of {min_words} words and more; "
            "raise holdout_percent or add text"
        )
    n_words = sum(train["n_words"][:])
    n_taken = sum(corpus["words"] for corpus in corpora)
    notes = list[str]()
    if n_taken > n_words and not config.pauses_ms:  # tokens of silences are counted among a document's words
        notes.append(
            f"left out: {n_taken - n_words:,} of {n_taken:,} words are in no chunk: those before the first, which "
            "begins anywhere in a document so that windows begin inside sentences too; rests of fewer than "
            f"{min_words} words (chunks.min_words); signs that stand alone"
        )
    n_short, n_empty = (sum(corpus[name] for corpus in corpora) for name in ("too short", "empty"))
    if n_short or n_empty:
        notes.append(f"dropped: {n_short:,} documents with too few words for a window, {n_empty:,} empty rows")
    for each, corpus in zip(documents, corpora, strict=True):
        notes += [f"{each.corpus.title}: {note}" for note in find_sources(each.corpus)[1]]
        if corpus["documents"] == 1 and corpus["held out"]:
            notes.append(f"{each.corpus.title}: one document, whose end is held out")
    marks, examples = count_marks(Chunk(**row) for row in train)
    return PrepareReport(
        config.output, len(train), n_words, len(splits["validation"]), tuple(corpora), marks, examples,
        tuple(warnings), tuple(notes),
    )  # fmt: skip


def _count_documents(documents: Documents, config: PrepareConfig) -> dict[str, Any]:
    """Return a corpus's row in the report; `words` are those taken for training, between white space."""
    lengths = [piece.n_words for piece in plan_pieces(documents, "train", config.seed)]
    n_documents = len(documents.lengths)
    return {
        "corpus": documents.corpus.title, "style": documents.corpus.style, "documents": n_documents,
        "held out": sum(len(piece.rows) for piece in plan_pieces(documents, "validation", config.seed)),
        "words": sum(lengths), "too short": sum(n_words < config.chunks.min_words for n_words in lengths),
        "empty": len(documents.rows) - n_documents,
    }  # fmt: skip


def count_marks(chunks: Iterable[Chunk]) -> tuple[dict[str, int], tuple[Chunk, ...]]:
    """Return how often each mark is in the first chunks, the most frequent first, and some examples of each style."""
    marks = Counter[str]()
    examples: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        marks.update(word.marks for word in split(chunk.target).words)
        if len(examples.setdefault(chunk.style, [])) < _EXAMPLES:
            examples[chunk.style].append(chunk)
        if marks.total() >= _COUNTED_WORDS:
            break
    ordered = sorted(marks.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered), tuple(chain(*examples.values()))


def as_json(report: PrepareReport) -> str:
    """Return the counts of each corpus as json, in the settings' order."""
    corpora = [{name: corpus[name] for name in ("style", "documents", "words")} for corpus in report.corpora]
    return json.dumps({"train_words": report.train_words, "corpora": corpora}, indent=2) + "\n"


def as_text(report: PrepareReport) -> str:
    """Return the report as a page."""
    n_counted = sum(report.marks.values())
    counted = "all" if n_counted >= report.train_words else f"a sample of {n_counted:,}"
    mark_rows = [
        (f"`{mark}`" if mark else "none", n, f"{1000 * n / n_counted:.1f}") for mark, n in report.marks.items()
    ]
    lines = [
        "# Data set",
        "",
        f"{report.train_chunks:,} chunks of {report.train_words:,} words to train on, {report.validation_chunks:,} "
        "chunks to validate with.",
        "",
        *(f"- warning: {warning}" for warning in report.warnings),
        *(f"- {note}" for note in report.notes),
        "",
        "## Documents",
        "",
        "Too short: fewer words than a window has at least, of the whole document or of the stretch that was taken.",
        "",
        *markdown_table(
            ("corpus", "style", "documents", "held out", "words taken", "too short", "empty"),
            (tuple(corpus.values()) for corpus in report.corpora),
        ),
        f"## Marks of {counted} words",
        "",
        *markdown_table(("marks", "count", "of 1,000"), mark_rows),
        "## Examples",
        "",
    ]
    for chunk in report.examples:
        lines += [f"- {chunk.style}", *(f"  - `{text[:_SHOWN_CHARACTERS]}`" for text in (chunk.source, chunk.target))]
    return "\n".join(lines) + "\n"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table, and a blank one behind it."""
    for row in (columns, ["---"] * len(columns), *rows):
        cells = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row)
        yield f"| {' | '.join(cells)} |"
    yield ""
