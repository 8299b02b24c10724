"""Corpora: which documents are for training, which for validation, and which share of each is taken.

In: a `CorpusConfig`.  Out: punctuated documents.  A document is in one split only, whole or a stretch of it.

`iter_documents(CorpusConfig("talks.txt.xz", style="talk", words=1000), "train", seed=1)` yields stretches of talks that
hold about 1,000 words together, none of them from the file's last lines, which are kept for validation.  The corpus is
read twice, first to count it, so that it may be larger than the memory.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .corpus import CorpusConfig
from .sources import source_documents
from .survey import Survey, survey_corpus


@dataclass(frozen=True, slots=True)
class Piece:
    """What is taken: documents by their numbers, joined; of these some words from `start` on, or all (None)."""

    documents: tuple[int, ...]
    n_words: int
    start: int | None = None


def iter_documents(
    corpus: CorpusConfig, split: str, *, seed: int, holdout_percent: float = 1.0, pauses_ms: tuple[int, ...] = ()
) -> Iterator[str]:
    """Yield documents of one split: `validation` are the last `holdout_percent` of the corpus's documents, or one in
    `holdout_every`, for files whose parts differ.  Of a single document it is the end.

    With a budget of words, every document gives one random stretch, in proportion to its length.  With `pauses_ms`,
    a token stands at every silence between words with times, another one for each of these lengths.
    """
    texts = (document.text for document in source_documents(corpus, pauses_ms) if document.text.strip())
    if corpus.streaming:
        yield from _iter_stream(corpus, texts, split, holdout_percent)
        return
    pieces = plan_pieces(corpus, survey_corpus(corpus, pauses_ms), split, seed=seed, holdout_percent=holdout_percent)
    # joined at random, documents must be at hand
    texts_of_pieces = _join_pieces(pieces, list(texts)) if corpus.join > 1 else _pair_in_order(pieces, texts)
    for piece, text in texts_of_pieces:
        if piece.start is None:
            yield text
        elif piece.n_words:
            yield " ".join(text.split()[piece.start : piece.start + piece.n_words])


def plan_pieces(
    corpus: CorpusConfig, counted: Survey, split: str, *, seed: int, holdout_percent: float = 1.0
) -> Iterator[Piece]:
    """Yield the piece of each document that one split takes, in order; a piece without words is left out."""
    n_words = counted.n_words
    if len(n_words) == 1:
        yield from _plan_single(n_words[0], corpus, split, seed, holdout_percent)
        return
    heldout = _heldout(len(n_words), corpus.holdout_every, holdout_percent)
    chosen = array("q", (number for number in range(len(n_words)) if (number in heldout) == (split != "train")))
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


def _join_pieces(pieces: Iterator[Piece], texts: Sequence[str]) -> Iterator[tuple[Piece, str]]:
    for piece in pieces:
        yield piece, " ".join(texts[number] for number in piece.documents)


def _pair_in_order(pieces: Iterator[Piece], texts: Iterator[str]) -> Iterator[tuple[Piece, str]]:
    """Each piece with its one document."""
    numbered = enumerate(texts)
    for piece in pieces:
        yield piece, next(text for number, text in numbered if number == piece.documents[0])


def _iter_stream(corpus: CorpusConfig, texts: Iterator[str], split: str, holdout_percent: float) -> Iterator[str]:
    """The first documents of a split, up to its budget: how many there are in all is not known."""
    every = corpus.holdout_every or (max(2, round(100 / holdout_percent)) if holdout_percent else 0)
    left = _budget(corpus, split, holdout_percent)
    for number, text in enumerate(texts):
        if left is not None and left <= 0:
            return
        if (bool(every) and number % every == every - 1) != (split != "train"):
            continue
        if left is None:
            yield text
            continue
        words = text.split()[:left]
        left -= len(words)
        yield " ".join(words)


def _heldout(n_documents: int, every: int, percent: float) -> Sequence[int]:
    """The documents that are kept for validation: at least one, if there are two; none if that is asked for."""
    if every and n_documents >= every:
        return range(every - 1, n_documents, every)
    n_heldout = max(1, round(n_documents * percent / 100)) if n_documents > 1 and percent else 0
    return range(n_documents - n_heldout, n_documents)
