"""`t5punct evaluate`: a file of punctuated text in, scores out.

In: IWSLT rows, or any punctuated text.  Out: a table, or json under the published keys.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..config import check
from ..options import WindowOptions
from ..text.io.files import check_source
from ..text.render import RenderConfig
from ..windows.presets import DEFAULT_PRESET
from . import parameters as shared
from .parameters import load_punctuator, read_options
from .progress import is_shown, note, note_how_to_end, progress_bar


def evaluate(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A file with the right marks: IWSLT rows (word TAB label), or punctuated text, one document a line; "
            "gzip or xz too; `-`: standard input.",
        ),
    ],
    settings: shared.Settings = None,
    model: shared.Model = None,
    language: shared.Language = None,
    style: shared.Style = None,
    decoder: shared.Decoder = "auto",
    marks: shared.Marks = None,
    mark_odds: shared.MarkOdds = None,
    precision: shared.Precision = "auto",
    device: shared.Device = "auto",
    preset: shared.PresetName = DEFAULT_PRESET,
    max_words: Annotated[
        int | None, typer.Option(min=1, show_default="all words", help="Score only so many words, the first ones.")
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="<first second>",
            show_default="none",
            help="Two models in the place of --model: score both, and test whether the second is better or worse.",
        ),
    ] = None,
    disfluencies: Annotated[
        str,
        typer.Option(
            help="mark: score also which words are fillers, said twice or taken back, as INPUT has them: text by a ~ "
            "behind them, rows by the label DISFLUENT."
        ),
    ] = "keep",
    as_json: shared.Json = False,
    quiet: shared.Quiet = False,
) -> None:
    """Score a model on a text that has the right marks.

    They are taken off, the model puts on its own, and the two are compared.
    """
    # options of the model and of windows are for the help: `read_options` takes what was typed from `context`
    import json

    options = read_options(WindowOptions, context, settings)
    check_source(data)
    if compare:
        is_alone = options.model is None and options.revision is None and disfluencies == "keep"
        mistake = "--compare with --model, revision or --disfluencies"
        check(is_alone, mistake, expected="two models after --compare", fix="drop the other option")
    note_how_to_end([data])
    from rich.console import Console

    from ..evaluation import score_table
    from ..evaluation.comparison import compare_file
    from ..evaluation.evaluate import evaluate_file
    from ..evaluation.references import count_words

    config = options.config(RenderConfig(disfluencies=disfluencies))  # a wrong value fails here, before models load
    systems = [load_punctuator(replace(options, model=name), config) for name in compare or (options.model,)]
    n_words = count_words(data, max_words) if is_shown() else None
    with progress_bar("evaluating", n_words and len(systems) * n_words) as advance:
        if compare:
            comparison = compare_file(data, *systems, max_words=max_words, on_progress=advance)
        else:
            report = evaluate_file(data, systems[0], max_words=max_words, on_progress=advance)
    if not compare and not report.scores.micro.reference:
        note(f"warning: {data} has no marks to compare with; name a text with the right ones")
    if as_json:
        values = score_table.comparison_json(comparison) if compare else score_table.as_json(report)
        typer.echo(json.dumps(values, ensure_ascii=False))
    else:
        table = score_table.comparison_table(comparison, compare) if compare else score_table.report_table(report)
        Console().print(table, crop=False)
