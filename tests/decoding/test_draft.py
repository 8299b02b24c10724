"""The first draft of a window, from the tagger's guesses."""

import pytest

from t5punct.decoding.candidates import Candidates, Choice, Option
from t5punct.decoding.draft import ChoiceAccumulator, Draft, Guess
from t5punct.decoding.inputs import WindowInput
from t5punct.model import Model
from t5punct.text.marks import Case
from t5punct.windows.combine import choose_marks

LOWER, CAPITALISED, UPPER = Case.LOWER, Case.CAPITALISED, Case.UPPER


@pytest.mark.parametrize(("mark", "case", "inside", "drafted"), [
    ("", CAPITALISED, LOWER, CAPITALISED), ("", LOWER, CAPITALISED, LOWER), (",", CAPITALISED, LOWER, LOWER),
    (",", LOWER, CAPITALISED, CAPITALISED), (".", LOWER, LOWER, CAPITALISED), ("?", LOWER, UPPER, UPPER),
])  # fmt: skip
def test_case_fits_the_mark_before_it(tiny_model: Model, mark: str, case: Case, inside: Case, drafted: Case) -> None:
    *marks, word = _second_place(tiny_model, ["so", "it"], [Guess(mark), Guess("", case, inside)])
    assert [option.mark for option in marks] == [mark] * bool(mark)
    assert word.case is drafted


def test_a_clitic_apart_has_no_capital_and_the_end_may_follow_any_mark(tiny_model: Model) -> None:
    """Of `i 'm` the tagger says what it has learned to say of `I'm`."""
    capital = Guess("", CAPITALISED, CAPITALISED)
    (word,) = _second_place(tiny_model, ["i", "'m"], [capital, capital])
    assert word.case is LOWER
    (word,) = _second_place(tiny_model, ["i", "am"], [capital, capital])
    assert word.case is CAPITALISED
    for mark in ("", ",", "."):
        *_, end = _second_place(tiny_model, ["so"], [Guess(mark)])
        assert (end.mark, end.case) == (None, None)


def test_of_equal_marks_a_tally_s_vote_goes_to_the_one_that_was_taken() -> None:
    """bf16 ties often; what was decided must be what the decoder went on from."""
    marks = [Option((8 + number,), mark=mark) for number, mark in enumerate(",.?")]
    choice = Choice.of([Option((5,), case=Case.LOWER), *marks])
    end = Choice.of([Option((1,))])
    for taken, masses in ((",", [0.2, 0.4, 0.4, 0.0]), (".", [0.2, 0.4, 0.4, 0.0]), (None, [0.4, 0.2, 0.4, 0.0])):
        accumulator = ChoiceAccumulator(1)
        accumulator.count(Choice.of([Option((7,), case=Case.LOWER)]).paths[0], [1.0])
        path = choice.marks[taken] if taken else choice.form(Case.LOWER)
        accumulator._cases.append({"lower": 1.0})
        accumulator.count(path, masses)
        if taken:
            accumulator.count(end.paths[0], [1.0])
        assert choose_marks([accumulator._slots[0]], [1.0])[0] == (taken or "")


def _second_place(model: Model, words: list[str], guesses: list[Guess]) -> list[Option]:
    """What is drafted after the first word, up to the next one or the end."""
    draft = Draft(WindowInput.of(words), Candidates(model.tokenizer), guesses)
    return [path.option for path in draft._places[1]]
