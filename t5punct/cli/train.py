"""`t5punct prepare`, `label`, `train` and `report`: corpora in, models and reports out.

In: a YAML file of settings and dotted overrides.  Out: a folder or a page, and a line that says so.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import check, load
from ..errors import T5PunctError
from ..extras import need
from ..text.io.files import check_source
from .parameters import Config, Overrides, Quiet, silence_bars
from .process import (
    collect_garbage_as_usual,
    end_at_once,
    ending_in_order,
    keep_freed_memory,
    let_threads_sleep,
    use_threads,
)
from .progress import is_shown, log_to_stderr, note, progress_bar

if TYPE_CHECKING:
    from ..training.config import TrainConfig

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl.h
_RANK_VARIABLES = ("LOCAL_RANK", "WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
_LAUNCHER_VARIABLES = ("TORCHELASTIC_RUN_ID", "ACCELERATE_MIXED_PRECISION")  # only launchers set them


def prepare(config: Config = None, overrides: Overrides = None, quiet: Quiet = False) -> None:
    """Make a training data set from texts that have the right marks.

    configs/prepare-own-text.yaml is an example.
    """
    need("train")
    from datasets.utils.logging import CRITICAL, set_verbosity

    from ..training.data.prepare import REPORT, PrepareConfig
    from ..training.data.prepare import prepare as run

    collect_garbage_as_usual()
    settings = load(PrepareConfig, config, overrides or ())
    show_bars_of_datasets()
    set_verbosity(CRITICAL)  # what it logs of an error comes as an error, too
    report = run(settings)
    typer.echo(
        f"{report.output}: {report.train_chunks} chunks of {report.train_words} words to train on, "
        f"{report.validation_chunks} chunks to validate with"
    )
    for remark in report.notes:
        typer.echo(remark)
    typer.echo(f"more in {report.output}/{REPORT}")
    for warning in report.warnings:
        note(f"warning: {warning}")


def label(
    data: Annotated[str, typer.Argument(help="A folder made by `t5punct prepare`.", show_default=False)],
    model: Annotated[
        str,
        typer.Option(
            help="The model that is learned from: one that comes along, a folder with one, or an id on the hub."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", show_default="DATA/labels-MODEL", help="The folder to write."),
    ] = None,
    batch_tokens: Annotated[int, typer.Option(help="How many tokens are read at a time.")] = 4096,
    precision: Annotated[str, typer.Option(help="fp32, int8, bf16 or auto; see punctuate.")] = "auto",
    threads: Annotated[int | None, typer.Option(show_default="all cores", help="Threads to compute with.")] = None,
    quiet: Quiet = False,
) -> None:
    """Store what a model says of a data set, to teach a smaller one.

    The smaller one is trained with data.labels=FOLDER (known as distillation).
    """
    need("train")
    collect_garbage_as_usual()
    use_threads(threads)
    from ..training.labelling import label as run

    show_bars_of_datasets()
    with progress_bar("labelling", None) as advance:
        folder = run(data, model, output, batch_tokens=batch_tokens, precision=precision, tell=advance)
    typer.echo(f"{folder}: labelled")


def train(config: Config = None, overrides: Overrides = None, quiet: Quiet = False) -> None:
    """Train or fine-tune a model.

    The files in configs/ show what can be set; `accelerate launch train.py` runs it on several devices.
    """
    need("train")
    let_threads_sleep()  # before anything loads torch
    from ..training.config import TrainConfig
    from ..training.lock import is_first

    settings = load(TrainConfig, config, overrides or ())
    if settings.report.file is not None:
        check_source(settings.report.file)
    # accelerate leaves several processes on a CPU to MPI, sets the address at which they meet, and starts a single one
    is_launched_on_cpu = os.environ.get("ACCELERATE_USE_CPU") == "True" and "MASTER_ADDR" in os.environ
    check(
        not is_launched_on_cpu or any(name in os.environ for name in _RANK_VARIABLES),
        "accelerate launch, which starts one process on a CPU", expected="torchrun",
        fix="run torchrun --nproc_per_node N train.py with the same settings",
    )  # fmt: skip
    end_with_launcher()
    from ..training.loop.train import train as run

    collect_garbage_as_usual()
    keep_freed_memory()
    use_threads(None)
    silence_bars()  # of loading and saving; the training's own stays
    show_bars_of_datasets()
    with log_to_stderr("t5punct.training"):
        folder = run(settings)
    was_in_group = leave_group()
    if is_first():
        typer.echo(f"{folder}: trained")
        try:
            typer.echo(write_with_bar(folder, settings))
        except (T5PunctError, OSError) as error:  # the model itself is written
            note(f"warning: no report of {folder}: {' '.join(str(error).split())}")
    if was_in_group:  # what torch has left of the group may abort at an ordinary end
        end_at_once()


@ending_in_order()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a training run.")],
    overrides: Overrides = None,
    quiet: Quiet = False,
) -> None:
    """Write the report of a training run anew.

    It is report.md in the run's folder: curves, scores, what changed, settings.

    Settings are those of `report` in the run: file=TEXT, against=MODEL, max_words=5000.
    """
    let_threads_sleep()
    from ..model import find
    from ..training.config import ReportConfig
    from ..training.report import run_config

    config = run_config(run)
    wanted = load(ReportConfig, None, overrides or (), current=asdict(config.report))
    if wanted.file is not None:
        check_source(wanted.file)
    if wanted.against is not None:
        find(wanted.against)
    use_threads(None)
    silence_bars()
    typer.echo(write_with_bar(run, replace(config, report=wanted)))


def show_bars_of_datasets() -> None:
    """Show the bars of `datasets` to a person, once: several processes read the same data."""
    from datasets.utils.logging import disable_progress_bar, enable_progress_bar

    from ..training.lock import is_first

    if is_shown() and is_first():
        enable_progress_bar()
    else:
        disable_progress_bar()


def write_with_bar(run: Path, config: TrainConfig) -> str:
    """Write the report of a run, with a progress bar, and return its path."""
    from ..training.report import write_report

    with progress_bar("scoring", None) as advance:
        return str(write_report(run, config, advance))


def end_with_launcher() -> None:
    """Let Linux end this process by SIGTERM when its launcher ends, for whatever reason.

    A launcher that is killed by SIGKILL cannot end its processes, which would train on, unseen.  Without a launcher
    nothing is done: a training in the background outlives its shell.
    """
    if sys.platform.startswith("linux") and any(name in os.environ for name in _LAUNCHER_VARIABLES):
        with suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, int(signal.SIGTERM), 0, 0, 0)


def leave_group() -> bool:
    """Leave the process group of a training that has ended well; return whether there was one.

    Then the other processes need not wait while the first one writes the report.
    """
    from torch import distributed

    was_in_group = distributed.is_available() and distributed.is_initialized()
    if was_in_group:
        distributed.destroy_process_group()
    return was_in_group
