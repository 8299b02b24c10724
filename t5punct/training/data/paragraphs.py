"""What one document of a text file is: a line, a paragraph of wrapped lines, or the whole file.

In: a text file's lines.  Out: documents.

>>> list(join_paragraphs(["He saw", "it.", "", "So did I."]))
['He saw it.', 'So did I.']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path

from ...text.io.files import read_lines

UNITS = ("auto", "line", "paragraph", "file")
_SEEN_LINES = 2000  # of a file, to tell whether its lines are wrapped
_FEWEST_LINES = 5
_WIDTHS = range(40, 161)  # characters; longer lines are documents, shorter ones lists
_SENTENCE_ENDS = tuple(".?!…\"'”’»)")


def text_documents(path: str | Path, unit: str) -> Iterator[str]:
    """Yield the documents of a text file; `auto` takes paragraphs where lines are wrapped, and lines elsewhere."""
    if unit == "auto":
        unit = "paragraph" if is_wrapped(islice(read_lines(path), _SEEN_LINES)) else "line"
    lines = read_lines(path)
    if unit == "file":
        text = " ".join(line.strip() for line in lines if line.strip())
        yield from [text] if text else []
    elif unit == "paragraph":
        yield from join_paragraphs(lines)
    else:
        yield from (line for line in lines if line.strip())


def join_paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that follow each other, as one; blank lines are between."""
    together: list[str] = []
    for line in lines:
        if line.strip():
            together.append(line.strip())
        elif together:
            yield " ".join(together)
            together = []
    if together:
        yield " ".join(together)


def is_wrapped(lines: Iterable[str]) -> bool:
    """Return whether lines are broken at a width, as in a book: the next line's first word would not have had room.

    In lines that are documents it often would, or they end where sentences end.
    """
    lines = [line.rstrip()[: _WIDTHS.stop] for line in lines]  # a long one is long, no matter how much
    lengths = sorted(len(line) for line in lines if line)
    inner = [(line, after.split()[0]) for line, after in pairwise(lines) if line.strip() and after.strip()]
    if len(inner) < _FEWEST_LINES:
        return False
    width = lengths[int(0.95 * len(lengths))]  # a few lines may be longer: titles, addresses
    n_full = sum(len(line) + 1 + len(word) > width for line, word in inner)
    n_ended = sum(line.endswith(_SENTENCE_ENDS) for line, _ in inner)
    return width in _WIDTHS and n_full >= 0.8 * len(inner) and n_ended <= 0.5 * len(inner)
