"""Streams on IWSLT: what right context is worth, what waiting costs, what a word costs.

`python benchmarks/streaming.py --config configs/streaming.yaml root=iwslt` writes a page of results with plots: F1 a
class against lookahead for both ways of deciding (Minixhofer 2021, table 1), entropy thresholds against mean delay
(Minixhofer thesis 2021, figure 4.3), delays and provisional changes (Chen 2020, figure 2), milliseconds a word.  Needs
the extra `report`, and for `classify` a model that was trained for it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from pathlib import Path

import torch
from rich.console import Console
from stream_page import write_page
from stream_quality import Listened, Listener
from stream_speed import Pace, long_stream, many_streams, pace
from studies import run

from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.evaluation.plots import check_plot
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig
from t5punct.text.io.files import read_lines
from t5punct.text.words import words_of


@dataclass(frozen=True)
class SpeedConfig:
    """What is timed."""

    file: str = ""
    precisions: list[str] = field(default_factory=lambda: ["fp32", "int8"])
    words: int = 2000
    long_words: int = 100_000
    long_precision: str = "int8"
    streams: int = 16
    rounds: int = 200


@dataclass(frozen=True)
class StudyConfig:
    """What is tried, and on what."""

    root: str = "."
    files: dict[str, str] = field(default_factory=dict)  # by the name that the page gives them
    model: str | None = None
    window: int = 32
    lookaheads: list[int] = field(default_factory=lambda: [0, 1, 2, 3, 4, 8])
    full_window: int = 64
    l_min: list[int] = field(default_factory=lambda: [0, 1])
    l_max: int = 4
    thresholds: list[float] = field(default_factory=lambda: [0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5])
    falling: dict[str, list[float]] = field(default_factory=dict)
    sentences: list[list[int]] = field(default_factory=list)
    speed: SpeedConfig = field(default_factory=SpeedConfig)
    max_words: int | None = None
    output: str = "docs/results/streaming.md"


@dataclass(frozen=True)
class Row:
    """A policy on one file."""

    file: str
    config: StreamConfig
    name: str
    listened: Listened


@dataclass(frozen=True)
class Findings:
    """All that the page shows."""

    lookahead: list[Row]
    entropy: list[Row]
    sentence: list[Row]
    changes: dict[str, Counter[int]]  # by file
    paces: list[Pace]
    long: list[Pace]
    many: Pace | None


def study(settings: StudyConfig) -> None:
    """Try everything, and write the page.  Raises ConfigError without files."""
    if not settings.files:
        raise ConfigError("no files", expected="files: {NAME: FILE}", fix="see configs/streaming.yaml")
    page = Path(settings.output)
    check_plot(page.with_suffix(".png"))
    punctuator = _punctuator(settings)
    deciders = ["seq2seq", *(["classify"] if punctuator.model.task.classifies else [])]
    findings, started = Findings([], [], [], {}, [], [], None), time.perf_counter()
    if settings.speed.file:  # first, while nothing is remembered that would count as its memory
        findings = _with_speeds(findings, settings, deciders)
        Console().print(f"speed: {time.perf_counter() - started:.0f} s")
    for name, file in settings.files.items():
        listener = Listener(punctuator, Path(settings.root) / file, settings.max_words)
        most = max(*settings.lookaheads, settings.l_max)
        findings.changes[name] = listener.read(settings.window, most)
        if "classify" in deciders:
            listener.ask(settings.window, sorted({*settings.lookaheads, *range(settings.l_max + 1)}))
            listener.ask(settings.full_window, [settings.full_window // 2 - 1])
        findings.lookahead.extend(_lookaheads(settings, listener, deciders, name))
        findings.entropy.extend(_entropies(settings, listener, deciders, name))
        findings.sentence.extend(_sentences(settings, listener, name))
        Console().print(f"{name}: {time.perf_counter() - started:.0f} s")
    write_page(settings, findings, page)


def _lookaheads(settings: StudyConfig, listener: Listener, deciders: Sequence[str], file: str) -> list[Row]:
    rows = []
    for decide in deciders:
        for lookahead in settings.lookaheads:
            config = StreamConfig("fixed", decide, settings.window, lookahead)
            rows.append(Row(file, config, str(lookahead), listener.hear(config)))
        middle = settings.full_window // 2 - 1
        full = StreamConfig("fixed", decide, settings.full_window, middle)
        rows.append(Row(file, full, "full", listener.whole() if decide == "seq2seq" else listener.hear(full)))
    return rows


def _entropies(settings: StudyConfig, listener: Listener, deciders: Sequence[str], file: str) -> list[Row]:
    rows = []
    for decide, l_min in product(deciders, settings.l_min):
        tried = [[h] for h in settings.thresholds] + [
            settings.falling[key] for key in [str(l_min)] if key in settings.falling
        ]
        for thresholds in tried:
            config = StreamConfig(
                "entropy", decide, settings.window, l_min=l_min, l_max=settings.l_max, thresholds=thresholds
            )
            rows.append(Row(file, config, " ".join(map(str, thresholds)), listener.hear(config)))
    return rows


def _sentences(settings: StudyConfig, listener: Listener, file: str) -> list[Row]:
    rows = []
    for every, after in settings.sentences:
        config = StreamConfig("sentence", window=settings.full_window, every=every, after=after)
        rows.append(Row(file, config, f"F = {every}, T = {after}", listener.hear(config)))
    return rows


def _with_speeds(findings: Findings, settings: StudyConfig, deciders: Sequence[str]) -> Findings:
    speed, window, n_threads = settings.speed, settings.window, torch.get_num_threads()
    punctuators = {name: _punctuator(settings, name) for name in (*speed.precisions, speed.long_precision)}
    lines = read_lines(Path(settings.root) / speed.file)
    said = (word.core.lower() for line in lines for word in words_of(line) if word.has_slot)
    words = list(islice(said, speed.long_words))
    configs = {
        f"{policy}, {decide}": StreamConfig(policy, decide, window)
        for policy, decide in product(("fixed", "entropy"), deciders)
    }
    configs[f"sentence, seq2seq, w = {settings.full_window}"] = StreamConfig("sentence", window=settings.full_window)
    paces = [
        pace(punctuators[precision], config, words[: speed.words], f"{name}, {precision}")
        for name, config in configs.items()
        for precision in speed.precisions
    ]
    fixed = StreamConfig(window=window)
    many = many_streams(punctuators[speed.precisions[0]], fixed, words, speed.streams, speed.rounds)
    long = long_stream(punctuators[speed.long_precision], fixed, words)
    torch.set_num_threads(n_threads)
    return replace(findings, paces=paces, many=many, long=long)


def _punctuator(settings: StudyConfig, precision: str = "fp32") -> Punctuator:
    config = PunctuatorConfig(decoding=DecodingConfig(precision=precision))
    return Punctuator.from_pretrained(settings.model, config)


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
