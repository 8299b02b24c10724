"""`t5punct label`: what a model says of a data set, stored for smaller models to learn from.

In: a data set of `t5punct prepare`, a model.  Out: a folder of labels, and a line that says so.

`t5punct label prepared/data --model runs/large`, then `t5punct train ... teacher.source=prepared/data/labels-large`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ..extras import need
from .process import collect_as_usual
from .progress import is_shown, progress_bar
from .threads import use_threads


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
