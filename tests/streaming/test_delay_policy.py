"""Streams with a delay equal the whole text under the same mask, and what they remember is bounded."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from from_encoder import from_encoder
from from_scratch import fresh
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import chunked, streamed_together
from tiny import TINY_SHAPE
from tiny_encoders import save_tiny_encoder

from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.model import Model, with_precision
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import Committed, StreamConfig, StreamingPunctuator, Streams, StreamState, TimedWord
from t5punct.t5.encoder import blocks_of
from t5punct.t5.tagger import Tagger
from t5punct.text.render import AnnotatedWord
from t5punct.text.spelling_table import SpellingTable
from t5punct.windows.plan import WindowConfig

PIECES = ["we", "u", "s", "m", "that", "iPhone", "3.5", "U.S.", "🙂", "no", "I", "how", "xylophone", "right?"]
WORDS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30)
LOOKAHEADS = st.integers(0, 5)
few = settings(max_examples=5, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module", params=["t5", "umt5", "mpnet"])
def model(request: pytest.FixtureRequest, tiny_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """Three lively layers that see three words to the left, of some kinds not all ahead; silences are heard."""
    from transformers import UMT5Config, UMT5ForConditionalGeneration

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        lively = fresh(replace(TINY_SHAPE, num_layers=3), tiny_model.tokenizer)
        if request.param == "umt5":
            config = UMT5Config(**{**lively.network.config.to_dict(), "model_type": "umt5"})
            lively = replace(lively, network=UMT5ForConditionalGeneration(config))
        if request.param == "mpnet":
            folder = save_tiny_encoder(tmp_path_factory.mktemp("mpnet"), "mpnet")
            lively = from_encoder(folder)
        with torch.no_grad():
            for name, value in lively.network.named_parameters():
                value.mul_(8.0 if "relative" in name else 1.6)
        lively.network.eval()
        tagger = Tagger(lively.network.config.d_model, lively.task.marks)
        with torch.no_grad():
            tagger.marks.weight.mul_(4.0)
    lively = replace(lively, tagger=tagger.requires_grad_(False))
    layers = {"t5": [], "umt5": [2], "mpnet": [0, 1]}[request.param]
    return lively.with_task(delay_left_words=3, delay_layers=layers, pause_ms=280, max_tokens=100_000)


@pytest.fixture(scope="module")
def punctuator(model: Model) -> Punctuator:
    english = replace(model, spellings=SpellingTable(("I",)))  # so `u s` is an abbreviation
    return Punctuator(english, PunctuatorConfig(decoding=DecodingConfig("tagger")))


def _delayed(lookahead: int) -> StreamConfig:
    return StreamConfig("delay", lookahead=lookahead)


def _stream(punctuator: Punctuator, lookahead: int, chunks: Sequence[Sequence[str]]) -> list[Committed]:
    stream = StreamingPunctuator(punctuator, _delayed(lookahead))
    return [*(word for chunk in chunks for word in stream.push(chunk)), *stream.finish()]


def _written(words: Sequence[Committed]) -> list[tuple[str, ...]]:
    return [(word.annotated.text, word.annotated.marks, word.annotated.case) for word in words]


def _assert_decided_as(words: Sequence[AnnotatedWord], wanted: Sequence[AnnotatedWord]) -> None:
    """Decisions are equal, and as sure but for rounding."""
    assert [(word.text, word.marks, word.case) for word in words] == [
        (word.text, word.marks, word.case) for word in wanted
    ]
    for kind in ("confidence", "case_confidence"):
        expected = [getattr(word, kind) for word in wanted]
        assert [getattr(word, kind) for word in words] == pytest.approx(expected, abs=1e-3)


@few
@example(["we", "u", "s"] * 5, 0, random.Random(1))
@given(WORDS, LOOKAHEADS, st.randoms(use_true_random=False))
def test_a_stream_equals_the_whole_text_with_the_same_mask_in_any_chunking(
    punctuator: Punctuator, words: list[str], lookahead: int, rng: random.Random
) -> None:
    committed = _stream(punctuator, lookahead, [words])
    assert committed == _stream(punctuator, lookahead, chunked(words, rng))
    whole = punctuator.with_config(
        windows=WindowConfig(1000), decoding=DecodingConfig("tagger", delay_words=lookahead)
    ).annotate(" ".join(words))
    n_alike = len(words) - (lookahead == 0)  # then the last slot is final before anyone knows that it is the last
    _assert_decided_as([word.annotated for word in committed[:n_alike]], whole[:n_alike])
    n_steady = max(0, len(words) - lookahead)
    assert [word.delay_words for word in committed[:n_steady]] == [lookahead] * n_steady


def test_what_is_remembered_does_not_grow(punctuator: Punctuator) -> None:
    stream, sizes, lengths = StreamingPunctuator(punctuator, _delayed(4)), [], []
    rng = random.Random(1)
    for _ in range(50):
        stream.push(rng.choices(["we", "know", "that", "no"], k=2))
        if stream.state.memory is not None:
            sizes.append(sum(len(layer.keys) + len(layer.waiting) for layer in stream.state.memory.layers))
        lengths.append(len(stream.state.words))
    n_per_word = max(len(punctuator.model.tokenizer.word_ids(word)) for word in ("we", "know", "that", "no"))
    n_layers, left = 3, 3
    prefix = punctuator.model.tokenizer.source([]).n_prefix
    assert max(sizes) <= n_layers * (prefix + 16 + n_per_word * (left + 1 + 2 * 2))
    assert max(lengths) == n_layers * left + 4 + 3
    assert len(stream.state.to_json()) < 3000


def test_a_word_costs_one_column_in_a_long_stream(punctuator: Punctuator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted where the network computes: the tokens that pass through the feed-forward layers."""
    stream = StreamingPunctuator(punctuator, _delayed(2))
    stream.push(["we"] * 20)
    counted: list[int] = []
    block = blocks_of(punctuator.model.network.encoder)[1]
    feeding = block.intermediate.dense if hasattr(block, "intermediate") else block.layer[-1].DenseReluDense
    hook = feeding.register_forward_hook(lambda _, rows, __: counted.append(len(rows[0])))
    n_tokens = len(punctuator.model.tokenizer.word_ids("we"))
    stream.push(["we"] * 5)
    hook.remove()
    assert counted == [n_tokens] * 5


