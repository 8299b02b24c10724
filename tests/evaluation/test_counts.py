import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import InputError
from t5punct.evaluation.counts import ClassCounts, Counts, Slot, class_of, count

LABELS = st.text(",.?!:;-", max_size=3)
SLOTS = st.builds(Slot, LABELS, st.sampled_from(["we", "We", "NASA", None]))
PAIRS = st.lists(st.tuples(SLOTS, SLOTS), max_size=8)


def count_pairs(pairs: list[tuple[Slot, Slot]]) -> Counts:
    return count([wanted for wanted, _ in pairs], [found for _, found in pairs])


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("", None), (",", "COMMA"), (":", "COMMA"), ("-", "COMMA"), (".", "PERIOD"), ("!", "PERIOD"), (";", "PERIOD"),
        ("?", "QUESTION"), ("?!", "QUESTION"), ("!?", "PERIOD"), ("...", "PERIOD"), (",-", "COMMA"), (":?", "COMMA"),
        ("/", None), ("/?", "QUESTION"),  # a mark outside the classes is passed over
    ],
)  # fmt: skip
def test_the_first_mark_that_maps_decides_the_class(label: str, name: str | None) -> None:
    assert class_of(label) == name


def test_every_field_of_one_slot_of_each_kind() -> None:
    reference = [Slot(".", "Yes"), Slot(",", "so"), Slot("", "it"), Slot("?!", "NASA"), Slot("...", None), Slot("")]
    output = [Slot("!", "Yes"), Slot("?", "so"), Slot(":", "It"), Slot("?!", "nasa"), Slot(""), Slot("")]
    assert count(reference, output) == Counts(
        slots=6,
        classes={
            "COMMA": ClassCounts(correct=0, predicted=1, reference=1),  # found at `it`, wanted at `so`
            "PERIOD": ClassCounts(correct=1, predicted=1, reference=2),  # `Yes` right, the fifth missed
            "QUESTION": ClassCounts(correct=1, predicted=2, reference=1),  # `NASA` right, `so` not
        },
        substitutions=1,  # so
        insertions=1,  # it
        deletions=1,  # the fifth
        multiple=2,  # ?! and ...
        multiple_exact=1,  # ?!
        boundaries=ClassCounts(correct=2, predicted=3, reference=3),  # Yes, NASA; found also so; wanted also 5th
        cased_words=2,  # Yes, NASA
        cased_correct=1,  # Yes
        case_words=4,  # the last two have no case to score
        case_correct=2,  # Yes, so
    )


@given(PAIRS, PAIRS)
def test_counts_of_a_concatenation_are_the_sum(one: list[tuple[Slot, Slot]], other: list[tuple[Slot, Slot]]) -> None:
    assert count_pairs(one + other) == count_pairs(one) + count_pairs(other)


@given(PAIRS)
def test_errors_are_what_the_classes_miss_and_invent(pairs: list[tuple[Slot, Slot]]) -> None:
    counts = count_pairs(pairs)
    missed = sum(found.reference - found.correct for found in counts.classes.values())
    invented = sum(found.predicted - found.correct for found in counts.classes.values())
    assert missed == counts.substitutions + counts.deletions
    assert invented == counts.substitutions + counts.insertions


def test_nothing_is_the_neutral_element() -> None:
    counts = count([Slot(".")], [Slot("?")])
    assert counts + Counts() == Counts() + counts == counts


def test_word_counts_add_up() -> None:
    counts = Counts(boundaries=ClassCounts(1, 2, 3), words=1, words_changed=2, words_inserted=3, words_dropped=4)
    assert counts + counts == Counts(
        boundaries=ClassCounts(2, 4, 6), words=2, words_changed=4, words_inserted=6, words_dropped=8
    )


@given(PAIRS)
def test_a_row_holds_every_number(pairs: list[tuple[Slot, Slot]]) -> None:
    counts = count_pairs(pairs) + Counts(words=1, words_changed=2, words_inserted=3, words_dropped=4)
    assert Counts.of_row(counts.row()) == counts


def test_labellings_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="1 slots of output for 2 of reference; expected the same words"):
        count([Slot(""), Slot(".")], [Slot("")])


def test_marks_of_other_scripts_have_the_class_of_what_stands_for_them_here() -> None:
    assert [class_of(mark) for mark in "،؛؟۔।。"] == [class_of(mark) for mark in ",;?..."]
