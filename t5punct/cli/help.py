"""How `--help` is laid out: arguments, common options, expert options, an example.

In: a typer command; options with `rich_help_panel=EXPERT` are expert ones.  Out: plain help, in groups.

`app.command(cls=GroupedCommand, epilog="t5punct presets")(presets)` shows `t5punct presets` under `Example:`.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

EXPERT = "Expert options"


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each group of options; its epilog is an example, shown as it is."""

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


def _panel(parameter: Any) -> str | None:
    """The group that a parameter names."""
    return getattr(parameter, "rich_help_panel", None)
