"""The first draft of a window, from the tagger's guesses."""

import pytest

from t5punct.decoding.candidates import Candidates, Option
from t5punct.decoding.draft import Draft, Guess
from t5punct.decoding.inputs import WindowInput
from t5punct.model import Model
from t5punct.text.marks import Case

LOWER, CAPITALISED, UPPER = Case.LOWER, Case.CAPITALISED, Case.UPPER


@pytest.mark.parametrize(("mark", "case", "inside", "drafted"), [
    ("", CAPITALISED, LOWER, CAPITALISED), ("", LOWER, CAPITALISED, LOWER), (",", CAPITALISED, LOWER, LOWER),
    (",", LOWER, CAPITALISED, CAPITALISED), (".", LOWER, LOWER, CAPITALISED), ("?", LOWER, UPPER, UPPER),
])  # fmt: skip
def test_the_case_of_a_word_fits_the_mark_before_it(
    tiny_model: Model, mark: str, case: Case, inside: Case, drafted: Case
) -> None:
    *marks, word = _second_place(tiny_model, ["so", "it"], [Guess(mark), Guess("", case, inside)])
    assert [option.mark for option in marks] == [mark] * bool(mark)
    assert word.case is drafted


def test_a_clitic_apart_from_its_word_has_no_capital(tiny_model: Model) -> None:
    """Of `i 'm` the tagger says what it has learned to say of `I'm`."""
    capital = Guess("", CAPITALISED, CAPITALISED)
    (word,) = _second_place(tiny_model, ["i", "'m"], [capital, capital])
    assert word.case is LOWER
    (word,) = _second_place(tiny_model, ["i", "am"], [capital, capital])
    assert word.case is CAPITALISED


def test_the_end_may_follow_any_mark(tiny_model: Model) -> None:
    for mark in ("", ",", "."):
        *_, end = _second_place(tiny_model, ["so"], [Guess(mark)])
        assert (end.mark, end.case) == (None, None)


def _second_place(model: Model, words: list[str], guesses: list[Guess]) -> list[Option]:
    """What is drafted after the first word, up to the next one or the end."""
    draft = Draft(WindowInput.of(words), Candidates(model.tokenizer), guesses)
    return [path.option for path in draft._places[1]]
