"""How a command reads its words and shows its help.

In: words of a command line.  Out: typed options, or a ConfigError that says what to write; plain help in groups.

`app.command(cls=CheckedCommand, epilog="t5punct presets")(presets)` shows `t5punct presets` under `Example:`.  Where
`context_settings={"obj": TranscriptOptions}` names a class of options, those that the command does not have as
`--key value` are listed as `key=value`.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from ..errors import ConfigError
from ..options import help_of, names_of


class CheckedCommand(TyperCommand):
    """A command with settings in its help, and with an example in its epilog.

    `ctx` and `formatter` are click's, which some versions of typer bring along themselves.
    """

    def __init__(self, *args: Any, **values: Any) -> None:
        super().__init__(*args, **values)
        self.settings_of: Any = self.context_settings.get("obj")

    def settings(self) -> list[str]:
        """Return the names of the settings that are no options of this command."""
        options = {parameter.name for parameter in self.params}
        return [name for name in names_of(self.settings_of) if name not in options] if self.settings_of else []

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments.  Raises ConfigError for a setting that is written as an option."""
        for place, word in enumerate(args):
            option, _, joined = word.partition("=")
            name = option.removeprefix("--").replace("-", "_")
            if option.startswith("--") and name in self.settings() and not ctx.resilient_parsing:
                is_flag = names_of(self.settings_of)[name] is False
                value = "true" if is_flag else joined or " ".join(args[place + 1 : place + 2])
                setting = shlex.join([f"{name}={value or 'VALUE'}"])
                raise ConfigError(f"{option}, which is a setting", expected=setting, fix=f"write that for {option}")
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Settings, as KEY=VALUE": []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                groups["Options" if parameter.param_type_name == "option" else "Arguments"].append(record)
        for name in self.settings():
            default = names_of(self.settings_of)[name]
            shown = name if default is None else f"{name}={str(default).lower()}"
            groups["Settings, as KEY=VALUE"].append((shown, help_of(self.settings_of)[name]))
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Example"):
            for line in (self.epilog or "").splitlines():
                formatter.write(" " * formatter.current_indent + line + "\n")


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
