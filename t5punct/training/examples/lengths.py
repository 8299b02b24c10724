"""How many tokens each chunk of a data set has, counted once and stored with it.

In: chunks and a tokenizer.  Out: the number of source tokens of each chunk, before errors.

Batches are made of chunks of about one length in tokens, so all chunks have to be counted before the first step: a
minute for each 40,000 chunks on one core, which a run on a GPU cannot spare.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from ...t5.task import PAUSES
from ...t5.tokenization import TaskTokenizer
from ...text.io.files import whole_file

_CHUNKS_AT_ONCE = 1000
_log = logging.getLogger(__name__)


def stored_lengths(folder: Path, rows: Any, tokenizer: TaskTokenizer, workers: int = 0) -> list[int]:
    """Return the lengths of a split's chunks, from the data set's folder if this tokenizer has counted them before."""
    file = folder / f"lengths-{_key(rows, tokenizer)}.npy"
    try:
        return list(map(int, np.load(file, allow_pickle=False)))
    except (OSError, ValueError):  # none yet, or not whole
        lengths = count_tokens(rows, tokenizer, workers)
    try:
        with whole_file(file) as partial, partial.open("wb") as handle:
            np.save(handle, np.array(lengths, dtype=np.int32), allow_pickle=False)
    except OSError as error:
        _log.info("%s cannot be written (%s): the next run counts again", file, error)
    return lengths


def count_tokens(rows: Any, tokenizer: TaskTokenizer, workers: int = 0) -> list[int]:
    """Return the number of source tokens of each chunk, prefix, silences and end included."""
    counted, apart = _Lengths(rows, tokenizer), torch.Generator()  # leaves the global generator alone
    loader = DataLoader(counted, _CHUNKS_AT_ONCE, num_workers=workers, collate_fn=list, generator=apart)
    return [length for some in loader for length in some]


def without_pauses(source: str) -> tuple[list[str], list[int]]:
    """Return the words of a chunk's source, and how long a silence follows each: 0, or 1 + its place in `PAUSES`."""
    words: list[str] = []
    pauses: list[int] = []
    for piece in source.split():
        if piece in PAUSES:
            pauses[-1:] = [1 + PAUSES.index(piece)]
        else:
            words.append(piece)
            pauses.append(0)
    return words, pauses


class _Lengths(Dataset[int]):
    """The lengths of chunks, for a loader to count with many processes."""

    def __init__(self, rows: Any, tokenizer: TaskTokenizer) -> None:
        self._rows, self._tokenizer = rows, tokenizer

    def __len__(self) -> int:
        return len(self._rows)

    def __getitems__(self, indices: Sequence[int]) -> list[int]:
        some = self._rows[indices]
        return [self._n_tokens(*pair) for pair in zip(some["source"], some["style"], strict=True)]

    def _n_tokens(self, source: str, style: str) -> int:
        words, pauses = without_pauses(source)
        return len(self._tokenizer.source(words, style, pauses=pauses).ids)


def _key(rows: Any, tokenizer: TaskTokenizer) -> str:
    """What the lengths depend on: the chunks, the pieces and the text form."""
    task, own = tokenizer.task, tokenizer.tokenizer
    pieces = hashlib.sha256(repr(sorted(own.get_vocab().items())).encode()).hexdigest()
    parts = rows._fingerprint, len(rows), pieces, task.prefix, task.pauses_ms, task.inline_case
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
