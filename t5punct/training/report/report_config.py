"""The settings of a run's report, and its files.

In: YAML, under `report` of a `TrainConfig`.  Out: a `ReportConfig`.

`report: {file: dev.txt, max_seconds: 120}` scores a text of its own for at most two minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import ConfigError

PAGE, PICTURE, VALUES = "report.md", "report.png", "report.json"  # in the run's folder


@dataclass(frozen=True)
class ReportConfig:
    """What report.md compares when a run ends."""

    file: str | None = None  # IWSLT rows or punctuated text to score; null takes validation.file
    against: str | None = None  # a model to compare with, folder or hub id; null takes init_from
    max_words: int = 20000  # of the file, the first ones; 0 scores nothing
    max_seconds: int = 600  # for all models together: fewer words are scored where they would take longer

    def __post_init__(self) -> None:
        if self.max_words < 0:
            raise ConfigError(f"report.max_words {self.max_words}", expected="0 or more", fix="set report.max_words")
        if self.max_seconds < 1:
            raise ConfigError(f"report.max_seconds {self.max_seconds}", expected="1 or more", fix="set it")
