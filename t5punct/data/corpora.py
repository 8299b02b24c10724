"""Corpora: files of documents, and a fair share of each document.

In: a plain-text (one document a line), jsonl or IWSLT file, plain, .gz or .xz.  Out: punctuated documents.

`documents(CorpusConfig("talks.txt.xz", style="talk", words=1000), "train", seed=1)` yields stretches of talks that
hold about 1,000 words together, none of them from the file's last lines, which are kept for validation.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError, InputError
from ..formats.files import read_lines
from ..formats.iwslt import LABEL_OF_CLASS, is_iwslt, join_clitics, read_rows
from ..marks import Alphabet


@dataclass(frozen=True)
class CorpusConfig:
    """One file of documents."""

    path: str = ""
    style: str = "talk"  # the tag that the source prefix carries
    words: int = 0  # how many words to take, spread over all documents; 0 takes all

    def __post_init__(self) -> None:
        if self.words < 0:
            raise ConfigError(f"{self.words} words of {self.path}", expected="0 (all) or more", fix="set corpora.words")


def documents(corpus: CorpusConfig, split: str, *, seed: int, holdout_percent: float = 1.0) -> Iterator[str]:
    """Documents of one split: the last `holdout_percent` of the file's documents are `validation`.

    With a budget of words, every document gives one stretch at random, in proportion to its length.
    """
    texts = list(_read(corpus.path))
    n_heldout = max(1, round(len(texts) * holdout_percent / 100)) if len(texts) > 1 else 0
    cut = len(texts) - n_heldout
    texts = texts[:cut] if split == "train" else texts[cut:]
    budget = corpus.words if split == "train" else round(corpus.words * holdout_percent / 100)
    total = sum(len(text.split()) for text in texts)
    if not corpus.words or total <= budget:
        yield from texts
        return
    rng = random.Random(f"{seed} {Path(corpus.path).name} {split}")
    share, owed = budget / total, 0.0
    for text in texts:
        words = text.split()
        owed += share * len(words)
        n_words = min(int(owed), len(words))
        owed -= n_words
        start = rng.randint(0, len(words) - n_words)
        if n_words:
            yield " ".join(words[start : start + n_words])


def _read(path: str) -> Iterator[str]:
    if not path:
        raise ConfigError("a corpus without a path", expected="corpora: [{path: FILE}]", fix="name a file")
    name = Path(path).name.removesuffix(".xz").removesuffix(".gz")
    if name.endswith((".jsonl", ".json")):
        yield from _read_jsonl(path)
    elif is_iwslt(path):
        yield _read_iwslt(path)
    else:
        yield from (line for line in read_lines(path) if line.strip())


def _read_jsonl(path: str) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            text = json.loads(line)["text"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path} line {number}: {line[:40]!r}", expected='{"text": "..."}', fix="mend the line"
            ) from error
        if str(text).strip():
            yield str(text)


def _read_iwslt(path: str) -> str:
    """The whole file as one punctuated (lower-cased) document."""
    rows = read_rows(path)
    joined = join_clitics(rows)
    alphabet = Alphabet()
    return " ".join(
        alphabet.write(word, LABEL_OF_CLASS[rows[last].label_class])
        for word, last in zip(joined.words, joined.last_rows, strict=True)
    )
