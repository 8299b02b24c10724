"""The promises of a stream (docs/design.md), on models that know nothing: they hold whatever the model decides."""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import chunked, streamed_together

from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError, InputError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import Committed, StreamConfig, StreamingPunctuator, Streams, StreamState, TimedWord
from t5punct.streaming.deciding import Look
from t5punct.streaming.state import Times
from t5punct.text.render import RenderConfig
from t5punct.text.spelling_table import SpellingTable
from t5punct.text.words import Word, split
from t5punct.windows.presets import load_preset
from t5punct.windows.votes import Vote

PIECES = ["we", "know", "u", "s", "inc", "iPhone", "3.5", "U.S.", "🙂", "no", "I", "how", "-", "right?"]
WORDS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14)
CONFIGS = st.sampled_from(
    [
        StreamConfig(window=5, lookahead=0), StreamConfig(window=5, lookahead=3),
        StreamConfig("entropy", window=6, l_min=0, l_max=3, thresholds=[2.2]),
        StreamConfig("entropy", window=6, l_min=1, l_max=3, thresholds=[2.6, 2.4, 2.0]),
        StreamConfig("sentence", window=6, every=2, after=1), StreamConfig("sentence", window=7, every=3, after=0),
        StreamConfig("fixed", "classify", window=5, lookahead=2),
        StreamConfig("entropy", "classify", window=6, l_min=1, l_max=3, thresholds=[2.5]),
        StreamConfig(window=5, lookahead=3, max_delay_ms=500),
        StreamConfig("sentence", window=6, every=2, after=1, max_delay_ms=500),
    ]
)  # fmt: skip
steady = settings(max_examples=10, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def punctuator(lively_model: Model) -> Punctuator:
    """English, so that `u s` is an abbreviation."""
    return Punctuator(replace(lively_model.with_task(classifies=True), spellings=SpellingTable(("I",))))


def _stream(punctuator: Punctuator, config: StreamConfig, chunks: Sequence[Sequence[str]]) -> list[Committed]:
    stream = StreamingPunctuator(punctuator, config)
    committed = [word for chunk in chunks for word in stream.push(chunk)]
    return [*committed, *stream.finish()]


@steady
@given(WORDS, CONFIGS, st.randoms(use_true_random=False))
def test_any_chunking_commits_the_same_and_the_words_are_kept(
    punctuator: Punctuator, words: list[str], config: StreamConfig, rng: random.Random
) -> None:
    whole = _stream(punctuator, config, [words])
    assert whole == _stream(punctuator, config, chunked(words, rng))
    assert whole == _stream(punctuator, config, [[" ".join(words)]])
    assert [word.annotated.word for word in whole] == [word.text for word in split(" ".join(words)).words]


@steady
@given(WORDS, CONFIGS)
def test_no_slot_waits_longer_than_it_may(punctuator: Punctuator, words: list[str], config: StreamConfig) -> None:
    stream = StreamingPunctuator(punctuator, config)
    words = [word for place, word in enumerate(words) if word != "-" or not place]  # others are of the word before them
    committed = [slot for word in words for slot in stream.push([word])]
    delays = [slot.delay_words for slot in committed]
    if config.policy == "fixed":
        assert set(delays) <= {config.lookahead}
        assert len(delays) == max(0, len(words) - config.lookahead)
    elif config.policy == "entropy":
        assert all(config.l_min <= delay <= config.l_max for delay in delays)
        assert len(delays) >= len(words) - config.l_max
    else:
        assert all(config.after <= delay < config.window for delay in delays)
        assert stream.state.n_seen - stream.state.n_committed < config.window
    assert [slot.delay_words for slot in stream.finish()] == list(range(len(words) - len(delays)))[::-1]


@steady
@given(st.lists(st.sampled_from(PIECES[:10]), min_size=1, max_size=40), st.integers(0, 5), st.booleans())
def test_fixed_equals_preset_realtime(punctuator: Punctuator, words: list[str], lookahead: int, fragment: bool) -> None:
    strategy = load_preset(f"realtime-{lookahead}")
    config = PunctuatorConfig(strategy.windows, strategy.combine, fragment=fragment)
    batch = Punctuator(punctuator.model, config).annotate(" ".join(words))
    stream = _stream(Punctuator(punctuator.model, config), StreamConfig(lookahead=lookahead), [words])
    streamed = tuple(word.annotated for word in stream)
    if lookahead == 0 and not fragment:  # the last slot is final before anyone knows that it is the last
        streamed, batch = streamed[:-1], batch[:-1]
    assert [(w.text, w.marks, w.case) for w in streamed] == [(w.text, w.marks, w.case) for w in batch]
    assert [word.confidence for word in streamed] == pytest.approx([word.confidence for word in batch], abs=1e-4)


@steady
@given(WORDS, CONFIGS, st.data())
def test_a_stream_saved_and_resumed_anywhere_goes_on_as_if_nothing_had_been(
    punctuator: Punctuator, words: list[str], config: StreamConfig, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(words)))
    stream = StreamingPunctuator(punctuator, config)
    before = stream.push(words[:cut])
    resumed = StreamingPunctuator(punctuator, config, StreamState.from_json(stream.state.to_json()))
    assert [*before, *resumed.push(words[cut:]), *resumed.finish()] == _stream(punctuator, config, [words])


