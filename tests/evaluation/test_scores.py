from pathlib import Path

import pytest

from t5punct.evaluation.counts import Counts, Slot, compare, count
from t5punct.evaluation.scores import ClassScores, Scores, scores_of

DATA = Path(__file__).parents[1] / "data"


def test_every_score_by_hand() -> None:
    reference = (DATA / "hand-counted.txt").read_text().splitlines()[0]
    output = (DATA / "hand-counted-output.txt").read_text().splitlines()[0]
    scores = scores_of(compare(reference, output))  # the counts are listed in test_counts.py
    assert scores.per_class["COMMA"] == ClassScores(50.0, pytest.approx(100 / 3), 40.0, 3)  # F1 = 2 * 1 / (2 + 3)
    assert scores.per_class["PERIOD"] == ClassScores(50.0, 100.0, pytest.approx(200 / 3), 1)
    assert scores.per_class["QUESTION"] == ClassScores(100.0, 100.0, 100.0, 1)
    assert scores.micro == ClassScores(60.0, 60.0, 60.0, 5)  # 3 right of 5 found, of 5 wanted
    assert scores.macro_f1 == pytest.approx((40 + 200 / 3 + 100) / 3)
    assert scores.slot_error_rate == 60.0  # one of each kind to 5 marks
    assert scores.multiple_exact == 50.0  # `?!` of `?!` and `...`
    assert scores.boundary == ClassScores(pytest.approx(200 / 3), 100.0, 80.0, 2)  # 2 right of 3 found, of 2 wanted
    assert scores.by_name == {**scores.per_class, "micro": scores.micro, "boundary": scores.boundary}
    assert scores.case_accuracy == pytest.approx(100 * 4 / 7)
    assert scores.cased_accuracy == pytest.approx(100 / 3)
    assert (scores.words, scores.words_changed) == (7, 0)


def test_word_changes_are_handed_on_and_what_has_no_denominator_is_none() -> None:
    scores = scores_of(Counts(words=9, words_changed=1, words_inserted=2, words_dropped=3))
    assert (scores.words, scores.words_changed) == (9, 6)
    nothing = ClassScores(None, None, None, 0)
    assert scores_of(Counts()) == Scores(
        per_class={"COMMA": nothing, "PERIOD": nothing, "QUESTION": nothing},
        micro=nothing, macro_f1=None, slot_error_rate=None, multiple_exact=None, boundary=nothing, opening=nothing,
        disfluent=nothing, case_accuracy=None, cased_accuracy=None, words=0, words_changed=0,
    )  # fmt: skip
    assert scores_of(count([Slot(",")], [Slot("")])).per_class["COMMA"] == ClassScores(None, 0.0, 0.0, 1)
    assert scores_of(count([Slot("")], [Slot(",")])).per_class["COMMA"] == ClassScores(0.0, None, 0.0, 0)


@pytest.mark.parametrize(("wanted", "predicted"), [
    ([".", ","], [".", ""]),  # PERIOD 100, COMMA 0; QUESTION, which neither side has, is left out
    ([".", ""], [".", "?"]),  # PERIOD 100, QUESTION 0: only predicted; no COMMA
])  # fmt: skip
def test_macro_is_the_mean_over_the_classes_that_a_side_has(wanted: list[str], predicted: list[str]) -> None:
    scores = scores_of(count([Slot(label) for label in wanted], [Slot(label) for label in predicted]))
    assert scores.macro_f1 == 50.0
    assert scores.micro.f1 == pytest.approx(200 / 3)
