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
from .errors import InputError, T5PunctError

if TYPE_CHECKING:
    from .punctuator import Punctuator

# click's class, which some versions of typer bring along themselves; `format_message` is what we need of it
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    help="Punctuation and capitals for speech transcripts, with a T5 that never changes a word.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Model = Annotated[str | None, typer.Option(help="A model folder or hub id; without it, the bundled model.")]
Decoder = Annotated[str, typer.Option(help="slots (constrained) or generate (free, then aligned).")]
Preset = Annotated[str, typer.Option(help="A named window strategy; the options below change single values.")]
Window = Annotated[int | None, typer.Option(help="Words the model sees at once.")]
Stride = Annotated[int | None, typer.Option(help="Words from one window's start to the next.")]
MaskLeft = Annotated[int | None, typer.Option(help="First words of a window whose slots are not used.")]
MaskRight = Annotated[int | None, typer.Option(help="Last words of a window whose slots are not used.")]
Combine = Annotated[str | None, typer.Option(help="mean, entropy, hamming or vote.")]
Style = Annotated[str | None, typer.Option(help="talk, meeting, prose or chat (the model's list counts).")]
Beams = Annotated[int, typer.Option(help="Beam size of `generate`.")]
Marks = Annotated[str | None, typer.Option(help='Marks that may be written, such as ",.?"; without it, all.')]
MaxMarks = Annotated[int | None, typer.Option(help="Marks in one slot, at most.")]
BatchTokens = Annotated[int, typer.Option(help="Tokens read at a time: more is faster, and takes more memory.")]
Threads = Annotated[int | None, typer.Option(help="Processor threads; without it, torch's choice.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Config = Annotated[Path | None, typer.Option(help="A YAML file of settings.")]
Overrides = Annotated[list[str] | None, typer.Argument(help="Settings as dotted key=value.", show_default=False)]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(f"t5punct {__version__}")
        raise typer.Exit


@app.command()
def punctuate(
    context: typer.Context,
    inputs: Annotated[list[str] | None, typer.Argument(metavar="[INPUT]...", show_default=False)] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None,
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
    batch_tokens: BatchTokens = 4096,
    threads: Threads = None,
    keep_marks: Annotated[bool, typer.Option("--keep-marks", help="Keep the marks the input has.")] = False,
    no_case: Annotated[bool, typer.Option("--no-case", help="Leave every letter as it is.")] = False,
    as_json: Json = False,
) -> None:
    """Put marks and capitals into text: files, or standard input (no INPUT, or `-`)."""
    if output and output_dir:
        raise InputError("both -o and --output-dir", expected="one of them", fix="drop one")
    if output_dir and not output_dir.is_dir():
        raise InputError(f"no folder {output_dir}", expected="an existing folder", fix="create it first")
    sources = inputs or ["-"]
    texts = [_read(source) for source in sources]
    from .render import RenderConfig

    punctuator = _punctuator(context.params).with_config(render=RenderConfig(case=not no_case, keep_marks=keep_marks))
    results = [_render(punctuator, text, as_json) for text in texts]
    _write(sources, results, output, output_dir, as_json)


@app.command()
def evaluate(
    context: typer.Context,
    data: Annotated[Path, typer.Argument(help="An IWSLT word-TAB-label file, or punctuated text.")],
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
    batch_tokens: BatchTokens = 4096,
    threads: Threads = None,
    max_words: Annotated[int | None, typer.Option(help="Score only the first words.")] = None,
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

    names = ("decoder", "beams", "batch_tokens", "style", "marks", "max_marks")
    decoding = DecodingConfig(**{name: options[name] for name in names})
    from .punctuator import Punctuator, PunctuatorConfig

    _silence_bars()
    if options["threads"] is not None:
        import torch

        torch.set_num_threads(max(1, options["threads"]))
    return Punctuator.from_pretrained(options["model"], PunctuatorConfig(windows, combine, decoding))


def _silence_bars() -> None:
    from transformers.utils import logging

    logging.disable_progress_bar()


def _read(source: str) -> str:
    from .formats.files import decode_lines, read_text

    if source == "-":
        return "\n".join(decode_lines(sys.stdin.buffer, "standard input"))
    return read_text(source)


def _render(punctuator: Punctuator, text: str, as_json: bool) -> str:
    if not as_json:
        return punctuator.punctuate(text)
    import json
    from dataclasses import asdict

    words = [asdict(word) for word in punctuator.annotate(text)]
    return json.dumps({"words": words}, ensure_ascii=False)


def _write(
    sources: Sequence[str], results: Sequence[str], output: Path | None, output_dir: Path | None, as_json: bool
) -> None:
    from .formats.files import writing

    if output_dir is not None:
        for source, result in zip(sources, results, strict=True):
            name = "stdin.txt" if source == "-" else Path(source).name
            with writing(output_dir / (name + ".json" if as_json else name)) as handle:
                handle.write(result + "\n")
    elif output is not None:
        with writing(output) as handle:
            handle.write("".join(result + "\n" for result in results))
    else:
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        sys.stdout.write("".join(result + "\n" for result in results))
        sys.stdout.flush()
