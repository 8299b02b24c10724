"""Documents -> training chunks: (source, target) pairs of words in random windows.

A silence is a piece of its own in a document, `He said: <extra_id_1> Go!`, and in a source.

>>> chunk_of(split('He said: "Go!"').words, style="prose", cased=True)
Chunk(source='he said go', target='He said: Go!', style='prose', n_words=3)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...config import check, check_range
from ...t5.task import PAUSES, silence_tokens
from ...text.words import Word, split


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
        check_range(self, "max_tokens", least=1, section="chunks.")


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
    words = words_with_silences(document)  # a silence belongs to the word before it
    latest_start = min(config.max_words, len(words) - config.max_words)  # a whole window follows it, if there is one
    start = rng.randrange(max(1, latest_start))
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
