"""`t5punct models` and `t5punct presets`: what there is to choose from.

In: nothing, or the name of a preset.  Out: a table; of one preset, the YAML that `--preset FILE.yaml` reads.

`t5punct presets mask-combine-4 > mine.yaml` writes a strategy down; edit it, then `--preset mine.yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..config import as_yaml
from ..model import BUNDLED, MODEL_LANGUAGES, bundled_folder
from ..windows.presets import FAMILIES, list_presets, load_preset
from .parameters import Quiet

_USES = {
    "large": "English, the best marks",
    "base": "English, live; the default of stream",
    "small": "English, many files or streams",
    "multi": "nine languages",
}
WORDS_A_SECOND = {"large": 2000, "base": 3100, "small": 6200, "multi": 3900}  # two CPU cores, docs/results/speed.md


def models(quiet: Quiet = False) -> None:
    """List the models that come along: languages, speed, size."""
    rows = [("model", "take it for", "words/s", "MB", "languages")]
    for name, languages in MODEL_LANGUAGES.items():
        size = sum(path.stat().st_size for path in bundled_folder(name).iterdir() if path.is_file())
        marked_name = f"{name} *" if name == BUNDLED else name
        rows.append((marked_name, _USES[name], f"{WORDS_A_SECOND[name]:,}", f"{size / 1e6:.0f}", " ".join(languages)))
    _print_table(rows)
    typer.echo("* the default.  Give a name by --model, or --language de.  Speed is that of two CPU cores.")
    typer.echo("A model of your own is a folder: --model runs/mine")


def presets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", show_default="list all", help="Print this one as YAML.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """List the ways to cut a text into windows, in numbers of words."""
    if name is not None:
        typer.echo(as_yaml(load_preset(name)), nl=False)
        return
    rows = [["preset", "window", "stride", "mask left", "right", "lead-in", "reads", "combine"]]
    for title, preset in list_presets().items():
        windows = preset.windows
        words = (windows.window, windows.stride_words, windows.mask_left, windows.mask_right, windows.lead_in)
        method = preset.combine.method
        if method == "vote":
            method = f"vote > {preset.combine.threshold}"
        rows.append([title, *map(str, words), f"{windows.window / windows.stride_words:.1f}x", method])
    _print_table(rows)
    typer.echo(f"{', '.join(FAMILIES)} take any number:")
    typer.echo("mask-combine-3 has three votes a slot, realtime-2 sees 2 words on.")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
