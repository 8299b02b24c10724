"""What a run leaves: its log, which stands beside it, and its weights; a disk on which no file can be large."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def log_lines(run: Path) -> list[dict[str, float]]:
    """The lines of a run's log, in order."""
    return [json.loads(line) for line in Path(f"{run}.log.jsonl").read_text().splitlines()]


def weights(run: Path) -> bytes:
    return (run / "model.safetensors").read_bytes()


@contextmanager
def full_disk(largest: int) -> Iterator[None]:
    """No file may be larger, in bytes."""
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, most[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
