"""Two systems on the same text: what each scores alone, the gain, and how sure it is."""

import random
from pathlib import Path

import pytest
from scripted import Scripted

from t5punct.errors import ConfigError, InputError
from t5punct.evaluation.comparison import compare_file, compare_reports, f1_of
from t5punct.evaluation.counts import Counts, Slot, count
from t5punct.evaluation.evaluate import evaluate_file
from t5punct.evaluation.score_table import comparison_json
from t5punct.evaluation.significance import Interval, gain_interval, interval, micro_f1, paired_test
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.render import RenderConfig

TEXT = "We know, that. Right?\nYes! So it goes.\nWhat, now?\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_scores_are_those_of_each_system_alone_and_the_gain_is_their_difference(tiny_model: Model, text: Path) -> None:
    worse, better = (Scripted(tiny_model, TEXT.replace(",", "").replace(other, "")) for other in ("!", ","))
    comparison = compare_file(text, worse, better)
    assert comparison.first.scores == evaluate_file(text, worse).scores
    assert comparison.second.scores == evaluate_file(text, better).scores
    assert comparison.second.signature == evaluate_file(text, better).signature
    of = {difference.name: difference for difference in comparison.differences}
    micro = of["micro"]  # 2 and 0 commas, 3 and 2 full stops, 2 questions of 7 marks
    assert (micro.first, micro.second) == (pytest.approx(200 * 4 / (4 + 7)), pytest.approx(200 * 5 / (5 + 7)))
    assert micro.interval is not None
    assert micro.interval.score == pytest.approx(200 * 5 / 12 - 200 * 4 / 11)
    assert micro.p_value == paired_test(comparison.second.counts, comparison.first.counts)
    assert (of["PERIOD"].first, of["PERIOD"].second) == (80.0, 100.0)
    assert (of["COMMA"].first, of["QUESTION"].second) == (0.0, 100.0)


def test_a_system_gains_nothing_over_itself_and_one_document_has_no_test(tiny_model: Model, text: Path) -> None:
    system = Scripted(tiny_model, TEXT.replace(",", "."))
    for change in compare_file(text, system, system).differences:
        assert (change.interval, change.p_value) == (Interval(0.0, 0.0, 0.0), 1.0)
    text.write_text("We know, that. Right?\n")
    worse, better = Scripted(tiny_model, "we know that right"), Scripted(tiny_model, "We know, that. Right?")
    assert comparison_json(compare_file(text, worse, better))["differences"]["micro"] == {
        "scores": [0.0, 100.0], "gain": 100.0, "gain_interval": None, "p_value": None,
    }  # fmt: skip


def test_a_model_of_fewer_marks_is_scored_against_those_of_both(tiny_model: Model, text: Path) -> None:
    few = Scripted(tiny_model.with_task(marks=".,?"), TEXT.replace("!", "."))
    many = Scripted(tiny_model, TEXT)
    text.write_text(TEXT.replace("Yes!", "Yes:"))  # without a colon among its marks, `yes:` would be a word
    comparison = compare_file(text, few, many, max_words=10)
    for report in (comparison.first, comparison.second):
        assert (report.scores.per_class["COMMA"].reference, report.scores.words) == (3, 10)
    assert comparison.first.signature.endswith("|reference-marks:,.?!:;-")


def test_words_that_are_removed_and_reports_of_different_texts_are_not_compared(tiny_model: Model, text: Path) -> None:
    signed = tiny_model.with_task(disfluencies=True)
    removing = Punctuator(signed, PunctuatorConfig(render=RenderConfig(disfluencies="remove")))
    with pytest.raises(ConfigError, match="scores of a text whose disfluencies are removed; expected keep or mark"):
        compare_file(text, Punctuator(tiny_model), removing)
    reports = [evaluate_file(text, Punctuator(tiny_model), max_words=n_words) for n_words in (99, 2)]
    with pytest.raises(InputError, match="1 and 3 documents; expected the same documents for both"):
        compare_reports(*reports)


def system(n_documents: int, right_percent: int, seed: int = 1) -> list[Counts]:
    """Documents of 20 full stops, each found with the given chance."""
    rng = random.Random(seed)
    return [
        count([Slot(".")] * 20, [Slot("." if rng.randrange(100) < right_percent else "") for _ in range(20)])
        for _ in range(n_documents)
    ]


def test_the_interval_of_many_documents_is_a_normal_distributions_and_that_of_one_is_none() -> None:
    """Of a mean, 1.96 standard errors on either side."""
    documents = [Counts(words=n) for n in range(200)]
    bounds = interval(documents, lambda counts: counts.words / 200, n_samples=4000)
    error = (sum((n - 99.5) ** 2 for n in range(200)) / 200) ** 0.5 / 200**0.5
    assert bounds is not None and bounds.score == 99.5
    assert (bounds.low, bounds.high) == pytest.approx((99.5 - 1.96 * error, 99.5 + 1.96 * error), abs=0.2 * error)
    assert interval(documents[:1]) is None


def test_a_far_better_system_is_told_from_chance_and_equal_ones_seldom() -> None:
    good, bad = system(12, 95), system(12, 30, seed=2)
    assert max(paired_test(good, bad), paired_test(bad, good)) < 0.01  # two-sided
    ours, theirs = system(2, 100), system(2, 0)
    assert paired_test(ours, theirs, n_samples=2000) == pytest.approx(0.5, abs=0.05)
    pairs = [(system(6, 60, seed), system(6, 60, 1000 + seed)) for seed in range(30)]
    n_differing = sum(paired_test(*pair, n_samples=100) <= 0.1 for pair in pairs)
    assert n_differing <= 8  # 3 of 30 expected; more than 8 have a chance of 0.2 %


def test_nothing_to_compare_is_refused() -> None:
    assert micro_f1(Counts()) == 0.0, "without marks"
    with pytest.raises(InputError, match="no documents; expected at least one"):
        interval([])
    for compare in (paired_test, gain_interval):
        with pytest.raises(InputError, match="2 and 1 documents; expected the same documents for both"):
            compare(system(2, 50), system(1, 50))
        with pytest.raises(InputError, match="0 and 0 documents"):
            compare([], [])


def test_a_paired_interval_is_narrower_where_documents_are_hard_for_both() -> None:
    easy, hard = (lambda seed: system(1, 95, seed)), (lambda seed: system(1, 20, seed))
    ours = [kind(seed)[0] for seed in range(12) for kind in (easy, hard)]
    theirs = [kind(seed + 500)[0] for seed in range(12) for kind in (easy, hard)]
    gain, alone = gain_interval(ours, theirs), interval(ours)
    assert gain and alone
    assert alone.score == micro_f1(sum(ours, Counts()))
    assert gain.high - gain.low < alone.high - alone.low
    assert gain.low <= gain.score <= gain.high
    assert gain.score == pytest.approx(alone.score - micro_f1(sum(theirs, Counts())))
    assert gain_interval(ours[:1], theirs[:1]) is None
    assert f1_of("PERIOD")(ours[0]) == micro_f1(ours[0])
