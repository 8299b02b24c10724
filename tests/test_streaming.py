"""The promises of a stream, on a model that knows nothing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.punctuator import AnnotatedWord, Punctuator
from t5punct.streaming import StreamConfig, StreamingPunctuator
from t5punct.windows import Window
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
        slot = index - lookahead
        seen = [Word(spelling) for spelling in words[max(0, index - 4) : index + 1]]
        kept = len(seen) - lookahead - 1
        wanted = punctuator.annotate_window(seen, Window(0, len(seen), kept, kept + 1)) if slot >= 0 else []
        assert list(stream.push([word])) == wanted


def test_the_provisional_tail_is_what_finish_would_commit(tiny_model: Model) -> None:
    stream = StreamingPunctuator(Punctuator(tiny_model), StreamConfig(window=6, lookahead=3))
    stream.push("we know that right and".split())
    tail = stream.provisional()
    assert [word.word for word in tail] == ["that", "right", "and"]
    assert tail == stream.finish()
    assert stream.finish() == ()


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
