"""Policies against the algorithms as their papers write them, with votes that are written by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.streaming.policies import MOST_DELAY, Delayed, Entropy, Fixed, Policy, Sentence, StreamConfig, make_policy
from t5punct.streaming.state import StreamState
from t5punct.text.words import Word
from t5punct.windows.plan import MOST_WORDS
from t5punct.windows.votes import Vote, entropy, normalise


def _vote(**weights: float) -> Vote:
    names = {"none": "", "comma": ",", "stop": "."}
    return Vote(normalise({names[name]: w for name, w in weights.items()}), {"lower": 1.0})


SURE, UNSURE = _vote(none=1.0), _vote(none=0.5, comma=0.5)  # 0 and 1 bit


def _n_final(policy: Policy, votes: list[Vote]) -> int:
    """How many of a new stream's words are final, with these votes."""
    state = _heard(len(votes), 0)
    return policy.n_final(state, votes[: policy.n_candidates(state)])


def _heard(n_seen: int, n_committed: int, sentence_start: int = 0) -> StreamState:
    return StreamState((Word("a"),) * min(n_seen, 10), n_seen, n_committed, sentence_start)


@given(st.integers(0, 9), st.integers(0, 20), st.integers(0, 20))
def test_fixed_commits_what_its_lookahead_follows(lookahead: int, n_committed: int, n_waiting: int) -> None:
    policy = Fixed(lookahead)
    state = _heard(n_committed + n_waiting, n_committed)
    n_final = policy.n_final(state, [SURE] * policy.n_candidates(state))
    assert n_final == sum(n_waiting - place - 1 >= lookahead for place in range(n_waiting))
    assert policy.is_due(_heard(n_committed + n_waiting, n_committed)) == (n_final > 0)


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.0, 0.9, 1.0]))
def test_entropy_commits_while_the_model_is_sure(sure: list[bool], l_min: int, spread: int, threshold: float) -> None:
    policy = Entropy(l_min, l_min + spread, [threshold] * (spread + 1))
    wanted = 0
    for place, is_sure in enumerate(sure):
        lookahead = len(sure) - place - 1
        decided = lookahead >= l_min and (lookahead >= l_min + spread or is_sure or threshold >= 1.0)
        if not decided:
            break
        wanted += 1
    votes = [SURE if is_sure else UNSURE for is_sure in sure]
    assert _n_final(policy, votes) == wanted


def test_entropy_is_in_bits_with_a_threshold_for_each_lookahead_and_fixed_where_there_is_one() -> None:
    four = Vote(normalise(dict.fromkeys(("", ",", ".", "?"), 1.0)), SURE.cases)
    assert entropy(four.marks) / math.log(2) == pytest.approx(2.0)
    assert _n_final(Entropy(0, 5, [1.999999] * 6), [four]) == 0
    assert _n_final(Entropy(0, 5, [2.000001] * 6), [four]) == 1
    policy = make_policy(StreamConfig("entropy", l_min=1, l_max=3, thresholds=[0.0, 1.0, 0.0]))
    assert _n_final(policy, [UNSURE, SURE]) == 0
    assert _n_final(policy, [UNSURE, SURE, SURE]) == 2
    assert make_policy(StreamConfig("entropy", l_min=1, l_max=3, thresholds=[0.7])) == Entropy(1, 3, [0.7] * 3)
    policy = make_policy(StreamConfig("entropy", l_min=3, l_max=3, thresholds=[0.0]))
    for n_waiting in range(8):
        assert _n_final(policy, [UNSURE] * n_waiting) == _n_final(Fixed(3), [UNSURE] * n_waiting)


