from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import InputError
from t5punct.evaluation.counts import ClassCounts, Counts, Slot, class_of, compare, count

LABELS = st.text(",.?!:;-", max_size=3)
SLOTS = st.builds(Slot, LABELS, st.sampled_from(["we", "We", "NASA", None]))
PAIRS = st.lists(st.tuples(SLOTS, SLOTS), max_size=8)
DATA = Path(__file__).parents[1] / "data"


def count_pairs(pairs: list[tuple[Slot, Slot]]) -> Counts:
    return count([wanted for wanted, _ in pairs], [predicted for _, predicted in pairs])


@pytest.mark.parametrize(("label", "name"), [
    ("", None), ("-", "COMMA"), (";", "PERIOD"), ("?!", "QUESTION"), ("!?", "PERIOD"), ("...", "PERIOD"),
    (":?", "COMMA"), ("/", None), ("/?", "QUESTION"),  # a mark outside the classes is passed over
    ("؛", "PERIOD"), ("؟", "QUESTION"), ("。", "PERIOD"),
])  # fmt: skip
def test_the_first_mark_that_maps_decides_the_class(label: str, name: str | None) -> None:
    assert class_of(label) == name


@given(PAIRS, PAIRS)
def test_counts_of_a_concatenation_are_the_sum(pairs: list[tuple[Slot, Slot]], other: list[tuple[Slot, Slot]]) -> None:
    assert count_pairs(pairs + other) == count_pairs(pairs) + count_pairs(other)


@given(PAIRS)
def test_errors_are_what_the_classes_miss_and_invent_and_a_row_holds_every_number(
    pairs: list[tuple[Slot, Slot]],
) -> None:
    counts = count_pairs(pairs)
    missed = sum(tally.reference - tally.correct for tally in counts.classes.values())
    invented = sum(tally.predicted - tally.correct for tally in counts.classes.values())
    assert missed == counts.substitutions + counts.deletions
    assert invented == counts.substitutions + counts.insertions
    words = {"words": 1, "words_changed": 2, "words_inserted": 3, "words_dropped": 4}
    whole = counts + Counts(**words)
    assert Counts.of_row(whole.row()) == whole == replace(counts, **words)
    assert Counts.of_row([2 * number for number in whole.row()]) == whole + whole
    assert whole + Counts() == Counts() + whole == whole


def test_counts_by_hand() -> None:
    references = (DATA / "hand-counted.txt").read_text().splitlines()
    outputs = (DATA / "hand-counted-output.txt").read_text().splitlines()
    # reference  Well,  we   know:  NASA  went -  really?!  Stop...
    # output     Well   we,  know:  nasa  went.   Really?!  stop.
    assert compare(references[0], outputs[0]) == Counts(
        slots=7,
        classes={
            "COMMA": ClassCounts(correct=1, predicted=2, reference=3),  # know; we, know; Well, know, went
            "PERIOD": ClassCounts(correct=1, predicted=2, reference=1),  # stop; went, stop; Stop
            "QUESTION": ClassCounts(correct=1, predicted=1, reference=1),  # really
        },
        substitutions=1,  # went
        insertions=1,  # we
        deletions=1,  # Well
        multiple=2,  # really?! Stop...
        multiple_exact=1,  # really?!
        boundaries=ClassCounts(correct=2, predicted=3, reference=2),  # really, stop; also went
        cased_words=3,  # Well NASA Stop
        cased_correct=1,  # Well
        case_words=7,
        case_correct=4,  # Well we know went
        words=7,
    )
    # reference  One;  two,  three.
    # output     One.  two   three
    assert compare(references[1], outputs[1]) == Counts(
        slots=3,
        classes={"COMMA": ClassCounts(0, 0, 1), "PERIOD": ClassCounts(1, 1, 2), "QUESTION": ClassCounts()},
        deletions=2,  # two three
        boundaries=ClassCounts(correct=0, predicted=1, reference=1),  # `;` ends no sentence
        cased_words=1, cased_correct=1, case_words=3, case_correct=3, words=3,
    )  # fmt: skip


@pytest.mark.parametrize(("output", "changed", "inserted", "dropped"), [
    ("we, KNOW this: now", 0, 0, 0),  # marks and capitals are no words
    ("They know all this", 1, 1, 1), ("", 0, 0, 4),
])  # fmt: skip
def test_changed_inserted_and_dropped_words_are_counted(output: str, changed: int, inserted: int, dropped: int) -> None:
    counts = compare("We know this now.", output)
    assert (counts.words_changed, counts.words_inserted, counts.words_dropped) == (changed, inserted, dropped)
    assert counts.words == counts.slots == 4


def test_slots_of_changed_and_dropped_words_and_lengths_that_differ() -> None:
    changed, dropped = compare("We know.", "We knew."), compare("We know.", "We")
    assert changed.classes["PERIOD"] == ClassCounts(1, 1, 1)
    assert dropped.classes["PERIOD"] == ClassCounts(0, 0, 1)
    assert (dropped.deletions, dropped.cased_correct, dropped.case_words) == (1, 1, 1)
    with pytest.raises(InputError, match="1 slots of output for 2 of reference; expected the same words"):
        count([Slot(""), Slot(".")], [Slot("")])
