"""Corpora: which documents are for training, which for validation, and which share of each is taken.

In: a `CorpusConfig`.  Out: its documents in a table on the disk, and of one split the texts that are taken.

`iter_documents(CorpusConfig("talks.txt.xz", style="talk", words=1000), "train", seed=1)` yields stretches of talks that
hold about 1,000 words together, none of them from the file's last lines, which are kept for validation.  A corpus is
read once, and may be larger than the memory.
"""

from __future__ import annotations

import glob
import random
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import ConfigError, InputError, T5PunctError
from ...text.io.files import check_source, unpacked_name
from .readers import PREFERRED, READERS, CorpusConfig, hub_documents, is_saved, read_text, saved_documents

_ROWS_IN_MEMORY = 20  # documents that are written to the table at a time; each may be a book


@dataclass(frozen=True)
class Sources:
    """The files of a corpus, in order, and what a folder holds besides: the ending, how often, and why it is left."""

    files: tuple[Path, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document, "" for an empty row of a table, and the file or data set that it stands in."""

    text: str
    source: str


def source_documents(corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[Document]:
    """Yield all documents of a corpus."""
    if corpus.dataset is not None:
        yield from (Document(text, corpus.dataset) for text in hub_documents(corpus))
        return
    for path in find_sources(corpus).files:
        if is_saved(path):
            texts = saved_documents(path, corpus)
        else:
            texts = READERS.get(_ending(path), read_text)(path, corpus, pauses_ms)
        yield from (Document(text, str(path)) for text in texts)


def find_sources(corpus: CorpusConfig) -> Sources:
    """Return the files that a corpus names; one that is named itself is text if its ending is unknown."""
    if corpus.dataset is not None:
        return Sources(())
    if not corpus.path:
        raise ConfigError("a corpus without a path", expected="corpora: [{path: FILE}]", fix="name a file")
    path = Path(corpus.path)
    if path.is_dir() and not is_saved(path):
        return _of_folder(path)
    if path.exists() or not glob.has_magic(corpus.path):
        if not path.is_dir():
            check_source(path)
        return Sources((path,))
    paths = sorted(Path(name) for name in glob.glob(corpus.path, recursive=True) if Path(name).is_file())  # noqa: PTH207
    if not paths:
        raise InputError(f"no file {corpus.path}", expected="a pattern that files fit", fix="check the path")
    return _read_once(paths)


def _of_folder(folder: Path) -> Sources:
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    readable = [path for path in paths if _ending(path) in READERS]
    if not readable:
        raise InputError(
            f"folder {folder} holds no text", expected=f"files that end with {', '.join(READERS)}", fix="name the files"
        )
    return _read_once(readable, _notes((path for path in paths if _ending(path) not in READERS), "no reader for it"))


def _read_once(paths: Sequence[Path], notes: Sequence[str] = ()) -> Sources:
    """The files but for those that say what another says, as Whisper writes each recording in five formats.

    Read twice, a recording could be learned from and scored with at the same time.
    """
    transcripts = sorted(
        (path for path in paths if _ending(path) in PREFERRED), key=lambda path: PREFERRED.index(_ending(path))
    )
    best = {path.with_name(Path(unpacked_name(path)).stem): path for path in reversed(transcripts)}
    again = set(transcripts) - set(best.values())
    return Sources(
        tuple(path for path in paths if path not in again),
        (*notes, *_notes(again, "another format of a file that is read")),
    )


def _notes(paths: Iterable[Path], why: str) -> list[str]:
    """What is left out: how many files of each ending, and why."""
    counts = Counter(_ending(path) or path.name for path in paths)
    return [f"{number} x {ending} left out: {why}" for ending, number in sorted(counts.items())]


def _ending(path: Path) -> str:
    return Path(unpacked_name(path)).suffix.lower()


@dataclass(frozen=True)
class Documents:
    """The documents of a corpus: `rows` of a `datasets.Dataset` (text, source, n_words), some of them empty."""

    corpus: CorpusConfig
    rows: Any
    numbers: array[int]  # the rows that are not empty
    left_out: tuple[str, ...] = ()  # files of a folder that are not read, as endings and counts, and why

    @property
    def n_empty(self) -> int:
        """How many rows are empty."""
        return len(self.rows) - len(self.numbers)

    @property
    def n_words(self) -> list[int]:
        """Pieces between white space, of each document that is not empty."""
        counts = self.rows["n_words"][:]  # read at once: by one it takes 0.1 ms
        return [counts[number] for number in self.numbers]

    def text(self, number: int) -> str:
        """Return the text of a document that is not empty."""
        return str(self.rows[self.numbers[number]]["text"])


@dataclass(frozen=True, slots=True)
class Piece:
    """What is taken: documents by their numbers, joined; of these some words from `start` on, or all (None)."""

    documents: tuple[int, ...]
    n_words: int
    start: int | None = None


def read_documents(corpus: CorpusConfig, pauses_ms: tuple[int, ...], cache: str, holdout_percent: float) -> Documents:
    """Read a corpus into a table in the folder `cache`.  Raises InputError if it holds no text.

    With `pauses_ms`, a token stands at every silence between words with times, another one for each of these lengths.
    """
    from datasets import Dataset, Features, Value

    features = Features({"text": Value("string"), "source": Value("string"), "n_words": Value("int64")})
    arguments: dict[str, Any] = {"corpus": corpus, "pauses_ms": pauses_ms, "holdout_percent": holdout_percent}
    if next(_rows(**arguments), None) is None:  # what `datasets` cannot make a table of
        raise InputError(f"no text in {corpus.title}", expected="a file with text", fix="check the path")
    with raise_own_error():
        rows = Dataset.from_generator(
            _rows, features=features, cache_dir=cache, gen_kwargs=arguments, writer_batch_size=_ROWS_IN_MEMORY
        )
    numbers = array("q", (number for number, n_words in enumerate(rows["n_words"][:]) if n_words))
    documents = Documents(corpus, rows, numbers, find_sources(corpus).left_out)
    if not numbers:
        raise InputError(
            f"no text in {corpus.title}, {documents.n_empty:,} empty rows",
            expected="rows with text",
            fix="check corpora.column",
        )
    return documents


@contextmanager
def raise_own_error() -> Iterator[None]:
    """Raise the error of a generator, and not the one that `datasets` makes of it."""
    from datasets.exceptions import DatasetGenerationError

    try:
        yield
    except DatasetGenerationError as error:
        if isinstance(error.__cause__, T5PunctError | OSError):
            raise error.__cause__ from None
        raise


def _rows(corpus: CorpusConfig, pauses_ms: tuple[int, ...], holdout_percent: float) -> Iterator[dict[str, Any]]:
    documents = source_documents(corpus, pauses_ms)
    for document in _first_words(documents, corpus, holdout_percent) if corpus.streaming else documents:
        yield {"text": document.text, "source": document.source, "n_words": len(document.text.split())}


def _first_words(documents: Iterator[Document], corpus: CorpusConfig, percent: float) -> Iterator[Document]:
    """The first documents of a stream, as many as its budget needs for both splits."""
    budgets = [_budget(corpus, split, percent) for split in ("train", "validation")]
    n_left = sum(budget or 0 for budget in budgets)
    for document in documents:
        yield document
        n_left -= len(document.text.split())
        if corpus.words and n_left <= 0:
            return


def iter_documents(
    corpus: CorpusConfig, split: str, *, seed: int, holdout_percent: float = 1.0, pauses_ms: tuple[int, ...] = ()
) -> Iterator[str]:
    """Yield documents of one split: `validation` are the last `holdout_percent` of the corpus's documents, or one in
    `holdout_every`, for files whose parts differ.  Of a single document it is the end.

    With a budget of words, every document gives one random stretch, in proportion to its length.
    """
    with tempfile.TemporaryDirectory() as cache:
        documents = read_documents(corpus, pauses_ms, cache, holdout_percent)
        yield from iter_texts(documents, plan_pieces(documents, split, seed=seed, holdout_percent=holdout_percent))


def iter_texts(documents: Documents, pieces: Iterator[Piece]) -> Iterator[str]:
    """Yield the texts of pieces; a piece without words is left out."""
    for piece in pieces:
        text = " ".join(documents.text(number) for number in piece.documents)
        if piece.start is None:
            yield text
        elif piece.n_words:
            yield " ".join(text.split()[piece.start : piece.start + piece.n_words])


def plan_pieces(documents: Documents, split: str, *, seed: int, holdout_percent: float = 1.0) -> Iterator[Piece]:
    """Yield the pieces that one split takes, in order."""
    corpus, n_words = documents.corpus, documents.n_words
    if len(n_words) == 1:
        yield from _plan_single(n_words[0], corpus, split, seed, holdout_percent)
        return
    heldout = _heldout(len(n_words), corpus.holdout_every, holdout_percent)
    chosen = [number for number in range(len(n_words)) if (number in heldout) == (split != "train")]
    rng = random.Random(f"{seed} {corpus.name} {split}")
    if corpus.join > 1:
        rng.shuffle(chosen)
    total = sum(n_words[number] for number in chosen)
    budget = _budget(corpus, split, holdout_percent)
    share, owed = (budget / total if budget is not None and total > budget else 1.0), 0.0
    for first in range(0, len(chosen), corpus.join):
        numbers = tuple(chosen[first : first + corpus.join])
        n_whole = sum(n_words[number] for number in numbers)
        if budget is None or total <= budget:
            yield Piece(numbers, n_whole)
            continue
        owed += share * n_whole
        n_taken = min(int(owed), n_whole)
        owed -= n_taken
        yield Piece(numbers, n_taken, rng.randint(0, n_whole - n_taken))


def _plan_single(n_words: int, corpus: CorpusConfig, split: str, seed: int, percent: float) -> Iterator[Piece]:
    """The piece of a corpus's only document: its beginning to train on, its end for validation."""
    n_learned = n_words - round(n_words * percent / 100)
    first, end = (0, n_learned) if split == "train" else (n_learned, n_words)
    budget = _budget(corpus, split, percent)
    n_taken = end - first if budget is None else min(budget, end - first)
    if n_taken:
        rng = random.Random(f"{seed} {corpus.name} {split}")
        yield Piece((0,), n_taken, first + rng.randint(0, end - first - n_taken))


def _budget(corpus: CorpusConfig, split: str, holdout_percent: float) -> int | None:
    """How many words of a split to take; None for all."""
    if not corpus.words:
        return None
    percent = 100 / corpus.holdout_every if corpus.holdout_every else holdout_percent
    return corpus.words if split == "train" else round(corpus.words * percent / 100)


def _heldout(n_documents: int, every: int, percent: float) -> Sequence[int]:
    """The documents that are kept for validation: at least one, if there are two; none if that is asked for."""
    if every and n_documents >= every:
        return range(every - 1, n_documents, every)
    n_heldout = max(1, round(n_documents * percent / 100)) if n_documents > 1 and percent else 0
    return range(n_documents - n_heldout, n_documents)


def locate(corpus: CorpusConfig, root: str) -> CorpusConfig:
    """Return a corpus whose path is relative to a folder."""
    return replace(corpus, path=str(Path(root) / corpus.path)) if corpus.path else corpus
