"""IWSLT punctuation files: one `word TAB label` a line, clitics as words of their own.

In: a file such as test2011.tsv.  Out: rows, and the words a model should see (`i` + `'m` -> `i'm`).

>>> joined = join_clitics((Row("do", "O"), Row("n't", "O"), Row("go", "PERIOD")))
>>> joined.words, joined.last_rows
(("don't", 'go'), (1, 2))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from .files import read_lines

CLASSES = ("O", "COMMA", "PERIOD", "QUESTION")
LABEL_OF_CLASS = {"O": "", "COMMA": ",", "PERIOD": ".", "QUESTION": "?"}


@dataclass(frozen=True, slots=True)
class Row:
    """A word of the file and the class of its slot."""

    word: str
    label_class: str


@dataclass(frozen=True, slots=True)
class JoinedWords:
    """The rows with clitics joined to the word before; `last_rows[i]` is the row that ends word i."""

    words: tuple[str, ...]
    last_rows: tuple[int, ...]


def is_iwslt(path: str | Path) -> bool:
    """Whether a file's first line looks like `word TAB CLASS`."""
    first = next(read_lines(path), "")
    return first.rstrip("\r").rpartition("\t")[2] in CLASSES and "\t" in first


def read_rows(path: str | Path) -> tuple[Row, ...]:
    """All rows.  Raises InputError with the line number where a line is not `word TAB CLASS`."""
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        word, _, label = line.rstrip("\r").rpartition("\t")
        if not line.strip() and not label:
            continue
        if label not in CLASSES:
            raise InputError(
                f"{path} line {number}: {line[:40]!r}",
                expected=f"word TAB one of {', '.join(CLASSES)}",
                fix="mend the line",
            )
        rows.append(Row(word.strip(), label))
    return tuple(rows)


def join_clitics(rows: Sequence[Row]) -> JoinedWords:
    """Join `'m`, `n't` and empty words to the word before, as people write and recognisers spell them."""
    words: list[str] = []
    last_rows: list[int] = []
    for index, row in enumerate(rows):
        if words and (row.word.startswith("'") or row.word in ("n't", "")):
            words[-1] += row.word
            last_rows[-1] = index
        else:
            words.append(row.word or "?")
            last_rows.append(index)
    return JoinedWords(tuple(words), tuple(last_rows))
