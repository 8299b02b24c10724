"""Odds of marks, chosen on a development file: micro and macro F1 of each choice.

`python benchmarks/mark_odds.py dev2012.tsv --max-words 20000 --odds ",=2 .=2" ",=3 .=2"` prints a table, best first.
Odds change what is decoded next, so the text is decoded anew for each.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import T5PunctError
from t5punct.evaluation.evaluate import Report, evaluate_file
from t5punct.options import parse_mark_odds
from t5punct.punctuator import Punctuator


@dataclass(frozen=True)
class Trial:
    """Odds, and what they scored."""

    odds: str
    report: Report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--odds", nargs="+", default=["", ",=2 .=2 ?=2", ",=2.5 .=2 ?=2", ",=3 .=2 ?=2", ",=3 .=3 ?=3"])
    parser.add_argument("--decoder", default="auto")
    parser.add_argument("--precision")
    parser.add_argument("--max-words", type=int)
    parser.add_argument("--model")
    parser.add_argument("--style")
    options = parser.parse_args()
    trials = []
    try:
        trained = Punctuator.from_pretrained(options.model, precision=options.precision)
        punctuator = Punctuator(trained.model.with_task(mark_odds={}))
        for odds in options.odds:
            decoding = DecodingConfig(options.decoder, style=options.style, mark_odds=parse_mark_odds(odds))
            weighed = punctuator.with_config(decoding=decoding)
            trials.append(Trial(odds, evaluate_file(options.file, weighed, max_words=options.max_words)))
    except T5PunctError as error:
        parser.exit(2, f"{error}\n")
    Console(soft_wrap=True).print(table(trials))


def table(trials: list[Trial]) -> str:
    lines = ["| odds | micro F1 | macro F1 | comma | period | question |", f"|{' --- |' * 6}"]
    for trial in sorted(trials, key=lambda trial: -(trial.report.scores.micro.f1 or 0.0)):
        scores = trial.report.scores
        values = [scores.micro.f1, scores.macro_f1, *(class_scores.f1 for class_scores in scores.per_class.values())]
        lines.append(f"| `{trial.odds or 'none'}` | {' | '.join(f'{value or 0.0:.1f}' for value in values)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
