"""Windows of words, and their lengths in tokens, which are counted once and stored with the data set."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, load_from_disk
from hypothesis import given
from hypothesis import strategies as st

from t5punct.model import Model
from t5punct.text.words import split
from t5punct.training.data import chunks as lengths
from t5punct.training.data.chunks import Chunk, ChunkConfig, chunk_of, count_tokens, cut_into_chunks, stored_lengths

NUMBERED = [f"w{number}" for number in range(500)]
PIECES = st.sampled_from(
    [
        "We", "know", "that,", "right?!", "NASA", "iPhone", "U.S.", "e.g.", '"Go!"', "(yes),", "don't", "'em", "pre-",
        "-", "--", "wait...", "…", "—", ":)", "3.14", "2,000", "'Tis", "dogs'", "“So,”", "«oui»?", "a.", "A.B", "x;",
        "???",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(min_size=1, max_size=6)), max_size=30).map(" ".join)


@st.composite
def configs(draw: st.DrawFn) -> ChunkConfig:
    least = draw(st.integers(1, 12))
    return ChunkConfig(least, least + draw(st.integers(0, 20)), max_tokens=draw(st.integers(3, 40)))


def cut(text: str, config: ChunkConfig, seed: int, **options: Any) -> list[Chunk]:
    return list(cut_into_chunks(text, config, random.Random(seed), style="talk", **options))


def places(chunks: list[Chunk]) -> list[int]:
    """The numbers of the words, in the order of the chunks."""
    return [int(word[1:]) for chunk in chunks for word in chunk.source.split()]


def test_an_example_is_what_the_model_reads_and_writes() -> None:
    words = split('So, "IBM" (yes) said - U.S. law; wait?! Really...').words
    assert chunk_of(words, style="chat", cased=True) == Chunk(
        "so ibm yes said u.s. law wait really", "So, IBM yes said - U.S. law; wait?! Really...", "chat", 8
    )
    assert chunk_of(words, style="chat", cased=False).target == "so, ibm yes said - u.s. law; wait?! really..."


@given(st.integers(0, 200), configs(), st.integers(0, 99), st.sampled_from([0, 3]))
def test_every_word_stands_in_one_chunk_but_for_short_rests_and_none_is_over_the_limit(
    n_words: int, config: ChunkConfig, seed: int, tokens_of_a_word: int
) -> None:
    chunks = cut(" ".join(NUMBERED[:n_words]), config, seed, n_tokens=lambda chunk: tokens_of_a_word * chunk.n_words)
    used = places(chunks)
    assert used == list(range(used[0], used[-1] + 1)) if used else n_words < config.min_words + config.max_words
    assert not used or (used[0] < config.max_words and n_words - 1 - used[-1] < config.min_words)
    assert all(chunk.n_words == len(chunk.source.split()) and chunk.style == "talk" for chunk in chunks)
    assert all(chunk.n_words <= config.max_words for chunk in chunks)
    assert all(tokens_of_a_word * chunk.n_words <= config.max_tokens for chunk in chunks)
    assert tokens_of_a_word or all(chunk.n_words >= config.min_words for chunk in chunks)


def test_windows_start_anywhere_and_have_many_lengths() -> None:
    runs = [cut(" ".join(NUMBERED[:60]), ChunkConfig(4, 16), seed) for seed in range(200)]
    assert {places(chunks_)[0] for chunks_ in runs} == set(range(16))
    assert {chunk.n_words for chunks_ in runs for chunk in chunks_} == set(range(4, 17))


@given(TEXTS, st.booleans(), st.integers(0, 9))
def test_sources_are_bare_and_targets_resplit_to_the_same_words_and_labels(text: str, cased: bool, seed: int) -> None:
    document = [word for word in split(text).words if word.has_slot]
    for chunk in cut(text, ChunkConfig(1, 8), seed, cased=cased):
        words = split(chunk.target).words
        assert chunk.source == chunk.source.lower()
        assert len(chunk.source.split()) == len(words) == chunk.n_words
        place = next(
            place
            for place in range(len(document))
            if [word.normal for word in document[place : place + chunk.n_words]] == chunk.source.split()
            and [word.label for word in document[place : place + chunk.n_words]] == [word.label for word in words]
        )
        spellings = [word.core for word in document[place : place + chunk.n_words]]
        assert [word.text for word in words] == (spellings if cased else [word.lower() for word in spellings])


def test_a_silence_belongs_to_the_word_before_it() -> None:
    document = "<extra_id_1> We know, <extra_id_1> - <extra_id_1> that is right. <extra_id_1>"
    (chunk,) = cut(document, ChunkConfig(5, 5), seed=1)
    assert chunk.source == "we know <extra_id_1> that is right <extra_id_1>"
    assert chunk.n_words == 5
    assert "extra" not in chunk.target


@pytest.fixture
def folder(tiny_data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_data, tmp_path / "data", ignore=shutil.ignore_patterns("lengths-*")))


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
