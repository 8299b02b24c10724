"""Counts: what a document contributes to the scores.  Counts of documents are added up for the scores of all.

In: the slots of reference and output, or their texts.  Out: `Counts`, which can be added up, resampled, or compared.

>>> reference, output = (Slot("."), Slot("")), (Slot("!"), Slot(","))
>>> counts = count(reference, output)
>>> counts.classes["PERIOD"].correct, counts.classes["COMMA"].predicted, counts.insertions
(1, 1, 1)

Texts are compared by aligning their words.  Words that differ are counted; their slots are scored all the same.

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
    def of_slot(cls, in_reference: bool, in_output: bool) -> ClassCounts:
        """Return the counts of one slot, given whether it is of the class."""
        return cls(int(in_reference and in_output), int(in_output), int(in_reference))


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
        return Counts.of_row([ours + theirs for ours, theirs in zip(self.row(), more.row(), strict=True)])

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
    for mark in marks:
        if mark in _CLASS_OF_MARK:
            return _CLASS_OF_MARK[mark]
    return None


def count(reference: Sequence[Slot], output: Sequence[Slot]) -> Counts:
    """Compare the slots of the same words in reference and output.  Raises InputError if their numbers differ."""
    mistake = f"{len(output)} slots of output for {len(reference)} of reference"
    is_aligned = len(reference) == len(output)
    check(is_aligned, mistake, expected="the same words", fix="align the texts first", kind=InputError)
    # there are many slots, but few different pairs: each of these is counted once, and multiplied
    n_slots_of_pairs = Counter(_without_letters(*pair) for pair in zip(reference, output, strict=True))
    total = Counts().row()
    for pair, n_slots in n_slots_of_pairs.items():
        row = _count_slot(*pair).row()
        total = [number + n_slots * added for number, added in zip(total, row, strict=True)]
    return Counts.of_row(total)


def _without_letters(reference: Slot, output: Slot) -> tuple[Slot, Slot]:
    """Replace the words of a pair of slots: pairs that count the same become equal."""
    if reference.word is None or output.word is None:
        return replace(reference, word=None), replace(output, word=None)
    word = "a" if reference.word == reference.word.lower() else "A"
    return replace(reference, word=word), replace(output, word=word if reference.word == output.word else "")


def _count_slot(reference: Slot, output: Slot) -> Counts:
    reference_class, output_class = class_of(reference.marks), class_of(output.marks)
    openings = ClassCounts.of_slot(bool(reference.opening), bool(output.opening))
    has_several = len(reference.marks) > 1
    has_case = reference.word is not None and output.word is not None
    has_capitals = has_case and reference.word != str(reference.word).lower()
    is_case_right = has_case and reference.word == output.word
    return Counts(
        slots=1,
        classes={name: ClassCounts.of_slot(reference_class == name, output_class == name) for name in CLASS_MARKS},
        substitutions=int(None not in (reference_class, output_class) and reference_class != output_class),
        insertions=int(reference_class is None and output_class is not None),
        deletions=int(reference_class is not None and output_class is None),
        multiple=int(has_several),
        multiple_exact=int(has_several and reference.marks == output.marks),
        boundaries=ClassCounts.of_slot(ends_sentence(reference.marks), ends_sentence(output.marks)),
        disfluent=ClassCounts.of_slot(reference.disfluent, output.disfluent),
        openings=openings if reference.opening == output.opening else replace(openings, correct=0),
        cased_words=int(has_capitals),
        cased_correct=int(has_capitals and is_case_right),
        case_words=int(has_case),
        case_correct=int(is_case_right),
    )


def compare(reference: str, output: str, *, case: bool = True, alphabet: Alphabet | None = None) -> Counts:
    """Count the output text of any system against a reference text."""
    return compare_words(split(reference, alphabet).words, split(output, alphabet).words, case=case)


def compare_words(reference: Sequence[Word], output: Sequence[Word], *, case: bool = True) -> Counts:
    """Count words with their marks against a reference's.

    Words are aligned in lower case.  The slot of a changed word is scored, that of a dropped word counts as unmarked,
    and that of an inserted word does not count.
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
    reference_slots = [_slot(reference[index], case) for index, _ in pairs]
    output_slots = [Slot("") if index is None else _slot(output[index], case) for _, index in pairs]
    return replace(
        count(reference_slots, output_slots),
        words=len(reference),
        words_changed=changed,
        words_inserted=inserted,
        words_dropped=dropped,
    )


def _slot(word: Word, case: bool) -> Slot:
    return Slot.of(word.marks, word.core if case else None, word.opening)
