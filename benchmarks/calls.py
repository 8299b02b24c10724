"""Calls as recognisers heard them: the model's marks beside those that the recognisers' services wrote themselves.

`python benchmarks/calls.py file=../shared/benchmarks-asr/earnings21-dev.jsonl.xz` prints a row for each service.
The words are those of the recogniser.  Both sides are scored against the marks of a human transcript, which were moved
onto these words.  A service that wrote no marks is scored for the model alone.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table
from studies import run

from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluation.counts import Counts, Slot, count
from t5punct.evaluation.scores import scores_of
from t5punct.evaluation.significance import gain_interval, micro_f1
from t5punct.punctuator import Punctuator
from t5punct.text.words import Word, split


@dataclass(frozen=True)
class StudyConfig:
    """What is scored."""

    file: str = "../shared/benchmarks-asr/earnings21-dev.jsonl.xz"
    model: str | None = None
    style: str = "meeting"
    decoder: str = "auto"
    max_words: int = 1500  # of each call and service
    systems: list[str] = field(default_factory=lambda: ["speechmatics", "amazon", "google", "microsoft"])


@dataclass(frozen=True)
class ScoredCall:
    """The counts of one call: of the model's marks, and of the service's own."""

    ours: Counts
    own: Counts


def study(settings: StudyConfig) -> None:
    """Score the calls of each service, and print a table."""
    decoding = DecodingConfig(settings.decoder, style=settings.style)
    punctuator = Punctuator.from_pretrained(settings.model).with_config(decoding=decoding)
    table = Table("service", "comma", "period", "question", "micro F1", "own micro F1", "gain (95 %)", "words")
    for system in settings.systems:
        calls = [score_call(punctuator, call, settings.max_words) for call in read_calls(settings.file, system)]
        ours, own = ([getattr(call, side) for call in calls] for side in ("ours", "own"))
        total = sum(ours, Counts())
        scores, gain = scores_of(total), gain_interval(ours, own)
        classes = [f"{kind.f1 or 0.0:.1f}" for kind in scores.per_class.values()]
        interval = "" if gain is None else f"{gain.score:+.1f} ({gain.low:+.1f} to {gain.high:+.1f})"
        both = (f"{micro_f1(total):.1f}", f"{micro_f1(sum(own, Counts())):.1f}")
        table.add_row(system, *classes, *both, interval, f"{total.slots:,}")
    Console(width=120).print(table)


def read_calls(path: str, system: str) -> Iterator[dict[str, Any]]:
    """Yield the calls that a service has heard."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from (call for call in map(json.loads, lines) if call["system"] == system)


def score_call(punctuator: Punctuator, call: dict[str, Any], max_words: int) -> ScoredCall:
    """Punctuate the first words of a call, and count the marks of both sides."""
    words = [read_word(word) for word in call["words"][:max_words]]
    reference, own = ([Slot(mark) for mark in call[name][:max_words]] for name in ("ref_marks", "own_marks"))
    (annotated,) = punctuator.annotate_texts([words])
    return ScoredCall(count(reference, [Slot(word.marks) for word in annotated]), count(reference, own))


def read_word(raw: str) -> Word:
    """Return a word in lower case, without marks that stand at it."""
    words = split(raw.lower()).words
    return Word(words[0].core) if words else Word(raw.lower())


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
