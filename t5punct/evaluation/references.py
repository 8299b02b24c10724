"""Files of punctuated text -> references: bare words to punctuate, and how to count the result.

In: IWSLT rows, or punctuated text with one document a line.  Out: `Reference`s, lazily: the line `We know. Right?` is
one with the words `we`, `know`, `right`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from ..config import check
from ..errors import InputError
from ..text.io.files import source_lines
from ..text.io.iwslt import (
    LABEL_OF_CLASS,
    TO_BE_LEFT_OUT,
    Row,
    is_named_iwslt,
    is_row,
    join_clitics,
    parse_rows,
)
from ..text.marks import NO_MARKS, Alphabet
from ..text.render import AnnotatedWord
from ..text.words import Word, split
from ..transcripts.formats import format_of
from .counts import Counts, Slot, compare_words, count

_STRETCH_WORDS = 500  # what is a document, for intervals, in an IWSLT file, which does not say where talks end


@dataclass(frozen=True)
class RowsReference:
    """IWSLT rows.  Each row is scored; between the rows of a joined word (`do`, `n't`) a system has set no mark."""

    rows: tuple[Row, ...]
    alphabet: Alphabet
    units: ClassVar[str] = "iwslt-rows"  # what is scored; for signatures

    @cached_property
    def words(self) -> Sequence[Word]:
        """The words for a system to punctuate, without marks and capitals."""
        return [Word(word) for word in join_clitics(self.rows).words]

    def counts(self, annotated: Sequence[AnnotatedWord]) -> list[Counts]:
        """Return counts for each stretch of rows.  Changed words of the whole file are added to the first stretch."""
        reference = [
            Slot(LABEL_OF_CLASS[row.label_class], disfluent=row.label_class == TO_BE_LEFT_OUT) for row in self.rows
        ]
        output = list[Slot]()  # one for each row
        for last_row, word in zip(join_clitics(self.rows).last_rows, annotated, strict=True):
            slot = Slot(word.marks, disfluent=bool(word.disfluent))
            n_inner_rows = last_row - len(output)  # of the word, before its last row
            output += [replace(slot, marks=NO_MARKS)] * n_inner_rows + [slot]
        counts = list[Counts]()
        for start in range(0, len(self.rows), _STRETCH_WORDS):
            stretch = slice(start, start + _STRETCH_WORDS)
            counts.append(count(reference[stretch], output[stretch]) + Counts(words=len(reference[stretch])))
        words = split(" ".join(word.text for word in self.words), self.alphabet).words
        written = split(" ".join(word.text for word in annotated), self.alphabet).words
        of_words = compare_words(words, written, case=False)
        counts[0] += Counts(
            words_changed=of_words.words_changed,
            words_inserted=of_words.words_inserted,
            words_dropped=of_words.words_dropped,
        )
        return counts


@dataclass(frozen=True)
class TextReference:
    """One document of punctuated text, without its quotes and brackets."""

    reference: tuple[Word, ...]
    alphabet: Alphabet
    case: bool  # whether capitals are scored
    units: ClassVar[str] = "text"

    @cached_property
    def words(self) -> Sequence[Word]:
        """The words for a system to punctuate, without marks and capitals."""
        bare = (word.with_opening(NO_MARKS).text.lower() for word in self.reference)
        return split(" ".join(bare), self.alphabet).words

    def counts(self, annotated: Sequence[AnnotatedWord]) -> list[Counts]:
        """Return the counts of the document."""
        output = split(" ".join(word.text for word in annotated), self.alphabet).words
        return [compare_words(self.reference, output, case=self.case)]


Reference = RowsReference | TextReference


def read_references(
    path: str | Path, alphabet: Alphabet, *, case: bool = True, max_words: int | None = None
) -> Iterator[Reference]:
    """Yield the references of a file, a pipe, or `-` for standard input.  Raises InputError if there are no words."""
    file_format = format_of(path)
    check(
        file_format in ("text", "tsv"), f"{path}, whose times and names would be scored as words",
        expected="punctuated text, a document a line, or IWSLT rows", kind=InputError,
        fix=f"make text of the .{file_format} first: t5punct punctuate --keep-marks --keep-case --to text",
    )  # fmt: skip
    is_iwslt, lines = _open_lines(path)
    n_words = 0
    if is_iwslt:
        rows = parse_rows(lines, str(path))[:max_words]
        n_words = len(rows)
        if rows:
            yield RowsReference(rows, alphabet)
    else:
        for line in lines:
            n_left = None if max_words is None else max_words - n_words
            words = tuple(Word(word.opening + word.core, word.marks) for word in split(line, alphabet).words[:n_left])
            n_words += len(words)
            if words:
                yield TextReference(words, alphabet, case)
            if max_words is not None and n_words >= max_words:
                break
    check(n_words, f"{path} holds no words", expected="punctuated text", fix="check the file", kind=InputError)


def count_words(path: str | Path, max_words: int | None = None) -> int | None:
    """Return about how many words a file's references have; None for a pipe, which can be read only once."""
    if not Path(path).is_file():
        return None
    is_iwslt, lines = _open_lines(path)
    n_words = sum(1 if is_iwslt else len(line.split()) for line in lines)
    return n_words if max_words is None else min(n_words, max_words)


def _open_lines(path: str | Path) -> tuple[bool, Iterator[str]]:
    """Return whether a file holds IWSLT rows, and its lines from the first one with text on."""
    lines = source_lines(path)
    first = next((line for line in lines if line.strip()), "")
    return is_named_iwslt(path) or is_row(first), itertools.chain((first,), lines)
