"""`t5punct evaluate`: a file of punctuated text in, scores out.

In: IWSLT rows, or any punctuated text.  Out: a table, or json under the published keys.

`t5punct evaluate test2011.tsv --preset side-by-side` scores the bundled model without overlapping windows.
"""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Json, StrategyOptions, with_model_options


@with_model_options
def evaluate(
    options: StrategyOptions,
    data: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A file with the right marks: IWSLT rows (word TAB label), or punctuated text, one document a line; "
            "gzip or xz too; `-`: standard input.",
        ),
    ],
    max_words: Annotated[
        int | None, typer.Option(min=1, show_default="all words", help="Score only so many words, the first ones.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score a model: take a text's marks off, put them on anew, compare."""
    import json

    from ..text.formats.files import check_source

    check_source(data)
    from ..evaluation.files import evaluate_file
    from ..evaluation.report import as_json as report_json

    report = evaluate_file(data, options.punctuator(), max_words=max_words)
    if as_json:
        typer.echo(json.dumps(report_json(report), ensure_ascii=False))
    else:
        from rich.console import Console

        from ..evaluation.report import table

        Console().print(table(report))
