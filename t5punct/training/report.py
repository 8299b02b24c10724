"""The page about a finished run: `report.md`, with curves, scores, what changed, speed, environment and settings.

In: a run's folder, its log `RUN.log.jsonl` beside it, and its settings.  Out: `report.md`, `report.png` (with
matplotlib, the extra `report`) and `report.json` in that folder.

`write_report(Path("runs/mine"), config)` is what `t5punct train` does at the end, and `t5punct report runs/mine` later.
How many words are scored depends on how fast the models are, so that it ends in time.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from .. import __version__
from .. import config as settings
from ..decoding.inputs import DecodingConfig
from ..errors import ModelError, T5PunctError
from ..evaluation.comparison import Comparison, compare_file, f1_of, score_of
from ..evaluation.evaluate import Report, evaluate_file
from ..evaluation.plots import save as save_figure
from ..evaluation.references import count_words
from ..evaluation.score_table import as_json, comparison_json, difference_cells, score_text
from ..evaluation.scores import MICRO
from ..evaluation.significance import interval
from ..extras import way_to_install
from ..punctuator import Punctuator, PunctuatorConfig
from ..text.io.files import writing
from .checkpoint import TRAIN_FILE
from .config import PAGE, PICTURE, VALUES, ReportConfig, TrainConfig

_PACKAGES = ("torch", "transformers", "accelerate", "datasets", "tokenizers")
_TRIED_WORDS = 300  # of the text, to see how fast a model is; at least so many are scored
_MAX_SECONDS = 600  # of scoring, for all models together
LOSSES = {  # by field, and what a picture calls them
    "text_loss": "text loss",
    "tag_loss": "tagger loss",
    "validation_loss": "validation, text loss",
    "validation_tag_loss": "validation, tagger loss",
}


@dataclass(frozen=True, slots=True)
class Point:
    """A line of the log.  Losses are means in nats, scores are in percent."""

    step: int
    words: int = 0  # trained on by then, all processes together
    text_loss: float | None = None
    tag_loss: float | None = None
    lr: float | None = None
    words_per_second: float | None = None
    validation_loss: float | None = None
    validation_tag_loss: float | None = None
    micro_f1: float | None = None


def log_of(run: Path) -> Path:
    """Return the path of a run's log."""
    run = run.absolute()  # `.` has no name
    return run.with_name(run.name + ".log.jsonl")


def read_log(path: Path) -> tuple[Point, ...]:
    """Return the points of a log, in order.  None without a log.

    Validations of older versions do not say how many words, and get those of the line before.  A loss of 0 is one that
    was not trained, and is left out.
    """
    if not path.is_file():
        return ()
    names, points, words = {field.name for field in fields(Point)}, list[Point](), 0
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            values = json.loads(line)
        except ValueError:  # half a line, of a run that was killed
            continue
        words = values.get("words", words)
        known = {name: value for name, value in values.items() if name in names and (value or name not in LOSSES)}
        points.append(Point(**known | {"words": words}))
    return tuple(points)


@dataclass(frozen=True)
class FinalScores:
    """The scores of a run's model, if there is a text to score; those of both if it started from another."""

    scores: Report | None = None
    comparison: Comparison | None = None
    notes: tuple[str, ...] = ()  # what could not be scored, and why


def run_config(run: Path) -> TrainConfig:
    """Return the settings of a finished run.  Raises ModelError if the folder is none."""
    if not (run / TRAIN_FILE).is_file():
        raise ModelError(f"no {TRAIN_FILE} in {run}", expected="the folder of a training run", fix="check the name")
    return settings.load_plain(TrainConfig, run / TRAIN_FILE)


def write_report(run: Path, config: TrainConfig, on_progress: Callable[[int, int], None] | None = None) -> Path:
    """Score the run, write its page with a picture and its values beside it, and return where the page is.

    Each file is written whole or not at all.  Raises as `final_scores` does.
    """
    points, final = read_log(log_of(run)), final_scores(run, config, on_progress)
    has_picture = draw_curves(points, run / PICTURE)
    values = {
        "scores": final.scores and as_json(final.scores),
        "comparison": final.comparison and comparison_json(final.comparison),
    }
    with writing(run / VALUES) as handle:
        handle.write(json.dumps(values, ensure_ascii=False, indent=2) + "\n")
    with writing(run / PAGE) as handle:
        handle.writelines(f"{line}\n" for line in iter_page_lines(run, config, points, final, has_picture=has_picture))
    return run / PAGE


