"""Texts by chance, put together of parts: quick enough for a million files, and the same for the same seed.

>>> greeting = joined(("so", "we"), " ", repeated(("a", "b"), 3))
>>> greeting(Random(4))
'so ab'
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from strategies import DENSE, SPACES, TRICKY_WORDS

Draw = Callable[[Random], Any]
Part = str | Sequence[Any] | Draw  # a text, of several one, or what draws it


def draw(part: Part, rng: Random) -> Any:
    """Return a text as it is, one of several parts, or what a function draws."""
    if isinstance(part, str):
        return part
    return part(rng) if callable(part) else draw(rng.choice(part), rng)


def joined(*parts: Part) -> Draw:
    """Parts one after the other."""
    return lambda rng: "".join([draw(part, rng) for part in parts])


def repeated(part: Part, most: int, between: str = "", least: int = 0) -> Draw:
    """A part some times, drawn anew each time."""
    return lambda rng: between.join([draw(part, rng) for _ in range(rng.randint(least, most))])


def changed(part: Part, change: Callable[[str], str]) -> Draw:
    """A part that something is done to."""
    return lambda rng: change(draw(part, rng))


def _any_character(rng: Random) -> str:
    char = chr(rng.randrange(rng.choice((0x80, 0x3100, 0x110000))))
    return "\ufffd" if "\ud800" <= char <= "\udfff" else char


_any_word = changed(repeated(_any_character, 8, least=1), lambda text: "".join(text.split()) or "so")
_spaced = joined(("", *SPACES), repeated(joined((TRICKY_WORDS, _any_word), SPACES), 10))
# a few characters that meet in every way are worth more than all of Unicode meeting rarely
texts = (repeated(list(DENSE), 24), _spaced, repeated(_any_character, 30))
