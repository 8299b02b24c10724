"""The page about a finished run: `report.md`, with curves, scores, what changed, speed, environment and settings.

In: a run's folder, its log beside it, and what `final_scores` found.  Out: `report.md`, `report.png` and `report.json`
in that folder.

`write_report(Path("runs/mine"), config)` is what `t5punct train` does at the end, and `t5punct report runs/mine` later.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from ... import __version__
from ... import config as settings
from ...errors import ModelError
from ...evaluation.comparison import f1_of, score_of
from ...evaluation.evaluate import Report
from ...evaluation.score_table import as_json, comparison_json, difference_cells, score_text
from ...evaluation.scores import MICRO
from ...evaluation.significance import interval
from ...extras import way_to_install
from ...text.io.files import writing
from ..checkpoint.checkpoint import TRAIN_FILE
from ..config import PAGE, PICTURE, VALUES, TrainConfig
from .curves import Point, draw_curves, log_of, read_log, seconds_of
from .final_scores import FinalScores, final_scores

_PACKAGES = ("torch", "transformers", "accelerate", "datasets", "tokenizers")
_SHOWN_POINTS = 12  # of the log, in the table


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
    yield from _course(points)
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


def _course(points: Sequence[Point]) -> Iterator[str]:
    """Some points of the log as a table, evenly spread, validations among them."""
    if not points:
        return
    step = max(1, -(-len(points) // _SHOWN_POINTS))
    shown = [point for place, point in enumerate(points, start=1) if place % step == 0 or place == len(points)]
    all_names = ("text_loss", "tag_loss", "validation_loss", "micro_f1")
    names = [name for name in all_names if any(getattr(point, name) is not None for point in points)]
    yield from ("## Course", "", f"| step | words | {' | '.join(names)} |", "| --- " * (2 + len(names)) + "|")
    before: dict[str, float | None] = {}
    done = iter(points)
    for shown_point in shown:
        for point in done:  # the last value of each column up to this line
            before |= {name: getattr(point, name) for name in names if getattr(point, name) is not None}
            if point is shown_point:
                break
        values = " | ".join(score_text(before.get(name), 2) for name in names)
        yield f"| {shown_point.step:,} | {shown_point.words:,} | {values} |"
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
