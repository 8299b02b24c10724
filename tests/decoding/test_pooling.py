"""The tagger's share in slot decoding: against brute force, and parallel equal to step by step."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stepwise import decode_stepwise

from t5punct.decoding.classify import Question, SlotClassifier
from t5punct.decoding.inputs import DecodingConfig, WindowInput, encoder_input, sources_of
from t5punct.decoding.pooling import NOTHING_SAID, OpinionPool, take_from_tagger
from t5punct.decoding.slots import SlotDecoder
from t5punct.decoding.tagging import TagDecoder
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.text.marks import NO_LABEL
from t5punct.windows.votes import Distribution, Vote

WINDOWS = [
    WindowInput.of(words.split())
    for words in ("we know that right", "hello", "i saw iPhone users in the U.S. pay 3.5 dollars and leave", "no no no")
]
SHARES = (0.0, 0.3, 1.0)


def _slots(model: Model, windows: list[WindowInput], **settings: Any) -> list[tuple[Vote, ...]]:
    return SlotDecoder(model, DecodingConfig(**settings)).votes(windows)


def _loud(model: Model, times: float = 40.0) -> Model:
    """The model with a tagger that is surer of itself than the tiny decoder is."""
    assert model.tagger is not None
    tagger = type(model.tagger)(model.network.config.d_model, model.task.marks)
    tagger.load_state_dict({name: weight * times for name, weight in model.tagger.state_dict().items()})
    return replace(model, tagger=tagger)


def _probabilities(votes: list[tuple[Vote, ...]]) -> list[dict[str, float]]:
    return [
        dict(zip(vote.labels.outcomes, vote.labels.probabilities, strict=True))
        for window_votes in votes
        for vote in window_votes
    ]


finite = st.floats(-8.0, 8.0)


@given(st.lists(finite, min_size=1, max_size=3), st.lists(finite, min_size=1, max_size=4), st.data())
def test_log_odds_of_each_mark_are_the_weighted_mean_and_words_keep_their_proportions(
    words: list[float], marks: list[float], data: st.DataObject
) -> None:
    tagged = [0.0, *data.draw(st.lists(finite, min_size=len(marks), max_size=len(marks)))]
    share = data.draw(st.floats(0.0, 1.0))
    logits = torch.tensor([[*words, *marks, -math.inf]])
    classes = torch.tensor([[*(0 for _ in words), *range(1, len(marks) + 1), 0]])
    pool = OpinionPool.of(torch.tensor([tagged]) + data.draw(finite), share)  # a constant changes nothing
    before, after = (scores.softmax(-1)[0].tolist() for scores in (logits, pool.weigh(logits, classes, [0])))
    n, unmarked = len(words), sum(before[: len(words)])
    for index, said in enumerate(tagged[1:]):
        wanted = (1 - share) * math.log(before[n + index] / unmarked) + share * said
        assert math.log(after[n + index] / sum(after[:n])) == pytest.approx(wanted, abs=1e-3)
    for chance, other in zip(before[:n], after[:n], strict=True):
        assert other / sum(after[:n]) == pytest.approx(chance / unmarked, abs=1e-4)
    assert after[-1] == 0.0, "what is not offered stays so"


def test_where_only_marks_are_offered_their_differences_are_pooled() -> None:
    pool = OpinionPool.of(torch.tensor([[5.0, 1.0, 3.0]]), share=0.25)
    weighed = pool.weigh(torch.tensor([[2.0, 6.0]]), torch.tensor([[1, 2]]), [0])[0]
    assert float(weighed[1] - weighed[0]) == pytest.approx(0.75 * 4.0 + 0.25 * 2.0)


def test_where_the_tagger_says_nothing_nothing_changes() -> None:
    logits = torch.tensor([[1.0, 2.0, -math.inf]])
    pool = OpinionPool.of(torch.tensor([[0.0, 9.0]]), share=1.0)
    assert torch.equal(pool.weigh(logits, torch.tensor([[0, 1, 0]]), [NOTHING_SAID]), logits)


def test_behind_an_abbreviation_with_a_full_stop_the_tagger_decides_the_case() -> None:
    forms = Distribution.of({"lower": 0.1, "capitalised": 0.8, "upper": 0.1})
    votes = tuple(
        Vote(Distribution.certain(label), cases)
        for label, cases in [
            (".", forms), (".", Distribution.certain("verbatim")), (",", forms), ("", forms), (".", forms), ("", forms)
        ]
    )  # fmt: skip
    said = Vote(Distribution.certain(""), Distribution.of({"lower": 0.7, "capitalised": 0.2, "upper": 0.1}))
    tagged = [said] * 6
    tagged[1] = Vote(Distribution.certain(""), Distribution.certain("verbatim"))
    words = ["inc", "iPhone", "inc", "so", "St", "is"]
    taken = take_from_tagger(votes, tagged, words, share=0.5)
    assert [vote.cases for vote in taken] == [*(vote.cases for vote in votes[:5]), said.cases]
    assert [vote.labels for vote in taken] == [vote.labels for vote in votes]
    whole = take_from_tagger(votes, tagged, words, share=1.0)
    assert [vote.cases for vote in whole] == [vote.cases for vote in tagged], "with the whole share, everywhere"
    assert take_from_tagger(votes, tagged, words, share=0.0) == votes


def test_behind_abbreviations_parallel_equals_step_by_step_and_both_have_the_taggers_case(tagged_model: Model) -> None:
    words = "she has a ph.d in physics from st louis and works at apple inc in reno".split()
    window = WindowInput.of(words, [word in ("ph.d", "st", "inc") for word in words])
    config = DecodingConfig(tagger_share=0.5, mark_odds={".": 1e6}, max_marks=1)  # each of them has a full stop
    (parallel,), (wanted,) = (
        SlotDecoder(tagged_model, config).votes([window]),
        decode_stepwise(tagged_model, [window], config),
    )
    (tagged,) = TagDecoder(tagged_model).votes([window])
    for vote, other in zip(parallel, wanted, strict=True):
        assert vote.cases.outcomes == other.cases.outcomes
        assert vote.cases.probabilities == pytest.approx(other.cases.probabilities, abs=1e-4)
    pairs = enumerate(zip(parallel, tagged, strict=True))
    alike = [
        place
        for place, (vote, other) in pairs
        if vote.cases.probabilities == pytest.approx(other.cases.probabilities, abs=1e-4)
    ]
    assert [window.words[place - 1] for place in alike] == ["ph.d", "st", "inc"]


@pytest.mark.parametrize("share", SHARES)
def test_parallel_equals_step_by_step_whatever_the_share(tagged_model: Model, share: float) -> None:
    model = _loud(tagged_model)
    config = DecodingConfig(tagger_share=share, mark_odds={",": 3.0, ".": 0.2})
    shuffled = random.Random(1).sample(WINDOWS, len(WINDOWS))
    for windows in (WINDOWS, shuffled):
        parallel, wanted = SlotDecoder(model, config).votes(windows), decode_stepwise(model, windows, config)
        assert [[vote.labels.best for vote in votes] for votes in parallel] == [
            [v.labels.best for v in votes] for votes in wanted
        ]
        for chances, other in zip(_probabilities(parallel), _probabilities(wanted), strict=True):
            assert chances == pytest.approx(other, abs=1e-4)


def test_a_share_of_nothing_is_the_decoder_alone_and_a_share_counts(tagged_model: Model) -> None:
    model = _loud(tagged_model)
    alone = _probabilities(_slots(replace(model, tagger=None), WINDOWS, tagger_share=0.7))
    for chances, other in zip(alone, _probabilities(_slots(model, WINDOWS)), strict=True):
        assert chances == pytest.approx(other, abs=1e-5)
    assert _slots(model, WINDOWS, tagger_share=0.7) == _slots(model.with_task(tagger_share=0.7), WINDOWS)
    assert _slots(model.with_task(tagger_share=0.7), WINDOWS, tagger_share=0.0) == _slots(model, WINDOWS)
    shared = _probabilities(_slots(model, WINDOWS, tagger_share=0.7))
    assert any(chances != pytest.approx(other, abs=1e-2) for chances, other in zip(alone, shared, strict=True))


@torch.inference_mode()
def test_with_the_whole_share_a_slot_is_the_taggers(tagged_model: Model) -> None:
    """Each slot's no mark against each first mark: the odds are the linear head's, whatever was written."""
    model = _loud(tagged_model)
    assert model.tagger is not None
    sources = sources_of(WINDOWS, model)
    batch = encoder_input(sources, model)
    network: Any = model.network
    states = network.get_encoder()(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
    marks = "".join(mark for mark in model.task.marks if mark != "-")  # a dash shares its first token with words
    decoded = _slots(model, WINDOWS, tagger_share=1.0, max_marks=1, marks=marks)
    for row, votes in enumerate(decoded):
        own = list(sources[row].word_ends)
        heads = TagDecoder(model, DecodingConfig(marks=marks)).tag(states[row, own], [WINDOWS[row]]).marks
        heads += model.tagger.log_odds({}, marks)
        for vote, head in zip(votes, heads.softmax(-1).tolist(), strict=True):
            wanted = dict(zip((NO_LABEL, *model.task.marks), head, strict=True))
            del wanted["-"]
            assert dict(zip(vote.labels.outcomes, vote.labels.probabilities, strict=True)) == pytest.approx(
                wanted, abs=1e-4
            )


def test_questions_are_answered_by_the_decoder_alone(tagged_model: Model) -> None:
    model = _loud(tagged_model).with_task(classifies=True)
    questions = [Question(window, slot) for window in WINDOWS for slot in range(len(window.words))]
    assert SlotClassifier(model.with_task(tagger_share=0.9)).decode(questions) == SlotClassifier(model).decode(
        questions
    )


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_is_between_none_and_all(tagged_model: Model, share: float) -> None:
    with pytest.raises(ConfigError, match=f"tagger_share {share}; expected 0 to 1"):
        DecodingConfig(tagger_share=share)
    with pytest.raises(ConfigError, match="expected 0 to 1"):
        tagged_model.with_task(tagger_share=share)
