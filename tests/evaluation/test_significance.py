import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import InputError
from t5punct.evaluation.counts import Counts, Slot, count
from t5punct.evaluation.scores import scores_of
from t5punct.evaluation.significance import interval, micro_f1, paired_test


def system(n_documents: int, right_percent: int, seed: int = 1) -> list[Counts]:
    """Documents of 20 full stops, each found with the given chance."""
    rng = random.Random(seed)
    return [
        count([Slot(".")] * 20, [Slot("." if rng.randrange(100) < right_percent else "") for _ in range(20)])
        for _ in range(n_documents)
    ]


@given(st.integers(2, 8), st.integers(20, 90), st.integers(0, 5))
def test_an_interval_holds_the_score_and_is_the_same_for_a_seed(n_documents: int, right: int, seed: int) -> None:
    documents = system(n_documents, right)
    found = interval(documents, n_samples=100, seed=seed)
    assert found is not None
    assert 0.0 <= found.low <= found.high <= 100.0
    assert found.score == scores_of(sum(documents, Counts())).micro.f1
    assert found == interval(documents, n_samples=100, seed=seed)


def test_an_interval_is_around_the_score_and_wider_at_a_higher_level() -> None:
    documents = system(12, 60)
    narrow, wide = interval(documents, level=0.5), interval(documents, level=0.99)
    assert narrow and wide
    assert wide.low < narrow.low < narrow.score < narrow.high < wide.high
    assert (narrow.level, wide.level) == (0.5, 0.99)
    assert interval(documents, seed=2) != interval(documents, seed=3)


def test_one_document_tells_no_spread() -> None:
    assert interval(system(1, 60)) is None


def test_another_statistic_has_its_own_interval() -> None:
    found = interval(system(3, 60), lambda counts: float(counts.slots))
    assert found is not None
    assert (found.low, found.score, found.high) == (60.0, 60.0, 60.0)


def test_draws_are_added_up_without_a_counts_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = system(4, 60)
    monkeypatch.delattr(Counts, "__add__")  # half a minute for five thousand documents
    assert interval(documents, n_samples=10) is not None
    assert paired_test(documents, documents, n_samples=10).p_value == 1.0


def test_identical_systems_gain_nothing() -> None:
    documents = system(6, 70)
    assert paired_test(documents, list(documents)) == paired_test(documents, documents)
    found = paired_test(documents, documents)
    assert (found.gain, found.p_value) == (0.0, 1.0)


def test_a_far_better_system_is_told_from_chance() -> None:
    good, bad = system(12, 95), system(12, 30, seed=2)
    found = paired_test(good, bad)
    assert found.gain == pytest.approx(micro_f1(sum(good, Counts())) - micro_f1(sum(bad, Counts())))
    assert found.gain > 30.0
    assert found.p_value < 0.01
    assert paired_test(bad, good).gain == pytest.approx(-found.gain)
    assert paired_test(bad, good).p_value < 0.01  # two-sided


def test_equally_good_systems_differ_at_p_at_most_one_tenth_about_one_time_in_ten() -> None:
    pairs = [(system(6, 60, seed), system(6, 60, 1000 + seed)) for seed in range(30)]
    found = sum(paired_test(*pair, n_samples=100).p_value <= 0.1 for pair in pairs)
    assert found <= 8  # 3 of 30 expected; more than 8 have a chance of 0.2 %


def test_the_p_value_is_exact_for_two_documents() -> None:
    # swapping both or neither gives the gain again, swapping one gives none: chance alone gives as much half the time
    ours, theirs = system(2, 100), system(2, 0)
    assert paired_test(ours, theirs, n_samples=2000).p_value == pytest.approx(0.5, abs=0.05)


def test_micro_f1_without_marks_is_zero() -> None:
    assert micro_f1(Counts()) == 0.0


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="no documents; expected at least one"):
        interval([])
    with pytest.raises(InputError, match="2 and 1 documents; expected the same documents for both"):
        paired_test(system(2, 50), system(1, 50))
    with pytest.raises(InputError, match="0 and 0 documents"):
        paired_test([], [])
