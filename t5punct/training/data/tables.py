"""Documents in a column of a table: csv, parquet, a saved data set, a data set of the hub; all read by `datasets`.

In: files or an id, and a column's name.  Out: its texts, row by row; "" where a row has none.

`table_documents("csv", [Path("talks.csv")], "text")` yields what stands under `text`.  Tables are never in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...errors import InputError, T5PunctError, first_line
from .corpus import CorpusConfig

_OPTIONS: dict[str, dict[str, Any]] = {"csv": {"keep_default_na": False}, "parquet": {}}  # "NA" is text, too
_SAVED = ("dataset_dict.json", "state.json")  # what `save_to_disk` leaves


def table_documents(kind: str, path: Path, column: str) -> Iterator[str]:
    """Yield the texts of a csv or parquet file."""
    from datasets import load_dataset

    try:
        rows = load_dataset(kind, data_files=[str(path)], split="train", streaming=True, **_OPTIONS[kind])
        yield from _texts(rows, column, str(path))
    except T5PunctError:
        raise
    except Exception as error:  # pandas', pyarrow's, and those of datasets have no common base
        raise InputError(
            f"{path} cannot be read ({first_line(error)})", expected=f"a {kind} file", fix="check the file"
        ) from error


def is_saved(folder: Path) -> bool:
    """Return whether `datasets` has saved a data set in a folder."""
    return any((folder / name).is_file() for name in _SAVED)


def saved_documents(folder: Path, corpus: CorpusConfig) -> Iterator[str]:
    """Yield the texts of a data set that `datasets` has saved."""
    from datasets import DatasetDict, load_from_disk

    try:
        rows = load_from_disk(str(folder))
    except Exception as error:  # as above
        raise InputError(
            f"{folder} cannot be read ({first_line(error)})", expected="a saved data set", fix="save it again"
        ) from error
    if isinstance(rows, DatasetDict):
        if corpus.split not in rows:
            raise InputError(
                f"no split {corpus.split!r} in {folder}", expected=f"one of {', '.join(rows)}", fix="set corpora.split"
            )
        rows = rows[corpus.split]
    yield from _texts(rows, corpus.column, str(folder))


def hub_documents(corpus: CorpusConfig) -> Iterator[str]:
    """Yield the texts of a data set that the user names by id; with `streaming`, nothing of it is kept on the disk."""
    from datasets import load_dataset

    try:
        rows = load_dataset(
            corpus.dataset, corpus.subset, split=corpus.split, revision=corpus.revision, streaming=corpus.streaming
        )
    except Exception as error:  # no network, no such id, subset, split or revision
        raise InputError(
            f"no data set {corpus.dataset}, split {corpus.split} ({first_line(error)})",
            expected="the id of a data set, and what it has",
            fix="check corpora.dataset, corpora.subset, corpora.split and the network",
        ) from error
    yield from _texts(rows, corpus.column, str(corpus.dataset))


def _texts(rows: Any, column: str, name: str) -> Iterator[str]:
    rows = iter(rows)
    first = list(islice(rows, 1))
    if first and column not in first[0]:
        raise InputError(
            f"no column {column!r} in {name}", expected=f"one of {', '.join(first[0])}", fix="set corpora.column"
        )
    for number, row in enumerate(chain(first, rows), start=1):
        text = row[column]
        if text is not None and not isinstance(text, str):
            raise InputError(
                f"{name} row {number}: {str(text)[:40]!r} under {column!r}", expected="text", fix="set corpora.column"
            )
        yield text or ""
