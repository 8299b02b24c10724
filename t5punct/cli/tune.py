"""`t5punct tune`: the window strategy that suits a model and a budget.

In: a development file, a budget.  Out: the frontier of F1 against cost as a table or json, a plot, a preset in YAML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..config import as_yaml, check, load
from ..options import DecodingOptions, names_of
from ..text.io.files import check_source, check_targets, open_writer, target_of
from . import parameters as shared
from .parameters import load_punctuator, place, read_options
from .process import ending_in_order
from .progress import is_shown, note_waiting, progress_bar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..evaluation.tuning import Trial


@ending_in_order()
def tune(
    context: typer.Context,
    data: Annotated[str, typer.Argument(metavar="INPUT", help="The development file: IWSLT rows, or punctuated text.")],
    overrides: shared.Settings = None,
    config: shared.Config = None,
    output: Annotated[
        Path | None,
        place("-o", "--output", show_default="none", help="Write the best strategy here, as YAML for --preset."),
    ] = None,
    plot: Annotated[
        Path | None, place(show_default="none", help="Draw the score and the speed of all trials (png, svg, pdf).")
    ] = None,
    model: shared.Model = None,
    language: shared.Language = None,
    style: shared.Style = None,
    decoder: shared.Decoder = "auto",
    marks: shared.Marks = None,
    mark_odds: shared.MarkOdds = None,
    precision: shared.Precision = "auto",
    device: shared.Device = "auto",
    as_json: shared.Json = False,
    quiet: shared.Quiet = False,
) -> None:
    """Choose the window strategy that is best for a text.

    Window, stride, masks and combination are tried on a development file, within a budget.

    Settings such as budget=4, windows=[32,64] or max_words=20000 follow the file.
    """
    import json

    from rich.console import Console

    from ..evaluation.evaluate import signature
    from ..evaluation.plots import check_plot, draw_frontier
    from ..evaluation.score_table import one_line
    from ..evaluation.tuning import TuneConfig, find_frontier
    from ..evaluation.tuning import tune as run

    option_words = [word for word in overrides or () if word.partition("=")[0] in names_of(DecodingOptions)]
    options = read_options(DecodingOptions, context, option_words)
    settings = load(TuneConfig, config, [word for word in overrides or () if word not in option_words])
    check_source(data)
    note_waiting([data])
    sources = [data, *options.reads, *([] if config is None else [str(config)])]
    target = target_of(output, sources)
    is_on_stdout = output is not None and target is None  # `-o -`: the strategy goes to standard output
    if plot is not None:
        check_targets([plot], sources)
        check_plot(plot)
        is_apart = target is None or target.resolve() != plot.resolve()
        check(is_apart, f"--output and --plot {plot}", expected="two files", fix="name another")
    is_possible = not (as_json and is_on_stdout)
    check(is_possible, "--json and -o -", expected="one of them on standard output", fix="name a file by -o")
    punctuator = load_punctuator(options, options.config())
    with progress_bar("tuning", None) as advance:
        trials = list(run(data, punctuator, settings, advance if is_shown() else None))
    best = find_frontier(trials)
    settings_line = f"data:{data}|{signature(punctuator, best[0].units, settings.max_words)}"
    if as_json:
        typer.echo(json.dumps({"signature": settings_line, "frontier": [_as_json(trial) for trial in best]}))
    else:
        console = Console(stderr=is_on_stdout)
        console.print(_table(best, len(trials)), one_line(settings_line), crop=False)
    if output is not None:
        with open_writer(target) as put:
            put([as_yaml(best[-1].strategy)])
    if plot is not None:
        draw_frontier(trials, best, plot)


def _table(best: Sequence[Trial], n_trials: int) -> RenderableType:
    from rich.table import Table

    names = ("reads a word", "window", "stride", "mask left", "mask right", "combine", "micro F1", "95 % interval")
    table = Table(*names, title=f"the best for each cost, of {n_trials} strategies")
    for trial in best:
        windows = trial.strategy.windows
        spread = trial.spread()
        numbers = (windows.window, windows.stride_words, windows.mask_left, windows.mask_right)
        score = f"{trial.micro_f1:.1f}", f"{spread.low:.1f} to {spread.high:.1f}" if spread else "-"
        table.add_row(f"{trial.reads:.1f}", *map(str, numbers), trial.strategy.combine.method, *score)
    return table


def _as_json(trial: Trial) -> dict[str, Any]:
    spread = trial.spread()
    return {
        **asdict(trial.strategy),
        "reads": trial.reads,
        "micro_f1": trial.micro_f1,
        "micro_f1_interval": None if spread is None else [spread.low, spread.high],
    }
