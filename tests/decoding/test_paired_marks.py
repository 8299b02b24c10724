"""The marks of sentences chosen together: against brute force over all ways to write a few words."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.decoding.inputs import WindowInput
from t5punct.decoding.paired_marks import LEAST, ODDS, Pairs, WordScores, pair_marks
from t5punct.decoding.slots import SlotDecoder
from t5punct.decoding.tagging import TagDecoder
from t5punct.model import Model
from t5punct.t5.tagger import Tagger
from t5punct.windows.votes import Vote, end_sentence, most_probable

NONE, COMMA, STOP, QUESTION, SHOUT = range(5)  # classes of marks
PAIRS = Pairs(ends=(STOP, QUESTION, SHOUT), closings={1: QUESTION, 2: SHOUT})
Way = Sequence[tuple[int, int]]  # of each word: opening, mark


def shares(n: int, least: float = 0.0) -> st.SearchStrategy[list[float]]:
    weights = st.lists(st.floats(least, 1.0), min_size=n, max_size=n).filter(lambda drawn: sum(drawn) > 0.1)
    return weights.map(lambda drawn: [weight / sum(drawn) for weight in drawn])


@st.composite
def said_of_words(draw: st.DrawFn) -> WordScores:
    unopened = st.sampled_from([[1.0, 0.0, 0.0], [0.99, 0.01, 0.0], [1.0 - LEAST, 0.0, LEAST]])
    return WordScores(list(map(math.log, draw(shares(5, 0.01)))), draw(shares(3, 0.01) | unopened))


def fits(way: Way, words: Sequence[WordScores]) -> bool:
    """Whether each sentence has both marks of a pair or neither; where none may be opened, it ends with any mark."""
    begin = 0
    for place, (_, mark) in enumerate(way):
        if mark not in PAIRS.ends and place < len(way) - 1:
            continue
        own = range(begin, place + 1)
        begin = place + 1
        opened = [way[word][0] for word in own if way[word][0]]
        asked = [PAIRS.closings[opening] for opening in opened]
        if len(opened) > 1 or any(way[word][0] and not words[word].may_open for word in own):
            return False
        is_paired = mark not in PAIRS.ends or asked == [end for end in PAIRS.closings.values() if end == mark]
        if not is_paired and (opened or any(words[word].may_open for word in own)):
            return False
    return True


def score(way: Way, words: Sequence[WordScores]) -> float:
    """The logarithm of a way's chance, but for a term that all ways share."""
    total = 0.0
    for (opening, mark), word in zip(way, words, strict=True):
        total += word.marks[mark]
        if opening:
            total += math.log(ODDS * word.openings[opening]) - math.log(word.openings[0])
    return total


@settings(max_examples=60, deadline=None)
@given(st.lists(said_of_words(), max_size=3))
def test_no_way_that_fits_is_likelier(words: list[WordScores]) -> None:
    chosen = [(choice.opening, choice.mark) for choice in pair_marks(words, PAIRS)]
    assert fits(chosen, words)
    ways = product(product(range(3), range(5)), repeat=len(words))
    possible = (way for way in ways if all(not o or word.openings[o] for (o, _), word in zip(way, words, strict=True)))
    assert score(chosen, words) == pytest.approx(max(score(way, words) for way in possible if fits(way, words)))


def said(marks: dict[int, float], openings: Sequence[float] = (1.0, 0.0, 0.0)) -> WordScores:
    left = (1.0 - sum(marks.values())) / (5 - len(marks))
    return WordScores([math.log(marks.get(mark, left)) for mark in range(5)], openings)


def test_an_end_fits_the_opening_mark_and_marks_that_are_not_written_are_not_chosen() -> None:
    opened = said({NONE: 0.95}, (0.2, 0.8, 0.0))
    choice = pair_marks([opened, said({NONE: 0.6, STOP: 0.3, QUESTION: 0.08})], PAIRS)[-1]
    assert (choice.mark, choice.end) == (NONE, QUESTION)
    only_commas = WordScores([math.log(0.6), math.log(0.4), *[-math.inf] * 3], (0.1, 0.9, 0.0))
    assert {choice.mark for choice in pair_marks([only_commas] * 3, PAIRS)} == {NONE}


# -- in a window


def _by_hand(tagged_model: Model) -> Model:
    """Every slot a full stop with 0.04 and a question mark with 0.05, every word opened by `¿` with 0.3."""
    tagger = Tagger(32, tagged_model.task.marks, "¿¡")
    with torch.no_grad():
        for head in (tagger.marks, tagger.cases, tagger.openings):
            head.weight.zero_()
            head.bias.fill_(-30.0)
        tagger.marks.bias[[0, 2, 3]] = torch.tensor([0.91, 0.04, 0.05]).log()
        tagger.openings.bias[:2] = torch.tensor([0.7, 0.3]).log()
    return replace(tagged_model, tagger=tagger)


def openings_of(votes: Sequence[Vote]) -> list[str]:
    return [most_probable(vote.openings) for vote in votes if vote.openings is not None]


@pytest.mark.parametrize(("kept", "n_opened"), [((), 1), (("", "", "?"), 1), (("", "", "."), 0), (("", "", ","), 1)])
def test_opening_marks_fit_kept_marks_and_the_end(tagged_model: Model, kept: tuple[str, ...], n_opened: int) -> None:
    (votes,) = TagDecoder(_by_hand(tagged_model)).votes([WindowInput.of("so we go".split(), given=kept)])
    assert openings_of(votes).count("¿") == n_opened
    if not kept:
        assert most_probable(end_sentence(votes[-1], ",.?!").marks) == "?"


def test_a_word_without_a_slot_is_not_opened(tagged_model: Model) -> None:
    window = WindowInput.of("so we go".split(), [False, True, True])
    (votes,) = TagDecoder(_by_hand(tagged_model)).votes([window])
    assert openings_of(votes)[0] == "" and openings_of(votes).count("¿") == 1


def test_slots_take_the_openings_of_the_tagger(tagged_model: Model) -> None:
    model = _by_hand(tagged_model.with_task(opening="¿¡"))
    windows = [WindowInput.of("so we go".split()), WindowInput.of(["yes"])]
    votes = SlotDecoder(model).votes(windows, [2, 1])
    assert [len(own) for own in votes] == [2, 1]
    tagged = TagDecoder(model).votes(windows, [2, 1])
    assert [openings_of(own) for own in votes] == [openings_of(own) for own in tagged]
    assert {chance for own in votes for vote in own for chance in (vote.openings or {}).values()} == {1.0}