@steady
@given(st.lists(WORDS, min_size=1, max_size=4), CONFIGS, st.randoms(use_true_random=False))
def test_batched_streams_equal_single_ones(
    punctuator: Punctuator, texts: list[list[str]], config: StreamConfig, rng: random.Random
) -> None:
    for words, committed in zip(texts, streamed_together(Streams(punctuator, config), texts, rng), strict=True):
        single = _stream(punctuator, config, [words])
        assert [word.text for word in committed] == [word.text for word in single]
        assert [word.delay_words for word in committed] == [word.delay_words for word in single]
        confidences = [word.annotated.confidence for word in committed]
        assert confidences == pytest.approx([word.annotated.confidence for word in single], abs=1e-4)


@pytest.mark.parametrize("policy", ["fixed", "entropy", "sentence"])
def test_the_state_does_not_grow_with_the_stream(punctuator: Punctuator, policy: str) -> None:
    stream = StreamingPunctuator(punctuator, StreamConfig(policy, window=8, thresholds=[0.1], every=3))
    rng, sizes = random.Random(1), []
    for _ in range(40):
        stream.push(rng.choices(PIECES, k=2))
        sizes.append(len(stream.state.words))
    assert max(sizes) <= 8
    assert len(stream.state.to_json()) < 2000


def test_the_provisional_tail_is_what_finish_would_commit_if_the_text_may_end_anywhere(lively_model: Model) -> None:
    config = PunctuatorConfig(fragment=True)
    stream = StreamingPunctuator(Punctuator(lively_model, config), StreamConfig(window=6, lookahead=3))
    stream.push("we know that right and".split())
    state, tail = stream.state, stream.provisional()
    assert [word.word for word in tail] == ["that", "right", "and"]
    assert stream.state == state, "looking changes nothing"
    assert tail == tuple(word.annotated for word in stream.finish())
    assert stream.finish() == ()


def test_flushing_commits_all_that_was_heard(punctuator: Punctuator) -> None:
    stream = StreamingPunctuator(punctuator, StreamConfig(window=6, lookahead=3))
    stream.push(["we", "know"])
    assert [word.annotated.word for word in stream.flush()] == ["we", "know"]
    assert stream.flush() == ()
    assert stream.push(["that"]) == ()
    assert [word.annotated.word for word in stream.push(["is", "right", "and"])] == ["that"]


def test_a_silence_commits_everything_before_it_and_changes_what_the_model_reads(punctuator: Punctuator) -> None:
    config = StreamConfig(window=6, lookahead=3, max_delay_ms=700)
    timed = [TimedWord("we", 0, 200), TimedWord("know", 200, 400), TimedWord("that", 1100, 1300), TimedWord("is", 1999)]
    stream = StreamingPunctuator(punctuator, config)
    assert [slot.annotated.word for slot in stream.push(timed)] == ["we", "know"]
    for patient in (replace(config, max_delay_ms=701), replace(config, max_delay_ms=None)):
        assert [slot.delay_words for slot in StreamingPunctuator(punctuator, patient).push(timed)] == [3]
    hearing = Punctuator(punctuator.model.with_task(pause_ms=280))
    words = [TimedWord("we", 0, 200), TimedWord("know", 600, 800), TimedWord("that", 800, 900)]
    stream = StreamingPunctuator(hearing, StreamConfig(lookahead=3))
    stream.push(words)
    assert hearing.window_input(stream.state.words).pauses == (True, False, False)
    assert punctuator.window_input(stream.state.words).pauses == ()
    timed = [word.annotated.confidence for word in stream.finish()]
    untimed = StreamingPunctuator(hearing, StreamConfig(lookahead=3))
    untimed.push([word.word for word in words])
    assert timed != [word.annotated.confidence for word in untimed.finish()]


