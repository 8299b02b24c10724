"""`t5punct prepare`: corpora -> a `datasets` folder of (source, target) chunks.

The folder has the splits `train` and `validation`, with the columns source, target, style, n_words.  Beside them lie
the resolved config, a report (`report.md`), and what a model's card needs of it (`report.json`).
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ... import config as settings
from ...config import check, check_range
from ...errors import ConfigError
from ...t5.task import TaskConfig, checked_pauses
from ...t5.tokenization import TaskTokenizer
from ...text.io.files import move, partial_folder
from ...text.languages import is_unspaced, unspaced_error
from ...text.spelling_table import TABLE_FILE, write_table
from ...text.words import split
from ..lock import lock_folder
from .chunks import Chunk, ChunkConfig, cut_into_chunks
from .corpora import (
    FEWEST_MARKS,
    CorpusConfig,
    Documents,
    Piece,
    count_marks,
    find_sources,
    is_one_case,
    plan_pieces,
    read_documents,
)
from .spellings import learn_table

_SPLITS = ("train", "validation")
_LAST = "dataset_dict.json"  # what `datasets` looks for: the last file to appear
COUNTS, SETTINGS, REPORT = "report.json", "prepare.yaml", "report.md"
_MADE = (_LAST, SETTINGS, REPORT, COUNTS, TABLE_FILE, *_SPLITS)  # what a data set's folder holds
_COLUMNS = {"source": "string", "target": "string", "style": "string", "n_words": "int64"}
_COUNTED_WORDS = 500_000  # of the training chunks, which are shuffled
_COUNTED_ROWS = 1000  # chunks that are read at a time
_PIECES_IN_MEMORY = 20  # that a process cuts at a time; each may be a book
_EXAMPLES = 3  # of each style
_SHOWN_CHARACTERS = 200  # of an example
_SAMPLED_DOCUMENTS = 1000  # of a corpus, and a few more
_SAMPLED_CHARACTERS = 1000  # of each, its beginning, to tell whether it has marks and capitals
_SHOWN_FILES = 5  # of those that a warning names


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
    workers: int = 1  # processes; any number of them makes the same data set

    def __post_init__(self) -> None:
        check_range(self, "holdout_percent", least=0, most=99)
        _ = self.pauses_ms  # raises ConfigError if they are wrong
        check_range(self, "seed", least=0)
        check_range(self, "workers", least=1)

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
    corpora: tuple[Mapping[str, Any], ...]  # of each its title, style and counts
    marks: Mapping[str, int]  # how often each is in the counted training chunks, the most frequent first
    examples: tuple[Chunk, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]  # what was left out, and why


def prepare(config: PrepareConfig) -> PrepareReport:
    """Make a data set in the folder `config.output`, whose other files stay.

    Raises ConfigError if there is nothing to make it of, or if a data set would be overwritten.
    """
    from datasets import DatasetDict

    from ...model import find, load_tokenizer, read_task

    check(config.corpora, "no corpora", expected="corpora: [{path: FILE, style: talk}]", fix="see configs/")
    tokenizer = None
    if config.tokenizer is not None:
        tokenizer = load_tokenizer(config.tokenizer, read_task(find(config.tokenizer, "tokenizer")))
    task = TaskConfig() if tokenizer is None else tokenizer.task
    target = Path(config.output)
    corpora = []
    for corpus in config.corpora:
        task.prefix_for(corpus.style)  # an unknown style is reported here, not in training
        folder = Path(config.root, corpus.path)
        if corpus.path and folder.is_dir():
            is_inside = target.resolve().is_relative_to(folder.resolve())
            mistake = f"output {config.output} lies in the corpus {folder}"
            check(not is_inside, mistake, expected="another folder", fix="choose another output")
        corpora.append(replace(corpus, path=str(folder)) if corpus.path else corpus)
    with lock_folder(target), partial_folder(target) as output:
        in_the_way = [name for name in _MADE if (target / name).exists()]
        mistake = f"output {target} holds {', '.join(in_the_way)} already"
        fix = "remove it or choose another output"
        check(not in_the_way, mistake, expected="a folder without a data set", fix=fix)
        output.mkdir()
        with tempfile.TemporaryDirectory(dir=output, prefix=".cache-") as cache:
            documents = [read_documents(corpus, config.pauses_ms, cache, config.holdout_percent) for corpus in corpora]
            warnings = [warning for each in documents for warning in check_text(each, cased=config.cased)]
            splits = {}
            for name in _SPLITS:
                rows = _cut_split(config, tokenizer, documents, name, cache)
                splits[name] = rows.shuffle(seed=config.seed)
            report = _report(config, documents, splits, warnings)
            DatasetDict(splits).save_to_disk(str(output))
            if config.cased:
                write_table(learn_table(row["target"] for row in splits["train"]), output)
        settings.save(config, output / SETTINGS)
        (output / REPORT).write_text(as_text(report), encoding="utf-8")
        counts = [{name: corpus[name] for name in ("style", "documents", "words")} for corpus in report.corpora]
        counted = json.dumps({"train_words": report.train_words, "corpora": counts}, indent=2)
        (output / COUNTS).write_text(counted + "\n", encoding="utf-8")
        move(output, target, last=_LAST)
    return report


def check_text(documents: Documents, *, cased: bool) -> list[str]:
    """Return warnings, a line each, about a corpus that probably has not the text that training needs.

    Raises InputError if most of it is in languages without spaces between words.
    """
    title = documents.corpus.title
    rows = list(documents.lengths)  # the numbers of those that are not empty
    beginnings = [
        documents.rows[row]["text"][:_SAMPLED_CHARACTERS] for row in rows[:: max(1, len(rows) // _SAMPLED_DOCUMENTS)]
    ]
    if 2 * sum(map(is_unspaced, beginnings)) > len(beginnings):
        raise unspaced_error(title)
    n_words = sum(len(text.split()) for text in beginnings)
    n_marks = sum(map(count_marks, beginnings))
    warnings = []
    findings = documents.findings
    expected = "expected text with its own case"
    if n_marks < FEWEST_MARKS * n_words:
        warnings.append(
            f"{title}: {n_marks} marks in {n_words:,} words of samples; expected punctuated text, about one mark in "
            "eight words; leave it out, or check corpora.column"
        )
    elif findings.without_marks:
        files = _names_of(findings.without_marks)
        warnings.append(f"{title}: hardly a mark in {files}; expected punctuated text; leave such files out")
    if cased and all(map(is_one_case, beginnings)):
        warnings.append(f"{title}: no capitals, or nothing else; {expected}; leave it out, or set cased=false")
    elif cased and findings.without_case:
        files = _names_of(findings.without_case)
        warnings.append(f"{title}: no capitals, or nothing else, in {files}; {expected}; leave such files out")
    return warnings


def _names_of(files: Sequence[str]) -> str:
    """Return the first names of a list of files, and how many others there are."""
    n_others = len(files) - _SHOWN_FILES
    return ", ".join(files[:_SHOWN_FILES]) + (f" and {n_others} others" if n_others > 0 else "")


def _cut_split(
    config: PrepareConfig, tokenizer: TaskTokenizer | None, documents: Sequence[Documents], split_name: str, cache: str
) -> Any:
    """Return the chunks of a split, corpus after corpus, as a `datasets.Dataset` in the folder `cache`."""
    from datasets import Dataset, Features, Value
    from datasets.fingerprint import generate_random_fingerprint

    pieces = list[dict[str, Any]]()  # as rows of a table, so that several processes can cut them
    for index, documents_of_corpus in enumerate(documents):
        planned = [piece for piece in plan_pieces(documents_of_corpus, split_name, config.seed) if piece.n_words]
        pieces += [{"corpus": index, "number": number, **asdict(piece)} for number, piece in enumerate(planned)]

    def n_tokens(chunk: Chunk) -> int:
        if tokenizer is None:
            return 0
        source = tokenizer.source(chunk.source.split(), chunk.style).ids
        return max(len(source), len(tokenizer.encode_target(chunk.target)))

    def cut(batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Return the columns of the chunks of some pieces, given their columns."""
        chunks = list[Chunk]()
        # the columns of `pieces`: corpus, number, and the fields of a `Piece`
        for index, number, rows, n_words, start in zip(*batch.values(), strict=True):
            corpus = config.corpora[index]
            rng = random.Random(f"{config.seed} {corpus.title} {split_name} {number}")
            text = documents[index].text_of(Piece(rows, n_words, start))
            chunks += cut_into_chunks(
                text, config.chunks, rng, style=corpus.style, cased=config.cased, n_tokens=n_tokens
            )
        return {name: [getattr(chunk, name) for chunk in chunks] for name in _COLUMNS}

    features = Features({name: Value(kind) for name, kind in _COLUMNS.items()})
    if not pieces:
        return Dataset.from_dict({name: [] for name in _COLUMNS}, features)
    return Dataset.from_list(pieces).map(
        cut, batched=True, batch_size=_PIECES_IN_MEMORY, features=features, remove_columns=list(pieces[0]),
        num_proc=config.workers if config.workers > 1 else None,
        cache_file_name=f"{cache}/{split_name}.arrow", new_fingerprint=generate_random_fingerprint(),
    )  # fmt: skip


