"""The command line: `t5punct punctuate | stream | serve | evaluate | models | presets | prepare | label | train |
report | export`.

In: arguments, files, standard input.  Out: text or json on standard output or in files; exit code 2 and one line on
standard error for a user's mistake.
"""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, cast

import typer

from .. import __version__
from ..errors import T5PunctError
from ..options import ServiceOptions, StreamOptions, WindowOptions, defaults_of
from .evaluate import evaluate
from .export import export
from .listings import models, presets
from .parameters import Command, CommandGroup
from .process import collect_garbage_as_usual
from .punctuate import BatchOptions, punctuate
from .serve import serve
from .stream import stream
from .train import label, prepare, report, train

# click's class, which some versions of typer bring along themselves; `format_message` is what we need of it
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

_log = logging.getLogger("t5punct")

app = typer.Typer(
    help="Punctuation and capitals for speech transcripts, with a T5 that never changes a word.",
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
EXAMPLES: dict[Callable[..., None], str] = {  # of each command, in the order of the help
    punctuate: "t5punct punctuate talk.txt --style talk -o talk-punctuated.txt",
    stream: "printf 'how are you today' | t5punct stream --lookahead 2",
    serve: "t5punct serve --port 8008",
    evaluate: "t5punct evaluate test2011.tsv --preset side-by-side",
    models: "t5punct models",
    presets: "t5punct presets mask-combine-4 > mine.yaml\nt5punct punctuate talk.txt --preset mine.yaml",
    prepare: "t5punct prepare --config configs/prepare-own-text.yaml root=lectures",
    label: "t5punct label prepared/data --model runs/large",
    train: "t5punct train --config configs/finetune-own-text.yaml",
    report: "t5punct report runs/mine file=dev.txt max_words=5000",
    export: "t5punct export runs/mine -o my-model default_style=talk",
}
SETTINGS = {  # of commands that take more options as KEY=VALUE
    punctuate: BatchOptions,
    stream: StreamOptions,
    serve: ServiceOptions,
    evaluate: WindowOptions,
}
for command, example in EXAMPLES.items():
    context_settings = {"obj": SETTINGS.get(command)}
    app.command(cls=Command, epilog=example, context_settings=context_settings)(command)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(f"t5punct {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; user mistakes become one line and exit code 2."""
    # a command makes 400,000 objects while it loads, and nearly all stay: collect garbage rarely until then
    gc.set_threshold(50_000)
    level = _log.level
    warnings = logging.StreamHandler(sys.stderr)
    warnings.setLevel(logging.WARNING)
    warnings.setFormatter(logging.Formatter("t5punct: %(message)s"))
    _log.addHandler(warnings)
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:  # `help punctuate` and `version`, as other programs have them
        words = [*words[1:], "--help"]
    elif words == ["version"]:
        words = ["--version"]
    try:
        code = app(args=words, prog_name="t5punct", standalone_mode=False)
    except T5PunctError as error:
        _fail(str(error))
    except _UsageError as error:
        message = error.format_message().rstrip(".")
        option = getattr(error, "option_name", "")
        setting = option.removeprefix("--").replace("-", "_")
        # where each command keeps the class of its options
        options_class = error.ctx.command.context_settings.get("obj") if error.ctx else None
        defaults = defaults_of(options_class) if options_class else {}
        if message.startswith("No such option") and setting in defaults:
            value = "true" if defaults[setting] is False else "VALUE"
            message = f"{option}, which is a setting; write {setting}={value}"
        ending = "" if message.endswith("?") else "."
        _fail(f"{message}{ending} See {error.ctx.command_path if error.ctx else 't5punct'} --help.")
    except OSError as error:  # a full disk, a file that may not be read; click ends quietly when a reader goes away
        sys.stdout = None  # type: ignore[assignment]  # or Python tries to write the rest at exit
        _fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    finally:
        _log.removeHandler(warnings)
        _log.setLevel(level)
        collect_garbage_as_usual()
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    typer.echo("t5punct: " + " ".join(message.split()), err=True)
    sys.exit(2)
