"""IWSLT punctuation files: one `word TAB label` on each line, clitics as separate words.

A label of our own, DISFLUENT, is for words that a careful editor leaves out; they have no mark.

In: a file such as test2011.tsv.  Out: rows, and the words that a model reads (`i` + `'m` -> `i'm`).

>>> joined = join_clitics((Row("do", "O"), Row("n't", "O"), Row("go", "PERIOD")))
>>> joined.words, joined.last_rows
(("don't", 'go'), (1, 2))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError
from .files import lines_of_file, unpacked_name

TO_BE_LEFT_OUT = "DISFLUENT"
LABEL_OF_CLASS = {"O": "", "COMMA": ",", "PERIOD": ".", "QUESTION": "?", TO_BE_LEFT_OUT: ""}
CLASSES = tuple(LABEL_OF_CLASS)
# listed, since `'em` and a quoted `'the` begin with an apostrophe, too, but are words
_CLITICS = frozenset(("n't", "'s", "'m", "'re", "'ve", "'ll", "'d"))


@dataclass(frozen=True, slots=True)
class Row:
    """A word, and the class of the slot behind it."""

    word: str
    label_class: str


@dataclass(frozen=True, slots=True)
class JoinedWords:
    words: tuple[str, ...]
    last_rows: tuple[int, ...]  # of each word, the index of its last row


def is_iwslt(path: str | Path) -> bool:
    """Return whether a file is in this format, judging by its name or its first line."""
    return is_named_iwslt(path) or is_row(next(lines_of_file(path), ""))


def is_named_iwslt(path: str | Path) -> bool:
    """Return whether a file's name promises rows: there a line that is none is a mistake, not text."""
    return unpacked_name(path).endswith(".tsv")


def is_row(line: str) -> bool:
    """Return whether a line reads `word TAB CLASS`."""
    _, tab, label = line.rstrip("\r").rpartition("\t")
    return bool(tab) and label in CLASSES


def read_rows(path: str | Path) -> tuple[Row, ...]:
    """Return all rows of a file.  Raises InputError with the number of a line that is not `word TAB CLASS`."""
    return parse_rows(lines_of_file(path), str(path))


def parse_rows(lines: Iterable[str], name: str) -> tuple[Row, ...]:
    """Parse lines, and skip empty ones.  name: the lines' source, for error messages."""
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if not is_row(line):
            mistake = f"{name} line {number}: {line[:40]!r}"
            raise InputError(mistake, expected=f"word TAB one of {', '.join(CLASSES)}", fix="correct the line")
        word, _, label = line.rstrip("\r").rpartition("\t")
        rows.append(Row(word.strip(), label))
    return tuple(rows)


def join_clitics(rows: Sequence[Row]) -> JoinedWords:
    """Join clitics and empty words to the word before: `i`, `'m` -> `i'm`.  If the first word is empty, it is `?`."""
    words: list[str] = []
    last_rows: list[int] = []
    for index, row in enumerate(rows):
        if words and (not row.word or row.word.lower().replace("’", "'") in _CLITICS):
            words[-1] += row.word
            last_rows[-1] = index
        else:
            words.append(row.word or "?")
            last_rows.append(index)
    return JoinedWords(tuple(words), tuple(last_rows))
