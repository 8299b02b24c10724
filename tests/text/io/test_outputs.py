"""Texts that go to one place."""

from __future__ import annotations

from pathlib import Path

from t5punct.text.io.outputs import open_writer


def test_texts_in_one_file_have_one_byte_order_mark(tmp_path: Path) -> None:
    with open_writer(tmp_path / "out.txt") as put:
        put(["\ufeff", "so\n"])
        put(["\ufeff", "we\n"])
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "\ufeffso\nwe\n"
