"""What many clients ask for at a time is what each would get alone."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from services import FP32

from t5punct.errors import ConfigError, InputError
from t5punct.punctuator import Punctuator
from t5punct.serve import engine as engines
from t5punct.serve.engine import Engine
from t5punct.serve.requests import StreamSettings
from t5punct.streaming import StreamConfig, StreamingPunctuator, StreamState, TimedWord
from t5punct.text.words import Word
from t5punct.windows.presets import load_preset

TEXTS = [[Word(f"word{n % 7}") for n in range(length)] for length in (1, 5, 120, 64, 0)]


def test_texts_of_many_requests_are_what_each_is_alone(engine: Engine) -> None:
    alone = Punctuator(engine.model, FP32).annotate_texts(TEXTS)
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda text: list(engine.annotate([text], FP32)), TEXTS * 2))
    assert [[word.text for word in words] for words in together] == 2 * [
        [word.text for word in words] for words in alone
    ]


def test_windows_that_decide_no_word_yet_are_no_end(engine: Engine) -> None:
    """The first windows of this preset begin before the text, and decide nothing alone."""
    preset = load_preset("multi-prediction-4")
    config = replace(FP32, windows=preset.windows, combine=preset.combine)
    assert len(list(engine.annotate([TEXTS[2]], config))) == len(TEXTS[2])


def test_requests_have_their_own_settings_and_wrong_ones_are_said(engine: Engine) -> None:
    commas = replace(FP32, decoding=replace(FP32.decoding, marks=","))
    with ThreadPoolExecutor(4) as pool:
        all_marks, only_commas = pool.map(lambda config: list(engine.annotate([TEXTS[2]], config)), (FP32, commas))
    assert {word.marks for word in only_commas} <= {"", ",", ",,", ",,,"}
    assert {word.marks for word in all_marks} - {"", ",", ",,", ",,,"}
    wrong = StreamSettings(config=replace(FP32, decoding=replace(FP32.decoding, style="opera")))
    with pytest.raises(ConfigError, match="opera"):
        engine.streams(wrong)
    with pytest.raises(ConfigError, match="opera"):
        list(engine.annotate([TEXTS[1]], wrong.config))
    assert engine.is_alive
    assert list(engine.annotate([TEXTS[1]], FP32))


def test_a_stream_does_not_wait_for_the_end_of_a_long_text(engine: Engine) -> None:
    words = engine.annotate([[Word("so")] * 3_000], FP32)
    next(words)  # it is under way
    settings = StreamSettings(StreamConfig(lookahead=1), FP32)
    step = asyncio.run(engine.step(settings, "push", StreamState(), [TimedWord("how are you")]))
    assert len(step.committed) == 2
    assert engine.n_waiting_words > 0, "the text was decided before the stream"
    words.close()  # type: ignore[attr-defined]  # a generator


def test_short_texts_gather_and_none_waits_for_a_long_one(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_GROUP_WORDS", 400)
    groups, iter_parts = list[object](), Punctuator.iter_parts
    monkeypatch.setattr(Punctuator, "iter_parts", lambda *given: groups.append(given) or iter_parts(*given))
    long = engine.annotate([[Word("so")] * 9_000], FP32)
    next(long)  # it is under way
    first = engine.annotate([[Word("we")] * 200], FP32)
    next(first)
    with ThreadPoolExecutor(6) as pool:
        later = list(pool.map(lambda n_words: len(list(engine.annotate([[Word("no")] * n_words], FP32))), [9] * 6))
    assert later == [9] * 6
    assert engine.n_waiting_words > 1_000, "the long text was decided before the short ones"
    assert 2 < len(groups) < 2 + 6, "those that came while the first was decided are one group"
    long.close()  # type: ignore[attr-defined]  # a generator


def test_streams_together_are_what_each_is_alone_and_a_mistake_of_one_is_its_own(engine: Engine) -> None:
    settings = StreamSettings(StreamConfig(lookahead=2), FP32)
    said = [[f"w{stream}{n % 5}" for n in range(5 + stream)] for stream in range(3)]

    async def stream(words: list[str]) -> list[str]:
        state, texts = StreamState(), list[str]()
        for word in words:
            step = await engine.step(settings, "push", state, [TimedWord(word)])
            state, texts = step.state, texts + [word.text for word in step.committed]
        step = await engine.step(settings, "finish", state)
        return texts + [word.text for word in step.committed]

    async def mistaken() -> None:
        with pytest.raises(InputError, match="words after the stream's end"):
            await engine.step(settings, "push", StreamState(finished=True), [TimedWord("so")])

    async def all_streams() -> list[list[str]]:
        *texts, _ = await asyncio.gather(*map(stream, said), mistaken())
        return texts

    alone = []
    for words in said:
        live = StreamingPunctuator(Punctuator(engine.model, FP32), settings.stream)
        alone.append([word.text for part in (live.push(words), live.finish()) for word in part])
    assert asyncio.run(all_streams()) == alone


def test_a_text_that_nobody_waits_for_is_dropped_and_one_that_nobody_draws_is_not_decided(engine: Engine) -> None:
    words = engine.annotate([[Word("so")] * 20_000], FP32)
    next(words)
    words.close()  # type: ignore[attr-defined]  # a generator
    ended = threading.Event()
    threading.Thread(target=lambda: (list(engine.annotate([TEXTS[1]], FP32)), ended.set())).start()
    assert ended.wait(60)
    assert engine.n_waiting_words == 0
    engine.annotate([[Word("so")] * 20_000], FP32)  # as of a request that is refused before its first piece
    assert engine.n_waiting_words == 0
