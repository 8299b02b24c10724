"""No window has more tokens than the model reads, whatever the words; none is left out."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import any_word

from t5punct.decoding.inputs import WindowInput
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.tokenization import TaskTokenizer

long_words = any_word | st.text("abcdefgh🙂", min_size=1, max_size=200)


def _reading(model: Model, max_tokens: int) -> TaskTokenizer:
    return TaskTokenizer(model.tokenizer.tokenizer, replace(model.task, max_tokens=max_tokens))


@settings(deadline=None, max_examples=150)
@given(st.lists(long_words, min_size=1, max_size=12), st.integers(60, 200))
def test_a_fitted_window_keeps_beginnings_and_the_limit(tiny_model: Model, words: list[str], max_tokens: int) -> None:
    tokenizer = _reading(tiny_model, max_tokens)
    window = WindowInput.of(words).fit_to_model(tokenizer)
    assert len(tokenizer.source(window.words).ids) <= max_tokens
    assert len(window.words) == len(words)
    assert all(whole.startswith(seen) and seen for whole, seen in zip(words, window.spellings, strict=True))


def test_words_are_cut_only_where_they_must_be_and_more_than_tokens_are_refused(tiny_model: Model) -> None:
    window = WindowInput.of(["we", "know", "supercalifragilistic"], [True, False, True])
    assert window.fit_to_model(_reading(tiny_model, 512)) == window
    short = window.fit_to_model(_reading(tiny_model, len(tiny_model.tokenizer.source(window.words).ids) - 1))
    assert short.spellings[:2] == ("we", "know"[: len(short.spellings[1])])
    assert len(short.spellings[2]) < 20
    assert short.has_slot == window.has_slot
    with pytest.raises(ConfigError, match=r"a window of 40 words for a model that reads 40 tokens; .* lower window"):
        WindowInput.of(["a"] * 40).fit_to_model(_reading(tiny_model, 40))


def test_a_very_long_word_is_read_as_a_short_one_and_spoils_nothing(tiny_model: Model) -> None:
    tokenizer = _reading(tiny_model, 512)
    blob = WindowInput.of(["we", "x" * 100_000, "know"], [True, True, False], [False, True, False], ["", ",", ""])
    short = WindowInput.of(["we", "x" * 12, "know"], blob.has_slot, blob.pauses, blob.given)
    assert blob.fit_to_model(tokenizer) == short
    longest = WindowInput.of(["donaudampfschifffahrtsgesellschaftskapitänsmütze"])
    assert longest.fit_to_model(tokenizer) == longest


def test_a_window_has_room_for_the_question_about_a_slot(tiny_model: Model) -> None:
    words = ["supercalifragilistic"] * 4
    whole = len(tiny_model.tokenizer.source(words).ids)
    asking = _reading(tiny_model.with_task(classifies=True), whole)
    assert len(asking.source(words, asked=2).ids) == whole + 1
    fitted = WindowInput.of(words).fit_to_model(asking)
    assert len(asking.source(fitted.words, asked=2).ids) <= whole
    assert WindowInput.of(words).fit_to_model(_reading(tiny_model, whole)).words == tuple(words)
