"""Silences between the words of a transcript, for models that know of them.

In: items with times.  Out: items whose words say whether a silence follows.

>>> from ..text.words import Word
>>> items = [SpokenWord(Word("so"), end_ms=1000), SpokenWord(Word("what"), start_ms=1800)]
>>> [item.word.pause for item in with_pauses(items, 500) if isinstance(item, SpokenWord)]
[True, False]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .items import Item, Kept, SpokenWord


def with_pauses(items: Iterable[Item], pause_ms: int) -> Iterator[Item]:
    """Items; each word that a silence of at least `pause_ms` follows says so."""
    held = list[Item]()  # a word, and what stands between it and the next
    for item in items:
        if isinstance(item, SpokenWord):
            yield from _silenced(held, item, pause_ms)
            held = []
        held.append(item)
    yield from held


def _silenced(held: list[Item], following: SpokenWord, pause_ms: int) -> list[Item]:
    if not held or isinstance(held[0], Kept) or held[0].end_ms is None or following.start_ms is None:
        return held
    pause = following.start_ms - held[0].end_ms >= pause_ms
    return [replace(held[0], word=replace(held[0].word, pause=pause)), *held[1:]]
