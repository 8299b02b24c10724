"""Streams on IWSLT: what right context is worth, and what waiting costs.

`python benchmarks/streaming.py root=iwslt` writes a page of results with plots: F1 a
class against lookahead for both ways of deciding (Minixhofer 2021, table 1), entropy thresholds against mean delay
(Minixhofer thesis 2021, figure 4.3), delays and provisional changes (Chen 2020, figure 2).  Needs
the extra `report`, and for `classify` a model that was trained for it; that is the slower half.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from stream_quality import Listened, Listener
from studies import run, save

from t5punct import __version__
from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluation.counts import CLASS_MARKS, Counts
from t5punct.evaluation.scores import Scores, scores_of
from t5punct.evaluation.significance import interval, micro_f1, paired_test
from t5punct.model import BUNDLED
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_F1 = 3.0  # points that a lookahead of four words may lose


@dataclass(frozen=True)
class StudyConfig:
    """What is tried, and on what."""

    root: str = "../shared/iwslt"
    files: dict[str, str] = field(default_factory=lambda: {"ref": "test2011.tsv"})  # by the name on the page
    model: str | None = None
    deciders: list[str] = field(default_factory=lambda: ["seq2seq", "classify"])  # `classify` if the model knows it
    window: int = 32
    lookaheads: list[int] = field(default_factory=lambda: [0, 1, 2, 3, 4, 8])
    full_window: int = 64  # `classify` with as much on both sides; `seq2seq` punctuates the whole text
    l_min: list[int] = field(default_factory=lambda: [0, 1])
    l_max: int = 4
    thresholds: list[float] = field(default_factory=lambda: [0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5])
    # by l_min: a threshold for each lookahead from it to l_max
    falling: dict[str, list[float]] = field(default_factory=lambda: {"1": [1.0, 0.6, 0.3, 0.1]})
    sentences: list[list[int]] = field(default_factory=lambda: [[4, 4], [8, 8]])  # every F words, T after an end
    max_words: int | None = None
    output: str = "build/streaming.md"


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


def study(settings: StudyConfig) -> None:
    """Try everything, and write the page."""
    page = Path(settings.output)
    punctuator = Punctuator.from_pretrained(settings.model, PunctuatorConfig(decoding=DecodingConfig(precision="fp32")))
    deciders = [name for name in settings.deciders if name != "classify" or punctuator.model.task.classifies]
    findings, started = Findings([], [], [], {}), time.perf_counter()
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


def write_page(settings: StudyConfig, findings: Findings, page: Path) -> None:
    """Write Markdown, and beside it a picture of the same name."""
    page.parent.mkdir(parents=True, exist_ok=True)
    plot = page.with_suffix(".png")
    _draw(settings, findings, plot)
    lines = [
        "# Streams: what right context is worth",
        "",
        f"{', '.join(settings.files.values())}; windows of {settings.window} words; model",
        f"{settings.model or BUNDLED}, t5punct {__version__}. Written by",
        "`python benchmarks/streaming.py`.",
        "",
        f"![F1 against lookahead and delay, delays, changes]({plot.name})",
        *_lookahead(settings, findings.lookahead),
        *_entropy(settings, findings.entropy),
        *_sentence(findings),
        *_changes(settings, findings),
    ]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lookahead(settings: StudyConfig, rows: Sequence[Row]) -> list[str]:
    lines = [
        "",
        "## F1 against lookahead (Minixhofer 2021, table 1)",
        "",
        "Policy `fixed`: each slot is decided with exactly so many words after it. Full: `seq2seq` punctuates all of",
        f"the text with the default preset; `classify` has {settings.full_window // 2 - 1} words after the slot and as",
        "many before, more than its training had (8). The interval is a 95 % bootstrap interval; the gain is over",
        "`seq2seq` with full context, with the p-value of a paired test (approximate randomisation over stretches of",
        "500 words).",
        "",
        "| file | decided by | lookahead | comma | period | question | micro F1 | macro F1 | gain over full |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        scores, spread = _scores(row), interval(row.listened.counts)
        full = _find(rows, row.file, "full")
        gain = micro_f1(sum(row.listened.counts, Counts())) - micro_f1(sum(full.listened.counts, Counts()))
        p_value = paired_test(row.listened.counts, full.listened.counts)
        against = "" if row is full else f"{gain:+.1f}, p {p_value:.3f}"
        micro = f"**{_percent(scores.micro.f1)}**" + (f" ({spread.low:.1f} to {spread.high:.1f})" if spread else "")
        cells = [row.file, row.config.decide, row.name, *_classes(scores), micro, _percent(scores.macro_f1), against]
        lines.append(f"| {' | '.join(cells)} |")
    for file in settings.files if 4 in settings.lookaheads else ():
        at_4 = _scores(_find(rows, file, "4")).micro.f1 or 0.0
        loss = (_scores(_find(rows, file, "full")).micro.f1 or 0.0) - at_4
        lines += ["", f"Lookahead 4 loses {loss:.1f} points on {file} (bar for ref: less than {BAR_F1:.0f})."]
    return lines


def _entropy(settings: StudyConfig, rows: Sequence[Row]) -> list[str]:
    lines = [
        "",
        "## Entropy thresholds against mean delay (thesis, figure 4.3)",
        "",
        f"Policy `entropy`, l_max {settings.l_max}: a slot is decided when its entropy is at most h bits. Several",
        "numbers are thresholds for lookaheads from l_min on.",
        "",
        "| file | decided by | l_min | h | mean delay, words | micro F1 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        delay, f1 = f"{row.listened.mean_delay:.2f}", _percent(_scores(row).micro.f1)
        cells = [row.file, row.config.decide, str(row.config.l_min), row.name, delay, f1]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _sentence(findings: Findings) -> list[str]:
    lines = [
        "",
        "## Sentence by sentence (Chen 2020, algorithm 1)",
        "",
        "Policy `sentence`: a look at the buffer every F words; a sentence is final when T words follow its end.",
        "",
        "| file | values | comma | period | question | micro F1 | mean delay, words | longest |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in findings.sentence:
        scores, delays = _scores(row), row.listened.delays
        cells = [row.file, row.name, *_classes(scores), _percent(scores.micro.f1)]
        lines.append(f"| {' | '.join(cells)} | {row.listened.mean_delay:.1f} | {max(delays)} |")
    return lines


def _changes(settings: StudyConfig, findings: Findings) -> list[str]:
    lines = [
        "",
        "## What is shown provisionally, and changes (Chen 2020, figure 2)",
        "",
        "How many words from the end is the farthest mark that a new word changed, if the newest",
        f"{settings.window // 2} words are shown provisionally (the others lose their left context as the window",
        "moves); share of the words.",
        "A committed mark never changes.",
        "",
        "| file | none | 0 | 1 | 2 to 4 | 5 to 9 | 10 and more |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for file, changes in findings.changes.items():
        shares = [
            sum(n for place, n in changes.items() if low <= place <= high) / changes.total()
            for low, high in ((-1, -1), (0, 0), (1, 1), (2, 4), (5, 9), (10, settings.window))
        ]
        lines.append(f"| {file} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |")
    return lines


def _draw(settings: StudyConfig, findings: Findings, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8))
    lookahead, entropy, delays, changes = figure.subplots(2, 2).flat
    _draw_f1(settings, findings, lookahead, entropy)
    file = next(iter(settings.files))
    shown = [row for row in findings.entropy if row.file == file and row.config.decide == "seq2seq"]
    shown = [row for row in shown if row.config.thresholds in ([0.2], [0.6], [1.0])]
    shown += [row for row in findings.sentence if row.file == file][1:2]
    for row in shown:
        counted = row.listened.delays
        shares = [100 * counted[delay] / counted.total() for delay in range(17)]
        name = row.name if row.config.policy == "sentence" else f"h = {row.name}, l_min {row.config.l_min}"
        delays.plot(range(17), shares, ".-", label=name)
    delays.set(title=f"delays, {file}", xlabel="words that follow when a word is final", ylabel="% of words")
    for name, counted in findings.changes.items():
        places = range(settings.window // 2)
        changes.plot(places, [100 * counted[place] / counted.total() for place in places], ".-", label=name)
    changes.set(title="provisional marks", xlabel="farthest change, words from the end", ylabel="% of words")
    for axes in (lookahead, entropy, delays, changes):
        axes.legend(fontsize="small")
    save(figure, path)


def _draw_f1(settings: StudyConfig, findings: Findings, lookahead: Axes, entropy: Axes) -> None:
    for file in settings.files:
        for decide in dict.fromkeys(row.config.decide for row in findings.lookahead):
            rows = [row for row in findings.lookahead if (row.file, row.config.decide) == (file, decide)]
            fixed = [row for row in rows if row.name != "full"]
            f1 = [_scores(row).micro.f1 or 0.0 for row in fixed]
            (line,) = lookahead.plot(settings.lookaheads, f1, "o-", label=f"{file}, {decide}")
            lookahead.axhline(_scores(rows[-1]).micro.f1 or 0.0, color=line.get_color(), linestyle=":", linewidth=1)
            entropy.plot(settings.lookaheads[:5], f1[:5], "k:", linewidth=0.7)
            for l_min in settings.l_min:
                some = [row for row in findings.entropy if (row.file, row.config.decide) == (file, decide)]
                some = [row for row in some if row.config.l_min == l_min and len(row.config.thresholds) == 1]
                points = [row.listened.mean_delay for row in some], [_scores(row).micro.f1 or 0.0 for row in some]
                entropy.plot(*points, ".-", label=f"{file}, {decide}, l_min {l_min}")
    lookahead.set(title="lookahead (dotted: full context)", xlabel="words of right context", ylabel="micro F1, %")
    entropy.set(title="entropy policy (dotted: fixed lookahead)", xlabel="mean delay, words", ylabel="micro F1, %")


def _scores(row: Row) -> Scores:
    return scores_of(sum(row.listened.counts, Counts()))


def _find(rows: Sequence[Row], file: str, name: str) -> Row:
    return next(row for row in rows if (row.file, row.config.decide, row.name) == (file, "seq2seq", name))


def _classes(scores: Scores) -> list[str]:
    return [_percent(scores.per_class[name].f1) for name in CLASS_MARKS]


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
