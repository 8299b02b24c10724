"""What each choice of a training recipe buys: short runs from one checkpoint, alike but for one thing.

`python benchmarks/ablations.py --config configs/ablations.yaml root=SHARED` trains every variant (one that was trained
already is kept, one that was cut off goes on), scores it, and writes a page with a table.  The first variant is the
recipe itself; the others change some of its settings.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heldout import ScoredSlots, score_corpus
from rich.console import Console
from studies import p_text, run

from t5punct import __version__, config
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.evaluation.evaluate import Report, evaluate_file
from t5punct.evaluation.significance import paired_test
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.training.checkpoint.checkpoint import STATE_FILE, TRAIN_FILE
from t5punct.training.config import TrainConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig


@dataclass(frozen=True)
class StudyConfig:
    """What is trained, and what it is scored on."""

    recipe: str = "configs/train-2-write.yaml"
    common: list[str] = field(default_factory=list)  # overrides for all variants
    variants: dict[str, list[str]] = field(default_factory=dict)  # overrides by name; the first is compared with
    output: str = "runs/ablations"
    root: str = "."
    files: dict[str, str] = field(default_factory=dict)  # by the name that the page gives them
    max_words: int = 20_000
    chat: str | None = None  # a corpus whose held-out lines have repeated marks
    chat_words: int = 6000
    style: str = "meeting"
    mark_odds: dict[str, float] = field(default_factory=dict)
    page: str = "docs/results/ablations.md"


@dataclass(frozen=True)
class Row:
    """A variant and its scores."""

    name: str
    changes: tuple[str, ...]
    loss: float
    reports: tuple[Report, ...]  # one a file
    chat: ScoredSlots | None


def study(settings: StudyConfig) -> None:
    """Train and score every variant, and write the page."""
    if not settings.variants:
        raise ConfigError("no variants", expected="variants: {name: [key=value]}", fix="see configs/ablations.yaml")
    console, rows = Console(), []
    for name, changes in settings.variants.items():
        output = Path(settings.output) / name
        _train(settings, output, changes)
        rows.append(_score(settings, name, output))
        values = ", ".join(f"{report.scores.micro.f1:.1f}" for report in rows[-1].reports)
        console.print(f"{name}: validation loss {rows[-1].loss:.4f}; micro F1 {values}")
    page = Path(settings.page)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_page(settings, rows), encoding="utf-8")


def _train(settings: StudyConfig, output: Path, changes: Sequence[str]) -> None:
    """Train a variant unless that was done; whatever was begun goes on."""
    overrides = [*settings.common, *changes, f"output={output}"]
    wanted = config.load(TrainConfig, Path(settings.recipe), overrides)
    if (output / STATE_FILE).is_file():
        trained_with = config.load(TrainConfig, output / TRAIN_FILE)
        if replace(trained_with, resume=False) != wanted:
            raise ConfigError(f"{output}, trained with other settings", expected="the same", fix="take it away")
        if json.loads((output / STATE_FILE).read_text(encoding="utf-8"))["step"] >= wanted.optim.max_steps:
            return
        wanted = replace(wanted, resume=True)
    file = output.with_name(output.name + ".yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    config.save(wanted, file)
    # in a process of its own: what a run held is given back
    subprocess.run([sys.executable, str(Path(__file__).parents[1] / "train.py"), "--config", str(file)], check=True)  # noqa: S603


def _score(settings: StudyConfig, name: str, output: Path) -> Row:
    lines = (output.with_name(output.name + ".log.jsonl")).read_text(encoding="utf-8").splitlines()
    (*_, loss) = [line["validation_loss"] for line in map(json.loads, lines) if "validation_loss" in line]
    decoding = DecodingConfig(style=settings.style, mark_odds=settings.mark_odds)
    punctuator = Punctuator.from_pretrained(output, PunctuatorConfig(decoding=decoding))
    root = Path(settings.root)
    reports = tuple(
        evaluate_file(root / path, punctuator, max_words=settings.max_words) for path in settings.files.values()
    )
    chat = None
    if settings.chat is not None:
        corpus = CorpusConfig(str(root / settings.chat), style="chat", holdout_every=20)
        styled = punctuator.with_config(decoding=replace(decoding, style="chat"))
        chat = score_corpus(styled, corpus, PrepareConfig(), settings.chat_words)
    return Row(name, tuple(settings.variants[name]), loss, reports, chat)


def _page(settings: StudyConfig, rows: Sequence[Row]) -> str:
    odds = ", ".join(f"`{mark}` {value:g}" for mark, value in settings.mark_odds.items())
    files = list(settings.files)
    lines = [
        "# What each choice of the recipe buys",
        "",
        f"Runs of `{settings.recipe}` with `{' '.join(settings.common)}`,",
        "alike but for one thing. Loss: text loss on the same held-out chunks of all styles, nats a token. Micro F1 on",
        f"the first {settings.max_words:,} words, style {settings.style}, odds of marks {odds or 'none'}, with",
        "the gain over the first row and the p of a paired test. Chat: two and more marks in a slot on",
        f"{settings.chat_words:,} words of chat that these runs had not, precision / recall / F1 (how many there are).",
        f"t5punct {__version__}; written by `python benchmarks/ablations.py --config configs/ablations.yaml`.",
        "",
        f"| variant | changes | loss | {' | '.join(f'{name} | gain (p)' for name in files)} | chat |",
        f"| --- | --- | --- | {' | '.join('--- | ---' for _ in files)} | --- |",
    ]
    return "\n".join([*lines, *(_line(row, rows[0]) for row in rows)]) + "\n"


def _line(row: Row, first: Row) -> str:
    cells = [row.name, " ".join(f"`{change}`" for change in row.changes), f"{row.loss:.4f}"]
    for report, base in zip(row.reports, first.reports, strict=True):
        cells += [f"{report.scores.micro.f1:.1f}", "" if row is first else _gain(report, base)]
    cells.append(row.chat.detection(lambda label: len(label) > 1) if row.chat else "")
    return f"| {' | '.join(cells)} |"


def _gain(report: Report, base: Report) -> str:
    gain = (report.scores.micro.f1 or 0.0) - (base.scores.micro.f1 or 0.0)
    p = paired_test(base.counts, report.counts).p_value
    return f"{gain:+.1f} ({p_text(p)})"


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