@settings(few, max_examples=10)
@given(
    st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([0, 0, 280, 500])), min_size=1), LOOKAHEADS, st.data()
)
def test_a_saved_stream_goes_on_and_hears_silences_as_one_that_was_never_saved(
    punctuator: Punctuator, said: list[tuple[str, int]], lookahead: int, data: st.DataObject
) -> None:
    """Silences of 280 ms are pause tokens, those of 500 ms commit everything; the words after them go on."""
    config, now_ms, words = replace(_delayed(lookahead), max_delay_ms=500), 0, list[TimedWord]()
    for word, silence_ms in said:
        words.append(TimedWord(word, now_ms + silence_ms, now_ms + silence_ms + 100))
        now_ms += silence_ms + 100
    cut = data.draw(st.integers(0, len(words)))
    whole, stream = (StreamingPunctuator(punctuator, config) for _ in range(2))
    before = stream.push(words[:cut])
    resumed = StreamingPunctuator(punctuator, config, StreamState.from_json(stream.state.to_json()))
    assert resumed.state == stream.state and resumed.state.memory is None
    committed, wanted = [*before, *resumed.push(words[cut:]), *resumed.finish()], [*whole.push(words), *whole.finish()]
    _assert_decided_as([word.annotated for word in committed], [word.annotated for word in wanted])


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
def test_in_int8_a_saved_stream_goes_on_to_the_bit(punctuator: Punctuator) -> None:
    """Rounding to int8 makes much of the last digit of a sum, so sums must not depend on what is read together."""
    rng = random.Random(0)
    words, cuts = rng.choices(PIECES, k=60), sorted(rng.sample(range(60), 4))
    far_seeing = punctuator.model.with_task(delay_left_words=24)
    in_int8 = Punctuator(with_precision(far_seeing, "int8"), punctuator.config)
    resumed, committed = StreamingPunctuator(in_int8, _delayed(4)), []
    for start, stop in pairwise([0, *cuts, len(words)]):
        committed += resumed.push(words[start:stop])
        resumed = StreamingPunctuator(in_int8, _delayed(4), StreamState.from_json(resumed.state.to_json()))
    assert [*committed, *resumed.finish()] == _stream(in_int8, 4, [words])


@pytest.mark.parametrize(("lookahead", "style"), [(4, None), (2, "chat")])
def test_a_memory_of_another_setting_is_dropped(punctuator: Punctuator, lookahead: int, style: str | None) -> None:
    """A stream that takes over a live state does what it does with the same state from json."""
    stream = StreamingPunctuator(punctuator, _delayed(2))
    stream.push(PIECES * 3)
    other = punctuator.with_config(decoding=DecodingConfig("tagger", style=style))
    written = []
    for state in (stream.state, StreamState.from_json(stream.state.to_json())):
        resumed = StreamingPunctuator(other, _delayed(lookahead), state)
        written.append(_written([*resumed.push(["know", "that", "we", "know"]), *resumed.finish()]))
    assert written[0] == written[1]


@few
@given(st.lists(WORDS, min_size=2, max_size=4), LOOKAHEADS, st.randoms(use_true_random=False))
def test_streams_together_equal_each_alone(
    punctuator: Punctuator, texts: list[list[str]], lookahead: int, rng: random.Random
) -> None:
    streamed = streamed_together(Streams(punctuator, _delayed(lookahead)), texts, rng)
    for words, committed in zip(texts, streamed, strict=True):
        assert _written(committed) == _written(_stream(punctuator, lookahead, [words]))


def test_what_cannot_be_is_refused_in_one_line(punctuator: Punctuator) -> None:
    with pytest.raises(ConfigError, match="policy delay with the decoder generate"):
        Streams(punctuator.with_config(decoding=DecodingConfig("generate")), _delayed(2))
    for decoding in ({"decoder": "slots", "delay_words": 2}, {"decoder": "tagger", "delay_words": -1}):
        with pytest.raises(ConfigError, match=r"a delay of .* words with the decoder"):
            DecodingConfig(**decoding)  # type: ignore[arg-type]


def test_a_model_not_trained_with_a_delay_is_told(punctuator: Punctuator, caplog: pytest.LogCaptureFixture) -> None:
    Streams(punctuator, _delayed(2))
    assert not caplog.records
    Streams(Punctuator(punctuator.model.with_task(delay_left_words=None)), _delayed(2))
    assert "was not trained with a delay" in caplog.text
