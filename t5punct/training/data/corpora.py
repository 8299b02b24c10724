"""Corpora: which documents are for training, which for validation, and which share of each is taken.

`read_documents` reads a corpus once, into a table on the disk, so that it may be larger than the memory.  `plan_pieces`
chooses by the lengths of documents: with a budget of words, every document gives one random stretch, in proportion to
its length.  For validation are the last `holdout_percent` of the documents, or one in `holdout_every`, for files whose
parts differ; of a single document it is the end.  `iter_texts` yields the text of what was chosen.
"""

from __future__ import annotations

import glob
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...config import check
from ...errors import InputError, T5PunctError
from ...text.io.files import check_source, find_files, unpacked_name
from ...text.languages import is_unspaced
from .readers import PREFERRED, READERS, CorpusConfig, ending_of, hub_documents, is_saved, read_text, saved_documents

_ROWS_IN_MEMORY = 20  # documents that are written to the table at a time; each may be a book
_SAMPLED_CHARACTERS = 1000  # of each document, its beginning, to tell whether it has marks and capitals
_MARK = re.compile(r"[.,?!;:…](?=\s|$)")
_COLUMNS = {
    "text": "string", "n_words": "int64", "sampled": "int64", "marks": "int64", "is_cased": "bool",
    "is_unspaced": "bool",
}  # fmt: skip