def iter_page_lines(
    run: Path, config: TrainConfig, points: Sequence[Point], final: FinalScores, *, has_picture: bool
) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (f"# {run.name}", "")
    yield from (f"- {line}" for line in _summary(points, final, _rival(config)))
    yield ""
    if has_picture:
        yield from (f"![losses and scores]({PICTURE})", "")
    elif points:
        yield from (f"No picture: matplotlib is missing ({way_to_install('report')}).", "")
    if final.scores is not None:
        yield from _scores(final.scores)
    if final.comparison is not None:
        yield from _gains(final, config)
    yield from ("## Environment", "", "Where this page was written.", "")
    yield from (f"- {line}" for line in environment())
    yield from ("", "## Settings", "", "```yaml", settings.as_yaml(config).rstrip("\n"), "```")


def _rival(config: TrainConfig) -> str:
    """What the run is compared with, in a sentence."""
    return f"`{config.report.against}`" if config.report.against else "the starting model"


def _summary(points: Sequence[Point], final: FinalScores, rival: str) -> Iterator[str]:
    """What most readers want to know."""
    seconds = seconds_of(points)
    if points and seconds:
        last = points[-1]
        yield (
            f"{last.step:,} steps on {last.words:,} words in {_duration(seconds)}, without validation and saving: "
            f"{last.words / seconds:,.0f} words a second."
        )
    if final.scores is not None:
        report = final.scores
        yield f"Micro F1 {_with_interval(report, MICRO)} on {report.scores.words:,} words of {Path(report.data).name}."
    if final.comparison is not None:
        _, _, gain, spread, p_value = difference_cells(final.comparison.of(MICRO))
        yield f"Against {rival}: {gain} ({spread}; p {p_value})."
    yield from final.notes


def _scores(report: Report) -> Iterator[str]:
    yield from (
        f"## Scores on {Path(report.data).name}",
        "",
        f"F1 with the 95 % interval of a bootstrap over {len(report.counts)} documents (of IWSLT rows: stretches of "
        "500 words). With fewer than about ten the intervals say little.",
        "",
        "| class | precision | recall | F1 (95 %) | in the text |",
        "| --- | --- | --- | --- | --- |",
    )
    scores = report.scores
    for name, row in scores.by_name.items():
        numbers = f"{score_text(row.precision)} | {score_text(row.recall)} | {_with_interval(report, name)}"
        yield f"| {name} | {numbers} | {row.reference:,} |"
    yield from (
        "",
        f"Macro F1 {score_text(scores.macro_f1)}, slot error rate {score_text(scores.slot_error_rate)}, capitals "
        f"written right {score_text(scores.cased_accuracy)} (percent). `boundary`: sentence ends.",
        "",
        f"Settings of the scores: `{report.signature}`",
        "",
    )