def _report(
    config: PrepareConfig, documents: Sequence[Documents], splits: Mapping[str, Any], warnings: list[str]
) -> PrepareReport:
    """Return what was made of the corpora.  Raises ConfigError if there is no chunk to train on."""
    train = splits["train"]
    min_words = config.chunks.min_words
    corpora = list[dict[str, Any]]()  # rows of the report; `words` are those taken for training, between white space
    totals = Counter[str]()  # of the numbers in all rows
    notes_on_corpora = list[str]()
    for each in documents:
        corpus = each.corpus
        n_documents = len(each.lengths)
        lengths = [piece.n_words for piece in plan_pieces(each, "train", config.seed)]
        numbers = {
            "documents": n_documents,
            "held out": sum(len(piece.rows) for piece in plan_pieces(each, "validation", config.seed)),
            "words": sum(lengths), "too short": sum(n_words < min_words for n_words in lengths),
            "empty": len(each.rows) - n_documents,
        }  # fmt: skip
        corpora.append({"corpus": corpus.title, "style": corpus.style, **numbers})
        totals.update(numbers)
        notes_on_corpora += [f"{corpus.title}: {note}" for note in (*find_sources(corpus)[1], *each.findings.left_out)]
        if n_documents == 1 and numbers["held out"]:
            notes_on_corpora.append(f"{corpus.title}: one document, whose end is held out")
    if not len(train):
        longest = max(max(each.lengths.values()) for each in documents)
        raise ConfigError(
            f"no chunk to train on: {totals['documents']} documents, {totals['held out']} held out, the longest with "
            f"{longest} words",
            expected=f"documents of {min_words} words and more",
            fix="raise corpora.words, which all documents share, lower holdout_percent or chunks.min_words, make "
            "longer documents of lines with corpora.join or corpora.document, or add text",
        )
    if not len(splits["validation"]):
        warnings.append(
            f"no chunk to validate with; expected held-out documents of {min_words} words and more; "
            "raise holdout_percent or add text"
        )
    n_words = sum(train["n_words"][:])
    n_taken = totals["words"]
    n_used = n_words
    if config.pauses_ms:  # tokens of silences are counted among a document's words, so among those used, too
        batches = train.select_columns("source").iter(_COUNTED_ROWS)
        n_used = sum(len(source.split()) for batch in batches for source in batch["source"])
    notes = list[str]()
    if n_taken > n_used:
        counted = "words and silences" if config.pauses_ms else "words"
        notes.append(
            f"left out: {n_taken - n_used:,} of {n_taken:,} {counted} are in no chunk: those before the first, which "
            "begins anywhere in a document so that windows begin inside sentences too; rests of fewer than "
            f"{min_words} words (chunks.min_words); signs that stand alone"
        )
    n_short, n_empty = totals["too short"], totals["empty"]
    if n_short or n_empty:
        notes.append(f"dropped: {n_short:,} documents with too few words for a window, {n_empty:,} empty rows")
    marks = Counter[str]()  # of each word; empty for one without marks, so that their total is one of words
    examples: dict[str, list[Chunk]] = {}  # by style
    for row in train:
        marks.update(word.marks for word in split(row["target"]).words)
        if len(examples.setdefault(row["style"], [])) < _EXAMPLES:
            examples[row["style"]].append(Chunk(**row))
        if marks.total() >= _COUNTED_WORDS:
            break
    ordered = sorted(marks.items(), key=lambda item: (-item[1], item[0]))
    return PrepareReport(
        config.output, len(train), n_words, len(splits["validation"]), tuple(corpora), dict(ordered),
        tuple(chunk for chunks in examples.values() for chunk in chunks), tuple(warnings), (*notes, *notes_on_corpora),
    )  # fmt: skip


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
