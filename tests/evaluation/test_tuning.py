"""Trials from votes that are cast once equal decoding anew; the frontier is what brute force finds; its picture."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.evaluation.counts import ClassCounts, Counts
from t5punct.evaluation.evaluate import evaluate_file, references_for
from t5punct.evaluation.references import TextReference
from t5punct.evaluation.tuning import Trial, Trials, TuneConfig, find_frontier, tune
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.marks import Alphabet
from t5punct.text.words import Word
from t5punct.windows.combine import CombineConfig
from t5punct.windows.plan import View, WindowConfig, views_of
from t5punct.windows.presets import Preset, load_preset
from t5punct.windows.votes import Vote

CLITICS = Path(__file__).parents[1] / "data" / "hand-counted.tsv"
TEXT = "we know that this is right what how are you today well i think it is"
DOCUMENT = TextReference(tuple(map(Word, TEXT.split())), Alphabet(), case=True)


class Counting(Punctuator):
    """Counts the windows that it decodes."""

    n_windows = 0

    def window_votes(self, views: Sequence[View[Word]], *, whole: bool = False) -> list[tuple[Vote, ...]]:
        self.n_windows += len(views)
        return super().window_votes(views, whole=whole)


@pytest.mark.parametrize("decoder", ["slots", "generate"])
@pytest.mark.parametrize("name", ["double-overlap", "mask-combine-4", "realtime-2", "vote", "small"])
def test_cached_votes_decide_as_the_punctuator_does(tiny_model: Model, decoder: str, name: str) -> None:
    small = Preset(WindowConfig(6, 2, 1, 1), CombineConfig("hamming"))
    strategy = small if name == "small" else load_preset(name)
    config = PunctuatorConfig(strategy.windows, strategy.combine, DecodingConfig(decoder))
    trials = Trials(Punctuator(tiny_model, replace(config, windows=WindowConfig(8))), [DOCUMENT])
    (cached,) = trials.annotate(strategy)
    (anew,) = Punctuator(tiny_model, config).annotate_texts([DOCUMENT.words])
    told, wanted = ([(word.text, word.marks, word.case) for word in words] for words in (cached, anew))
    assert told == wanted
    # masked slots are not written where no strategy asks for them, which rounds differently
    assert [word.confidence for word in cached] == pytest.approx([word.confidence for word in anew], abs=1e-5)


def test_a_window_is_decoded_once_and_a_trial_counts_what_an_evaluation_does(tiny_model: Model) -> None:
    punctuator = Counting(tiny_model)
    trials = Trials(punctuator, [DOCUMENT])
    strategies = [Preset(WindowConfig(8, stride, mask)) for stride, mask in product((2, 4, 6), (0, 2))]
    views = [view for preset in strategies for view in views_of(DOCUMENT.words, preset.windows)]
    distinct = {(view.window.start, view.window.stop) for view in views}
    for strategy in [*strategies, *strategies]:
        list(trials.annotate(strategy))
    assert punctuator.n_windows == len(distinct)
    strategy = Preset(WindowConfig(4, 2))
    punctuator = Punctuator(tiny_model)
    trial = Trials(punctuator, references_for(punctuator, CLITICS, None)).trial(strategy)
    report = evaluate_file(CLITICS, Punctuator(tiny_model, PunctuatorConfig(strategy.windows, strategy.combine)))
    assert trial.counts == report.counts
    assert trial.micro_f1 == report.scores.micro.f1
    config = TuneConfig(2.0, [4, 8], 4, 0.25, ["mean"])
    trials = list(tune(CLITICS, Punctuator(tiny_model), config))
    assert [trial.strategy for trial in trials] == [*config.strategies(4), *config.strategies(8)]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([8, 16, 24]), st.sampled_from([2, 4, 8]), st.floats(1, 9), st.sampled_from([0.0, 0.25, 0.4]))
def test_the_grid_holds_what_the_budget_pays_for(window: int, grain: int, budget: float, largest_mask: float) -> None:
    config = TuneConfig(budget, [window], grain, largest_mask, ["mean", "vote"])
    strategies = list(config.strategies(window))
    wanted = {
        (stride, left, right, method)
        for stride, left, right, method in product(range(1, window + 1), range(window), range(window), ("mean", "vote"))
        if all(number % (window // grain) == 0 for number in (stride, left, right))
        and max(left, right) <= largest_mask * window
        and stride <= window - left - right
        and window / stride <= budget
        and (method == "mean" or stride < window - left - right)
    }
    keys = [(s.windows.stride_words, s.windows.mask_left, s.windows.mask_right, s.combine.method) for s in strategies]
    assert len(keys) == len(set(keys))
    assert set(keys) == wanted


def _trial(stride: int, correct: int) -> Trial:
    classes = {"COMMA": ClassCounts(correct, 10, 10), "PERIOD": ClassCounts(), "QUESTION": ClassCounts()}
    return Trial(Preset(WindowConfig(12, stride)), (Counts(classes=classes),))


@given(st.lists(st.tuples(st.sampled_from([1, 2, 3, 4, 6, 12]), st.integers(0, 10)), min_size=1, max_size=12))
def test_the_frontier_is_what_nothing_as_cheap_beats(points: list[tuple[int, int]]) -> None:
    trials = [_trial(stride, correct) for stride, correct in points]
    best = find_frontier(trials)
    assert [trial.reads for trial in best] == sorted({trial.reads for trial in best})
    for trial in trials:
        rivals = [other.micro_f1 for other in trials if other.reads <= trial.reads]
        assert any(chosen.reads <= trial.reads and chosen.micro_f1 == max(rivals) for chosen in best)
    for chosen in best:
        assert all(other.micro_f1 < chosen.micro_f1 for other in trials if other.reads < chosen.reads)


@pytest.mark.parametrize(("values", "message"), [
    ({"budget": 0.5}, "a budget of 0.5; expected 1 or more"),
    ({"windows": [30]}, "windows of 30 words with grain 8; expected windows that the grain divides"),
    ({"windows": []}, "an empty grid"), ({"methods": ["median"]}, "method 'median'"),
])  # fmt: skip
def test_an_impossible_grid_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TuneConfig(**values)  # type: ignore[arg-type]
