"""`t5punct prepare` and `t5punct train`: corpora in, models and reports out.

In: a YAML file of settings and dotted overrides.  Out: a folder, and a line that says so.

`t5punct prepare --config configs/prepare-own-text.yaml root=texts`, then `t5punct train --config ...`.
"""

from __future__ import annotations

import os

import typer

from ..extras import need
from .launchers import check_launched, end_with_launcher, leave_group
from .options import Config, Overrides, silence_bars
from .process import collect_as_usual, keep_freed_memory
from .progress import is_shown, log_to_stderr
from .report import print_report
from .threads import use_threads, wait_asleep


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
