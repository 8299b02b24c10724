"""Lengths of chunks are counted once and stored with the data set."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from datasets import Dataset, load_from_disk

from t5punct.model import Model
from t5punct.training.data import chunks as lengths
from t5punct.training.data.chunks import count_tokens, stored_lengths
from t5punct.training.examples.example import ChunkExamples


@pytest.fixture
def folder(tiny_data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_data, tmp_path / "data", ignore=shutil.ignore_patterns("lengths-*")))


def test_lengths_are_those_of_the_encoder_inputs(tiny_model: Model, folder: Path) -> None:
    examples = ChunkExamples(load_from_disk(str(folder))["train"], tiny_model.tokenizer)
    assert examples.lengths == [len(examples[place].source) for place in range(len(examples))]


def test_they_are_counted_once_for_each_tokenizer_and_each_data_set(
    tiny_model: Model, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, tokenizer = load_from_disk(str(folder))["train"], tiny_model.tokenizer
    expected, counted = count_tokens(rows, tokenizer), list[int]()

    def count(rows: Dataset, *others: object) -> list[int]:
        counted.append(len(rows))
        return expected[: len(rows)]

    monkeypatch.setattr(lengths, "count_tokens", count)
    assert stored_lengths(folder, rows, tokenizer) == stored_lengths(folder, rows, tokenizer) == expected
    assert len(counted) == 1
    stored_lengths(folder, rows, tiny_model.with_task(prefix="in the style {style}: ").tokenizer)
    assert len(counted) == 2, "another prefix has other tokens"
    stored_lengths(folder, rows.select(range(5)), tokenizer)
    assert counted[2:] == [5]


def test_a_file_that_is_not_whole_is_written_anew(tiny_model: Model, folder: Path) -> None:
    rows = load_from_disk(str(folder))["train"]
    expected = stored_lengths(folder, rows, tiny_model.tokenizer)
    (file,) = folder.glob("lengths-*.npy")
    file.write_bytes(file.read_bytes()[:-9])
    assert stored_lengths(folder, rows, tiny_model.tokenizer) == expected
    assert stored_lengths(folder, rows, tiny_model.tokenizer) == expected
