"""Counts: what a document contributes to the scores.  Counts of documents are added up for the scores of all.

In: the slots of reference and output, or their texts, whose words are aligned.  Out: `Counts`.

>>> reference, output = (Slot("."), Slot("")), (Slot("!"), Slot(","))
>>> counts = count(reference, output)
>>> counts.classes["PERIOD"].correct, counts.classes["COMMA"].predicted, counts.insertions
(1, 1, 1)
>>> counts = compare("We know. Right?", "we know right?")
>>> counts.slots, counts.words_changed, counts.classes["PERIOD"].reference
(3, 0, 1)
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rapidfuzz.distance import Levenshtein

from ..config import check
from ..errors import InputError
from ..text.marks import DISFLUENT, NO_MARKS, OTHER_SCRIPTS, Alphabet, ends_sentence
from ..text.words import Word, split

# the marks of each class of the IWSLT benchmark; of several marks of a slot, the first that has a class counts
CLASS_MARKS: Mapping[str, str] = {"COMMA": ",:-", "PERIOD": ".!;", "QUESTION": "?"}
_CLASS_OF_MARK = {mark: name for name, marks in CLASS_MARKS.items() for mark in marks}
_CLASS_OF_MARK |= {mark: _CLASS_OF_MARK[here] for mark, here in OTHER_SCRIPTS.items()}


@dataclass(frozen=True, slots=True)
class Slot:
    """The slot after a word, and the word."""

    marks: str  # without the sign of disfluent words
    word: str | None = None  # None if case is not scored
    disfluent: bool = False  # whether the word is to be left out
    opening: str = NO_MARKS  # the mark before the word, `¿` or `¡`, which has its own score

    @classmethod
    def of(cls, marks: str, word: str | None = None, opening: str = NO_MARKS) -> Slot:
        """Return a slot from marks with which the sign of disfluent words may stand: `~,` of `um~,`."""
        return cls(marks.replace(DISFLUENT, NO_MARKS), word, DISFLUENT in marks, opening)


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """How many slots are of a class in both reference and output, in the output, and in the reference."""

    correct: int = 0
    predicted: int = 0
    reference: int = 0

    @classmethod
    def of(cls, in_reference: Sequence[bool], in_output: Sequence[bool]) -> ClassCounts:
        """Return the counts of slots, given of each whether it is of the class."""
        return cls(sum(map(operator.and_, in_reference, in_output)), sum(in_output), sum(in_reference))


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
    openings: ClassCounts = ClassCounts()  # words with an opening mark before them
    cased_words: int = 0  # words that the reference does not write in lower case
    cased_correct: int = 0
    case_words: int = 0  # all words whose case is scored
    case_correct: int = 0
    words: int = 0
    words_changed: int = 0
    words_inserted: int = 0
    words_dropped: int = 0

    def __add__(self, more: Counts) -> Counts:
        return Counts.of_row([*map(operator.add, self.row(), more.row())])

    def row(self) -> list[int]:
        """Return all numbers in a fixed order: the rows of thousands of documents are added up as a matrix."""
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
    """Return the benchmark class of a slot's marks; None if no mark has one."""
    return next((_CLASS_OF_MARK[mark] for mark in marks if mark in _CLASS_OF_MARK), None)


def count(reference: Sequence[Slot], output: Sequence[Slot]) -> Counts:
    """Compare the slots of the same words in reference and output.  Raises InputError if their numbers differ."""
    mistake = f"{len(output)} slots of output for {len(reference)} of reference"
    is_aligned = len(reference) == len(output)
    check(is_aligned, mistake, expected="the same words", fix="align the texts first", kind=InputError)
    pairs = list(zip(reference, output, strict=True))
    reference_classes = [class_of(slot.marks) for slot in reference]
    output_classes = [class_of(slot.marks) for slot in output]
    class_counts = dict[str, ClassCounts]()
    for name in CLASS_MARKS:
        in_reference = [slot_class == name for slot_class in reference_classes]
        class_counts[name] = ClassCounts.of(in_reference, [slot_class == name for slot_class in output_classes])
    errors = [pair for pair in zip(reference_classes, output_classes, strict=True) if pair[0] != pair[1]]
    are_exact = [right.marks == written.marks for right, written in pairs if len(right.marks) > 1]
    # of the words whose case is scored (None: it is not): as the reference has them, and the output
    words = [
        (right.word, written.word) for right, written in pairs if right.word is not None and written.word is not None
    ]
    cased = [(right, written) for right, written in words if right != right.lower()]
    return Counts(
        slots=len(pairs),
        classes=class_counts,
        substitutions=sum(None not in pair for pair in errors),
        insertions=sum(right is None for right, _ in errors),
        deletions=sum(written is None for _, written in errors),
        multiple=len(are_exact),
        multiple_exact=sum(are_exact),
        boundaries=ClassCounts.of(
            [ends_sentence(slot.marks) for slot in reference], [ends_sentence(slot.marks) for slot in output]
        ),
        disfluent=ClassCounts.of([slot.disfluent for slot in reference], [slot.disfluent for slot in output]),
        openings=ClassCounts(
            correct=sum(right.opening == written.opening != NO_MARKS for right, written in pairs),
            predicted=sum(slot.opening != NO_MARKS for slot in output),
            reference=sum(slot.opening != NO_MARKS for slot in reference),
        ),
        cased_words=len(cased),
        cased_correct=sum(right == written for right, written in cased),
        case_words=len(words),
        case_correct=sum(right == written for right, written in words),
    )


def compare(reference: str, output: str, *, case: bool = True, alphabet: Alphabet | None = None) -> Counts:
    """Count the output text of any system against a reference text."""
    return compare_words(split(reference, alphabet).words, split(output, alphabet).words, case=case)


def compare_words(reference: Sequence[Word], output: Sequence[Word], *, case: bool = True) -> Counts:
    """Count words with their marks against a reference's.

    Words are aligned in lower case.  The slot of a changed word is scored.  The slot of a dropped word counts as
    unmarked, and the slot of an inserted word does not count.
    """
    pairs: list[tuple[int, int | None]] = []  # the indices of words in reference and output; None: dropped
    inserted = dropped = changed = 0
    for code in Levenshtein.opcodes([word.normal for word in reference], [word.normal for word in output]):
        n_reference, n_output = code.src_end - code.src_start, code.dest_end - code.dest_start
        shared = min(n_reference, n_output)
        pairs += [(code.src_start + offset, code.dest_start + offset) for offset in range(shared)]
        pairs += [(index, None) for index in range(code.src_start + shared, code.src_end)]
        inserted += n_output - shared
        dropped += n_reference - shared
        changed += shared if code.tag == "replace" else 0
    slots = [Slot.of(word.marks, word.core if case else None, word.opening) for word in reference]
    output_slots = [Slot.of(word.marks, word.core if case else None, word.opening) for word in output]
    return replace(
        count(
            [slots[index] for index, _ in pairs],
            [Slot("") if index is None else output_slots[index] for _, index in pairs],
        ),
        words=len(reference),
        words_changed=changed,
        words_inserted=inserted,
        words_dropped=dropped,
    )
