"""The settings of one corpus.

In: YAML, under `corpora` of a `PrepareConfig`.  Out: a `CorpusConfig`.

`{path: talks/*.csv, column: transcript, style: talk}` names the texts under `transcript` in some tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...config import check_choice
from ...errors import ConfigError

UNITS = ("auto", "line", "paragraph", "file")


@dataclass(frozen=True)
class CorpusConfig:
    """Documents that belong together: a file, a folder, the files that fit a pattern, or a data set."""

    path: str = ""  # text, jsonl, IWSLT tsv, csv, parquet, a folder of them, `talks/*.txt`, or a saved data set
    style: str = "talk"  # the kind of text, as `--style` names it: talk, meeting, prose or chat
    words: int = 0  # how many words to take, spread over all documents; 0 takes all
    join: int = 1  # how many short documents to join at random, so that windows also begin and end inside them
    holdout_every: int = 0  # keep one document in so many for validation; 0 keeps the last `holdout_percent`
    column: str = "text"  # that holds the text, in a table, a data set or jsonl
    document: str = "auto"  # in a text file: line, paragraph or file; auto takes paragraphs where lines are wrapped
    dataset: str | None = None  # instead of a path: the id of a data set of the hub, which is downloaded
    subset: str | None = None  # of a data set of the hub, where it has several
    split: str = "train"  # of a data set: which part is read
    revision: str | None = None  # of a data set of the hub: a branch, tag or commit
    streaming: bool = False  # read once, from the start; `words` takes the first ones, and a hub id is not downloaded

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
        check_choice(self, "corpora.", "document", UNITS)
        if self.path and self.dataset is not None:
            raise ConfigError(f"path {self.path} and dataset {self.dataset}", expected="one of them", fix="drop one")
        if self.streaming and self.join > 1:
            raise ConfigError(
                f"join {self.join} of a stream", expected="documents one by one", fix="set corpora.join=1"
            )

    @property
    def title(self) -> str:
        """What a report calls it."""
        return self.dataset or self.path

    @property
    def name(self) -> str:
        """What its random numbers depend on, wherever it lies."""
        return self.dataset or Path(self.path).name
