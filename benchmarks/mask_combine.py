"""Every decoding strategy on IWSLT, with both decoders.

`python benchmarks/mask_combine.py root=iwslt` writes a page of results with a plot:
overlap with and without masks (Minixhofer 2021, table 2), predictions a slot (Nagy 2021, figure 6), ways to combine,
and the named presets; each with its bootstrap interval, and its gain over windows side by side with the p-value of a
paired test.  Needs the extra `report`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from studies import run, save

from t5punct import __version__
from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluation.evaluate import Report, evaluate_file
from t5punct.evaluation.significance import paired_test
from t5punct.model import BUNDLED
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.windows.combine import METHODS, CombineConfig
from t5punct.windows.plan import WindowConfig
from t5punct.windows.presets import Preset, load_preset


@dataclass(frozen=True)
class StudyConfig:
    """What is tried, and on what."""

    root: str = "../shared/iwslt"
    # by the name that the page gives them
    files: dict[str, str] = field(default_factory=lambda: {"ref": "test2011.tsv", "ASR": "test2011asr.tsv"})
    model: str | None = None
    decoders: list[str] = field(default_factory=lambda: ["slots", "generate"])
    window: int = 64
    mask_left: int = 12
    mask_right: int = 4
    overlaps: list[int] = field(default_factory=lambda: [1, 2, 4])
    predictions: list[int] = field(default_factory=lambda: [1, 2, 4, 8, 16])
    presets: list[str] = field(default_factory=lambda: ["side-by-side", "double-overlap", "overlapped-chunk", "vote"])
    max_words: int | None = None
    output: str = "build/mask-combine.md"


@dataclass(frozen=True)
class Row:
    """A strategy on one file with one decoder."""

    section: str
    name: str
    decoder: str
    file: str
    report: Report
    baseline: Report

    @property
    def micro_f1(self) -> float:
        return self.report.scores.micro.f1 or 0.0

    @property
    def cells(self) -> str:
        """Score, interval, gain and p-value, in Markdown."""
        spread = self.report.micro_interval
        score = f"{self.micro_f1:.1f}" + (f" ({spread.low:.1f} to {spread.high:.1f})" if spread else "")
        if self.report is self.baseline:
            return f"{score} |"
        gain = self.micro_f1 - (self.baseline.scores.micro.f1 or 0.0)
        return f"{score} | {gain:+.1f}, p {paired_test(self.report.counts, self.baseline.counts):.3f}"


def study(settings: StudyConfig) -> None:
    """Try everything, and write the page."""
    page = Path(settings.output)
    plot = page.with_suffix(".png")
    rows, started = [], time.perf_counter()
    for decoder in settings.decoders:
        punctuator = Punctuator.from_pretrained(settings.model, PunctuatorConfig(decoding=DecodingConfig(decoder)))
        for name, file in settings.files.items():
            rows += _rows(settings, punctuator, decoder, name, Path(settings.root) / file)
            Console().print(f"{decoder} on {name}: {time.perf_counter() - started:.0f} s")
    page.parent.mkdir(parents=True, exist_ok=True)
    _draw(settings, rows, plot)
    page.write_text(_page(settings, rows, plot.name), encoding="utf-8")


def _rows(settings: StudyConfig, punctuator: Punctuator, decoder: str, name: str, path: Path) -> list[Row]:
    def score(strategy: Preset) -> Report:
        changed = punctuator.with_config(windows=strategy.windows, combine=strategy.combine)
        return evaluate_file(path, changed, max_words=settings.max_words)

    side_by_side = Preset(WindowConfig(settings.window))
    baseline = score(side_by_side)
    rows = []
    for section, strategies in _sections(settings).items():
        for title, strategy in strategies.items():
            report = baseline if strategy == side_by_side else score(strategy)
            rows.append(Row(section, title, decoder, name, report, baseline))
    return rows


def _sections(settings: StudyConfig) -> dict[str, dict[str, Preset]]:
    """Return the strategies of each table, by what the table calls them."""
    w, most = settings.window, max(settings.overlaps)
    masked = {"mask_left": settings.mask_left, "mask_right": settings.mask_right}
    strides = {k: w // k for k in settings.predictions}
    return {
        "overlap": {
            f"{kind}, n = {n}": Preset(WindowConfig(w, overlap=n, **values))
            for kind, values in (("no mask", {}), ("mask", masked))
            for n in settings.overlaps
        },
        "predictions": {
            f"k = {k}": Preset(WindowConfig(w, stride, lead_in=w - stride)) for k, stride in strides.items()
        },
        "combine": {
            f"{method}, {kind}, n = {most}": Preset(WindowConfig(w, overlap=most, **values), CombineConfig(method))
            for kind, values in (("no mask", {}), ("mask", masked))
            for method in METHODS
        },
        "presets": {name: load_preset(name) for name in settings.presets},
    }


_TITLES = {
    "overlap": "## Overlap, with and without masks (Minixhofer 2021, table 2)",
    "predictions": "## Predictions a slot (Nagy 2021, figure 6)",
    "combine": "## Four ways to combine",
    "presets": "## Named presets",
}


def _page(settings: StudyConfig, rows: Sequence[Row], plot: str) -> str:
    """Return the page, in Markdown."""
    columns = [(decoder, file) for decoder in settings.decoders for file in settings.files]
    head = "".join(f" {decoder}, {file} | gain |" for decoder, file in columns)
    lines = [
        "# Mask-combine: every strategy, both decoders",
        "",
        f"Micro F1 on {', '.join(settings.files.values())} with 95 % bootstrap interval; the gain is",
        "over windows side by side (no mask, n = 1),",
        "with the p-value of a paired test (approximate randomisation over stretches of 500 words).",
        f"Windows of {settings.window} words, masks {settings.mask_left} and {settings.mask_right},",
        f"model {settings.model or BUNDLED}, t5punct {__version__}. Written by",
        "`python benchmarks/mask_combine.py`.",
        "",
        f"![micro F1 against predictions a slot]({plot})",
    ]
    for section, title in _TITLES.items():
        lines += ["", title, "", f"| strategy |{head}", "| --- |" + " --- | --- |" * len(columns)]
        for name in dict.fromkeys(row.name for row in rows if row.section == section):
            cells = [
                row.cells
                for decoder, file in columns
                for row in rows
                if (row.section, row.name, row.decoder, row.file) == (section, name, decoder, file)
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _draw(settings: StudyConfig, rows: Sequence[Row], path: Path) -> None:
    """The curve of predictions a slot: a line for each file and decoder."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5))
    axes = figure.add_subplot()
    for decoder in settings.decoders:
        for file in settings.files:
            some = [row for row in rows if (row.section, row.decoder, row.file) == ("predictions", decoder, file)]
            axes.plot(settings.predictions, [row.micro_f1 for row in some], "o-", label=f"{decoder}, {file}")
    axes.set(xlabel="predictions a slot", ylabel="micro F1, %", xscale="log", xticks=settings.predictions)
    axes.set_xticklabels([str(k) for k in settings.predictions])
    axes.legend()
    save(figure, path)


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
