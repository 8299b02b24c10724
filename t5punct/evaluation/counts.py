"""Counts: what a document contributes to the scores; additive over documents.

In: the slots of reference and output, or their texts.  Out: `Counts`, which can be added up, resampled, or compared.

>>> reference, output = (Slot("."), Slot("")), (Slot("!"), Slot(","))
>>> counts = count(reference, output)
>>> counts.classes["PERIOD"].correct, counts.classes["COMMA"].predicted, counts.insertions
(1, 1, 1)

Texts are compared by aligning their words; those that differ are counted, and their slots scored as if they did not.

>>> counts = compare("We know. Right?", "we know right?")
>>> counts.slots, counts.words_changed, counts.classes["PERIOD"].reference
(3, 0, 1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rapidfuzz.distance import Levenshtein

from ..config import check
from ..errors import InputError
from ..text.marks import DISFLUENT, NO_MARKS, OTHER_SCRIPTS, Alphabet, ends_sentence
from ..text.words import Word, split

# the marks of each class of the IWSLT benchmark; the first mark of a slot that has a class decides
CLASS_MARKS: Mapping[str, str] = {"COMMA": ",:-", "PERIOD": ".!;", "QUESTION": "?"}
_CLASS_OF_MARK = {mark: name for name, marks in CLASS_MARKS.items() for mark in marks}
_CLASS_OF_MARK |= {mark: _CLASS_OF_MARK[here] for mark, here in OTHER_SCRIPTS.items()}


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot: its marks, and how the word before it is written (None if case is not scored).

    `disfluent`: whether that word is to be left out; of such marks, `um~,`, only the marks are scored as marks.
    `opening`: the mark before the word, `¿` or `¡`, which is counted beside the marks of slots.
    """

    marks: str
    word: str | None = None
    disfluent: bool = False
    opening: str = NO_MARKS

    @classmethod
    def of(cls, marks: str, word: str | None = None, opening: str = NO_MARKS) -> Slot:
        """Return a slot of marks that may hold the sign of disfluent words."""
        return cls(marks.replace(DISFLUENT, NO_MARKS), word, DISFLUENT in marks, opening)


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Slots of one class."""

    correct: int = 0
    predicted: int = 0
    reference: int = 0

    @classmethod
    def of_slot(cls, wanted: bool, predicted: bool) -> ClassCounts:
        """Return the counts of one slot that is of the class in the reference, in the output, in both or neither."""
        return cls(int(wanted and predicted), int(predicted), int(wanted))


@dataclass(frozen=True)
class Counts:
    """Sums over slots; every field adds up over documents."""

    slots: int = 0
    classes: Mapping[str, ClassCounts] = field(default_factory=lambda: dict.fromkeys(CLASS_MARKS, ClassCounts()))
    substitutions: int = 0  # slots with one class in the reference and another in the output
    insertions: int = 0
    deletions: int = 0
    multiple: int = 0  # slots whose reference has two or more marks
    multiple_exact: int = 0
    boundaries: ClassCounts = ClassCounts()  # slots that end a sentence
    disfluent: ClassCounts = ClassCounts()  # words that are to be left out
    openings: ClassCounts = ClassCounts()  # words that an opening mark stands before
    cased_words: int = 0  # words that the reference does not write in lower case
    cased_correct: int = 0
    case_words: int = 0  # all words whose case is known
    case_correct: int = 0
    words: int = 0
    words_changed: int = 0
    words_inserted: int = 0
    words_dropped: int = 0

    def __add__(self, more: Counts) -> Counts:
        return Counts.of_row([ours + theirs for ours, theirs in zip(self.row(), more.row(), strict=True)])

    def row(self) -> list[int]:
        """Return all numbers in a fixed order, for thousands of documents to be added up as the rows of a matrix."""
        row = [getattr(self, name) for name in _PLAIN_FIELDS]
        of_classes = [self.classes[name] for name in CLASS_MARKS]
        for counts in (*of_classes, self.boundaries, self.disfluent, self.openings):
            row += [counts.correct, counts.predicted, counts.reference]
        return row

    @classmethod
    def of_row(cls, row: Sequence[int]) -> Counts:
        """Return the counts that have this row."""
        n_plain = len(_PLAIN_FIELDS)
        plain: dict[str, Any] = dict(zip(_PLAIN_FIELDS, row[:n_plain], strict=True))
        *classes, boundaries, disfluent, openings = (
            ClassCounts(*row[start : start + 3]) for start in range(n_plain, len(row), 3)
        )
        named = dict(zip(CLASS_MARKS, classes, strict=True))
        return cls(classes=named, boundaries=boundaries, disfluent=disfluent, openings=openings, **plain)


_TRIPLES = ("classes", "boundaries", "disfluent", "openings")
_PLAIN_FIELDS = tuple(item.name for item in fields(Counts) if item.name not in _TRIPLES)


def class_of(marks: str) -> str | None:
    """Return the benchmark class of marks; None for no mark."""
    for mark in marks:
        if mark in _CLASS_OF_MARK:
            return _CLASS_OF_MARK[mark]
    return None


def count(reference: Sequence[Slot], output: Sequence[Slot]) -> Counts:
    """Compare two labellings of the same words, slot by slot.  Raises InputError if they differ in length."""
    mistake = f"{len(output)} slots of output for {len(reference)} of reference"
    is_aligned = len(reference) == len(output)
    check(is_aligned, mistake, expected="the same words", fix="align the texts first", kind=InputError)
    kinds = Counter(_kind(wanted, output_slot) for wanted, output_slot in zip(reference, output, strict=True))
    total = Counts().row()
    for (wanted, output_slot), times in kinds.items():
        row = _count_slot(wanted, output_slot).row()
        total = [number + times * added for number, added in zip(total, row, strict=True)]
    return Counts.of_row(total)


def _kind(wanted: Slot, output: Slot) -> tuple[Slot, Slot]:
    """Return one pair for all pairs of slots that count the same: there are many slots of few kinds."""
    if wanted.word is None or output.word is None:
        return replace(wanted, word=None), replace(output, word=None)
    spelled = "a" if wanted.word == wanted.word.lower() else "A"
    return replace(wanted, word=spelled), replace(output, word=spelled if wanted.word == output.word else "")


def _count_slot(wanted: Slot, output: Slot) -> Counts:
    wanted_class, output_class = class_of(wanted.marks), class_of(output.marks)
    openings = ClassCounts.of_slot(bool(wanted.opening), bool(output.opening))
    multiple = len(wanted.marks) > 1
    cased = wanted.word is not None and output.word is not None
    not_lower = cased and wanted.word != str(wanted.word).lower()
    same = cased and wanted.word == output.word
    return Counts(
        slots=1,
        classes={name: ClassCounts.of_slot(wanted_class == name, output_class == name) for name in CLASS_MARKS},
        substitutions=int(None not in (wanted_class, output_class) and wanted_class != output_class),
        insertions=int(wanted_class is None and output_class is not None),
        deletions=int(wanted_class is not None and output_class is None),
        multiple=int(multiple),
        multiple_exact=int(multiple and wanted.marks == output.marks),
        boundaries=ClassCounts.of_slot(ends_sentence(wanted.marks), ends_sentence(output.marks)),
        disfluent=ClassCounts.of_slot(wanted.disfluent, output.disfluent),
        openings=openings if wanted.opening == output.opening else replace(openings, correct=0),
        cased_words=int(not_lower),
        cased_correct=int(not_lower and same),
        case_words=int(cased),
        case_correct=int(same),
    )


def compare(reference: str, output: str, *, case: bool = True, alphabet: Alphabet | None = None) -> Counts:
    """Score the output text of any system against a reference text."""
    return compare_words(split(reference, alphabet).words, split(output, alphabet).words, case=case)


def compare_words(reference: Sequence[Word], output: Sequence[Word], *, case: bool = True) -> Counts:
    """Score words with their marks.

    Words are compared in lower case; inserted, dropped and changed words are counted.  The slot of a changed word is
    scored, because it is still there; that of a dropped word counts as unmarked.
    """
    pairs: list[tuple[int, int | None]] = []
    inserted = dropped = changed = 0
    for code in Levenshtein.opcodes([word.normal for word in reference], [word.normal for word in output]):
        n_reference, n_output = code.src_end - code.src_start, code.dest_end - code.dest_start
        shared = min(n_reference, n_output)
        pairs += [(code.src_start + offset, code.dest_start + offset) for offset in range(shared)]
        pairs += [(index, None) for index in range(code.src_start + shared, code.src_end)]
        inserted += n_output - shared
        dropped += n_reference - shared
        changed += shared if code.tag == "replace" else 0
    wanted_slots = [_slot(reference[index], case) for index, _ in pairs]
    output_slots = [Slot("") if partner is None else _slot(output[partner], case) for _, partner in pairs]
    return replace(
        count(wanted_slots, output_slots),
        words=len(reference),
        words_changed=changed,
        words_inserted=inserted,
        words_dropped=dropped,
    )


def _slot(word: Word, case: bool) -> Slot:
    return Slot.of(word.marks, word.core if case else None, word.opening)
