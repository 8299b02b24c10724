"""Plain text, and texts of which each line stands alone: a file is its items, one after the other.

In: the lines of a file, with their ends.  Out: items, lazily, so that memory does not grow with the file.

>>> from .items import SpokenWord
>>> [item.raw for item in read_plain(["how are\\n", "you"]) if isinstance(item, SpokenWord)]
['how', 'are', 'you']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..text.marks import Alphabet
from .items import Cue, Item, Kept
from .speech import is_time, read_line


def read_plain(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read plain text; line ends and empty lines are white space between words."""
    for line in lines:
        if is_time(line):
            yield Kept(line)
        else:
            yield from read_line(line, alphabet=alphabet)


def read_utterances(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read plain text of which each line is a text of its own."""
    for number, line in enumerate(lines):
        yield Kept("", breaks=True)
        if is_time(line):
            yield Kept(line)
        else:
            yield from read_line(line, alphabet=alphabet, cue=Cue(number))