def source_documents(corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield all documents of a corpus, "" for an empty row of a table."""
    if corpus.dataset is not None:
        yield from hub_documents(corpus)
    for path in find_sources(corpus)[0]:
        if is_saved(path):
            yield from saved_documents(path, corpus)
        else:
            read = READERS.get(ending_of(path), read_text)
            yield from read(path, corpus, pauses_ms)


def find_sources(corpus: CorpusConfig) -> tuple[list[Path], list[str]]:
    """Return the files of a corpus that are read, in order, and notes on those of a folder that are not.

    A file with an unknown ending is read as text if the corpus names it.  Of several files of one recording, as Whisper
    writes it in five formats, only one is read: else one could be learned from and another one scored with.
    """
    if corpus.dataset is not None:
        return [], []
    check(corpus.path, "a corpus without a path", expected="corpora: [{path: FILE}]", fix="name a file")
    path = Path(corpus.path)
    if path.is_dir() and not is_saved(path):
        _, files = find_files(corpus.path)
        readable = [file for file in files if ending_of(file) in READERS]
        mistake, expected = f"folder {path} holds no text", f"files that end with {', '.join(READERS)}"
        check(readable, mistake, expected=expected, fix="name the files", kind=InputError)
    elif path.exists() or not glob.has_magic(corpus.path):
        if not path.is_dir():
            check_source(path)
        return [path], []
    else:  # a pattern
        _, files = find_files(corpus.path)
        readable = files
        mistake, expected = f"no file {corpus.path}", "a pattern that files fit"
        check(readable, mistake, expected=expected, fix="check the path", kind=InputError)
    # of files whose names differ only in the ending, the one in the first format of `PREFERRED`
    recordings = [file for file in readable if ending_of(file) in PREFERRED]
    first_of_name: dict[Path, Path] = {}  # by the path without its ending
    for file in sorted(recordings, key=lambda file: PREFERRED.index(ending_of(file))):
        first_of_name.setdefault(file.with_name(Path(unpacked_name(file)).stem), file)
    copies = {*recordings} - {*first_of_name.values()}
    notes = _count_endings([file for file in files if file not in readable], "no reader for it")
    notes += _count_endings([file for file in readable if file in copies], "another format of a file that is read")
    return [file for file in readable if file not in copies], notes


def _count_endings(files: Sequence[Path], why: str) -> list[str]:
    counts = Counter(ending_of(file) or file.name for file in files)
    return [f"{number} x {ending} left out: {why}" for ending, number in sorted(counts.items())]


@dataclass(frozen=True)
class Documents:
    """The documents of a corpus: `rows` of a `datasets.Dataset`, some of them empty.

    Columns: text; n_words, the pieces between white space; and of its beginning: sampled, the number of words; marks,
    their number; is_cased, whether it has capitals and small letters; is_unspaced, no spaces between words.
    """

    corpus: CorpusConfig
    rows: Any
    holdout_percent: float

    @property
    def lengths(self) -> dict[int, int]:
        """Return the number of words of each document that is not empty, by its row."""
        counts = enumerate(self.rows["n_words"][:])  # [:] reads them at once; one by one takes 0.1 ms each
        return {row: n_words for row, n_words in counts if n_words}


@dataclass(frozen=True, slots=True)
class Piece:
    """Some joined documents, by their rows: `n_words` words of them from `start` on, or all (None)."""

    rows: tuple[int, ...]
    n_words: int
    start: int | None = None


def read_documents(corpus: CorpusConfig, pauses_ms: tuple[int, ...], cache: str, holdout_percent: float) -> Documents:
    """Read a corpus into a table in the folder `cache`.  Raises InputError if it holds no text.

    With `pauses_ms`, a token stands at every silence between words with times, another one for each of these lengths.
    """
    arguments = {"corpus": corpus, "pauses_ms": pauses_ms, "holdout_percent": holdout_percent}
    rows = make_table(_document_rows, _COLUMNS, arguments, cache, writer_batch_size=_ROWS_IN_MEMORY)
    documents = Documents(corpus, rows, holdout_percent)
    fix = "check the path or corpora.column"
    check(documents.lengths, f"no text in {corpus.title}", expected="a file with text", fix=fix, kind=InputError)
    return documents


def make_table(
    generate: Callable[..., Iterator[dict[str, Any]]], columns: Mapping[str, str], arguments: dict[str, Any],
    cache: str, **more: Any,
) -> Any:  # fmt: skip
    """Return the rows of a generator as a `datasets.Dataset` in the folder `cache`; it may be empty.

    columns: name -> type; more: what `Dataset.from_generator` takes.  Raises the generator's own error, and not the
    DatasetGenerationError that `datasets` makes of it.
    """
    from datasets import Dataset, Features, Value
    from datasets.exceptions import DatasetGenerationError

    features = Features({name: Value(kind) for name, kind in columns.items()})
    if next(generate(**arguments), None) is None:  # `datasets` refuses a generator without rows
        return Dataset.from_dict({name: [] for name in columns}, features=features)
    try:
        return Dataset.from_generator(generate, features=features, gen_kwargs=arguments, cache_dir=cache, **more)
    except DatasetGenerationError as error:
        if isinstance(error.__cause__, T5PunctError | OSError):
            raise error.__cause__ from None
        # of an error in another process we get the text alone
        system_error = re.search(r"^OSError: (.*)$", str(error.__cause__), re.MULTILINE)
        if system_error:
            raise OSError(system_error[1]) from None
        for _ in generate(**arguments):  # raises it again, here
            pass
        raise


def _document_rows(
    corpus: CorpusConfig, pauses_ms: tuple[int, ...], holdout_percent: float
) -> Iterator[dict[str, Any]]:
    """Yield the documents as rows of the table; of a stream, as many as its budget needs for both splits."""
    n_left = sum(_budget(corpus, split, holdout_percent) or 0 for split in ("train", "validation"))
    for text in source_documents(corpus, pauses_ms):
        sample = text[:_SAMPLED_CHARACTERS]
        n_words = len(text.split())
        yield {
            "text": text, "n_words": n_words, "sampled": len(sample.split()), "marks": len(_MARK.findall(sample)),
            "is_cased": sample not in (sample.lower(), sample.upper()), "is_unspaced": is_unspaced(sample),
        }  # fmt: skip
        n_left -= n_words
        if corpus.streaming and corpus.words and n_left <= 0:
            return


def iter_texts(documents: Documents, pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield the text of each piece; pieces without words, of short documents under a small budget, are left out."""
    for piece in pieces:
        text = " ".join(documents.rows[row]["text"] for row in piece.rows)
        if piece.start is None:
            yield text
        elif piece.n_words:
            yield " ".join(text.split()[piece.start : piece.start + piece.n_words])


def plan_pieces(documents: Documents, split: str, seed: int) -> Iterator[Piece]:
    """Yield the pieces that one split takes, in order."""
    corpus = documents.corpus
    lengths = documents.lengths
    rows = list(lengths)
    budget = _budget(corpus, split, documents.holdout_percent)
    name = corpus.dataset or Path(corpus.path).name  # without its folder: a corpus that is moved draws the same
    rng = random.Random(f"{seed} {name} {split}")
    if len(rows) == 1:
        yield from _plan_single(rows[0], lengths[rows[0]], documents.holdout_percent, split, budget, rng)
        return
    heldout = _heldout(len(rows), corpus.holdout_every, documents.holdout_percent)
    chosen = [row for number, row in enumerate(rows) if (number in heldout) == (split != "train")]
    if corpus.join > 1:
        rng.shuffle(chosen)
    total = sum(lengths[row] for row in chosen)
    owed = 0.0  # the shares of the budget so far, less the words taken, as shares are no whole numbers
    for first in range(0, len(chosen), corpus.join):
        joined = tuple(chosen[first : first + corpus.join])
        n_words = sum(lengths[row] for row in joined)
        if budget is None or total <= budget:
            yield Piece(joined, n_words)
            continue
        owed += budget / total * n_words
        n_taken = min(int(owed), n_words)
        owed -= n_taken
        yield Piece(joined, n_taken, rng.randint(0, n_words - n_taken))


def _plan_single(
    row: int, n_words: int, holdout_percent: float, split: str, budget: int | None, rng: random.Random
) -> Iterator[Piece]:
    """Yield what a split takes of a single document: of its beginning to train on, of its end to validate."""
    n_validation = round(n_words * holdout_percent / 100)
    n_train = n_words - n_validation
    start, n_split = (0, n_train) if split == "train" else (n_train, n_validation)
    n_taken = n_split if budget is None else min(budget, n_split)
    if n_taken:
        yield Piece((row,), n_taken, start + rng.randint(0, n_split - n_taken))


def _budget(corpus: CorpusConfig, split: str, holdout_percent: float) -> int | None:
    """Return how many words of a split to take; None: all."""
    if not corpus.words:
        return None
    percent = 100 / corpus.holdout_every if corpus.holdout_every else holdout_percent
    return corpus.words if split == "train" else round(corpus.words * percent / 100)


def _heldout(n_documents: int, every: int, percent: float) -> Sequence[int]:
    """Return the numbers of the documents for validation: at least one, unless `percent` is 0."""
    if every and n_documents >= every:
        return range(every - 1, n_documents, every)
    n_heldout = max(1, round(n_documents * percent / 100)) if percent else 0
    return range(n_documents - n_heldout, n_documents)
