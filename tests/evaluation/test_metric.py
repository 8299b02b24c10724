from pathlib import Path

import evaluate
import pytest

from t5punct.evaluation.counts import Counts, compare
from t5punct.evaluation.scores import scores_of

ROOT = Path(__file__).parents[2]


def test_the_metric_gives_the_scores_of_the_package_and_undefined_ones_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a user gets, offline, with an empty cache."""
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "modules")
    metric = evaluate.load(str(ROOT / "t5punct/evaluation/metric"), cache_dir=str(tmp_path))
    pairs = [("Well, we know?", "Well we, know."), ("One; two, three.", "One too three")]
    references, outputs = zip(*pairs, strict=True)
    scores = scores_of(sum((compare(reference, output) for reference, output in pairs), Counts()))
    assert metric.compute(predictions=outputs, references=references) == {
        "micro_f1": scores.micro.f1, "macro_f1": scores.macro_f1, "comma_f1": scores.per_class["COMMA"].f1,
        "period_f1": scores.per_class["PERIOD"].f1, "question_f1": scores.per_class["QUESTION"].f1,
        "slot_error_rate": scores.slot_error_rate, "case_accuracy": scores.case_accuracy, "words": 6,
        "words_changed": 1,  # two -> too
    }  # fmt: skip
    assert metric.compute(predictions=["we know"], references=["We know"], case=False) == {
        "micro_f1": None, "macro_f1": None, "comma_f1": None, "period_f1": None, "question_f1": None,
        "slot_error_rate": None, "case_accuracy": None, "words": 2, "words_changed": 0,
    }  # fmt: skip
