"""Documents -> training chunks: (source, target) pairs of words in random windows, and how many tokens they have.

A silence is a piece of its own in a document, `He said: <extra_id_1> Go!`, and in a source.

>>> chunk_of(split('He said: "Go!"').words, style="prose", cased=True)
Chunk(source='he said go', target='He said: Go!', style='prose', n_words=3)
"""

from __future__ import annotations

import hashlib
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...config import check, check_range
from ...t5.task import PAUSES, silence_tokens
from ...text.io.files import whole_file
from ...text.words import Word, split

if TYPE_CHECKING:
    from ...t5.tokenization import TaskTokenizer

_CHUNKS_AT_ONCE = 1000  # that are counted
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChunkConfig:
    """How long the windows of a data set are."""

    min_words: int = 8  # the shortest window; a shorter rest of a document is left out
    max_words: int = 64  # the longest window
    max_tokens: int = 512  # of source and target, the longer one; windows are made shorter for it, and no word is lost

    def __post_init__(self) -> None:
        is_possible = 1 <= self.min_words <= self.max_words
        mistake, expected = f"windows of {self.min_words} to {self.max_words} words", "1 <= min_words <= max_words"
        check(is_possible, mistake, expected=expected, fix="set chunks.min_words and chunks.max_words")
        check_range(self, "chunks.", 1, "max_tokens")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One training example as text."""

    source: str
    target: str
    style: str
    n_words: int  # without silences


def chunk_of(words: Sequence[Word], *, style: str, cased: bool) -> Chunk:
    """Return the example of some words: without quotes and brackets, with marks and opening marks."""
    source = list[str]()
    target = list[str]()
    for word in words:
        core = word.core if cased else word.normal
        source += [word.normal, *silence_tokens(word.pause)]
        target.append(word.opening + Word(core).with_marks(word.marks) if word.has_slot else core)
    return Chunk(" ".join(source), " ".join(target), style, len(words))


def cut_into_chunks(
    document: str, config: ChunkConfig, rng: random.Random, *,
    style: str, cased: bool = True, n_tokens: Callable[[Chunk], int] | None = None,
) -> Iterator[Chunk]:  # fmt: skip
    """Yield windows of random length of a document; the first starts anywhere in the first `max_words` words.

    Every word is used once, except those before the start and a rest shorter than `min_words` at the end.  A window
    with more than `max_tokens` tokens is halved until it fits; the words left over start the next one.  Raises
    ConfigError for a single word with more.
    """
    words = words_with_silences(document)
    start = rng.randrange(max(1, min(config.max_words, len(words) - config.max_words)))
    while len(words) - start >= config.min_words:
        length = rng.randint(config.min_words, config.max_words)
        chunk = chunk_of(words[start : start + length], style=style, cased=cased)
        while n_tokens and n_tokens(chunk) > config.max_tokens:
            mistake = f"the word {chunk.source[:40]!r} alone has more than {config.max_tokens} tokens"
            expected, fix = "max_tokens above every word's tokens", "raise chunks.max_tokens or clean the text"
            check(chunk.n_words > 1, mistake, expected=expected, fix=fix)
            chunk = chunk_of(words[start : start + chunk.n_words // 2], style=style, cased=cased)
        yield chunk
        start += chunk.n_words


def words_with_silences(document: str) -> list[Word]:
    """Return the words that have a slot, with the silences after them."""
    words: list[Word] = []
    for word in split(document).words:
        if word.text not in PAUSES and word.has_slot:
            words.append(word)
        elif word.text in PAUSES and words:
            words[-1] = replace(words[-1], pause=1 + PAUSES.index(word.text))
    return words


def stored_lengths(folder: Path, rows: Any, tokenizer: TaskTokenizer, workers: int = 0) -> list[int]:
    """Return `count_tokens` of a split, from a file in the data set's folder if it was counted there before.

    To count them takes a minute for each 40,000 chunks on one core.
    """
    import numpy as np

    task = tokenizer.task
    vocabulary = sorted(tokenizer.tokenizer.get_vocab().items())
    pieces = hashlib.sha256(repr(vocabulary).encode()).hexdigest()
    # all that the lengths depend on
    parts = rows._fingerprint, len(rows), pieces, task.prefix, task.pauses_ms, task.inline_case
    file = folder / f"lengths-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}.npy"
    try:
        return list(map(int, np.load(file, allow_pickle=False)))
    except (OSError, ValueError):  # there is no file yet, or half a one
        lengths = count_tokens(rows, tokenizer, workers)
    try:
        with whole_file(file) as partial, partial.open("wb") as handle:
            np.save(handle, np.array(lengths, dtype=np.int32), allow_pickle=False)
    except OSError as error:
        _log.info("%s cannot be written (%s): the next run counts again", file, error)
    return lengths


def count_tokens(rows: Any, tokenizer: TaskTokenizer, workers: int = 0) -> list[int]:
    """Return the number of source tokens of each chunk, prefix, silences and end included."""
    import torch

    def lengths_from(starts: Sequence[int]) -> list[int]:
        (start,) = starts
        chunks = rows[start : start + _CHUNKS_AT_ONCE]
        lengths = []
        for source, style in zip(chunks["source"], chunks["style"], strict=True):
            words, pauses = without_pauses(source)
            lengths.append(len(tokenizer.source(words, style, pauses=pauses).ids))
        return lengths

    starts: Any = range(0, len(rows), _CHUNKS_AT_ONCE)
    generator = torch.Generator()  # its own, so that nothing is drawn from the global one
    loader = torch.utils.data.DataLoader(starts, num_workers=workers, collate_fn=lengths_from, generator=generator)
    return [length for lengths in loader for length in lengths]


def without_pauses(source: str) -> tuple[list[str], list[int]]:
    """Return the words of a chunk's source, and the silence after each: 0 for none, else 1 + its index in `PAUSES`."""
    words: list[str] = []
    pauses: list[int] = []
    for piece in source.split():
        if piece in PAUSES:
            pauses[-1] = 1 + PAUSES.index(piece)
        else:
            words.append(piece)
            pauses.append(0)
    return words, pauses
