import json
import os
import subprocess
import sys
from pathlib import Path

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


def test_the_metric_gives_the_scores_of_the_package_and_undefined_ones_are_none(tmp_path: Path) -> None:
    """What a user gets, in a process of its own: offline, with an empty cache."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "HF_MODULES_CACHE": f"{tmp_path}/modules"}
    environment = os.environ | offline | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOADS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    pairs = [("Well, we know?", "Well we, know."), ("One; two, three.", "One too three")]
    scores = scores_of(sum((compare(reference, output) for reference, output in pairs), Counts()))
    assert results[0] == {
        "micro_f1": scores.micro.f1, "macro_f1": scores.macro_f1, "comma_f1": scores.per_class["COMMA"].f1,
        "period_f1": scores.per_class["PERIOD"].f1, "question_f1": scores.per_class["QUESTION"].f1,
        "slot_error_rate": scores.slot_error_rate, "case_accuracy": scores.case_accuracy, "words": 6,
        "words_changed": 1,  # two -> too
    }  # fmt: skip
    assert results[1] == {
        "micro_f1": None, "macro_f1": None, "comma_f1": None, "period_f1": None, "question_f1": None,
        "slot_error_rate": None, "case_accuracy": None, "words": 2, "words_changed": 0,
    }  # fmt: skip
