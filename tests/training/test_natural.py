"""Natural disfluencies: what the rules take for a slip of the tongue, and what they leave alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.text.marks import DISFLUENT
from t5punct.text.words import split
from t5punct.training.examples.disfluencies import FUNCTION_WORDS, SOUNDS, label_natural_disfluencies
from t5punct.training.examples.noise import Written


def _written(text: str) -> list[Written]:
    return [Written(word.normal, word.core, word.label) for word in split(text).words]


def _found(text: str) -> list[str]:
    return [word.read for word in label_natural_disfluencies(_written(text)) if word.label.startswith(DISFLUENT)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("So, um, we went. Uh I left.", ["um", "uh"]),
        ("I I think that, the, the, the end.", ["i", "the", "the"]),
        ("We went in the in the house.", ["in", "the"]),
        ("I was, like, tired. You know, it was late. I mean, very late.", ["like", "you", "know", "i", "mean"]),
        ("It was late, you know, and cold.", ["you", "know"]),
        ("I like it like that, you know him, and I mean it.", []),
        ("You know what I like, and you know that, too.", []),
        ("He had had enough, and I know that that is so so good.", []),
        ("It was very very good. No, no, no. Bye bye.", []),
        ("We talked on and on and on, over and over and over.", []),
        ("Is it? It is. I said I. I left.", []),  # a sentence ends between them
        ("like, this chunk begins inside a sentence", []),
        ("Call nine nine one one.", []),
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    assert _found(text) == found


def test_the_last_words_of_a_chunk_are_no_repetition() -> None:
    assert _found("they saw it") == _found("it") == _found("and it is and") == []


@given(
    st.lists(
        st.tuples(st.sampled_from([*sorted(FUNCTION_WORDS), "um", "know", "house"]), st.sampled_from("|,|.|")),
        max_size=12,
    )
)
def test_only_signs_are_added(pairs: list[tuple[str, str]]) -> None:
    words = [Written(word, word, label.strip("|")) for word, label in pairs]
    found = label_natural_disfluencies(words)
    assert [(word.read, word.form, word.label.removeprefix(DISFLUENT)) for word in found] == [
        (word.read, word.form, word.label) for word in words
    ]
    assert all(word.label.startswith(DISFLUENT) for word in found if word.read in SOUNDS)
