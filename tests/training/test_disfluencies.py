"""Disfluencies: what was said is all there, and what is put in bears no marks."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.training.disfluencies import FILLERS, DisfluencyConfig, disfluent
from t5punct.training.noise import Written

WORDS = [
    Written("we", "We", ""),
    Written("met", "met", ""),
    Written("anna", "Anna", ",", pause=True),
    Written("then", "then", "."),
    Written("i", "I", ""),
    Written("left", "left", "?!"),
]


def _written(words: list[Written]) -> str:
    return " ".join(word.form + word.label + "|" * word.pause for word in words)


def test_words_said_twice_bear_their_marks_once() -> None:
    heard = disfluent(WORDS, DisfluencyConfig(1.0, repeat=1.0, filler=0.0), random.Random(1))
    assert _written(heard) == "We met met Anna Anna,| then then. I I left left?!"


def test_fillers_stand_behind_words_without_marks() -> None:
    heard = disfluent(WORDS, DisfluencyConfig(1.0, repeat=0.0, filler=1.0), random.Random(1))
    places = [heard.index(word) for word in WORDS]
    assert [after - before > 1 for before, after in pairwise(places)] == [True, True, False, False, True]
    put_in = {word.read for word in heard} - {word.read for word in WORDS}
    assert put_in <= {word for filler in FILLERS for word in filler}


@given(st.integers(0, 10_000), st.floats(0, 1), st.floats(0, 1))
def test_everything_said_is_kept_in_order_with_its_marks(seed: int, repeat: float, filler: float) -> None:
    heard = disfluent(WORDS, DisfluencyConfig(1.0, repeat, filler), random.Random(seed))
    left = iter(heard)
    assert all(any(word == said for word in left) for said in WORDS)
    assert "".join(word.label for word in heard) == "".join(word.label for word in WORDS)
    assert all(word.form.lower() == word.read for word in heard)


def test_they_are_as_frequent_as_asked() -> None:
    words = [Written("a", "a", "")] * 20_000
    heard = disfluent(words, DisfluencyConfig(1.0, repeat=0.03, filler=0.02), random.Random(1))
    n_fillers = sum(word.read in ("um", "uh", "er", "like", "you", "i") for word in heard)
    assert 0.025 < sum(word.read == "a" for word in heard) / 20_000 - 1 < 0.035
    assert 0.015 < n_fillers / 20_000 < 0.025


@pytest.mark.parametrize("values", [{"share": 1.5}, {"repeat": -0.1}, {"filler": float("nan")}])
def test_shares_are_checked(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"check data\.disfluencies"):
        DisfluencyConfig(**values)
