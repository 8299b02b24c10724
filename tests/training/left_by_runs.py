"""What a run leaves beside its weights: its log."""

from __future__ import annotations

import json
from pathlib import Path


def log_lines(run: Path) -> list[dict[str, float]]:
    """The lines of a run's log, in order."""
    return [json.loads(line) for line in Path(f"{run}.log.jsonl").read_text().splitlines()]
