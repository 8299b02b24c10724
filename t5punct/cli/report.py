"""`t5punct report`: a finished training run in, a page about it out.

In: a run's folder.  Out: `report.md`, `report.png` and `report.json` in it.

`t5punct report runs/mine file=dev.txt` scores another text than the run's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Overrides, silence_bars
from .process import ending_in_order
from .progress import progress_bar
from .threads import use_threads, wait_asleep

if TYPE_CHECKING:
    from ..training.config import TrainConfig


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
