"""Silences between the words of a transcript, for models that know of them.

In: items with times.  Out: items whose words say how long a silence follows.

>>> from ..text.words import Word
>>> items = [SpokenWord(Word("so"), end_ms=1000), SpokenWord(Word("what"), start_ms=1800)]
>>> [item.word.pause for item in add_pauses(items, [500, 2000]) if isinstance(item, SpokenWord)]
[1, 0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from .items import Item, SpokenWord


def add_pauses(items: Sequence[Item], pauses_ms: Sequence[int]) -> list[Item]:
    """Return items; each word says how many of these lengths the silence after it reaches."""
    paused, words = list(items), [(place, item) for place, item in enumerate(items) if isinstance(item, SpokenWord)]
    for (place, word), (_, following) in pairwise(words):
        if word.end_ms is not None and following.start_ms is not None:
            pause = pause_of(following.start_ms - word.end_ms, pauses_ms)
            paused[place] = replace(word, word=replace(word.word, pause=pause))
    return paused


def pause_of(silence_ms: int, pauses_ms: Sequence[int]) -> int:
    """Return how many of these lengths a silence reaches, which is what `Word.pause` holds.

    >>> [pause_of(silence_ms, (280, 900)) for silence_ms in (100, 280, 2000)]
    [0, 1, 2]
    """
    return sum(silence_ms >= least_ms for least_ms in pauses_ms)
