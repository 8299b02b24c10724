"""What a run leaves: its log, which stands beside it, and its weights."""

from __future__ import annotations

import json
from pathlib import Path


def log_lines(run: Path) -> list[dict[str, float]]:
    """The lines of a run's log, in order."""
    return [json.loads(line) for line in Path(f"{run}.log.jsonl").read_text().splitlines()]


def weights(run: Path) -> bytes:
    return (run / "model.safetensors").read_bytes()
