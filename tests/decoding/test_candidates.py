"""The rule of slot decoding, against brute force, without a network."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.decoding.candidates import SlotWriter, Walk, options_of
from t5punct.decoding.inputs import WindowInput
from t5punct.model import Model


def _prefix_free(rng: random.Random) -> list[tuple[int, ...]]:
    """Up to six token sequences, none of which begins another, often with shared first tokens."""
    options: list[tuple[int, ...]] = []
    for _ in range(rng.randint(1, 6)):
        option = tuple(rng.randrange(3) for _ in range(rng.randint(1, 4)))
        if not any(option[: len(other)] == other or other[: len(option)] == option for other in options):
            options.append(option)
    return options


def _brute_force(options: list[tuple[int, ...]], scores: dict[tuple[int, ...], float]) -> tuple[int, list[float]]:
    """Greedy path and masses from their definition: one loop over depths, recomputing everything from scratch."""
    path: tuple[int, ...] = ()
    masses = [0.0] * len(options)
    mass = 1.0
    while path not in options:
        nexts = sorted({option[len(path)] for option in options if option[: len(path)] == path})
        total = sum(scores[(*path, token)] for token in nexts)
        best = max(nexts, key=lambda token: scores[(*path, token)])
        for token in nexts:
            if token != best:
                heir = next(i for i, option in enumerate(options) if option[: len(path) + 1] == (*path, token))
                masses[heir] += mass * scores[(*path, token)] / total
        mass *= scores[(*path, best)] / total
        path = (*path, best)
    index = options.index(path)
    masses[index] += mass
    return index, masses


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**9))
def test_a_walk_gives_the_masses_of_brute_force_and_they_sum_to_one(seed: int) -> None:
    rng = random.Random(seed)
    options = _prefix_free(rng)
    scores = {option[:end]: rng.random() for option in options for end in range(1, len(option) + 1)}
    walk, path = Walk(options), ()
    while walk.finished is None:
        allowed = walk.allowed()
        total = sum(scores[(*path, token)] for token in allowed)
        best = max(sorted(allowed), key=lambda token: scores[(*path, token)])
        walk.take({token: scores[(*path, token)] / total for token in allowed}, best)
        path = (*path, best)
    index, masses = _brute_force(options, scores)
    assert walk.finished == index
    assert walk.masses == pytest.approx(masses)
    assert sum(walk.masses) == pytest.approx(1.0)


def test_options_never_begin_one_another_and_always_hold_the_next_word(tiny_model: Model) -> None:
    tokenizer = tiny_model.tokenizer
    words = ["hello", "i", "-", "?", "...", "iPhone", "3.5", "🙂", "ß", "o'neil", "\u200b", "u.s."]
    window = WindowInput.of(words)
    for index in range(len(words) + 1):
        for label in ("", "!", "!!!"):
            options = options_of(window, index, label, tokenizer, tokenizer.task.marks)
            tokens = [option.tokens for option in options]
            for i, one in enumerate(tokens):
                for other in tokens[i + 1 :]:
                    shorter = min(len(one), len(other))
                    assert one[:shorter] != other[:shorter]
            goes_on = [option for option in options if option.mark is None]
            assert goes_on, "the next word, or the end, can always be written"
            assert all((option.case is None) == (index == len(words)) for option in goes_on)


def test_a_label_is_never_longer_than_the_alphabet_allows(tiny_model: Model) -> None:
    tokenizer = tiny_model.tokenizer
    window = WindowInput.of(["hello", "there"])
    full = "!" * tokenizer.task.max_marks
    assert [o.mark for o in options_of(window, 1, full, tokenizer, tokenizer.task.marks) if o.mark] == []
    assert [o.mark for o in options_of(window, 1, full[1:], tokenizer, "!?") if o.mark] == ["!", "?"]


def test_no_mark_follows_a_piece_of_pure_punctuation(tiny_model: Model) -> None:
    window = WindowInput((":)", "there"), (":)", "there"), (False, True))
    tokenizer = tiny_model.tokenizer
    assert all(option.mark is None for option in options_of(window, 1, "", tokenizer, tokenizer.task.marks))


def test_label_masses_are_chain_rule_products(tiny_model: Model) -> None:
    """Two words; `!` is chosen once, then the slot is closed: P(!) = 0.5 * 0.75 and P(!?) = 0.5 * 0.25."""
    tokenizer = tiny_model.tokenizer
    writer = SlotWriter(WindowInput.of(["1", "2"]), tokenizer, marks="!?")
    (bang,), (question,) = tokenizer.mark_ids["!"], tokenizer.mark_ids["?"]
    one, two = tokenizer.word_ids("1", first=True), tokenizer.word_ids("2")
    for token in one:  # digits have one form: forced
        writer.take({token: 1.0}, token)
    writer.take({two[0]: 0.3, bang: 0.5, question: 0.2}, bang)
    writer.take({two[0]: 0.75, bang: 0.0, question: 0.25}, two[0])
    for token in two[1:]:
        writer.take({token: 1.0}, token)
    writer.take({tokenizer.eos_id: 1.0, bang: 0.0, question: 0.0}, tokenizer.eos_id)
    first = writer.votes()[0].labels
    assert {label: first.probability(label) for label in first.outcomes} == pytest.approx(
        {"": 0.3, "?": 0.2, "!": 0.375, "!!": 0.0, "!?": 0.125}
    )