def _gains(final: FinalScores, config: TrainConfig) -> Iterator[str]:
    assert final.comparison is not None  # noqa: S101  (the caller has checked it)
    against = config.report.against
    yield from (
        f"## Against {_rival(config)}",
        "",
        f"`{against or config.init_from}` and this run on the same words. The interval is that of a paired bootstrap; "
        "p says how often chance alone gives as large a difference (approximate randomisation over documents, two-"
        "sided).",
        "",
        f"| | {'other' if against else 'start'} | this run | difference | 95 % | p |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    for difference in final.comparison.differences:
        yield f"| {difference.name} | {' | '.join(difference_cells(difference))} |"
    yield ""


def environment() -> Iterator[str]:
    """Yield versions and the kind of machine; no names of machines, people or places."""
    import torch

    versions = [f"{name} {metadata.version(name)}" for name in _PACKAGES if find_spec(name) is not None]
    yield ", ".join([f"Python {platform.python_version()}", f"t5punct {__version__}", *versions])
    yield f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors"
    devices = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    yield f"accelerators: {', '.join(devices) or 'none'}"


def _with_interval(report: Report, name: str) -> str:
    """A score with its interval; a single document has none."""
    score = score_of(report.scores, name)
    spread = None if score is None else interval(report.counts, f1_of(name))
    return score_text(score) + ("" if spread is None else f" ({spread.low:.1f} to {spread.high:.1f})")


def _duration(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.1f} minutes"


def final_scores(run: Path, config: TrainConfig, on_progress: Callable[[int, int], None] | None = None) -> FinalScores:
    """Score a run.  `on_progress` is called with how many words are decided, and of how many.

    Raises InputError for a text that cannot be read, ModelError for a run without a model.
    """
    file, wanted = config.report.file or config.validation.file, config.report
    if file is None or not wanted.max_words:
        why = "no validation text was named" if file is None else "report.max_words is 0"
        return FinalScores(notes=(f"There are no scores: {why}. `t5punct report {run} file=TEXT` adds them.",))
    ours, notes = _punctuator(str(run), config), list[str]()
    theirs, note = _start(config)
    notes += [note] if note else []
    systems = [system for system in (theirs, ours) if system is not None]
    n_words, n_there = _affordable(file, systems, wanted), count_words(file, wanted.max_words) or wanted.max_words
    if n_words < n_there:
        notes.append(f"At most {n_words:,} words are scored, to end in {_MAX_SECONDS // 60} minutes.")

    def tell(done: int) -> None:
        if on_progress is not None:
            on_progress(done, len(systems) * min(n_words, n_there))

    if theirs is None:
        return FinalScores(evaluate_file(file, ours, max_words=n_words, on_progress=tell), None, tuple(notes))
    comparison = compare_file(file, theirs, ours, max_words=n_words, on_progress=tell)
    return FinalScores(comparison.second, comparison, tuple(notes))


def _start(config: TrainConfig) -> tuple[Punctuator | None, str]:
    """The model that the run is compared with; None, and why, where there is none."""
    source = config.report.against or config.init_from
    if source is None:
        return None, "The run began with random weights: there is no starting model to compare with."
    try:
        return _punctuator(source, config), ""
    except T5PunctError as error:
        what = "model" if config.report.against else "starting model"
        return None, f"The {what} {source} cannot be compared: {error}."


def _punctuator(source: str, config: TrainConfig) -> Punctuator:
    """A model with the decoder that was trained."""
    return Punctuator.from_pretrained(source, PunctuatorConfig(decoding=DecodingConfig(config.loss.decoder)))


def _affordable(file: str, systems: list[Punctuator], wanted: ReportConfig) -> int:
    """How many words can be scored in time, after a trial of each model."""
    if wanted.max_words <= _TRIED_WORDS:
        return wanted.max_words
    tried = [evaluate_file(file, system, max_words=_TRIED_WORDS) for system in systems]
    seconds_per_word = sum(report.seconds / max(1, report.scores.words) for report in tried)
    return max(_TRIED_WORDS, min(wanted.max_words, int(_MAX_SECONDS / seconds_per_word)))


def seconds_of(points: Sequence[Point]) -> float:
    """Return the seconds of training, without validation and saving: words by words a second, line by line."""
    seconds = before = 0.0
    for point in points:
        if point.words_per_second:
            seconds += (point.words - before) / point.words_per_second
            before = float(point.words)
    return seconds


def draw_curves(points: Sequence[Point], path: Path) -> bool:
    """Draw losses, and scores where there are any, by million words; False, and nothing drawn, without matplotlib."""
    if find_spec("matplotlib") is None or not points:
        return False
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4))
    scored = _series(points, "micro_f1")
    losses, *score_axes = figure.subplots(1, 2 if scored else 1, squeeze=False)[0]
    for name, label in LOSSES.items():
        series = _series(points, name)
        if series:
            losses.plot(*zip(*series, strict=True), "o-" if len(series) < 15 else "-", markersize=3, label=label)
    losses.set(xlabel="million words", ylabel="mean cross-entropy, nats")
    if losses.lines:
        losses.legend()
    for axes in score_axes:
        axes.plot(*zip(*scored, strict=True), "ko-", markersize=3)
        axes.set(xlabel="million words", ylabel="micro F1 while training, %")
    save_figure(figure, path)
    return True


def _series(points: Sequence[Point], name: str) -> list[tuple[float, float]]:
    """Million words and values, where there is a value."""
    return [(point.words / 1e6, getattr(point, name)) for point in points if getattr(point, name) is not None]
