import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from t5punct.evaluation.counts import Counts, compare
from t5punct.evaluation.scores import scores_of

ROOT = Path(__file__).parents[2]
LOADS = """
import evaluate, json
metric = evaluate.load("t5punct/evaluation/metric")
pairs = dict(predictions=["Well we, know.", "One too three"], references=["Well, we know?", "One; two, three."])
bare = dict(predictions=["we know"], references=["We know"], case=False)
print(json.dumps([metric.compute(**pairs), metric.compute(**bare)]))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, float | None]]:
    """What a user gets, in a process of its own: offline, with an empty cache."""
    cache = str(tmp_path_factory.mktemp("hf"))
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": cache, "HF_MODULES_CACHE": f"{cache}/modules", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOADS]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | offline, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_metric_gives_the_scores_of_the_package(results: list[dict[str, float | None]]) -> None:
    pairs = [("Well, we know?", "Well we, know."), ("One; two, three.", "One too three")]
    scores = scores_of(sum((compare(reference, output) for reference, output in pairs), Counts()))
    assert results[0] == {
        "micro_f1": scores.micro.f1, "macro_f1": scores.macro_f1, "comma_f1": scores.per_class["COMMA"].f1,
        "period_f1": scores.per_class["PERIOD"].f1, "question_f1": scores.per_class["QUESTION"].f1,
        "slot_error_rate": scores.slot_error_rate, "case_accuracy": scores.case_accuracy, "words": 6,
        "words_changed": 1,  # two -> too
    }  # fmt: skip


def test_undefined_scores_are_none_and_case_can_be_left_out(results: list[dict[str, float | None]]) -> None:
    assert results[1] == {
        "micro_f1": None, "macro_f1": None, "comma_f1": None, "period_f1": None, "question_f1": None,
        "slot_error_rate": None, "case_accuracy": None, "words": 2, "words_changed": 0,
    }  # fmt: skip
