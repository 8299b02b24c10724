"""`t5punct punctuate`: texts in, texts with marks and capitals out.

In: files, gzip or xz too, or standard input.  Out: text or json on standard output or in files, whole or not at all.

`echo "how are you today" | t5punct punctuate` prints `How are you today?`
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Json, KeepMarks, NoCase, StrategyOptions, with_model_options

if TYPE_CHECKING:
    from ..punctuator import Punctuator


@with_model_options
def punctuate(
    options: StrategyOptions,
    inputs: Annotated[list[str] | None, typer.Argument(metavar="[INPUT]...", show_default=False)] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file; `-` is standard output.")
    ] = None,
    output_dir: Annotated[Path | None, typer.Option(help="Write one file for each input, under its name.")] = None,
    keep_marks: KeepMarks = False,
    no_case: NoCase = False,
    as_json: Json = False,
) -> None:
    """Put marks and capitals into text: files, or standard input (no INPUT, or `-`).

    White space stays as it is; where several texts share an output, each begins on a line of its own.
    """
    from ..formats.files import source_text
    from ..formats.outputs import targets, write
    from ..render import RenderConfig

    sources = inputs or ["-"]
    places = targets(sources, output=output, output_dir=output_dir, suffix=".json" if as_json else "")
    texts = [source_text(source) for source in sources]
    punctuator = options.punctuator().with_config(render=RenderConfig(case=not no_case, keep_marks=keep_marks))
    if as_json:
        results = [_json_line(punctuator, source, text) for source, text in zip(sources, texts, strict=True)]
    else:
        results = [punctuator.punctuate(text) for text in texts]
    write(places, results)


def _json_line(punctuator: Punctuator, source: str, text: str) -> str:
    import json
    from dataclasses import asdict

    words = [asdict(word) for word in punctuator.annotate(text)]
    return json.dumps({"source": source, "words": words}, ensure_ascii=False) + "\n"
