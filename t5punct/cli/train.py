"""`t5punct prepare`, `label`, `train` and `report`: corpora in, models and reports out.

In: a YAML file of settings and dotted overrides.  Out: a folder or a page, and a line that says so.

`t5punct prepare --config configs/prepare-own-text.yaml root=texts`, then `t5punct train --config ...`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..extras import need
from .launchers import check_launched, end_with_launcher, leave_group
from .options import Config, Overrides, silence_bars
from .process import collect_as_usual, ending_in_order, keep_freed_memory, use_threads, wait_asleep
from .progress import is_shown, log_to_stderr, progress_bar

if TYPE_CHECKING:
    from ..training.config import TrainConfig


def prepare(config: Config = None, overrides: Overrides = None) -> None:
    """Make a training data set from corpora (see configs/prepare-own-text.yaml)."""
    need("train")
    from datasets.utils.logging import CRITICAL, disable_progress_bar, enable_progress_bar, set_verbosity

    from ..config import load
    from ..training.data.contents import iter_summary
    from ..training.data.prepare import PrepareConfig
    from ..training.data.prepare import prepare as run

    collect_as_usual()
    settings = load(PrepareConfig, config, overrides or ())
    (enable_progress_bar if is_shown() else disable_progress_bar)()
    set_verbosity(CRITICAL)  # what it logs of an error comes as an error, too
    report = run(settings)
    typer.echo(
        f"{report.output}: {report.train_chunks} chunks of {report.train_words} words to train on, "
        f"{report.validation_chunks} chunks to validate with"
    )
    for line in iter_summary(report):
        typer.echo(line)
    for warning in report.warnings:
        typer.echo(f"t5punct: warning: {warning}", err=True)


def label(
    data: Annotated[str, typer.Argument(help="A folder made by `t5punct prepare`.", show_default=False)],
    model: Annotated[str, typer.Option(help="The teacher: a model folder, a hub id, or a model that ships.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", show_default="DATA/labels-MODEL", help="The folder of the labels."),
    ] = None,
    batch_tokens: Annotated[int, typer.Option(help="How many tokens are read at a time.")] = 4096,
    precision: Annotated[str, typer.Option(help="As for punctuate.")] = "auto",
    threads: Annotated[int | None, typer.Option(show_default="all cores", help="Threads to compute with.")] = None,
) -> None:
    """Store what a model says of every word of a data set, for smaller models to learn from (teacher.source)."""
    need("train")
    collect_as_usual()
    use_threads(threads)
    from ..training.teacher.labelling import LabelConfig
    from ..training.teacher.labelling import label as run

    config = LabelConfig(data, model, output, batch_tokens, precision)
    with progress_bar("labelling", None) as advance:
        folder = run(config, (lambda done, total: advance(done, done, total)) if is_shown() else None)
    typer.echo(f"{folder}: labelled")


def train(config: Config = None, overrides: Overrides = None) -> None:
    """Train or fine-tune a model (see configs/); `accelerate launch train.py` runs it on several devices."""
    need("train")
    wait_asleep()  # before anything loads torch
    from ..config import load
    from ..text.io.files import check_source
    from ..training.checkpoint.lock import is_first
    from ..training.config import TrainConfig

    settings = load(TrainConfig, config, overrides or ())
    if settings.report.file is not None:
        check_source(settings.report.file)
    check_launched(os.environ)
    end_with_launcher()
    from ..training.loop.train import train as run

    collect_as_usual()
    keep_freed_memory()
    use_threads(None)
    silence_bars()  # of loading and saving; the training's own stays
    with log_to_stderr("t5punct.training"):
        folder = run(settings)
    leave_group()
    if is_first():
        typer.echo(f"{folder}: trained")
        print_report(folder, settings)


@ending_in_order()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a training run.")],
    overrides: Overrides = None,
) -> None:
    """Write report.md of a run anew: curves, scores, what changed, settings.

    Settings are those of `report` in the run: file=TEXT, against=MODEL, max_words=5000, max_seconds=60.
    """
    wait_asleep()
    from dataclasses import replace

    from ..config import as_yaml, load
    from ..text.io.files import check_source
    from ..training.config import ReportConfig
    from ..training.report.page import run_config

    config = run_config(run)
    wanted = load(ReportConfig, None, overrides or (), current=as_yaml(config.report))
    if wanted.file is not None:
        check_source(wanted.file)
    use_threads(None)
    silence_bars()
    typer.echo(write_with_bar(run, replace(config, report=wanted)))


def print_report(run: Path, config: TrainConfig) -> None:
    """Write the page at the end of a training.  What is wrong with it is a warning: the model is there."""
    from ..errors import T5PunctError

    try:
        typer.echo(write_with_bar(run, config))
    except (T5PunctError, OSError) as error:
        typer.echo(f"t5punct: warning: no report of {run}: {' '.join(str(error).split())}", err=True)


def write_with_bar(run: Path, config: TrainConfig) -> str:
    """Write the page behind a progress bar, and return where it is."""
    from ..training.report.page import write_report

    with progress_bar("scoring", None) as advance:
        return str(write_report(run, config, lambda done, total: advance(done, done, total)))
