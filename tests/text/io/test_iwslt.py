"""IWSLT files: rows as they stand, and clitics joined to the word before them."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.errors import InputError
from t5punct.text.io.iwslt import CLASSES, Row, is_iwslt, join_clitics, read_rows

rows = st.lists(
    st.builds(Row, st.sampled_from(["i", "'m", "do", "n't", "go", "'s", "", "o'clock"]), st.sampled_from(CLASSES))
)


@pytest.mark.parametrize(("words", "joined", "last_rows"), [
    (("i", "'m", "here"), ("i'm", "here"), (1, 2)),
    (("we", "should", "n't", "'ve"), ("we", "shouldn't've"), (0, 3)),
    (("get", "'em", "'the", "he", "’LL"), ("get", "'em", "'the", "he’LL"), (0, 1, 2, 4)),
    *((("'s", "go"), ("'s", "go"), (0, 1)), (("n't",), ("n't",), (0,)), ((), (), ())),
    *((("a", "", "b"), ("a", "b"), (1, 2)), (("", "b"), ("?", "b"), (0, 1))),
])  # fmt: skip
def test_clitics_are_joined(words: tuple[str, ...], joined: tuple[str, ...], last_rows: tuple[int, ...]) -> None:
    whole = join_clitics([Row(word, "O") for word in words])
    assert (whole.words, whole.last_rows) == (joined, last_rows)


@settings(max_examples=100, deadline=None)
@given(rows)
def test_joining_loses_no_row_and_no_letter(file_rows: list[Row]) -> None:
    words = join_clitics(file_rows)
    assert len(words.words) == len(words.last_rows)
    assert list(words.last_rows) == sorted(set(words.last_rows))
    assert not file_rows or words.last_rows[-1] == len(file_rows) - 1
    assert all(words.words)
    assert "".join(words.words).removeprefix("?") == "".join(row.word for row in file_rows)


def test_rows_are_read_with_any_line_end_and_blank_lines_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"i\tO\r\n'm\tCOMMA\n\nright \tQUESTION\n\tPERIOD\n")
    assert is_iwslt(path)
    assert read_rows(path) == (Row("i", "O"), Row("'m", "COMMA"), Row("right", "QUESTION"), Row("", "PERIOD"))


@pytest.mark.parametrize("line", ["word", "word COMMA", "word\tcomma", "word\tCOMMA\t1"])
def test_a_line_that_is_not_word_and_class_is_refused_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(f"i\tO\n{line}\n")
    with pytest.raises(InputError, match=r"bad\.tsv line 2: .*; expected word TAB one of O, COMMA, PERIOD, QUESTION"):
        read_rows(path)


@pytest.mark.parametrize("text", ["", "We know that.\n", "COMMA\n", "a\tb\n"])
def test_ordinary_text_is_not_taken_for_an_iwslt_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plain.txt"
    path.write_text(text)
    assert not is_iwslt(path)


@pytest.mark.parametrize("name", ["test.tsv", "test.tsv.gz"])
def test_a_name_in_tsv_promises_rows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = b"Word\tLabel\nwe\tO\n"
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert is_iwslt(path)
    with pytest.raises(InputError, match=r"line 1: .*Label.*; expected word TAB one of O"):
        read_rows(path)
