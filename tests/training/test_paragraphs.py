"""What one document of a text file is."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path

import pytest
from tiny import tiny_text

from t5punct.training.data.paragraphs import is_wrapped, join_paragraphs, text_documents

PARAGRAPHS = [" ".join(tiny_text(6, seed)) for seed in range(30)]


def wrapped(width: int, between: str = "\n\n") -> str:
    return between.join(textwrap.fill(text, width) for text in PARAGRAPHS)


@pytest.mark.parametrize("width", [50, 70, 78, 100])
def test_a_book_is_read_by_its_paragraphs(tmp_path: Path, width: int) -> None:
    path = tmp_path / "book.txt"
    path.write_text("THE BOOK\n\n\n" + wrapped(width) + "\n", encoding="utf-8")
    assert list(text_documents(path, "auto")) == ["THE BOOK", *PARAGRAPHS]


def test_lines_that_are_documents_stay(tmp_path: Path) -> None:
    path = tmp_path / "talks.txt"
    for lines in (PARAGRAPHS, tiny_text(500, 1), ["yes"] * 50, [f"ok, that is number {n} of it" for n in range(50)]):
        path.write_text("\n".join(lines), encoding="utf-8")
        assert list(text_documents(path, "auto")) == lines
    rng = random.Random(1)
    chat = [
        " ".join(rng.choices("so we go there now or what do you mean".split(), k=rng.randint(1, 20)))
        for _ in range(300)
    ]
    assert not is_wrapped(chat), "messages without marks"
    assert not is_wrapped([f"This is the report of station {n:03}, and all is well there." for n in range(50)])
    assert not is_wrapped([])


def test_the_unit_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(wrapped(70), encoding="utf-8")
    assert list(text_documents(path, "line")) == [line for line in wrapped(70).split("\n") if line]
    assert list(text_documents(path, "paragraph")) == PARAGRAPHS
    assert list(text_documents(path, "file")) == [" ".join(PARAGRAPHS)]
    path.write_text("\n \n")
    assert list(text_documents(path, "file")) == []


def test_blank_lines_in_any_number_are_between_paragraphs() -> None:
    assert list(join_paragraphs(["", " ", "a", " b ", "\t", "", "c"])) == ["a b", "c"]