def _algorithm_1(ends: list[bool], every: int, after: int, window: int) -> list[tuple[int, int]]:
    """Chen 2020, algorithm 1, word by word: (words heard, words committed) whenever something is committed.

    `ends[i]`: the model sees a sentence end after word i, whenever it looks.  The bound is ours, and that the algorithm
    is repeated on what is left of the buffer.
    """
    committed, commits = 0, []
    for heard in range(1, len(ends) + 1):
        waiting, before = heard - committed, committed
        if heard % every and waiting < window:
            continue
        while True:
            first = next((i for i in range(committed, heard) if ends[i]), None)
            if first is None or heard - first - 1 < after:
                break
            committed = first + 1
        if committed == before and waiting >= window:
            committed = heard - after
        if committed > before:
            commits.append((heard, committed))
    return commits


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5), st.integers(0, 5), st.integers(6, 12))
def test_sentence_follows_algorithm_1(ends: list[bool], every: int, after: int, window: int) -> None:
    policy, commits = Sentence(every, after, window), []
    n_committed = 0
    for heard in range(1, len(ends) + 1):
        state = StreamState((Word("a"),) * min(heard, window), heard, n_committed)
        if not policy.is_due(state):
            continue
        votes = [_vote(stop=1.0) if ends[place] else SURE for place in range(n_committed, heard)]
        if n_final := policy.n_final(state, votes[: policy.n_candidates(state)]):
            n_committed += n_final
            commits.append((heard, n_committed))
    assert commits == _algorithm_1(ends, every, after, window)


def test_a_window_begins_where_its_sentence_or_what_waits_does_and_no_sentence_ends_behind_a_title() -> None:
    policy = Sentence(1, 0, 9)
    for word, n_final in (("mr", 0), ("so", 1)):
        assert policy.n_final(StreamState((Word(word), Word("a")), 2), [_vote(stop=1.0), SURE]) == n_final
    policy = Sentence(4, 4, 10)
    assert policy.window_start(_heard(30, 25, sentence_start=24)) == 24
    assert policy.window_start(_heard(30, 25, sentence_start=3)) == 20, "or as far back as the window reaches"
    assert Fixed(2).window_start(_heard(30, 25, sentence_start=24)) == 20
    for n_seen, n_committed, start in ((4, 4, 3), (9, 5, 4), (0, 0, 0), (30, 3, 20)):
        assert Delayed(4).window_start(_heard(n_seen, n_committed)) == start, "what waits and the word before"


@pytest.mark.parametrize(("values", "message"), [
    ({"policy": "eager"}, "policy 'eager'; expected one of fixed, entropy, sentence, delay"),
    ({"decide": "guess"}, "decide 'guess'; expected one of seq2seq, classify"),
    ({"window": 9, "lookahead": 9}, "lookahead of 9 words in a window of 9; expected a whole number, 0 or more"),
    ({"policy": "entropy", "l_min": -1}, "l_min of -1 words"),
    ({"policy": "entropy", "l_min": 5, "l_max": 2}, "l_min 5, l_max 2; expected l_min <= l_max"),
    ({"policy": "entropy", "thresholds": [float("nan")]}, r"thresholds \[nan\]; expected bits, 0 or more"),
    ({"policy": "entropy", "thresholds": [0.1, 0.2]}, "2 thresholds for lookaheads from 1 to 6"),
    ({"policy": "sentence", "every": 0}, "every of 0 words in a window of 32; expected a whole number, 1 or more"),
    ({"window": MOST_WORDS + 1}, "a window of"),
    ({"policy": "delay", "lookahead": -1}, "a lookahead of -1 words"),
    ({"policy": "delay", "decide": "classify"}, "decide classify"),
    ({"max_delay_ms": 0}, "max_delay_ms 0"),
])  # fmt: skip
def test_impossible_values_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        StreamConfig(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(("values", "policy"), [
    ({"lookahead": 31, "max_delay_ms": 86_400_000}, Fixed(31)),
    ({"policy": "entropy", "l_min": 0, "l_max": 0, "thresholds": [0.0]}, Entropy(0, 0, [0.0])),
    ({"policy": "entropy", "l_min": 31, "l_max": 31}, Entropy(31, 31, [0.5])),
    ({"policy": "sentence", "every": 1, "after": 0, "window": 2}, Sentence(1, 0, 2)),
    ({"policy": "delay", "lookahead": MOST_DELAY}, Delayed(MOST_DELAY)),
])  # fmt: skip
def test_the_least_and_the_most_that_is_possible_makes_a_policy(values: dict[str, object], policy: Policy) -> None:
    assert make_policy(StreamConfig(**values)) == policy  # type: ignore[arg-type]
