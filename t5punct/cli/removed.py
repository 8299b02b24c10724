"""Words that were removed: how many, and which.

In: how often each word was removed.  Out: a line on standard error.

>>> summarise_removed({"um": 7, "i": 2}, 340)
'9 of 340 words removed: um 7, i 2'
"""

from __future__ import annotations

from collections.abc import Mapping

import typer

from ..text.render import REMOVE

_SHOWN_WORDS = 20


def report_removed(removed: Mapping[str, int], n_words: int, disfluencies: str) -> None:
    """Say which words were removed, where they are to be, even if none was."""
    if disfluencies == REMOVE:
        typer.echo(f"t5punct: {summarise_removed(removed, n_words)}", err=True)


def summarise_removed(removed: Mapping[str, int], n_words: int) -> str:
    """List the removed words, the most frequent first; of many, the first ones."""
    total, ordered = sum(removed.values()), sorted(removed.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{word} {count}" for word, count in ordered[:_SHOWN_WORDS])
    more = f", and {len(ordered) - _SHOWN_WORDS} others" if len(ordered) > _SHOWN_WORDS else ""
    return f"{total} of {n_words} words removed" + (f": {shown}{more}" if shown else "")
