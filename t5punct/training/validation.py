"""Scores during training, by the same evaluation that users run.

In: the model as it is, a file named in the config.  Out: a line of scores in the log.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..evaluate_files import Report, evaluate_file
from ..model import Model
from ..punctuator import Punctuator, PunctuatorConfig
from .config import ValidationConfig


@dataclass(frozen=True)
class Validator:
    """Evaluates a model on a held-out file."""

    config: ValidationConfig

    def score(self, model: Model) -> Report | None:
        """Scores with slot decoding; None if no file is configured.  Leaves the model in training mode."""
        if self.config.file is None:
            return None
        model.network.eval()
        punctuator = Punctuator(model, PunctuatorConfig.of_preset(self.config.preset))
        report = evaluate_file(self.config.file, punctuator, max_words=self.config.max_words)
        model.network.train()
        return report

    def line(self, model: Model, step: int) -> dict[str, float | int]:
        """A line for the log; empty without a file."""
        report = self.score(model)
        if report is None:
            return {}
        scores = report.scores
        found = {f"{name.lower()}_f1": values.f1 for name, values in scores.per_class.items()}
        values = {"micro_f1": scores.micro.f1, "macro_f1": scores.macro_f1, **found}
        return {"step": step, **{name: round(value or 0.0, 2) for name, value in values.items()}}
