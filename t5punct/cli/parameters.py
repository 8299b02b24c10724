"""The options that several commands have, as typer takes them, and what was asked for by them and by KEY=VALUE.

In: a command line, as typer has read it.  Out: the options of `t5punct/options.py`, and the punctuator they ask for.

A command names its options one by one, with defaults for the help; what was typed is read by `read_options`.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ..config import check_range, load, nearest_keys
from ..errors import ConfigError
from ..options import ModelOptions, StreamOptions, TranscriptOptions, check_needs, help_of, names_of
from ..text.io.files import named_place
from .process import keep_freed_memory, keep_objects, use_threads, wait_asleep
from .progress import be_quiet

if TYPE_CHECKING:
    from ..punctuator import Punctuator, PunctuatorConfig

Options = TypeVar("Options", bound=ModelOptions)
_HELP = help_of(StreamOptions) | help_of(TranscriptOptions)
_MOST_THREADS = 1024
_SETTING = re.compile(r"[a-z_]+=", flags=re.ASCII)

place = functools.partial(typer.Option, parser=named_place, metavar="PATH")  # where to write


def _option(name: str, *declarations: str, **more: Any) -> Any:
    """Return an option of typer, with the help that `t5punct/options.py` has for it."""
    return typer.Option(*declarations, help=_HELP[name], **more)


Model = Annotated[str | None, _option("model", show_default="large")]
StreamModel = Annotated[str, _option("model")]
Language = Annotated[str | None, _option("language", show_default="not needed")]
Precision = Annotated[str, _option("precision")]
Device = Annotated[str, _option("device")]
Style = Annotated[str | None, _option("style", show_default="the model's own; large: meeting")]
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
    typer.Argument(metavar="KEY=VALUE", show_default=False, help="Settings of the list below; see there."),
]
Config = Annotated[
    Path | None, typer.Option(show_default="none", help="A YAML file of settings, which KEY=VALUE changes.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Settings, as docs/settings.md lists those of prepare and train; an unknown name is told the nearest.",
        show_default=False,
    ),
]


def is_setting(word: str) -> bool:
    """Return whether a word of the command line reads `key=value`, and is no file of that name.

    >>> is_setting("beams=4"), is_setting("./beams=4"), is_setting("talk.txt")
    (True, False, False)
    """
    return _SETTING.match(word) is not None and not os.path.exists(word)  # noqa: PTH110  # Path raises for long names


def typed_options(context: typer.Context) -> dict[str, str]:
    """Return the options that were typed, by their names, as the command line spells them."""
    typed = {str(parameter.name): parameter.opts[-1] for parameter in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in typed}
    return {name: typed[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def read_options(kind: type[Options], context: typer.Context, settings: Sequence[str] | None = None) -> Options:
    """Read the options of a command, from what was typed as `--key value` and as `key=value`.

    Raises ConfigError for an unknown setting, with the nearest ones, for one that is given twice, and for one that does
    nothing.
    """
    wait_asleep()  # before anything loads torch
    typed = typed_options(context)
    values = {name: context.params[name] for name in typed if name in names_of(kind)}
    for setting in settings or ():
        name, _, value = setting.partition("=")
        if not is_setting(setting):
            is_pipe = context.info_name == "stream"
            raise ConfigError(
                f"{setting} behind t5punct {context.info_name}",
                expected="options and KEY=VALUE alone" + (": it reads standard input" if is_pipe else ""),
                fix="say: t5punct stream < FILE" if is_pipe else f"see t5punct {context.info_name} --help",
            )
        if name not in names_of(kind):
            nearest = ", ".join(nearest_keys(name, kind)[:5])
            raise ConfigError(
                f"unknown setting {name!r}",
                expected=f"one like {nearest}",
                fix=f"see t5punct {context.info_name} --help, or write ./{setting} for a file",
            )
        if name in values:
            raise ConfigError(f"{name} twice", expected="one value", fix=f"drop {setting}")
        typed[name], values[name] = setting, value
    options = load(kind, current=values)
    check_needs(typed, {**context.params, **asdict(options)})
    return options.for_language()


def load_punctuator(options: ModelOptions, config: PunctuatorConfig) -> Punctuator:
    """Load the model that the options name, and return a punctuator with `config`."""
    check_range(options, "", 1, "threads", most=_MOST_THREADS)
    from ..punctuator import Punctuator

    keep_freed_memory()
    use_threads(options.threads)
    punctuator = Punctuator.from_pretrained(options.model, config, revision=options.revision)
    keep_objects()
    return punctuator


def silence_bars() -> None:
    """Show no progress bars while a model is loaded or saved."""
    from transformers.utils import logging

    logging.disable_progress_bar()
