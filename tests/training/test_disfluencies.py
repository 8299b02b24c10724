"""Disfluencies: what was said is all there, and what is put in bears no marks."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.text.marks import DISFLUENT
from t5punct.text.words import split
from t5punct.training.examples.disfluencies import FILLERS, DisfluencyConfig, add_disfluencies
from t5punct.training.examples.noise import Written

WORDS = [
    Written("we", "We", ""),
    Written("met", "met", ""),
    Written("anna", "Anna", ",", pause=1),
    Written("then", "then", "."),
    Written("i", "I", ""),
    Written("left", "left", "?!"),
]


def _written(words: list[Written]) -> str:
    return " ".join(word.form + word.label + "|" * word.pause for word in words)


def test_words_said_twice_bear_their_marks_once() -> None:
    heard = add_disfluencies(WORDS, DisfluencyConfig(1.0, repeat=1.0, filler=0.0), random.Random(1))
    assert _written(heard) == "We met met Anna Anna,| then then. I I left left?!"


def test_fillers_stand_behind_words_without_marks() -> None:
    heard = add_disfluencies(WORDS, DisfluencyConfig(1.0, repeat=0.0, filler=1.0), random.Random(1))
    places = [heard.index(word) for word in WORDS]
    assert [after - before > 1 for before, after in pairwise(places)] == [True, True, False, False, True]
    put_in = {word.read for word in heard} - {word.read for word in WORDS}
    assert put_in <= {word for filler in FILLERS for word in filler}


@given(st.integers(0, 10_000), st.floats(0, 1), st.floats(0, 1))
def test_everything_said_is_kept_in_order_with_its_marks(seed: int, repeat: float, filler: float) -> None:
    heard = add_disfluencies(WORDS, DisfluencyConfig(1.0, repeat, filler), random.Random(seed))
    left = iter(heard)
    assert all(any(word == said for word in left) for said in WORDS)
    assert "".join(word.label for word in heard) == "".join(word.label for word in WORDS)
    assert all(word.form.lower() == word.read for word in heard)


def test_they_are_as_frequent_as_asked() -> None:
    words = [Written("a", "a", "")] * 20_000
    heard = add_disfluencies(words, DisfluencyConfig(1.0, repeat=0.03, filler=0.02), random.Random(1))
    n_fillers = sum(word.read in ("um", "uh", "er", "like", "you", "i") for word in heard)
    assert 0.025 < sum(word.read == "a" for word in heard) / 20_000 - 1 < 0.035
    assert 0.015 < n_fillers / 20_000 < 0.025


@pytest.mark.parametrize("values", [{"share": 1.5}, {"repeat": -0.1}, {"filler": float("nan")}])
def test_shares_are_checked(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"check data\.disfluencies"):
        DisfluencyConfig(**values)


_EARLIER = "We met met Anna Anna,| then. I you know left left?!"  # of seed 7, before there were other kinds
OTHERS = [
    Written("so", "So", "."),
    *(Written(word, word, "") for word in ("did", "they", "see")),
    Written("bob", "Bob", "."),
]
ALL_KINDS = {"repeat": 0.0, "filler": 0.0, "phrase": 0.0, "repair": 0.0, "restart": 0.0, "marked": 1.0}


def _heard(text: str, n_seeds: int, **chances: float) -> set[str]:
    words = [Written(word.normal, word.core, word.label) for word in split(text).words]
    config = DisfluencyConfig(1.0, **(ALL_KINDS | chances))
    return {
        _written(add_disfluencies(words, config, random.Random(seed), OTHERS, DISFLUENT)) for seed in range(n_seeds)
    }


def test_phrases_are_said_twice() -> None:
    heard = _heard("We went home to the house.", 40, phrase=0.5)
    assert {"We went home to~ the~ to the house.", "We went home to~ the~ house~ to the house."} <= heard
    assert not any("went~" in one or "We~" in one for one in heard)


def test_repairs_begin_with_the_same_words_and_end_with_another() -> None:
    heard = _heard("We went home to the house.", 300, repair=0.5)
    for taken_back in ("to~ Bob~", "to~ see~ I~ mean~", "to~ the~ Bob~ sorry~"):
        assert f"We went home {taken_back} to the house." in heard


def test_restarts_begin_sentences_which_go_on_in_lower_case() -> None:
    heard = _heard("The house. I left. Tom left.", 80, restart=1.0)
    assert any(one.startswith("Um~ the house. ") for one in heard)
    assert any(one.startswith("Did~ they~ see~ the house. ") for one in heard)
    assert any("~ I left." in one for one in heard)
    assert all(one.endswith("left. Tom left.") for one in heard), "Tom may be a name"
    assert not any(word in one for one in heard for word in ("~ The", "~ i "))


@given(st.integers(0, 10_000), st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_whatever_is_put_in_has_the_sign_alone(seed: int, chances: list[float]) -> None:
    names = ("repeat", "filler", "phrase", "repair", "restart")
    config = DisfluencyConfig(1.0, **dict(zip(names, chances, strict=True)), marked=1.0)
    heard = add_disfluencies(WORDS, config, random.Random(seed), OTHERS, DISFLUENT)
    said = [word for word in heard if word.label != DISFLUENT]
    assert [(word.read, word.label, word.pause) for word in said] == [(one.read, one.label, one.pause) for one in WORDS]
    assert not any(word.pause for word in heard if word.label == DISFLUENT)


def test_what_never_happens_draws_nothing() -> None:
    """A recipe that has none of the newer kinds puts in what it always did."""
    config, rng, other = DisfluencyConfig(1.0, 0.3, 0.3), random.Random(7), random.Random(7)
    heard = add_disfluencies(WORDS, config, rng, OTHERS)
    assert heard == add_disfluencies(WORDS, config, other)
    assert rng.random() == other.random()
    assert _written(heard) == _EARLIER