def test_a_mark_that_stands_alone_is_decided_anew_or_kept(punctuator: Punctuator) -> None:
    for lookahead in (0, 1):
        config = StreamConfig(window=5, lookahead=lookahead)
        pieces = _stream(punctuator, config, [["you"], ["-"], ["well,"], [":)"], ["fine"], [","]])
        assert [word.annotated.word for word in pieces] == ["you", "well", ":)", "fine"]
        assert pieces == _stream(punctuator, config, [["you - well, :) fine ,"]])
        assert pieces == _stream(punctuator, config, [["you", "well", ":)", "fine"]])
    keeping = punctuator.with_config(render=RenderConfig(case=False, keep_marks=True))
    chunks = [["so", "you"], ["?"], ["!"], ["well", "-"], [".", ",", ".", "no"]]
    pieces = _stream(keeping, StreamConfig(window=5, lookahead=1), chunks)
    assert [word.annotated.word for word in pieces] == ["so", "you", "well", ".", "no"]
    assert [word.text for word in pieces][1:4] == ["you ? !", "well - . ,", "."]
    pieces = _stream(keeping, StreamConfig(window=5, lookahead=0), chunks[:2])
    assert [word.annotated.word for word in pieces] == ["so", "you", "?"], "what is final stays, and nothing is lost"


def test_the_full_stop_of_an_ordinal_ends_no_sentence_in_a_stream(punctuator: Punctuator) -> None:
    """Where the word behind it was heard before it is decided."""
    stream = StreamingPunctuator(punctuator, StreamConfig(window=5, lookahead=1))
    stream.push("wir gehen am 3. oktober nach".split())
    assert [word.is_abbreviated for word in stream.state.words] == [False, False, True, False, False]
    stream.push("we have 3. then".split())
    assert not any(word.is_abbreviated for word in stream.state.words)


def test_a_text_is_pushed_as_words_every_stream_is_given_some_and_none_after_its_end(punctuator: Punctuator) -> None:
    stream, other = StreamingPunctuator(punctuator), StreamingPunctuator(punctuator)
    assert stream.push("we know that is right and no") == other.push("we know that is right and no".split())
    for words in (None, b"we know", [b"we"], ["\ud800"]):
        with pytest.raises(InputError, match="expected"):
            other.push(words)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="words for 1 of 2 streams; expected words for each"):
        Streams(punctuator).push([StreamState(), StreamState()], [["we"]])
    stream.finish()
    with pytest.raises(InputError, match="words after the stream's end"):
        stream.push(["more"])


@pytest.mark.parametrize("text", [
    "", None, "[" * 100_000, '{"words": [{"txt": "a"}]}', '{"words": {}}', '{"words": [], "seen": 3}',
    '{"words": [], "n_seen": "3"}', '{"words": [], "n_committed": 9}', '{"words": [], "sentence_start": 1}',
    '{"words": [{"text": 5}], "n_seen": 1}', '{"words": [{"text": "a b"}], "n_seen": 1}',
    '{"words": [{"text": "a", "n_closers": 2}], "n_seen": 1}', '{"words": [{"text": "a", "pause": 3}], "n_seen": 1}',
    '{"words": [], "times": [{"start_ms": 1}]}', '{"words": [], "memory": 1}', '{"words": [], "n_tokens": -1}',
    '{"words": [], "n_read": 1}', '{"words": [], "opened": "x"}', '{"words": [], "unsure_case": "x"}',
])  # fmt: skip
def test_what_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a stream state that reads"):
        StreamState.from_json(text)


def test_times_of_any_number_are_whole_ms_in_the_state_and_what_is_none_is_refused(punctuator: Punctuator) -> None:
    """As Python users have them: seconds times a thousand, or a column of numbers."""
    for start_ms, end_ms in ((1000.0, 1200.0), (999.6, 1200.4), (np.int64(1000), np.float32(1200))):
        stream = StreamingPunctuator(punctuator)
        stream.push([TimedWord("we", start_ms, end_ms)])  # type: ignore[arg-type]
        assert stream.state.times == (Times(1000, 1200),)
        assert StreamState.from_json(stream.state.to_json()) == stream.state
    for ms in (float("nan"), "1000"):
        stream = StreamingPunctuator(punctuator)
        with pytest.raises(InputError, match=r"a time of .* ms; expected a finite number"):
            stream.push([TimedWord("we", 5, ms)])  # type: ignore[arg-type]
        assert stream.state == StreamState()


