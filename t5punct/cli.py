"""The command line: `t5punct punctuate | evaluate | prepare | train`.

In: arguments, files, standard input.  Out: text or json on standard output or in files; exit code 2 and one line on
standard error for a user's mistake.

`echo "how are you today" | t5punct punctuate` prints `How are you today?`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from . import __version__
from .errors import T5PunctError

if TYPE_CHECKING:
    from .punctuator import Punctuator

# click's class, which some versions of typer bring along themselves; `format_message` is what we need of it
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    help="Punctuation and capitals for speech transcripts, with a T5 that never changes a word.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Model = Annotated[str | None, typer.Option(help="A model folder or hub id; without it, the bundled model.")]
Decoder = Annotated[str, typer.Option(help="slots (constrained) or generate (free, then aligned).")]
Preset = Annotated[str, typer.Option(help="A named window strategy; the options below change single values.")]
Window = Annotated[int | None, typer.Option(min=1, help="Words the model sees at once.")]
Stride = Annotated[int | None, typer.Option(min=1, help="Words from one window's start to the next.")]
MaskLeft = Annotated[int | None, typer.Option(min=0, help="First words of a window whose slots are not used.")]
MaskRight = Annotated[int | None, typer.Option(min=0, help="Last words of a window whose slots are not used.")]
Combine = Annotated[str | None, typer.Option(help="mean, entropy, hamming or vote.")]
Style = Annotated[str | None, typer.Option(help="talk, meeting, prose or chat (the model's list counts).")]
Beams = Annotated[int, typer.Option(min=1, help="Beam size of `generate`.")]
Marks = Annotated[str | None, typer.Option(help='Marks that may be written, such as ",.?"; without it, all.')]
MaxMarks = Annotated[int | None, typer.Option(min=1, help="Marks in one slot, at most.")]
BatchTokens = Annotated[int, typer.Option(min=1, help="Tokens read at a time: more is faster, and takes more memory.")]
Precision = Annotated[str, typer.Option(help="fp32, or faster: bf16 (processors that have it) or int8.")]
Fragment = Annotated[
    bool, typer.Option("--fragment", help="The text may begin and end inside a sentence; else it does not.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Processor threads; without it, torch's choice.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Config = Annotated[Path | None, typer.Option(help="A YAML file of settings.")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Settings as dotted key=value.", show_default=False)]


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(f"t5punct {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@app.command()
def punctuate(
    context: typer.Context,
    inputs: Annotated[list[str] | None, typer.Argument(metavar="[INPUT]...", show_default=False)] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file; `-` is standard output.")
    ] = None,
    output_dir: Annotated[Path | None, typer.Option(help="Write one file for each input, under its name.")] = None,
    model: Model = None,
    decoder: Decoder = "slots",
    preset: Preset = "double-overlap",
    window: Window = None,
    stride: Stride = None,
    mask_left: MaskLeft = None,
    mask_right: MaskRight = None,
    combine: Combine = None,
    style: Style = None,
    beams: Beams = 1,
    marks: Marks = None,
    max_marks: MaxMarks = None,
    batch_tokens: BatchTokens = 2048,
    precision: Precision = "fp32",
    threads: Threads = None,
    fragment: Fragment = False,
    keep_marks: Annotated[bool, typer.Option("--keep-marks", help="Keep the marks the input has.")] = False,
    no_case: Annotated[bool, typer.Option("--no-case", help="Leave every letter as it is.")] = False,
    as_json: Json = False,
) -> None:
    """Put marks and capitals into text: files, or standard input (no INPUT, or `-`).

    White space stays as it is; where several texts share an output, each begins on a line of its own.
    """
    from .formats.files import source_text
    from .formats.outputs import targets, write
    from .render import RenderConfig

    sources = inputs or ["-"]
    places = targets(sources, output=output, output_dir=output_dir, suffix=".json" if as_json else "")
    texts = [source_text(source) for source in sources]
    punctuator = _punctuator(context.params).with_config(render=RenderConfig(case=not no_case, keep_marks=keep_marks))
    if as_json:
        results = [_json_line(punctuator, source, text) for source, text in zip(sources, texts, strict=True)]
    else:
        results = [punctuator.punctuate(text) for text in texts]
    write(places, results)


@app.command()
def evaluate(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help="IWSLT word-TAB-label rows, or punctuated text; `-` is standard input.")],
    model: Model = None,
    decoder: Decoder = "slots",
    preset: Preset = "double-overlap",
    window: Window = None,
    stride: Stride = None,
    mask_left: MaskLeft = None,
    mask_right: MaskRight = None,
    combine: Combine = None,
    style: Style = None,
    beams: Beams = 1,
    marks: Marks = None,
    max_marks: MaxMarks = None,
    batch_tokens: BatchTokens = 2048,
    precision: Precision = "fp32",
    threads: Threads = None,
    fragment: Fragment = False,
    max_words: Annotated[int | None, typer.Option(min=1, help="Score only the first words.")] = None,
    as_json: Json = False,
) -> None:
    """Score a model: take a text's marks off, put them on anew, compare."""
    import json

    from .evaluate_files import evaluate_file
    from .report import as_json as report_json

    punctuator = _punctuator(context.params)
    report = evaluate_file(data, punctuator, max_words=max_words)
    if as_json:
        typer.echo(json.dumps(report_json(report), ensure_ascii=False))
    else:
        from rich.console import Console

        from .report import table

        Console().print(table(report))


