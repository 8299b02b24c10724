"""The promises of a stream, on a model that knows nothing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from t5punct.errors import ConfigError, InputError
from t5punct.model import Model
from t5punct.punctuator import AnnotatedWord, Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator
from t5punct.windows import View, Window
from t5punct.words import Word

WORDS = st.lists(st.sampled_from(["we", "know", "that", "iPhone", "3.5", "U.S.", "🙂", "no"]), min_size=1, max_size=10)
SETTINGS = settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))


def _stream(model: Model, config: StreamConfig, chunks: list[list[str]]) -> list[AnnotatedWord]:
    stream = StreamingPunctuator(Punctuator(model), config)
    committed = [word for chunk in chunks for word in stream.push(chunk)]
    return [*committed, *stream.finish()]


@SETTINGS
@given(WORDS, st.integers(0, 3), st.data())
def test_any_chunking_commits_the_same_words(tiny_model: Model, words: list[str], l: int, data: st.DataObject) -> None:  # noqa: E741
    config = StreamConfig(window=5, lookahead=l)
    cut = data.draw(st.integers(0, len(words)))
    whole = _stream(tiny_model, config, [words])
    assert whole == _stream(tiny_model, config, [words[:cut], [], words[cut:]])
    assert whole == _stream(tiny_model, config, [[word] for word in words])
    assert [word.word for word in whole] == words


@SETTINGS
@given(WORDS, st.integers(0, 3))
def test_a_slot_is_committed_at_exactly_its_lookahead_by_the_window_that_ends_there(
    tiny_model: Model, words: list[str], lookahead: int
) -> None:
    punctuator = Punctuator(tiny_model)
    stream = StreamingPunctuator(punctuator, StreamConfig(window=5, lookahead=lookahead))
    for index, word in enumerate(words):
        slot, first = index - lookahead, max(0, index - 4)
        seen = tuple(Word(spelling) for spelling in words[first : index + 1])
        view = View(Window(first, index + 1, slot, slot + 1), seen, is_last=False, n_settled=slot + 1)
        assert list(stream.push([word])) == (punctuator.annotate_view(view) if slot >= 0 else [])


def test_the_provisional_tail_is_what_finish_would_commit_if_the_text_may_end_anywhere(tiny_model: Model) -> None:
    stream = StreamingPunctuator(
        Punctuator(tiny_model, PunctuatorConfig(fragment=True)), StreamConfig(window=6, lookahead=3)
    )
    stream.push("we know that right and".split())
    tail = stream.provisional()
    assert [word.word for word in tail] == ["that", "right", "and"]
    assert tail == stream.finish()
    assert stream.finish() == ()


def test_a_whole_stream_begins_and_ends_with_a_sentence(tiny_model: Model) -> None:
    words = _stream(tiny_model, StreamConfig(window=6, lookahead=3), [["we", "know", "that", "right", "and"]])
    assert words[0].case != "lower"
    assert set(words[-1].label) & set(".?!")


def test_a_mark_that_stands_alone_is_a_word_in_whatever_chunk_it_comes(tiny_model: Model) -> None:
    config = StreamConfig(window=5, lookahead=1)
    pieces = _stream(tiny_model, config, [["you"], ["-"], ["well,"], ["fine"], [","]])
    assert [word.word for word in pieces] == ["you", "-", "well", "fine", ","]
    assert pieces == _stream(tiny_model, config, [["you - well, fine ,"]])


def test_nothing_can_be_pushed_after_the_end(tiny_model: Model) -> None:
    stream = StreamingPunctuator(Punctuator(tiny_model))
    stream.finish()
    with pytest.raises(InputError, match="words after the stream's end"):
        stream.push(["more"])


def test_memory_does_not_grow_with_the_stream(tiny_model: Model) -> None:
    stream = StreamingPunctuator(Punctuator(tiny_model), StreamConfig(window=4, lookahead=1))
    sizes = set()
    for _ in range(12):
        stream.push(["we", "know"])
        sizes.add(len(stream._seen))
    assert max(sizes) == 4


def test_an_impossible_lookahead_is_said() -> None:
    with pytest.raises(ConfigError, match="a lookahead of 9 words in a window of 9"):
        StreamConfig(window=9, lookahead=9)
