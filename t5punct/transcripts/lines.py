"""Formats whose words stand in the order in which they were spoken: a file is its items, one after the other.

In: the lines of a file, with their ends.  Out: items, lazily, so that memory does not grow with the file.

>>> [item.raw for item in plain(["how are\\n", "you"]) if isinstance(item, SpokenWord)]
['how', 'are', 'you']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..text.marks import Alphabet
from ..text.words import words_of
from .items import Cue, Item, Kept, Role, SpokenWord
from .speech import is_sound, is_time, speech, timed

_FIELD = re.compile(r"\S+")
_WORD_COLUMNS, _TEXT_COLUMN = ("word", "token"), "text"
_MS = 1000


def plain(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Plain text; line ends and empty lines are white space between words."""
    for line in lines:
        if is_time(line):
            yield Kept(line)
        else:
            yield from speech(line, alphabet=alphabet)


def utterances(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Plain text of which each line is a text of its own."""
    for number, line in enumerate(lines):
        yield Kept("", breaks=True)
        if is_time(line):
            yield Kept(line)
        else:
            yield from speech(line, alphabet=alphabet, cue=Cue(number))


def ctm(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """NIST's CTM: lines of file, channel, start, duration (in seconds), word and more; `;;` opens a comment."""
    before = None
    for line in lines:
        fields = list(_FIELD.finditer(line))
        times = [_seconds_ms(field[0]) for field in fields[2:4]]
        if line.startswith(";;") or len(fields) < 5 or None in times:
            yield Kept(line)
            continue
        start_ms, duration_ms = (time or 0 for time in times)
        source = (fields[0][0], fields[1][0])
        yield Kept("", breaks=source != before)
        before = source
        yield from _cell(line, fields[4].start(), fields[4].end(), start_ms, start_ms + duration_ms, alphabet, True)


def table(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Tab-separated values.

    With a header: a column `word` or `token`, and `start` and `end` in seconds if there are such; or a column `text`
    of segments, with `start` and `end` in ms, as Whisper has it.  Without: the word, and start and end if these are
    numbers.
    """
    names: list[str] | None = None
    for number, line in enumerate(lines):
        cells = list(re.finditer(r"[^\t\r\n]+|(?<=\t)(?=\t)|^(?=\t)", line))
        if not number:
            header = [cell[0].strip().lower() for cell in cells]
            if {*_WORD_COLUMNS, _TEXT_COLUMN} & {*header}:
                names = header
                yield Kept(line)
                continue
        yield from _row(line, cells, names or ["word", "start", "end"], number, alphabet)


def _row(
    line: str, cells: list[re.Match[str]], names: list[str], number: int, alphabet: Alphabet | None
) -> Iterator[Item]:
    found = dict(zip(names, cells, strict=False))
    is_segment = _TEXT_COLUMN in found
    cell = found.get(_TEXT_COLUMN) or next((found[name] for name in _WORD_COLUMNS if name in found), None)
    if cell is None or not cell[0].strip():
        yield Kept(line)
        return
    scale = 1 if is_segment else _MS
    start_ms, end_ms = (_seconds_ms(found[name][0], scale) if name in found else None for name in ("start", "end"))
    if is_segment:
        yield Kept(line[: cell.start()])
        cue = Cue(number, start_ms, end_ms)
        yield from timed(speech(cell[0], alphabet=alphabet, cue=cue), cue)
        yield Kept(line[cell.end() :])
    else:
        yield from _cell(line, cell.start(), cell.end(), start_ms, end_ms, alphabet)


def _cell(
    line: str,
    start: int,
    stop: int,
    start_ms: int | None,
    end_ms: int | None,
    alphabet: Alphabet | None,
    in_field: bool = False,
) -> Iterator[Item]:
    """The items of a line with words in `start:stop`."""
    lead = len(line[start:stop]) - len(line[start:stop].lstrip())
    yield Kept(line[: start + lead])
    if is_sound(sound := line[start + lead : stop].rstrip()):  # it may be heard inside a sentence
        yield Kept(sound, role=Role.DIRECTION)
        yield Kept(line[start + lead + len(sound) :])
        return
    for word in words_of(line[start:stop], alphabet, opens_line=False):
        yield SpokenWord(word, word.space, start_ms=start_ms, end_ms=end_ms, in_field=in_field)
    yield Kept(line[stop:])


def _seconds_ms(text: str, scale: int = _MS) -> int | None:
    try:
        return round(scale * float(text))
    except (ValueError, OverflowError):
        return None
