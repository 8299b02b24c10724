"""The project's scores as a metric of the `evaluate` library, which loads it from this folder, without a network.

In: predictions and references, punctuated texts in pairs.  Out: a dict of scores in percent; None if one is undefined.

`evaluate.load("t5punct/evaluation/metric").compute(predictions=["We know"], references=["We know."])` gives
`{"micro_f1": 0.0, ..., "slot_error_rate": 100.0, "words_changed": 0}`.
"""

from __future__ import annotations

from collections.abc import Sequence

import datasets
import evaluate

from t5punct.evaluation.counts import Counts, compare
from t5punct.evaluation.scores import scores_of


class PunctuationScores(evaluate.Metric):  # type: ignore[misc]
    """`t5punct.evaluation` with the interface of `evaluate`.  The counts of all pairs are added up."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="F1 of COMMA, PERIOD and QUESTION by slot, with the count of changed words.",
            citation="",
            inputs_description="predictions, references: punctuated texts in pairs; case=False ignores capitals.",
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def _compute(
        self, predictions: Sequence[str], references: Sequence[str], case: bool = True
    ) -> dict[str, float | int | None]:
        pairs = zip(references, predictions, strict=True)
        scores = scores_of(sum((compare(reference, output, case=case) for reference, output in pairs), Counts()))
        return {
            "micro_f1": scores.micro.f1,
            "macro_f1": scores.macro_f1,
            **{f"{name.lower()}_f1": class_scores.f1 for name, class_scores in scores.per_class.items()},
            "slot_error_rate": scores.slot_error_rate,
            "case_accuracy": scores.case_accuracy,
            "words": scores.words,
            "words_changed": scores.words_changed,
        }
