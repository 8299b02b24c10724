"""`t5punct punctuate`: texts in, texts with marks and capitals out.

In: files, gzip or xz too, or standard input.  Out: text or json on standard output or in files, whole or not at all.

`echo "how are you today" | t5punct punctuate` prints `How are you today?`
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Json, KeepMarks, NoCase, StrategyOptions, with_model_options

if TYPE_CHECKING:
    from ..punctuator import Punctuator


@with_model_options
def punctuate(
    options: StrategyOptions,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            show_default="standard input",
            help="Text files in UTF-8, gzip or xz too; `-`: standard input.  Each is one text, of any length, which "
            "may have marks already (they are replaced; see --keep-marks).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", show_default="standard output", help="Write to this file; `-`: standard output."
        ),
    ] = None,
    output_dir: Annotated[
        Path | None, typer.Option(show_default="none", help="Write one file for each INPUT here, under its name.")
    ] = None,
    keep_marks: KeepMarks = False,
    no_case: NoCase = False,
    as_json: Json = False,
) -> None:
    """Put marks and capitals into texts; no word is changed.

    White space stays as it is; where several texts share an output, each begins on a line of its own.
    """
    from ..text.formats.files import source_text
    from ..text.formats.outputs import targets, write
    from ..text.render import RenderConfig
    from ..text.words import lead_of

    sources = inputs or ["-"]
    places = targets(sources, output=output, output_dir=output_dir, suffix=".json" if as_json else "")
    texts = [source_text(source) for source in sources]
    punctuator = options.punctuator().with_config(render=RenderConfig(case=not no_case, keep_marks=keep_marks))
    results: Iterable[Iterable[str]]
    if as_json:
        results = (_json_line(punctuator, source, text) for source, text in zip(sources, texts, strict=True))
    else:
        results = (itertools.chain([lead_of(text)], punctuator.pieces(text)) for text in texts)
    write(places, results)


def _json_line(punctuator: Punctuator, source: str, text: str) -> Iterator[str]:
    """A line of json, word by word: a long text's words are never held all at once."""
    import json
    from dataclasses import asdict

    yield f'{{"source": {json.dumps(source, ensure_ascii=False)}, "words": ['
    for number, word in enumerate(punctuator.iter_annotate(text)):
        yield (", " if number else "") + json.dumps(asdict(word), ensure_ascii=False)
    yield "]}\n"
