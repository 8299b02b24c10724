"""How a command shows its help, and which of its options do nothing without another one: whoever types one is told.

In: the options that were typed, and the values of all.  Out: plain help in groups, one of which has the options with
`rich_help_panel=EXPERT`; for an option in vain a ConfigError that says what is missing.

`app.command(cls=CheckedCommand, epilog="t5punct presets")(presets)` shows `t5punct presets` under `Example:`;
`t5punct punctuate talk.txt --beams 4` is refused, since only `--decoder generate` has beams.
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import ConfigError
from .progress import be_quiet

EXPERT = "Expert options"
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors: no bar, no notes, no warnings.")]
Values = Mapping[str, Any]  # values by the names of a command's parameters


@dataclass(frozen=True)
class Need:
    """Options by their parameters, what they need in the words of the command line, and whether it is there."""

    options: tuple[str, ...]
    needed: str
    is_met: Callable[[Values], bool]


def _written_as(values: Values) -> str | None:
    """The format that is written, as far as it is asked for: by an option, or by the name of the output."""
    from ..transcripts.writers import format_named_by  # only now: no help waits for it

    return "json" if values["as_json"] else values["to"] or format_named_by(values.get("output"))


_WINDOWED = "--policy fixed, entropy or sentence"
NEEDS = (
    Need(("beams", "min_alignment"), "--decoder generate", lambda values: values["decoder"] == "generate"),
    Need(("tagger_share",), "--decoder slots", lambda values: values["decoder"] == "slots"),
    Need(("mark_odds",), "--decoder slots or tagger", lambda values: values["decoder"] != "generate"),
    # the tagger writes one mark after a word
    Need(("max_marks",), "--decoder slots or generate", lambda g: g["decoder"] != "tagger" or g["max_marks"] <= 1),
    Need(("max_marks",), _WINDOWED, lambda g: g.get("policy") != "delay" or g["max_marks"] <= 1),
    Need(
        ("alternatives",),
        "--json, --html or --to html",
        lambda values: values["html"] or _written_as(values) in ("json", "html"),
    ),
    Need(
        ("paragraphs", "paragraph_pause_ms"),
        "--to text, --to html or --html",
        lambda values: values["html"] or _written_as(values) in (None, "text", "html"),
    ),
    Need(("resegment",), "--to srt, vtt or ass", lambda values: _written_as(values) in ("srt", "vtt", "ass")),
    Need(
        (
            "max_chars",
            "max_lines",
            "max_duration_ms",
            "min_duration_ms",
            "max_chars_per_second",
            "max_words_per_minute",
        ),
        "--resegment",
        lambda values: values["resegment"],
    ),
    Need(("keep_case",), "capitals (no --no-case)", lambda values: not values["no_case"]),
    Need(("overwrite", "ray"), "--output-dir", lambda values: values["output_dir"]),
    Need(("ray_workers",), "--ray", lambda values: values["ray"]),
    Need(("lookahead",), "--policy fixed or delay", lambda values: values["policy"] in ("fixed", "delay")),
    Need(("l_min", "l_max", "threshold"), "--policy entropy", lambda values: values["policy"] == "entropy"),
    Need(("every", "after"), "--policy sentence", lambda values: values["policy"] == "sentence"),
    # with a delay no window is read, and the tagger decides
    Need(("window", "tagger_share"), _WINDOWED, lambda values: values.get("policy") != "delay"),
    Need(("decoder",), _WINDOWED, lambda values: values.get("policy") != "delay" or values["decoder"] != "slots"),
    Need(("tagger_share",), "--decide seq2seq", lambda values: values.get("decide") != "classify"),
    Need(("provisional",), "--json", lambda values: values["as_json"]),
    Need(("private",), "--push-to-hub", lambda values: values["push_to_hub"]),
)


def check_needs(typed: Mapping[str, str], values: Values) -> None:
    """Raise ConfigError for an option that does nothing; `typed`: parameters, and how the command line spells them.

    Defaults and values of files are no reason: nobody expects something of them.
    """
    for need in NEEDS:
        for name in need.options:
            if name in typed and not need.is_met(values):
                raise ConfigError(
                    f"{typed[name]}, which does nothing here",
                    expected=f"{need.needed} with it",
                    fix=f"add that, or drop {typed[name]}",
                )


class CheckedCommand(TyperCommand):
    """A command that refuses options which would do nothing, and whose help has a section for each group of options.

    Its epilog is an example, shown as it is.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments.  Raises ConfigError for more of them than the command takes, such as a file for `stream`."""
        ctx.allow_extra_args = True  # else typer refuses them, and says no more than that
        more: list[str] = super().parse_args(ctx, args)
        if more and not ctx.resilient_parsing:
            reads_pipe = ctx.info_name == "stream"
            raise ConfigError(
                f"{shlex.join(more)} behind t5punct {ctx.info_name}",
                expected="options alone: it reads standard input" if reads_pipe else "fewer arguments",
                fix="say: t5punct stream < FILE" if reads_pipe else f"see t5punct {ctx.info_name} --help",
            )
        return more

    def invoke(self, ctx: Any) -> Any:
        typed = [
            parameter for parameter in self.params if ctx.get_parameter_source(parameter.name).name == "COMMANDLINE"
        ]
        check_needs({str(parameter.name): parameter.opts[-1] for parameter in typed}, ctx.params)
        return super().invoke(ctx)

    # `context` and `formatter` are click's, which some versions of typer bring along themselves
    def format_options(self, ctx: Any, formatter: Any) -> None:
        parameters = self.get_params(ctx)
        has_experts = any(_panel(parameter) for parameter in parameters)
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in parameters:
            is_option = parameter.param_type_name == "option"
            usual = ("Common options" if has_experts else "Options") if is_option else "Arguments"
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(_panel(parameter) or usual, []).append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Example"):
            for line in (self.epilog or "").splitlines():
                formatter.write(" " * formatter.current_indent + line + "\n")


def with_quiet_option(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has `--quiet` behind its own options."""
    hints = get_type_hints(command, include_extras=True) | {"quiet": Quiet}
    own = inspect.signature(command).parameters.values()
    quiet = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Quiet)

    @functools.wraps(command)
    def wrapped(*args: Any, quiet: bool, **values: Any) -> None:
        if quiet:
            be_quiet()
        command(*args, **values)

    annotated = [parameter.replace(annotation=hints[parameter.name]) for parameter in own]
    wrapped.__signature__ = inspect.Signature([*annotated, quiet])  # type: ignore[attr-defined]
    wrapped.__annotations__ = hints
    del wrapped.__wrapped__  # type: ignore[attr-defined]  # inspect would follow it to the unchanged signature
    return wrapped


class CommandGroup(TyperGroup):
    """The commands.  A file, or a text, in the place of one is told how it is punctuated."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        is_text = len(name.split()) > 1
        if self.get_command(ctx, name) is None and (is_text or Path(name).suffix or Path(name).exists()):
            said = (
                f"echo {shlex.quote(name)} | t5punct punctuate" if is_text else f"t5punct punctuate {shlex.join(args)}"
            )
            raise ConfigError(f"no command {name!r}", expected="one before a text or a file", fix=f"say: {said}")
        return super().resolve_command(ctx, args)


def _panel(parameter: Any) -> str | None:
    """The group that a parameter names."""
    return getattr(parameter, "rich_help_panel", None)
