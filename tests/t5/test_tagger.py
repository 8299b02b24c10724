"""A tagger whose classes are put in another order."""

import torch

from t5punct.t5.tagger import Tagger


def test_its_classes_are_found_by_their_marks_and_one_that_lacks_a_mark_stays() -> None:
    tagger, states = Tagger(4, ",.?!"), torch.randn(3, 4)
    narrowed = tagger.of_marks("?,")
    marks, cases = tagger(states)
    other_marks, other_cases = narrowed(states)
    assert narrowed.mark_classes == ("", "?", ",")
    assert torch.allclose(other_marks, marks[:, [0, 3, 1]])
    assert torch.equal(other_cases, cases)
    tagger = Tagger(4, ",.")
    assert tagger.of_marks(",.?") is tagger and tagger.of_marks(",.") is tagger


def test_nothing_else_of_it_changes_and_no_random_number_is_drawn() -> None:
    tagger = Tagger(4, ",.?").double().requires_grad_(False)
    state = torch.get_rng_state()
    narrowed = tagger.of_marks(".")
    assert torch.equal(torch.get_rng_state(), state)
    assert {(value.dtype, value.requires_grad) for value in narrowed.parameters()} == {(torch.float64, False)}
    assert narrowed.marks.out_features == 2 and tagger.marks.weight.shape == (4, 4)
