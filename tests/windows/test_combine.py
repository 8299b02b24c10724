"""Distributions; and their combination, against sums written out by hand.  Ties decide nothing by chance."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.text.marks import Case
from t5punct.text.words import Word, split
from t5punct.windows.combine import METHODS, CombineConfig, add_votes, decide
from t5punct.windows.plan import WindowConfig, views_of
from t5punct.windows.votes import (
    Distribution,
    Vote,
    apply_sentence_position,
    begins_next,
    end_sentence,
    entropy,
    most_probable,
    normalise,
)

quick = settings(max_examples=150, deadline=None)
LABELS = ["", ",", ".", "?", "?!", "?!!", "!"]

# quarters and small weights add without rounding, so that ties are ties
distributions = st.dictionaries(st.sampled_from(LABELS), st.integers(0, 4).map(float), min_size=1).map(normalise)
case_distributions = st.dictionaries(
    st.sampled_from([case.value for case in Case]), st.integers(1, 4).map(float), min_size=1
).map(normalise)
votes = st.builds(
    Vote, distributions, case_distributions, st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 20), st.integers(0, 20),
)  # fmt: skip
slots = st.lists(votes, min_size=1, max_size=6)


def certain(label: str, weight: float = 1.0, left_words: int = 0, right_words: int = 0) -> Vote:
    return Vote({label: 1.0}, {"lower": 1.0}, weight, left_words, right_words)


def _chances(labels: Distribution, prefix: str) -> dict[str, float]:
    """What may follow a prefix, by the definition of a distribution over labels."""
    return {
        mark: sum(
            labels.get(label, 0.0)
            for label in LABELS
            if (label == prefix if not mark else label.startswith(prefix + mark))
        )
        for mark in ("", *",.?!")
    }


def _alone(labels: Distribution) -> list[str]:
    """The prefixes of what a window wrote: the first of the best marks, one after the other."""
    prefixes = [""]
    while True:
        chances = _chances(labels, prefixes[-1])
        first = min(
            (outcome for outcome in labels if outcome.startswith(prefixes[-1])),
            key=lambda o: (-chances[o[len(prefixes[-1]) :][:1]], tuple(labels).index(o)),
        )
        if first == prefixes[-1] or not chances[first[len(prefixes[-1])]]:
            return prefixes
        prefixes.append(first[: len(prefixes[-1]) + 1])


@quick
@given(slots)
def test_the_mean_decodes_mark_by_mark_as_an_ensemble_does(slot: list[Vote]) -> None:
    weights = [vote.weight for vote in slot] if any(vote.weight for vote in slot) else [1.0] * len(slot)
    decision, prefix, confidence = decide(slot, CombineConfig("mean")), "", 1.0
    while True:
        voters = [(w, vote.marks) for w, vote in zip(weights, slot, strict=True) if prefix in _alone(vote.marks)]
        shares = {mark: sum(w * _chances(labels, prefix)[mark] for w, labels in voters) for mark in ("", *",.?!")}
        if not any(shares.values()):
            break
        mark = decision.marks[len(prefix) :][:1]
        assert shares[mark] == pytest.approx(max(shares.values()))
        confidence *= shares[mark] / sum(shares.values())
        if not mark:
            break
        prefix += mark
    assert prefix == decision.marks
    assert decision.confidence == pytest.approx(confidence)


@quick
@given(st.lists(st.sampled_from(LABELS), min_size=1, max_size=9), st.sampled_from([0.0, 0.25, 0.4, 0.5, 0.75]))
def test_a_vote_inserts_the_most_chosen_mark_only_above_the_threshold(chosen: list[str], threshold: float) -> None:
    label = decide([certain(label) for label in chosen], CombineConfig("vote", threshold)).marks
    for prefix in (label[:end] for end in range(len(label) + 1)):
        counts = Counter(one[len(prefix)] for one in chosen if one.startswith(prefix) and len(one) > len(prefix))
        above = {mark for mark in counts if counts[mark] / len(chosen) > threshold + 1e-9}
        if prefix == label:
            assert not above
        else:
            assert label[len(prefix)] in above
            assert counts[label[len(prefix)]] == max(counts.values())


def test_each_window_votes_for_one_label_and_one_case_however_sure_it_is() -> None:
    """A mean would be 0.66 for `.` and for upper case; two windows of three want others."""
    surest = Vote({".": 1.0}, {"upper": 1.0})
    unsure = Vote(normalise({",": 0.51, ".": 0.49}), normalise({"lower": 0.51, "upper": 0.49}))
    decision = decide([surest, unsure, unsure], CombineConfig("vote"))
    assert (decision.marks, decision.confidence) == (",", pytest.approx(2 / 3))
    assert (decision.case, decision.case_confidence) == (Case.LOWER, pytest.approx(2 / 3))
    mean = decide([surest, unsure, unsure], CombineConfig("mean"))
    assert (mean.marks, mean.case) == (".", Case.UPPER)
    sole = decide([unsure], CombineConfig("vote"))
    assert (sole.case, sole.case_confidence, sole.confidence) == (Case.LOWER, 1.0, 1.0)


@quick
@given(slots, st.sampled_from(METHODS))
def test_a_decision_is_one_that_some_window_gave_and_of_equal_labels_the_first(slot: list[Vote], method: str) -> None:
    config = CombineConfig(method, 0.0)
    assert decide(slot, config) == decide(list(slot), config)
    tie = [certain("?!", 1, 3, 3), certain(".", 1, 3, 3)]
    assert (decide(tie, config).marks, decide(tie[::-1], config).marks) == ("?!", ".")
    decision = decide(slot, CombineConfig(method))
    assert any(label.startswith(decision.marks) for vote in slot for label in vote.marks)
    assert any(decision.case.value in vote.cases for vote in slot)
    assert 0.0 <= decision.confidence <= 1.0 + 1e-9
    assert 0.0 <= decision.case_confidence <= 1.0 + 1e-9


@quick
@given(st.integers(1, 40), st.integers(2, 12), st.data())
def test_each_slot_has_the_votes_of_all_windows_that_may_decide_it_as_soon_as_they_are_there(
    n_words: int, n_window: int, data: st.DataObject
) -> None:
    left, right = data.draw(st.integers(0, n_window // 2)), data.draw(st.integers(0, (n_window - 1) // 2))
    config = WindowConfig(n_window, data.draw(st.integers(1, n_window - left - right)), left, right)
    waiting, slot = dict[int, list[Vote]](), -1
    views = views_of([Word("a")] * n_words, config)
    votes_of = [tuple(certain(",", n, place) for place, _ in enumerate(view.words)) for n, view in enumerate(views)]
    for number, view in enumerate(views):
        for slot, votes in add_votes(waiting, view, votes_of[number]).items():
            assert view.n_settled > slot, "no later window decides it"
            assert number == 0 or views[number - 1].n_settled <= slot, "it does not wait for another window"
            deciding = [n for n, part in enumerate(views) if part.window.keep_start <= slot < part.window.keep_stop]
            assert votes == [votes_of[n][slot - views[n].window.start] for n in deciding]
    assert (slot, waiting) == (n_words - 1, {})


def test_entropy_trusts_the_window_that_is_sure_and_hamming_that_which_has_the_slot_in_its_middle() -> None:
    unsure = Vote(normalise({",": 0.55, "": 0.45}), {"lower": 1.0})
    sure = Vote(normalise({"": 0.54, ",": 0.46}), {"lower": 1.0})
    surest = Vote(normalise({"": 0.99, ",": 0.01}), {"lower": 1.0})
    assert decide([unsure, sure], CombineConfig("mean")).marks == ","
    assert decide([unsure, unsure, surest], CombineConfig("entropy")).marks == ""
    weight, rest = (1 - entropy(vote.marks) / math.log(2) for vote in (surest, unsure))
    expected = (weight * 0.99 + rest * 0.45) / (weight + rest)
    assert decide([unsure, surest], CombineConfig("entropy")).confidence == pytest.approx(expected)
    decision = decide([certain(",", 1, 0, 20), certain(".", 1, 10, 10)], CombineConfig("hamming"))
    low, high = (0.54 - 0.46 * math.cos(2 * math.pi * (left + 0.5) / 21) for left in (0, 10))
    assert (decision.marks, decision.confidence) == (".", pytest.approx(high / (low + high)))


def test_windows_that_want_different_marks_or_know_nothing() -> None:
    of_four = decide([certain(","), certain(""), certain(""), certain("")], CombineConfig("vote"))
    assert (of_four.marks, of_four.confidence) == ("", pytest.approx(0.75))
    torn = decide([certain(","), certain(".")], CombineConfig("vote"))
    assert (torn.marks, torn.confidence) == ("", 0.0), "no window wanted nothing"
    even = Vote(normalise({",": 0.5, ".": 0.5}), {"lower": 1.0})
    assert decide([even, even], CombineConfig("entropy")).marks == ",", "what knows nothing still has some weight"


@pytest.mark.parametrize(("values", "message"), [
    ({"method": "median"}, "combine 'median'; expected one of mean, entropy, hamming, vote; check combine"),
    ({"threshold": 1.1}, "threshold 1.1; expected 0 to 1"),
    ({"threshold": -0.1}, "threshold -0.1"),
])  # fmt: skip
def test_an_impossible_combination_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CombineConfig(**values)  # type: ignore[arg-type]


@quick
@given(slots, st.sampled_from(METHODS), st.integers(1, len(LABELS)))
def test_runners_up_share_what_the_best_label_leaves(slot: list[Vote], method: str, n_labels: int) -> None:
    config = CombineConfig(method)
    decision = decide(slot, config)
    everyone = decide(slot, config, len(LABELS)).alternatives
    runners_up = decide(slot, config, n_labels).alternatives
    assert runners_up == everyone[:n_labels]
    assert decision.marks not in [runner_up.marks for runner_up in everyone]
    assert len({runner_up.marks for runner_up in everyone}) == len(everyone)
    chances = [runner_up.probability for runner_up in everyone]
    assert chances == sorted(chances, reverse=True) and all(chance > 0.0 for chance in chances)
    assert not everyone or decision.confidence + sum(chances) == pytest.approx(1.0)
    assert {runner_up.marks for runner_up in everyone} <= {label for vote in slot for label in vote.marks}


@pytest.mark.parametrize("method", METHODS)
def test_the_opening_mark_is_the_best_of_all_votes_and_unknown_where_no_vote_knows_any(method: str) -> None:
    config, plain = CombineConfig(method), certain(",")
    asks = replace(plain, openings=normalise({"": 0.4, "¿": 0.6}))
    tells = replace(plain, openings=normalise({"": 0.8, "¿": 0.2}), weight=0.5)
    assert decide([plain], config).opening is None
    assert decide([plain, plain], config).opening is None
    assert decide([asks], config).opening == "¿"
    assert decide([tells], config).opening == ""
    assert decide([asks, tells], config).opening == ""
    assert decide([asks, asks, tells], config).opening == "¿"
    assert decide([asks, replace(tells, weight=0.1), plain], config).opening == "¿"


weights = st.dictionaries(st.sampled_from(["", ",", ".", "?", "?!"]), st.floats(0, 1e6), min_size=1)


@settings(max_examples=150, deadline=None)
@given(weights)
def test_weights_become_probabilities_in_the_order_they_came(given_weights: dict[str, float]) -> None:
    distribution = normalise(given_weights)
    assert tuple(distribution) == tuple(given_weights)
    assert sum(distribution.values()) == pytest.approx(1.0)
    assert given_weights[most_probable(distribution)] == pytest.approx(max(given_weights.values()))
    assert -1e-9 <= entropy(distribution) <= math.log(len(given_weights)) + 1e-9


def test_weights_of_zero_give_equal_shares_and_certainty_has_no_entropy() -> None:
    assert most_probable(normalise({"?": 1.0, ".": 1.0})) == "?"
    assert most_probable(normalise({".": 0.0, "?": 0.0})) == "."
    assert normalise({".": 0.0, "?": 0.0}) == {".": 0.5, "?": 0.5}
    assert str(entropy({",": 1.0})) == "0.0"
    assert entropy(normalise({",": 3.0, "": 3.0})) == pytest.approx(math.log(2))


def test_a_text_begins_with_a_capital_and_ends_with_a_sentence() -> None:
    vote = Vote(normalise({"": 0.9, "?": 0.08, ".": 0.02}), normalise({"lower": 0.6, "upper": 0.4}))
    assert most_probable(end_sentence(vote, ",.?").marks) == "?"
    assert most_probable(end_sentence(vote, ",.").marks) == "."
    assert end_sentence(vote, ",") == end_sentence(vote, ",?!") == vote, "or a statement would end with `?`"
    for stop, question, marks in (("۔", "؟", "۔،؟!"), ("।", "?", "।,?!"), ("。", "？", "。、？！")):
        asked = Vote(normalise({question: 0.6, stop: 0.1, "": 0.3}), vote.cases)
        said = Vote(normalise({question: 0.1, "": 0.9}), vote.cases)
        assert most_probable(end_sentence(asked, marks).marks) == question
        assert end_sentence(said, marks).marks.get("", 0.0) == 0.0
        assert most_probable(end_sentence(Vote({"": 1.0}, vote.cases), marks).marks) == stop
    disfluent = Vote(normalise({"~": 0.5, "": 0.2, "~.": 0.1, "?": 0.2}), vote.cases)
    assert end_sentence(disfluent, ",.?").marks == normalise({"~.": 0.6, "?": 0.2}), "`um~` ends as `um~.`"


# -- one rule of capitals: what begins a sentence has one, and nothing else has one for that reason


SAYS_LOWER = Vote(normalise({".": 0.6, "": 0.4}), normalise({"lower": 0.8, "capitalised": 0.2}))
SHOUTED = Vote({"": 1.0}, {"upper": 1.0})
AFTER_AN_END = Vote({"": 1.0}, {"capitalised": 1.0}, inside={"lower": 1.0})


def case_of_vote(text: str, vote: Vote, begins: bool | None) -> str:
    (word,) = split(text).words
    return most_probable(apply_sentence_position(vote, word, begins).cases)


def test_what_begins_a_sentence_has_a_capital_but_for_some_words() -> None:
    assert case_of_vote("how", SAYS_LOWER, True) == Case.CAPITALISED
    assert case_of_vote("how", SAYS_LOWER, False) == Case.LOWER
    assert case_of_vote("how", SAYS_LOWER, None) == Case.LOWER
    assert case_of_vote("how", AFTER_AN_END, False) == Case.LOWER
    assert case_of_vote("how", AFTER_AN_END, None) == Case.CAPITALISED
    assert case_of_vote("how", AFTER_AN_END, True) == Case.CAPITALISED
    assert [case_of_vote(text, AFTER_AN_END, False) for text in ('"how', "“how", "(how", "how")] == [
        "capitalised", "capitalised", "lower", "lower"
    ]  # fmt: skip
    for text in ("iPhone", "foo.com", "3rd", "$5m", "42"):
        assert case_of_vote(text, SAYS_LOWER, True) == Case.LOWER
    shouted = [case_of_vote(text, SHOUTED, True) for text in ("nasa", "minimizer", "o'neil")]
    assert shouted == ["upper", "capitalised", "capitalised"]


def test_sentences_go_on_behind_dashes_emoji_and_abbreviations() -> None:
    for text in ("-", "🙂", "♪", '"'):
        assert begins_next(True, Word(text), "")
        assert not begins_next(False, Word(text), "")
    assert not begins_next(True, Word("3"), "")
    assert begins_next(None, Word("🙂"), "") is None
    for word in ("Mr", "inc", "st"):
        assert [begins_next(False, Word(word), label) for label in ("", ",", ".", "?")] == [False, False, None, True]
    assert begins_next(False, Word("f"), "."), "`John F. Kennedy` has a capital in any case"


def test_a_dutch_word_of_one_letter_leaves_its_capital_to_the_next_word() -> None:
    capital = Vote({"": 1.0}, normalise({"capitalised": 0.9, "lower": 0.1}))
    for text in ("'t", "’s", "'n"):
        assert [case_of_vote(text, capital, begins) for begins in (True, False)] == [Case.LOWER, Case.LOWER]
        assert [begins_next(begins, Word(text), "") for begins in (True, False)] == [True, False]
    assert begins_next(False, Word("'t"), "."), "the sentence ends"
    assert case_of_vote("km", capital, False) == Case.LOWER


def test_abbreviations_in_lower_case_have_a_capital_only_at_the_start() -> None:
    capital = Vote({"": 1.0}, normalise({"capitalised": 0.9, "lower": 0.1}))
    assert [case_of_vote("i.e.", capital, begins) for begins in (True, False)] == [Case.CAPITALISED, Case.LOWER]
    assert [case_of_vote("a.m.", vote, False) for vote in (AFTER_AN_END, capital)] == [Case.LOWER] * 2
    doubtful = Vote({"": 1.0}, normalise({"lower": 0.2, "upper": 0.3, "capitalised": 0.5}))
    (word,) = split("i.e.").words
    assert apply_sentence_position(doubtful, word, False).cases == {"lower": 1.0}
    lower = Vote({"": 1.0}, {"lower": 1.0})
    assert apply_sentence_position(lower, word, False).cases == lower.cases
    small = [case_of_vote(text, SHOUTED, False) for text in ("a.m.", "p.m", "e.g.", "vs", "vs.", "etc.")]
    assert small == [Case.LOWER] * 6
    assert case_of_vote("a.m.", SHOUTED, True) == Case.CAPITALISED
    assert [case_of_vote(text, SHOUTED, False) for text in ("u.s.", "mr")] == [Case.UPPER] * 2
    assert case_of_vote("ph.d.", capital, False) == Case.CAPITALISED


def test_a_sentence_ends_once() -> None:
    assert most_probable(apply_sentence_position(SAYS_LOWER, Word("🙂"), True).marks) == ""
    assert most_probable(apply_sentence_position(SAYS_LOWER, Word("🙂"), False).marks) == "."
    stop = Vote({".": 1.0}, SAYS_LOWER.cases)
    assert apply_sentence_position(stop, Word("🙂"), True).marks == {"": 1.0}
    comma = Vote({",": 0.9, "": 0.1}, SAYS_LOWER.cases)
    assert most_probable(apply_sentence_position(comma, Word("🙂"), True).marks) == "", "a capital follows"
    assert begins_next(False, Word("🙂"), "."), "the sentence that an emoji ends"
