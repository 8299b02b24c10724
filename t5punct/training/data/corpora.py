"""Corpora: files of documents, and a share of each document.

In: a plain-text (one document a line), jsonl or IWSLT file, plain, .gz or .xz.  Out: punctuated documents.  A line of
jsonl has `text`, or `words` with their times in seconds: `{"words": [{"word": "Go!", "start": 0.1, "end": 0.4}]}`.

`documents(CorpusConfig("talks.txt.xz", style="talk", words=1000), "train", seed=1)` yields stretches of talks that
hold about 1,000 words together, none of them from the file's last lines, which are kept for validation.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import ConfigError, InputError
from ...t5.task import PAUSE
from ...text.formats.files import read_lines
from ...text.formats.iwslt import LABEL_OF_CLASS, is_iwslt, join_clitics, read_rows
from ...text.formats.live import TimedWord, timed_word
from ...text.marks import Alphabet


@dataclass(frozen=True)
class CorpusConfig:
    """One file of documents."""

    path: str = ""
    style: str = "talk"  # the tag that the source prefix carries
    words: int = 0  # how many words to take, spread over all documents; 0 takes all
    join: int = 1  # how many short documents to join at random, so that windows also begin and end inside them
    holdout_every: int = 0  # keep one document in so many for validation; 0 keeps the last `holdout_percent`

    def __post_init__(self) -> None:
        if self.words < 0:
            raise ConfigError(f"{self.words} words of {self.path}", expected="0 (all) or more", fix="set corpora.words")
        if self.join < 1:
            raise ConfigError(f"join {self.join} of {self.path}", expected="1 or more", fix="set corpora.join")
        if self.holdout_every < 0 or self.holdout_every == 1:
            raise ConfigError(
                f"holdout_every {self.holdout_every} of {self.path}",
                expected="0, or 2 and more",
                fix="set corpora.holdout_every",
            )


def documents(
    corpus: CorpusConfig, split: str, *, seed: int, holdout_percent: float = 1.0, pause_ms: int | None = None
) -> Iterator[str]:
    """Documents of one split: `validation` are the last `holdout_percent` of the file's documents, or one in
    `holdout_every`, for files whose parts differ.

    With a budget of words, every document gives one random stretch, in proportion to its length.  With `pause_ms`,
    a pause token stands at every silence of that length between words with times.
    """
    texts = list(_read(corpus.path, pause_ms))
    heldout = _heldout(len(texts), corpus.holdout_every, holdout_percent)
    texts = [text for index, text in enumerate(texts) if (index in heldout) == (split != "train")]
    rng = random.Random(f"{seed} {Path(corpus.path).name} {split}")
    if corpus.join > 1:
        rng.shuffle(texts)
        texts = [" ".join(texts[start : start + corpus.join]) for start in range(0, len(texts), corpus.join)]
    percent = 100 / corpus.holdout_every if corpus.holdout_every else holdout_percent
    budget = corpus.words if split == "train" else round(corpus.words * percent / 100)
    total = sum(len(text.split()) for text in texts)
    if not corpus.words or total <= budget:
        yield from texts
        return
    share, owed = budget / total, 0.0
    for text in texts:
        words = text.split()
        owed += share * len(words)
        n_words = min(int(owed), len(words))
        owed -= n_words
        start = rng.randint(0, len(words) - n_words)
        if n_words:
            yield " ".join(words[start : start + n_words])


def _heldout(n_documents: int, every: int, percent: float) -> range:
    """The documents that are kept for validation: at least one, if there are two."""
    if every and n_documents >= every:
        return range(every - 1, n_documents, every)
    n_heldout = max(1, round(n_documents * percent / 100)) if n_documents > 1 else 0
    return range(n_documents - n_heldout, n_documents)


def _read(path: str, pause_ms: int | None) -> Iterator[str]:
    if not path:
        raise ConfigError("a corpus without a path", expected="corpora: [{path: FILE}]", fix="name a file")
    name = Path(path).name.removesuffix(".xz").removesuffix(".gz")
    if name.endswith((".jsonl", ".json")):
        yield from _read_jsonl(path, pause_ms)
    elif is_iwslt(path):
        yield _read_iwslt(path)
    else:
        yield from (line for line in read_lines(path) if line.strip())


def _read_jsonl(path: str, pause_ms: int | None) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            timed = [timed_word(word) for word in values["words"]] if "words" in values else None
            text = str(values["text"]) if timed is None else _with_pauses(timed, pause_ms)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(
                f"{path} line {number}: {line[:40]!r}",
                expected='{"text": "..."} or {"words": [{"word": "...", "start": 0.1, "end": 0.4}, ...]}',
                fix="correct the line",
            ) from error
        if text.strip():
            yield text


def _with_pauses(words: Sequence[TimedWord], pause_ms: int | None) -> str:
    pieces = []
    for word, following in zip(words, [*words[1:], TimedWord("")], strict=True):
        pieces.append(word.word)
        if pause_ms and following.silence_ms(word.end_ms) >= pause_ms:
            pieces.append(PAUSE)
    return " ".join(pieces)


def _read_iwslt(path: str) -> str:
    """The whole file as one punctuated (lower-cased) document."""
    rows = read_rows(path)
    joined = join_clitics(rows)
    alphabet = Alphabet()
    return " ".join(
        alphabet.spell(word, LABEL_OF_CLASS[rows[last].label_class])
        for word, last in zip(joined.words, joined.last_rows, strict=True)
    )
