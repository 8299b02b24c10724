"""Files of punctuated text -> references: bare words to punctuate, and how to count the result.

In: IWSLT rows, or punctuated text with one document a line.  Out: `Reference`s, lazily.

The line `We know. Right?` is a reference whose words are `we`, `know`, `right`; what a system decides for them is
counted against the labels and capitals of the line.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from ..config import check
from ..errors import InputError
from ..text.io.files import source_lines
from ..text.io.iwslt import (
    LABEL_OF_CLASS,
    TO_BE_LEFT_OUT,
    JoinedWords,
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

_STRETCH_WORDS = 500  # an IWSLT file does not say where talks end; intervals are drawn over stretches of this length


@dataclass(frozen=True)
class RowsReference:
    """IWSLT rows; the file's own words are scored, and a slot inside a joined word counts as O."""

    rows: tuple[Row, ...]
    alphabet: Alphabet
    units: ClassVar[str] = "iwslt-rows"  # what is scored; for signatures

    @cached_property
    def words(self) -> Sequence[Word]:
        """What a system is given: no marks, no capitals."""
        return [Word(word) for word in self._joined.words]

    @cached_property
    def _joined(self) -> JoinedWords:
        return join_clitics(self.rows)

    def counts(self, annotated: Sequence[AnnotatedWord]) -> list[Counts]:
        """Return counts for each stretch; changed words of the whole file are added to its first stretch."""
        output = list[Slot]()
        for last, word in zip(self._joined.last_rows, annotated, strict=True):
            output += [Slot("", disfluent=bool(word.disfluent))] * (last - len(output))
            output.append(Slot(word.marks, disfluent=bool(word.disfluent)))
        names = [row.label_class for row in self.rows]
        wanted = [Slot(LABEL_OF_CLASS[name], disfluent=name == TO_BE_LEFT_OUT) for name in names]
        counts = list[Counts]()
        for start in range(0, len(self.rows), _STRETCH_WORDS):
            stretch = slice(start, start + _STRETCH_WORDS)
            counts.append(count(wanted[stretch], output[stretch]) + Counts(words=len(wanted[stretch])))
        # how the words change in the text that t5punct writes
        spoken = split(" ".join(word.text for word in self.words), self.alphabet).words
        kept = compare_words(spoken, split(" ".join(word.text for word in annotated), self.alphabet).words, case=False)
        counts[0] += Counts(
            words_changed=kept.words_changed, words_inserted=kept.words_inserted, words_dropped=kept.words_dropped
        )
        return counts


@dataclass(frozen=True)
class TextReference:
    """One document of punctuated text; quotes and brackets are taken off as well."""

    reference: tuple[Word, ...]
    alphabet: Alphabet
    case: bool  # whether capitals are scored
    units: ClassVar[str] = "text"

    @cached_property
    def words(self) -> Sequence[Word]:
        """What a system is given: no marks, no capitals."""
        bare = (word.with_opening(NO_MARKS).text.lower() for word in self.reference)
        return split(" ".join(bare), self.alphabet).words

    def counts(self, annotated: Sequence[AnnotatedWord]) -> list[Counts]:
        """Count the words as a system writes them."""
        output = split(" ".join(word.text for word in annotated), self.alphabet).words
        return [compare_words(self.reference, output, case=self.case)]


Reference = RowsReference | TextReference


def read_references(
    path: str | Path, alphabet: Alphabet, *, case: bool = True, max_words: int | None = None
) -> Iterator[Reference]:
    """Yield the references of a file, a pipe, or `-` for standard input.  Raises InputError if there are no words."""
    format = format_of(path)
    check(
        format in ("text", "tsv"), f"{path}, whose times and names would be scored as words",
        expected="punctuated text, a document a line, or IWSLT rows", kind=InputError,
        fix=f"make text of the .{format} first: t5punct punctuate --keep-marks --keep-case --to text",
    )  # fmt: skip
    has_rows, lines = _open(path)
    documents: Iterable[Reference]
    if has_rows:
        rows = parse_rows(lines, str(path))[:max_words]
        documents = [RowsReference(rows, alphabet)] if rows else []
    else:
        documents = _texts(lines, alphabet, case, max_words)
    is_empty = True
    for document in documents:
        yield document
        is_empty = False
    check(not is_empty, f"{path} holds no words", expected="punctuated text", fix="check the file", kind=InputError)


def count_words(path: str | Path, max_words: int | None = None) -> int | None:
    """Return about how many words `read_references` has of a file; None for a pipe, which is read only once."""
    if not Path(path).is_file():
        return None
    has_rows, lines = _open(path)
    total = sum(1 if has_rows else len(line.split()) for line in lines)
    return total if max_words is None else min(total, max_words)


def _open(path: str | Path) -> tuple[bool, Iterator[str]]:
    """Return whether a file holds IWSLT rows, and its lines from the first one with text: a pipe is read only once."""
    lines = source_lines(path)
    first = next((line for line in lines if line.strip()), "")
    return is_named_iwslt(path) or is_row(first), itertools.chain((first,), lines)


def _texts(lines: Iterable[str], alphabet: Alphabet, case: bool, max_words: int | None) -> Iterator[TextReference]:
    left = max_words
    for line in lines:
        words = tuple(Word(word.opening + word.core, word.marks) for word in split(line, alphabet).words[:left])
        if words:
            yield TextReference(words, alphabet, case)
        if left is not None:
            left -= len(words)
            if left <= 0:
                return
