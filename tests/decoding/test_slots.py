"""Parallel slot decoding equals the reference, which decodes step by step (tests/stepwise.py)."""

import math
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stepwise import assert_same_votes, decode_stepwise, noting_passes
from strategies import any_word
from tiny import TINY_SHAPE, t5_network

from t5punct import model as models
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.slots import Guess, SlotDecoder
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.tagger import Tagger
from t5punct.text.marks import Case
from t5punct.text.words import split
from t5punct.windows.votes import Vote, most_probable

WINDOWS = [
    WindowInput.of(words.split())
    for words in (
        "we know that right", "hello", "i saw iPhone users in the U.S. pay 3.5 dollars 🙂 and leave",
        "NASA said no no no no no no no no", "don't e-mail name@host.org - okay",
    )
]  # fmt: skip


def _parallel(model: Model, windows: list[WindowInput], **settings: Any) -> list[tuple[Vote, ...]]:
    return SlotDecoder(model, DecodingConfig(**settings)).votes(windows)


def _shaped(model: Model, seed: int, **changes: Any) -> Model:
    """A T5 of another shape with weights large enough to write marks in every corner."""
    torch.manual_seed(seed)
    kind = changes.pop("kind", "t5")  # umt5 has a position bias in every layer
    shape = {**vars(TINY_SHAPE), "vocab_size": len(model.tokenizer.tokenizer), "decoder_start_token_id": 0, **changes}
    network = t5_network(kind, **shape)
    if changes.get("tie_word_embeddings") is False:
        network.lm_head.weight = torch.nn.Parameter(torch.randn_like(network.lm_head.weight))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.5)
    return Model(network.eval(), model.tokenizer, "shaped")


