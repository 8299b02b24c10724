"""What the studies that write a page of results share: their command line, and how a page says p."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from t5punct import config
from t5punct.errors import T5PunctError

T = TypeVar("T")


def run(study: Callable[[T], None], schema: type[T], about: str | None) -> None:
    """Call a study with its settings: defaults < `--config FILE` < `key=value` words."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else None)
    parser.add_argument("--config", type=Path)
    parser.add_argument("overrides", nargs="*")
    options = parser.parse_args()
    try:
        study(config.load(schema, options.config, options.overrides))
    except T5PunctError as error:
        parser.exit(2, f"{error}\n")


def p_text(p_value: float) -> str:
    """Return a p-value in a table: two digits, and never 0."""
    return "< 0.01" if p_value < 0.01 else f"{p_value:.2f}"
