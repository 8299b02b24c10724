"""A text on disk."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text("we know that right\nand you\n", encoding="utf-8")
    return path