SHAPES = [
    {}, {"feed_forward_proj": "gated-gelu"}, {"tie_word_embeddings": False},
    {"tie_word_embeddings": False, "feed_forward_proj": "gated-gelu", "num_layers": 3, "num_decoder_layers": 1},
    {"num_decoder_layers": 3, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 9},
    {"kind": "mt5"}, {"kind": "umt5", "num_decoder_layers": 3},
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_parallel_equals_step_by_step_for_every_shape_of_t5(tiny_model: Model, shape: dict[str, Any]) -> None:
    model = _shaped(tiny_model, 1, **shape)
    assert_same_votes(_parallel(model, WINDOWS), decode_stepwise(model, WINDOWS))


@pytest.mark.parametrize("pass_tokens", [1, 2, 5, 13])
def test_short_passes_give_the_same_votes(tiny_model: Model, pass_tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long word without a slot a pass may decide nothing.  Windows that get many marks are given room."""
    monkeypatch.setattr("t5punct.decoding.slots._PASS_TOKENS", pass_tokens)
    monkeypatch.setattr("t5punct.decoding.cached_decoder._SPARE_TOKENS", 0)
    words = [*"we know".split(), *["https://example.org/" + "x9" * 20] * 2, *"that right".split()]
    no_slots = WindowInput.of(words, [not word.startswith("https") for word in words])
    for seed in range(3):
        model = _shaped(tiny_model, seed, num_decoder_layers=1 + seed)
        assert_same_votes(_parallel(model, [*WINDOWS, no_slots]), decode_stepwise(model, [*WINDOWS, no_slots]))


@settings(deadline=None, max_examples=12)
@example([[], ["a"]], 40)
@given(st.lists(st.lists(any_word, max_size=12), max_size=5), st.sampled_from([1, 40, 4096]))
def test_parallel_equals_stepwise_on_random_words(tiny_model: Model, texts: list[list[str]], batch_tokens: int) -> None:
    windows = [WindowInput.of([word[:20] for word in words]) for words in texts]
    assert_same_votes(_parallel(tiny_model, windows, batch_tokens=batch_tokens), decode_stepwise(tiny_model, windows))


def test_a_tagger_changes_passes_alone_and_the_right_one_needs_one(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _shaped(tiny_model, 1)
    plain = SlotDecoder(model).votes(WINDOWS)
    n_passes = set()
    for seed in range(3):
        torch.manual_seed(seed)
        tagger = Tagger(TINY_SHAPE.d_model, model.task.marks)
        with noting_passes() as passes:
            assert_same_votes(SlotDecoder(replace(model, tagger=tagger)).votes(WINDOWS), plain)
        n_passes.add(len(passes))
    assert len(n_passes) > 1
    decoder = SlotDecoder(model.with_task(marks=",;-"), DecodingConfig(max_marks=1))
    (votes,) = decoder.votes(WINDOWS[:1])
    guesses = [Guess(most_probable(vote.marks), Case(most_probable(vote.cases))) for vote in votes]
    monkeypatch.setattr(decoder, "_guess", lambda encoded, requests: [guesses])
    with noting_passes() as passes:
        assert_same_votes(decoder.votes(WINDOWS[:1]), [votes])
    assert len(passes) == 1


@settings(max_examples=8)
@given(st.data())
def test_the_first_slots_are_the_same_when_the_others_are_not_written(lively_model: Model, data: st.DataObject) -> None:
    wanted = [data.draw(st.integers(1, len(window.words))) for window in WINDOWS]
    decoder = SlotDecoder(lively_model)
    with noting_passes() as passes:
        some = decoder.votes(WINDOWS, wanted)
    with noting_passes() as passes_of_whole:
        whole = decoder.votes(WINDOWS)
    assert_same_votes(some, [votes[:n] for votes, n in zip(whole, wanted, strict=True)])
    assert len(passes) <= len(passes_of_whole)


def test_parallel_equals_step_by_step_on_lectures_with_a_bundled_model() -> None:
    lectures = sorted((Path(__file__).parents[1] / "data/lectures").glob("*.txt"))
    texts = [path.read_text(encoding="utf-8") for path in lectures]
    words = [word.normal for text in texts for word in split(text).words][:640]
    windows = [WindowInput.of(words[start : start + 64]) for start in range(0, len(words), 64)]
    model = models.load("small")
    with noting_passes() as passes:
        assert_same_votes(SlotDecoder(model).votes(windows), decode_stepwise(model, windows))
    n_passes = Counter(map(id, passes)).values()
    assert len(n_passes) == len(windows)
    assert max(n_passes) < 20, "far fewer than the 80 steps of a window"


ODDS = {",": 3.0, ".": 0.2, "?": 8.0, "-": 5.0}


@pytest.mark.parametrize(("task", "settings"), [
    ({"marks": "?!"}, {"max_marks": 2}), ({"marks": ","}, {"max_marks": 1}), ({}, {"mark_odds": ODDS}),
    ({"mark_odds": ODDS}, {}),
], ids=str)  # fmt: skip
def test_parallel_equals_step_by_step_with_few_marks_or_odds(
    tiny_model: Model, task: dict[str, Any], settings: dict[str, Any]
) -> None:
    plain = _shaped(tiny_model, 1)
    model = plain.with_task(**task)
    votes = _parallel(model, WINDOWS, **settings)
    assert_same_votes(votes, decode_stepwise(model, WINDOWS, DecodingConfig(**settings)))
    with pytest.raises(AssertionError):
        assert_same_votes(votes, _parallel(plain, WINDOWS))


def test_parallel_equals_step_by_step_with_marks_that_are_given(lively_model: Model) -> None:
    rng = random.Random(2)
    windows = [replace(it, given=tuple(rng.choice(["", "", ".", "?!", ","]) for _ in it.words)) for it in WINDOWS]
    parallel = _parallel(lively_model, windows)
    assert_same_votes(parallel, decode_stepwise(lively_model, windows))
    assert [len(votes) for votes in parallel] == [len(window.words) for window in windows]
    unlike = [_cases(votes) for votes in parallel] != [_cases(votes) for votes in _parallel(lively_model, WINDOWS)]
    assert unlike, "given marks change what is decoded after them"


def _cases(votes: tuple[Vote, ...]) -> list[tuple[float, ...]]:
    return [tuple(vote.cases.values()) for vote in votes]


def test_odds_multiply_the_chance_of_a_mark_and_are_laid_over_those_of_the_task(tiny_model: Model) -> None:
    (plain,) = _parallel(tiny_model, WINDOWS[1:2], max_marks=1)
    (weighed,) = _parallel(tiny_model, WINDOWS[1:2], max_marks=1, mark_odds=ODDS)
    before, after = plain[0].marks, weighed[0].marks
    wanted = {label: ODDS.get(label, 1.0) * p for label, p in before.items()}
    assert after == pytest.approx({label: share / sum(wanted.values()) for label, share in wanted.items()}, abs=1e-5)
    task = tiny_model.with_task(mark_odds={",": 3.0, ".": 2.0}).task
    assert DecodingConfig().odds(task) == task.mark_odds
    assert DecodingConfig(mark_odds={",": 4.0, "!": 5.0}).odds(task) == {",": 4.0, ".": 2.0, "!": 5.0}
    assert DecodingConfig(mark_odds={}).odds(task) == {}


@pytest.mark.parametrize(("mark", "odds"), [
    ("*", 2.0), ("", 2.0), (",.", 2.0), (",", 0.0), (",", -1.0), (",", math.inf), (",", math.nan),
])  # fmt: skip
def test_odds_are_positive_numbers_of_marks_that_the_task_has(tiny_model: Model, mark: str, odds: float) -> None:
    told = "with a number above 0" if odds != 2.0 else rf"odds '{re.escape(mark)}': 2.0; expected marks of ',.\?!:;-'"
    with pytest.raises(ConfigError, match=told):
        SlotDecoder(tiny_model, DecodingConfig(mark_odds={mark: odds}))
    with pytest.raises(ConfigError, match=told):
        tiny_model.with_task(mark_odds={mark: odds})


def test_marks_that_the_task_does_not_have_are_refused(tiny_model: Model) -> None:
    with pytest.raises(ConfigError, match=r"marks '\*'; expected some of ',.\?!:;-'; check --marks"):
        SlotDecoder(tiny_model, DecodingConfig(marks=",*"))
    with pytest.raises(ConfigError, match="9 marks in a slot; expected at most 3"):
        SlotDecoder(tiny_model, DecodingConfig(max_marks=9))