def test_a_state_remembers_times_and_a_smaller_window_loses_no_word(punctuator: Punctuator) -> None:
    state = StreamState().hear(Word("so"), 2).hear(Word("what"), 2, Times(100, 400)).hear(Word("now"), 2)
    assert [state.times_of(place) for place in range(3)] == [Times(), Times(100, 400), Times()]
    assert StreamState.from_json(state.to_json()) == state
    assert StreamState.from_json('{"words": [], "end_ms": 5}').times == (), "written before there were times"
    stream = StreamingPunctuator(punctuator, StreamConfig(window=12, lookahead=9))
    stream.push(PIECES[:9])
    smaller = StreamingPunctuator(punctuator, StreamConfig(window=3, lookahead=1), stream.state)
    committed = [*smaller.push(["we"]), *smaller.finish()]
    assert [word.annotated.word for word in committed] == [*PIECES[:9], "we"]


def test_what_cannot_work_is_said_before_the_first_word(lively_model: Model, punctuator: Punctuator) -> None:
    with pytest.raises(ConfigError, match="a window of 600 words for a model that reads 512 tokens"):
        Streams(punctuator, StreamConfig(window=600))
    generating = Punctuator(punctuator.model, PunctuatorConfig(decoding=DecodingConfig("generate")))
    for config in (StreamConfig("entropy"), StreamConfig(decide="classify")):
        with pytest.raises(ConfigError, match="with the decoder generate; expected the decoder slots"):
            Streams(generating, config)
    assert _stream(generating, StreamConfig(lookahead=1), [["we", "know"]])


# -- one rule of capitals for every policy: after a committed sentence end, and nowhere else for that reason


FEW_WORDS = st.lists(st.sampled_from(["we", "know", "that", "no", "how", "-", "🙂"]), min_size=1, max_size=14)


class Silent:
    """Says nothing but what is known without a model."""

    def __init__(self, punctuator: Punctuator) -> None:
        self._known = punctuator.apply_known

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        nothing = Vote({"": 1.0}, {"lower": 1.0})
        return [tuple(self._known(look.view, place, nothing) for place in look.slots) for look in looks]


def said_by(streams: Streams, words: Sequence[str | TimedWord]) -> str:
    """What a new stream writes of some words."""
    [step] = streams.push([StreamState()], [words])
    [last] = streams.finish([step.state])
    return " ".join(word.text for word in (*step.committed, *last.committed))


@settings(steady, max_examples=40)
@given(CONFIGS, FEW_WORDS, st.booleans())
def test_a_capital_follows_ends(punctuator: Punctuator, config: StreamConfig, words: list[str], silent: bool) -> None:
    stream = StreamingPunctuator(punctuator, config)
    first, silence = stream.push(words[:5]), stream.flush() if silent else ()
    committed = [*first, *silence, *stream.push(words[5:]), *stream.finish()]
    begins = True
    for word in committed:
        spoken = word.annotated.word.isalpha()
        if spoken and begins:
            assert word.text[0].isupper()
        if spoken or set(word.annotated.marks) & set(".?!"):
            begins = bool(set(word.annotated.marks) & set(".?!"))


def test_a_silence_and_a_kept_full_stop_end_the_sentence_and_an_abbreviations_does_not(tiny_model: Model) -> None:
    words = [TimedWord("biology", 0, 200), TimedWord("the", 2000, 2100), TimedWord("next", 2100, 2200)]
    for fragment, text in ((False, "Biology. The next."), (True, "biology the next")):
        punctuator = Punctuator(tiny_model, PunctuatorConfig(fragment=fragment))
        streams = Streams(punctuator, StreamConfig(max_delay_ms=1000), Silent(punctuator))
        assert said_by(streams, words) == text
    keeping = Punctuator(tiny_model, PunctuatorConfig(render=RenderConfig(keep_marks=True)))
    stream = StreamingPunctuator(keeping, StreamConfig(lookahead=1))
    committed = [*stream.push("so. that, vs. them? we 12. of".split()), *stream.finish()]
    starts = [word.text[0].isupper() for word in committed]
    assert (starts[0], starts[1], starts[4]) == (True, True, True)
    assert committed[5].annotated.marks == ".", "no item of a list: it opens no line"
