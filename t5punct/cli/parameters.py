"""The options that several commands have, how they are read, and how help is shown.

In: a command line.  Out: the options of `t5punct/options.py`, and a punctuator with them; plain help in groups.

A command's function has its options as parameters, for the help alone.  `read_options` reads them from the context,
since it must know which of them were typed, and also reads `key=value`.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ..config import check_range, load
from ..errors import ConfigError
from ..options import ModelOptions, StreamOptions, TranscriptOptions, check_needs, defaults_of, help_of
from ..text.io.files import named_place
from .process import collect_garbage_as_usual, let_threads_sleep, use_threads
from .progress import be_quiet

if TYPE_CHECKING:
    from ..punctuator import Punctuator, PunctuatorConfig

Options = TypeVar("Options", bound=ModelOptions)
_HELP = help_of(StreamOptions) | help_of(TranscriptOptions)
_MOST_THREADS = 1024
_KINDS = {"str": "text", "list[str]": "text", "int": "number", "int range": "number"}  # Python's, and for help
_SETTING = re.compile(r"[a-z_]+=", flags=re.ASCII)

place = functools.partial(typer.Option, parser=named_place, metavar="PATH")  # where to write


def _option(name: str, *declarations: str, **more: Any) -> Any:
    """Make an option of typer, with the help that `t5punct/options.py` has for it."""
    return typer.Option(*declarations, help=_HELP[name], **more)


Model = Annotated[str | None, _option("model", show_default="large")]
StreamModel = Annotated[str, _option("model")]
Language = Annotated[str | None, _option("language", show_default="not needed")]
Precision = Annotated[str, _option("precision")]
Device = Annotated[str, _option("device")]
Style = Annotated[str | None, _option("style", show_default="the model's own; as a rule meeting")]
Decoder = Annotated[str, _option("decoder")]
Marks = Annotated[str | None, _option("marks", show_default="all of the model's")]
MarkOdds = Annotated[str | None, _option("mark_odds", show_default="the model's own")]
PresetName = Annotated[str, _option("preset")]
Format = Annotated[str | None, _option("format", show_default="by its name")]
To = Annotated[str | None, _option("to", show_default="by the name of -o; else that of the input")]
Json = Annotated[bool, _option("json", "--json")]
Lines = Annotated[bool, _option("lines", "--lines")]
KeepMarks = Annotated[bool, _option("keep_marks", "--keep-marks")]
NoCase = Annotated[bool, _option("no_case", "--no-case")]
KeepCase = Annotated[bool, _option("keep_case", "--keep-case")]
Disfluencies = Annotated[str, _option("disfluencies")]
Terms = Annotated[str | None, _option("terms", metavar="PATH", show_default="none")]
Paragraphs = Annotated[int | None, _option("paragraphs", min=1, show_default="none")]
Resegment = Annotated[bool, _option("resegment", "--resegment")]
Policy = Annotated[str, _option("policy")]
Lookahead = Annotated[int, _option("lookahead", min=0)]
MaxDelayMs = Annotated[int | None, _option("max_delay_ms", min=1, show_default="none")]

Quiet = Annotated[
    bool,
    typer.Option(*("-q", "--quiet"), callback=be_quiet, help="Say nothing but errors: no bar, no notes, no warnings."),
]
Settings = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", show_default=False, help="Settings, which are listed below."),
]
Config = Annotated[
    Path | None, typer.Option(show_default="none", help="A YAML file of settings, which KEY=VALUE changes.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", show_default=False, help="Settings; docs/settings.md lists them all."),
]


def is_setting(word: str) -> bool:
    """Return whether a word of the command line reads `key=value`, and is no file of that name.

    >>> is_setting("beams=4"), is_setting("./beams=4"), is_setting("talk.txt")
    (True, False, False)
    """
    return _SETTING.match(word) is not None and not os.path.exists(word)  # noqa: PTH110  # Path raises for long names


def typed_options(context: typer.Context) -> dict[str, str]:
    """Return the options that were typed: by their names, how the command line spells them, such as `--mark-odds`."""
    typed = {str(parameter.name): parameter.opts[-1] for parameter in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in typed}
    return {name: typed[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def read_options(kind: type[Options], context: typer.Context, settings: Sequence[str] | None = None) -> Options:
    """Read the options of a command that were typed as `--key value` (`context`) and as `key=value` (`settings`).

    A language that is named chooses the model, if none is.
    Raises ConfigError for an unknown setting, for one that is typed twice, and for one that does nothing.
    """
    let_threads_sleep()  # before anything loads torch
    typed = typed_options(context)
    values = {name: context.params[name] for name in typed if name in defaults_of(kind)}
    for setting in settings or ():
        name, _, value = setting.partition("=")
        if not is_setting(setting):
            mistake = f"{setting} behind t5punct {context.info_name}"
            fix = f"see t5punct {context.info_name} --help"
            if context.info_name == "stream":  # it reads standard input
                fix = f"say: t5punct stream < {setting}"
            raise ConfigError(mistake, expected="options and KEY=VALUE alone", fix=fix)
        if name in values:
            raise ConfigError(f"{name} twice", expected="one value", fix=f"drop {setting}")
        typed[name] = setting
        values[name] = value
    options = load(kind, current=values)
    check_needs(typed, {**context.params, **asdict(options)})
    return options.for_language()


def load_punctuator(options: ModelOptions, config: PunctuatorConfig) -> Punctuator:
    """Load the model that the options name, and return a punctuator with `config`."""
    check_range(options, "threads", least=1, most=_MOST_THREADS)
    from ..punctuator import Punctuator

    use_threads(options.threads)
    punctuator = Punctuator(options.model, config, revision=options.revision)
    gc.freeze()  # libraries and the model stay to the end: the collector need not look through them
    collect_garbage_as_usual()  # `main` has made collections rare while they were loaded
    return punctuator


class Command(TyperCommand):
    """A command whose help also lists its settings, and ends with its epilog, an example.

    `context_settings={"obj": TranscriptOptions}` names a class of options: its fields that the command does not have as
    `--key value` are settings, listed as `key=value`.  `ctx` and `formatter` are click's; they have no type here, as
    some versions of typer have a click of their own.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line `Usage`, as most programs write them: typer writes {source} for SOURCE."""
        return [piece.strip("{}").upper() if piece[0] == "{" else piece for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[Any]] = {"Arguments": [], "Options": [], "Settings, as KEY=VALUE": []}
        options_class: Any = self.context_settings.get("obj")
        settings = defaults_of(options_class) if options_class else {}
        for parameter in self.get_params(ctx):
            settings.pop(parameter.name, None)  # it is shown as an option
            title = "Options" if parameter.param_type_name == "option" else "Arguments"
            record = parameter.get_help_record(ctx)  # None: it is hidden
            if record:
                groups[title].append((_plain_kind(record[0], title), record[1]))
        for name, default in settings.items():
            setting = name if default is None else f"{name}={str(default).lower()}"
            groups["Settings, as KEY=VALUE"].append((setting, help_of(options_class)[name]))
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Example"):
            for line in (self.epilog or "").splitlines():
                formatter.write(" " * formatter.current_indent + line + "\n")


class CommandGroup(TyperGroup):
    """The commands.  The error for an unknown command shows how to give a file, a text or an option instead."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the options before a command.  Raises ConfigError for one of a command."""
        name = args[0] if args else ""
        if name.startswith("-") and name not in _spellings(self, ctx):
            takers = [taker for taker, command in self.commands.items() if name in _spellings(command, ctx)]
            if takers:
                command = next((word for word in args if word in self.commands), takers[0])
                fix = f"say: t5punct {command} {name} .., or see t5punct --help"
                raise ConfigError(f"{name} before a command", expected="the command first", fix=fix)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command and its arguments.  Raises ConfigError for a file or a text in its place."""
        name = args[0]
        is_file = Path(name).suffix or Path(name).exists()
        is_mistyped = bool(get_close_matches(name, self.commands))  # click names the right one
        # several words in one argument, or several arguments of which the first is no file
        is_text = len(name.split()) > 1 or (len(args) > 1 and not is_file and not is_mistyped)
        if name not in self.commands and (is_file or is_text):
            echo = f"echo {shlex.quote(' '.join(args))} | t5punct punctuate"
            suggestion = echo if is_text else f"t5punct punctuate {shlex.join(args)}"
            raise ConfigError(f"no command {name!r}", expected="one before a text or a file", fix=f"say: {suggestion}")
        return super().resolve_command(ctx, args)


def _plain_kind(name: str, title: str) -> str:
    """Return how help names a parameter: an argument without Python's name of its type, an option with a plain one.

    >>> _plain_kind("{source} <str>", "Arguments"), _plain_kind("--lookahead <int range>", "Options")
    ('SOURCE', '--lookahead <number>')
    """
    bare_name, _, kind = name.removesuffix(">").partition(" <")
    if not kind:
        return name
    if title == "Arguments":
        return bare_name.strip("{}").upper()
    return f"{bare_name} <{_KINDS.get(kind, kind)}>"


def _spellings(command: Any, ctx: Any) -> set[str]:
    """Return how the options of a command may be written, such as `-o` and `--output`."""
    return {spelling for parameter in command.get_params(ctx) for spelling in parameter.opts if spelling[0] == "-"}


def silence_bars() -> None:
    """Show no progress bars while a model is loaded or saved."""
    from transformers.utils import logging

    logging.disable_progress_bar()
