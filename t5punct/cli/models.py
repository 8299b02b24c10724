"""`t5punct models`: the models that ship with the package.

In: nothing.  Out: a table of their names, languages, speed and size.

`t5punct models` shows, among others, `small`, which is the fastest.
"""

from __future__ import annotations

import typer

from ..model import BUNDLED, MODEL_LANGUAGES, bundled_folder

_TAKEN_FOR = {
    "large": "English, the best marks",
    "base": "English, live; the default of stream",
    "small": "English, many files or streams",
    "multi": "nine languages",
}
WORDS_A_SECOND = {"large": 2000, "base": 3100, "small": 6200, "multi": 3900}  # two CPU cores, docs/results/speed.md


def models() -> None:
    """List the models that ship with t5punct: what they are for, size, speed and languages."""
    rows = [("model", "take it for", "words/s", "MB", "languages")]
    for name, languages in MODEL_LANGUAGES.items():
        size = sum(path.stat().st_size for path in bundled_folder(name).iterdir() if path.is_file())
        shown = f"{name} *" if name == BUNDLED else name
        rows.append((shown, _TAKEN_FOR[name], f"{WORDS_A_SECOND[name]:,}", f"{size / 1e6:.0f}", " ".join(languages)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    typer.echo("* the default.  Give a name by --model, or --language de.  Speed is that of two CPU cores.")
    typer.echo("A model of your own is a folder: --model runs/mine")
