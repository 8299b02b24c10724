"""`t5punct presets`: the named window strategies, and one of them to copy and change.

In: a name, or none.  Out: a table of values; of one, the YAML that `--preset FILE.yaml` reads.

`t5punct presets mask-combine-4 > mine.yaml` writes a strategy down; edit it, then `--preset mine.yaml`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ..config import as_yaml
from ..windows.presets import FAMILIES, list_presets, load_preset


def presets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", show_default="list all", help="Print this one as YAML.")
    ] = None,
) -> None:
    """List the window strategies with their values, in words."""
    if name is not None:
        typer.echo(as_yaml(load_preset(name)), nl=False)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table

    columns = [Column(title, justify="right") for title in ("window", "stride", "mask\nleft", "mask\nright", "lead-in")]
    table = Table(
        Column("preset", no_wrap=True),
        *columns,
        Column("reads\na word", justify="right"),
        Column("combine", no_wrap=True),
        box=SIMPLE_HEAD,
        padding=0,
    )
    for title, preset in list_presets().items():
        windows, combine = preset.windows, preset.combine
        numbers = (windows.window, windows.stride_words, windows.mask_left, windows.mask_right, windows.lead_in)
        method = f"{combine.method} > {combine.threshold}" if combine.method == "vote" else combine.method
        table.add_row(title, *map(str, numbers), f"{windows.window / windows.stride_words:.1f} x", method)
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"{', '.join(FAMILIES)} take any number: mask-combine-3 has three votes a slot, realtime-2 sees 2 words on."
    )
