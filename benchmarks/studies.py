"""What the studies that write a page of results share: their command line, pictures, and how a page says p."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from t5punct import config
from t5punct.errors import T5PunctError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def save(figure: Figure, path: Path) -> None:
    """Write a picture."""
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def p_text(p_value: float) -> str:
    """Return a p-value in a table: two digits, and never 0."""
    return "< 0.01" if p_value < 0.01 else f"{p_value:.2f}"
