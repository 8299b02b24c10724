"""`!` and repeated marks in held-out chat: odds of `!` chosen on one half, and precision against recall of labels.

`python benchmarks/repeated_marks.py --root CORPUS --odds 16 8 4` prints, for each odds of `!`, what both halves of the
chat documents score; then, with the last of them, the precision and recall of labels of two or more marks where their
probability exceeds a threshold.  Choose on the first half, report the second.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from heldout import ScoredSlots, held_out, score_texts
from rich.console import Console

from t5punct import config
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import T5PunctError
from t5punct.evaluation.scores import scores_of
from t5punct.punctuator import Punctuator
from t5punct.text.render import AnnotatedWord
from t5punct.text.words import Word, split
from t5punct.training.data.prepare import PrepareConfig

STYLE = "chat"
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
N_ALTERNATIVES = 40  # more than a slot has


@dataclass(frozen=True)
class Judged:
    """A slot: the probability that its label has two or more marks, and whether it has in the reference."""

    probability: float
    is_multiple: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("configs/large-prepare.yaml"))
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--odds", nargs="+", type=float, default=[16.0, 4.0, 8.0], help="of `!`, one after the other")
    parser.add_argument("--model")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--max-words", type=int, default=20_000, help="of each corpus and half")
    options = parser.parse_args()
    console = Console(soft_wrap=True)
    try:
        halves = halves_of(options.data, options.root)
        punctuator = Punctuator.from_pretrained(options.model, precision=options.precision)
        console.print(
            "| odds of `!` | half | words | micro F1 | macro F1 | `!` | two and more marks |\n" + "| --- " * 7 + "|"
        )
        for odds in options.odds:
            weighed = punctuator.with_config(decoding=DecodingConfig(style=STYLE, mark_odds={"!": odds}))
            for number, corpora in enumerate(halves, 1):
                scored = [score_texts(weighed, texts, options.max_words) for texts in corpora]
                console.print(f"| {odds:g} | {number} | {row(sum(scored, ScoredSlots()))} |")
    except T5PunctError as error:
        parser.exit(2, f"{error}\n")
    texts = [text for corpora in halves for documents in corpora for text in documents]
    console.print(curve(judged(weighed, texts)))


def halves_of(data: Path, root: Path) -> tuple[list[list[str]], list[list[str]]]:
    """The held-out documents of each chat corpus: every other one in the first half, the rest in the second."""
    prepared = config.load(PrepareConfig, data)
    corpora = {corpus.path: corpus for corpus in prepared.corpora if corpus.style == STYLE}.values()
    located = [replace(corpus, path=str(root / corpus.path), words=0, join=1) for corpus in corpora]
    documents = [list(held_out(corpus, prepared)) for corpus in located]
    return [texts[::2] for texts in documents], [texts[1::2] for texts in documents]


def row(slots: ScoredSlots) -> str:
    scores = scores_of(slots.counts)
    kinds: list[Callable[[str], bool]] = [lambda label: "!" in label, lambda label: len(label) > 1]
    detections = " | ".join(slots.detection(kind) for kind in kinds)
    return f"{slots.counts.words:,} | {scores.micro.f1 or 0:.1f} | {scores.macro_f1 or 0:.1f} | {detections}"


def judged(punctuator: Punctuator, texts: list[str]) -> list[Judged]:
    """Every slot of some documents."""
    asked = punctuator.with_config(render=replace(punctuator.config.render, alternatives=N_ALTERNATIVES))
    slots: list[Judged] = []
    for text in texts:
        words = [word for word in split(text).words if word.has_slot]
        bare = [Word(word.core.lower()) for word in words]
        annotated = asked.written(bare, asked.decisions(bare))
        slots += [
            Judged(multiple(annotated_word), len(word.label) > 1)
            for word, annotated_word in zip(words, annotated, strict=True)
        ]
    return slots


def multiple(word: AnnotatedWord) -> float:
    """The probability that a slot has two or more marks."""
    rest = sum(alternative.probability for alternative in word.alternatives if len(alternative.label) > 1)
    return rest + word.confidence * (len(word.label) > 1)


def curve(slots: list[Judged]) -> str:
    n_multiple = sum(slot.is_multiple for slot in slots)
    lines = ["", "| probability of two or more marks above | precision | recall |", "| --- | --- | --- |"]
    for threshold in THRESHOLDS:
        said = [slot for slot in slots if slot.probability > threshold]
        right = sum(slot.is_multiple for slot in said)
        lines.append(
            f"| {threshold:g} | {100 * right / max(1, len(said)):.1f} | {100 * right / max(1, n_multiple):.1f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