@app.command()
def prepare(config: Config = None, overrides: Overrides = None) -> None:
    """Make a training data set from corpora (see configs/prepare-*.yaml)."""
    from datasets.utils.logging import disable_progress_bar

    from .config import load
    from .data.prepare import PrepareConfig
    from .data.prepare import prepare as run

    settings = load(PrepareConfig, config, overrides or ())
    disable_progress_bar()
    report = run(settings)
    typer.echo(
        f"{report.output}: {report.train_chunks} chunks of {report.train_words} words to train on, "
        f"{report.validation_chunks} chunks to validate with"
    )


@app.command()
def train(config: Config = None, overrides: Overrides = None) -> None:
    """Train or fine-tune a model (see configs/); `accelerate launch train.py` runs it on several devices."""
    from .config import load
    from .training.config import TrainConfig

    settings = load(TrainConfig, config, overrides or ())
    from .training.loop import train as run

    _silence_bars()  # of loading and saving; the training's own stays
    typer.echo(f"{run(settings)}: trained")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; user mistakes become one line and exit code 2."""
    try:
        code = app(args=list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
    except T5PunctError as error:
        _fail(str(error))
    except _UsageError as error:
        _fail(error.format_message())
    except OSError as error:  # a full disk, a file that may not be read; click ends quietly when a reader goes away
        sys.stdout = None  # type: ignore[assignment]  # or what could not be written is tried again at exit
        _fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    typer.echo("t5punct: " + " ".join(message.split()), err=True)
    sys.exit(2)


def _punctuator(options: Mapping[str, Any]) -> Punctuator:
    """What the options that several commands share ask for; every one is checked before the model is loaded."""
    from dataclasses import replace

    from .presets import preset

    chosen = preset(options["preset"])
    shape = {
        name: options[name] for name in ("window", "stride", "mask_left", "mask_right") if options[name] is not None
    }
    windows = replace(chosen.windows, **shape)
    combine = replace(chosen.combine, method=options["combine"]) if options["combine"] else chosen.combine
    from .decoding.inputs import DecodingConfig

    names = ("decoder", "beams", "batch_tokens", "style", "marks", "max_marks", "precision")
    decoding = DecodingConfig(**{name: options[name] for name in names})
    from .punctuator import Punctuator, PunctuatorConfig

    _silence_bars()
    if options["threads"] is not None:
        import torch

        torch.set_num_threads(options["threads"])
    config = PunctuatorConfig(windows, combine, decoding, fragment=options["fragment"])
    return Punctuator.from_pretrained(options["model"], config)


def _silence_bars() -> None:
    from transformers.utils import logging

    logging.disable_progress_bar()


def _json_line(punctuator: Punctuator, source: str, text: str) -> str:
    import json
    from dataclasses import asdict

    words = [asdict(word) for word in punctuator.annotate(text)]
    return json.dumps({"source": source, "words": words}, ensure_ascii=False) + "\n"
