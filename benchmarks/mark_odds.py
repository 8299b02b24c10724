"""Odds of marks and the tagger's share, chosen on a development file: micro and macro F1 of every combination.

`python benchmarks/mark_odds.py dev2012.tsv --max-words 20000 --odds ",=2 .=2" ",=3 .=2" --shares 0 0.5` prints a table,
best first.  Odds and shares change what is decoded next, so each combination is decoded anew.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rich.console import Console

from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import T5PunctError
from t5punct.evaluation.evaluate import Report, evaluate_file
from t5punct.options import parse_mark_odds
from t5punct.punctuator import Punctuator


@dataclass(frozen=True)
class Trial:
    """Odds and a share (None: the model's), and what they scored."""

    odds: str
    share: float | None
    report: Report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--odds", nargs="+", default=["", ",=2 .=2 ?=2", ",=2.5 .=2 ?=2", ",=3 .=2 ?=2", ",=3 .=3 ?=3"])
    parser.add_argument("--shares", nargs="+", type=float, default=[None], help="of the tagger in slots, 0 to 1")
    parser.add_argument("--precision")
    parser.add_argument("--max-words", type=int)
    parser.add_argument("--model")
    parser.add_argument("--style")
    options = parser.parse_args()
    trials = []
    try:
        trained = Punctuator.from_pretrained(options.model, precision=options.precision)
        punctuator = Punctuator(trained.model.with_task(mark_odds={}))
        for odds, share in product(options.odds, options.shares):
            decoding = DecodingConfig(style=options.style, mark_odds=parse_mark_odds(odds), tagger_share=share)
            weighed = punctuator.with_config(decoding=decoding)
            trials.append(Trial(odds, share, evaluate_file(options.file, weighed, max_words=options.max_words)))
    except T5PunctError as error:
        parser.exit(2, f"{error}\n")
    Console(soft_wrap=True).print(table(trials))


def table(trials: list[Trial]) -> str:
    lines = ["| odds | share | micro F1 | macro F1 | comma | period | question |", f"|{' --- |' * 7}"]
    for trial in sorted(trials, key=lambda trial: -(trial.report.scores.micro.f1 or 0.0)):
        scores = trial.report.scores
        values = [scores.micro.f1, scores.macro_f1, *(class_scores.f1 for class_scores in scores.per_class.values())]
        share = "the model's" if trial.share is None else f"{trial.share:g}"
        lines.append(
            f"| `{trial.odds or 'none'}` | {share} | {' | '.join(f'{value or 0.0:.1f}' for value in values)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
