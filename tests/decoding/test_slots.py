"""Slot decoding against an oracle without cache, padding or batches."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from t5punct.decoding.candidates import SlotWriter
from t5punct.decoding.inputs import WindowInput
from t5punct.decoding.slots import decode_slots
from t5punct.model import Model
from t5punct.votes import Vote

WINDOWS = [
    WindowInput.of(words.split())
    for words in (
        "we know that right",
        "hello",
        "i saw iPhone users in the U.S. pay 3.5 dollars 🙂 and leave",
        "NASA said no no no no no no no no",
        "don't e-mail name@host.org - okay",
    )
]


@torch.inference_mode()
def _oracle(model: Model, window: WindowInput) -> tuple[Vote, ...]:
    """One window, no cache: the whole decoder input is run again for every token."""
    network: Any = model.network
    source = torch.tensor([model.tokenizer.source(window.words).ids])
    writer = SlotWriter(window, model.tokenizer)
    written = [model.start_id]
    while not writer.done:
        logits = network(input_ids=source, decoder_input_ids=torch.tensor([written])).logits[0, -1]
        allowed = writer.allowed()
        probabilities = torch.softmax(logits[allowed], dim=0).tolist()
        token = allowed[probabilities.index(max(probabilities))]
        writer.take(dict(zip(allowed, probabilities, strict=True)), token)
        written.append(token)
    return writer.votes()


def _assert_same(found: tuple[Vote, ...], wanted: tuple[Vote, ...]) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.labels.outcomes == other.labels.outcomes
        assert one.cases.outcomes == other.cases.outcomes
        assert one.labels.probabilities == pytest.approx(other.labels.probabilities, abs=1e-5)
        assert one.cases.probabilities == pytest.approx(other.cases.probabilities, abs=1e-5)


def test_a_batch_with_cache_equals_single_windows_without(tiny_model: Model) -> None:
    for window, found in zip(WINDOWS, decode_slots(tiny_model, WINDOWS), strict=True):
        _assert_same(found, _oracle(tiny_model, window))


def test_the_order_of_a_batch_changes_nothing(tiny_model: Model) -> None:
    backwards = decode_slots(tiny_model, WINDOWS[::-1])[::-1]
    for found, wanted in zip(decode_slots(tiny_model, WINDOWS), backwards, strict=True):
        _assert_same(found, wanted)


def test_the_comparison_can_fail(tiny_model: Model) -> None:
    votes = decode_slots(tiny_model, WINDOWS[:1])[0]
    with pytest.raises(AssertionError):
        _assert_same(votes, votes[::-1])


def test_every_distribution_sums_to_one_and_every_word_gets_a_vote(tiny_model: Model) -> None:
    for window, votes in zip(WINDOWS, decode_slots(tiny_model, WINDOWS), strict=True):
        assert len(votes) == len(window.words)
        for index, vote in enumerate(votes):
            assert sum(vote.labels.probabilities) == pytest.approx(1.0)
            assert sum(vote.cases.probabilities) == pytest.approx(1.0)
            assert (vote.left_words, vote.right_words) == (index, len(window.words) - index - 1)


def test_the_alphabet_can_be_restricted(tiny_model: Model) -> None:
    for votes in decode_slots(tiny_model, WINDOWS, marks=","):
        assert {mark for vote in votes for label in vote.labels.outcomes for mark in label} <= {","}


def test_no_windows_and_empty_windows_are_fine(tiny_model: Model) -> None:
    assert decode_slots(tiny_model, []) == []
    assert decode_slots(tiny_model, [WindowInput.of([]), WindowInput.of(["a"])])[0] == ()
