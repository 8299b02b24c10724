"""Documents -> training chunks: (source, target) pairs of words in random windows.

>>> chunk_of(split('He said: "Go!"').words, style="prose", cased=True)
Chunk(source='he said go', target='He said: Go!', style='prose', n_words=3)

A silence is a piece of its own in a document, `He said: <extra_id_1> Go!`, and in a source.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...config import check, check_range
from ...t5.task import PAUSES
from ...text.words import Word, split


@dataclass(frozen=True)
class ChunkConfig:
    """How long the windows of a data set are."""

    min_words: int = 8  # the shortest window; a shorter rest of a document is left out
    max_words: int = 64  # the longest
    max_tokens: int = 512  # of the longer side; windows are made shorter to stay below it, and no word is lost

    def __post_init__(self) -> None:
        found, fix = (
            f"windows of {self.min_words} to {self.max_words} words",
            "set chunks.min_words and chunks.max_words",
        )
        check(1 <= self.min_words <= self.max_words, found, expected="1 <= min_words <= max_words", fix=fix)
        check_range(self, "chunks.", 1, "max_tokens")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One training example as text; `n_words` counts no pauses."""

    source: str
    target: str
    style: str
    n_words: int


def chunk_of(words: Sequence[Word], *, style: str, cased: bool) -> Chunk:
    """Return the example of a run of words: quotes and brackets left out, every label and opening mark kept."""
    cores = [word.core if cased else word.normal for word in words]
    target = " ".join(
        word.opening + Word(core).written(word.label) if word.has_slot else core
        for core, word in zip(cores, words, strict=True)
    )
    source = " ".join(piece for word in words for piece in (word.normal, *PAUSES[: word.pause][-1:]))
    return Chunk(source, target, style, len(words))


def cut_into_chunks(
    document: str,
    config: ChunkConfig,
    rng: random.Random,
    *,
    style: str,
    cased: bool = True,
    n_tokens: Callable[[Chunk], int] | None = None,
) -> Iterator[Chunk]:
    """Cut a document into windows of random length, the first starting anywhere in its first `max_words`.

    Every word is used once, except those before the start and a rest shorter than `min_words` at the end.  A window
    with more than `max_tokens` tokens is halved until it fits; the words left over start the next one.
    """
    words = words_with_silences(document)
    start = rng.randrange(max(1, min(config.max_words, len(words) - config.max_words)))
    while len(words) - start >= config.min_words:
        length = rng.randint(config.min_words, config.max_words)
        chunk = chunk_of(words[start : start + length], style=style, cased=cased)
        while n_tokens and n_tokens(chunk) > config.max_tokens:
            found = f"the word {chunk.source[:40]!r} alone has more than {config.max_tokens} tokens"
            expected, fix = "max_tokens above every word's tokens", "raise chunks.max_tokens or clean the text"
            check(chunk.n_words > 1, found, expected=expected, fix=fix)
            chunk = chunk_of(words[start : start + chunk.n_words // 2], style=style, cased=cased)
        yield chunk
        start += chunk.n_words


def words_with_silences(document: str) -> list[Word]:
    """Return the words that have a slot, with the silences after them."""
    words: list[Word] = []
    for word in split(document).words:
        if word.text in PAUSES:
            words[-1:] = [replace(last, pause=1 + PAUSES.index(word.text)) for last in words[-1:]]
        elif word.has_slot:
            words.append(word)
    return words
