"""Distributions sum to one, and their best outcome does not depend on chance."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.windows.votes import Distribution, Vote, begin_sentence, continue_sentence, end_sentence

weights = st.dictionaries(st.sampled_from(["", ",", ".", "?", "?!"]), st.floats(0, 1e6), min_size=1)


@settings(max_examples=150, deadline=None)
@given(weights)
def test_weights_become_probabilities_in_the_order_they_came(given_weights: dict[str, float]) -> None:
    distribution = Distribution.of(given_weights)
    assert distribution.outcomes == tuple(given_weights)
    assert sum(distribution.probabilities) == pytest.approx(1.0)
    assert given_weights[distribution.best] == pytest.approx(max(given_weights.values()))
    assert -1e-9 <= distribution.entropy <= math.log(len(given_weights)) + 1e-9


def test_of_equally_probable_outcomes_the_first_is_best() -> None:
    assert Distribution.of({"?": 1.0, ".": 1.0}).best == "?"
    assert Distribution.of({".": 0.0, "?": 0.0}).best == "."


def test_all_zero_weights_give_equal_shares() -> None:
    assert Distribution.of({".": 0.0, "?": 0.0}).probabilities == (0.5, 0.5)


def test_certainty_has_no_entropy_and_even_odds_have_log_two() -> None:
    assert str(Distribution.certain(",").entropy) == "0.0"
    assert Distribution.of({",": 3.0, "": 3.0}).entropy == pytest.approx(math.log(2))


def test_an_outcome_that_was_not_mentioned_has_no_probability() -> None:
    assert Distribution.certain(",").probability(".") == 0.0


def test_a_distribution_among_allowed_outcomes_keeps_their_proportions() -> None:
    whole = Distribution.of({"": 0.5, ",": 0.1, ".": 0.3, "?": 0.1})
    assert whole.among(lambda label: label in ".?" and label != "", ".") == Distribution.of({".": 0.75, "?": 0.25})
    assert Distribution.certain(",").among(lambda label: label == ".", ".") == Distribution.certain(".")
    ruled_out = Distribution.of({"": 1.0, "?": 0.0, ".": 0.0})
    assert ruled_out.among(lambda label: label != "", ".") == Distribution.certain(".")


def test_a_text_begins_with_a_capital_and_ends_with_a_sentence() -> None:
    vote = Vote(Distribution.of({"": 0.9, "?": 0.08, ".": 0.02}), Distribution.of({"lower": 0.6, "upper": 0.4}))
    assert end_sentence(vote, ",.?").labels.best == "?"
    assert end_sentence(vote, ",.").labels.best == "."
    assert end_sentence(vote, ",") == end_sentence(vote, ",?!") == vote, (
        "without a full stop a statement would end with `?`"
    )
    for stop, question, marks in (("۔", "؟", "۔،؟!"), ("।", "?", "।,?!"), ("。", "？", "。、？！")):
        asked = Vote(Distribution.of({question: 0.6, stop: 0.1, "": 0.3}), vote.cases)
        said = Vote(Distribution.of({question: 0.1, "": 0.9}), vote.cases)
        assert end_sentence(asked, marks).labels.best == question
        assert end_sentence(said, marks).labels.probability("") == 0.0
        assert end_sentence(Vote(Distribution.certain(""), vote.cases), marks).labels.best == stop
    disfluent = Vote(Distribution.of({"~": 0.5, "": 0.2, "~.": 0.1, "?": 0.2}), vote.cases)
    assert end_sentence(disfluent, ",.?").labels == Distribution.of({"~.": 0.6, "?": 0.2}), "`um~` ends as `um~.`"
    assert begin_sentence(vote).cases == Distribution.of({"capitalised": 0.6, "upper": 0.4}), "not MINIMIZER can do it"
    shouted = Vote(vote.labels, Distribution.of({"lower": 0.2, "capitalised": 0.2, "upper": 0.6}))
    assert begin_sentence(shouted).cases.best == "upper"
    assert begin_sentence(shouted, may_be_upper=False).cases.best == "capitalised"


def test_a_word_inside_a_sentence_has_the_case_that_it_has_there() -> None:
    labels, capital, lower = (Distribution.certain(outcome) for outcome in ("", "capitalised", "lower"))
    assert continue_sentence(Vote(labels, capital, inside=lower)).cases == lower
    assert continue_sentence(Vote(labels, capital)).cases == capital, "a name"
