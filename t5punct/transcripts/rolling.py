"""Rolling captions, as YouTube makes them: each line is shown two or three times, and its words are read once.

In: the lines of a cue, as items.  Out: the same; words that the cue before has shown are `Echo`es.

The automatic captions of YouTube come as pairs of cues: in one a new line is built up, word by word with times, below
the line before; the next one, of 10 ms, shows the new line alone.  A file converted to SRT has the same cues without
the times of words.  People who say something twice have no cue of 10 ms for it, so their words stay words.

>>> from ..text.words import Word
>>> line, rolling = [SpokenWord(Word("so"))], Rolling()
>>> cues = Cue(0, 0, 1990), Cue(1, 1990, 2000)
>>> [type(item).__name__ for cue in cues for item in rolling.read_cue([line], cue)[0]]
['SpokenWord', 'Echo']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .items import ECHOED_WORDS, Cue, Echo, Item, Kept, Role, SpokenWord

_SHORT_MS = 50  # nobody can read a cue that is shown no longer
_GAP_MS = 50  # between cues that belong together


@dataclass(frozen=True, slots=True)
class _Line:
    """What a line shows, and which words of the transcript it has."""

    text: str
    places: tuple[int, ...]


class Rolling:
    """Goes along with the cues of a file."""

    def __init__(self) -> None:
        self._n_words = 0
        self._shown: list[_Line] = []
        self._end_ms: int | None = None
        self._was_short = False

    def read_cue(self, lines: Sequence[Sequence[Item]], cue: Cue, *, is_built_up: bool = False) -> list[list[Item]]:
        """Return the lines of the next cue.  `is_built_up`: whether it has times of words inside."""
        texts = [text for text in map(_text, lines) if text]
        left, kept_lines, now = self._n_repeated(texts, cue, is_built_up), list[list[Item]](), list[_Line]()
        repeated = iter(self._shown[len(self._shown) - left :])
        for line in lines:
            text = _text(line)
            if not text:
                kept_lines.append([*line])
            elif left:
                shown, left = next(repeated), left - 1
                kept_lines.append(_echo(line, shown))
                now.append(shown)
            else:
                n_words = sum(isinstance(item, SpokenWord) for item in line)
                now.append(_Line(text, tuple(range(self._n_words, self._n_words + n_words))))
                self._n_words += n_words
                kept_lines.append([*line])
        self._shown, self._end_ms, self._was_short = now, cue.end_ms, _is_short(cue)
        return kept_lines

    def _n_repeated(self, texts: Sequence[str], cue: Cue, is_built_up: bool) -> int:
        """How many of the first lines of a cue are the last ones of the cue before, shown once more."""
        if self._end_ms is None or cue.start_ms is None or abs(cue.start_ms - self._end_ms) > _GAP_MS:
            return 0
        before = [line.text for line in self._shown]
        n_repeated = next((n for n in range(min(len(texts), len(before)), 0, -1) if [*texts[:n]] == before[-n:]), 0)
        is_all = n_repeated == len(texts)
        is_rolling = self._was_short or (_is_short(cue) and is_all) or (is_built_up and not is_all)
        places = [place for line in self._shown for place in line.places]
        is_near = not places or self._n_words - places[0] < ECHOED_WORDS
        return n_repeated if is_rolling and is_near else 0


def _is_short(cue: Cue) -> bool:
    return cue.start_ms is not None and cue.end_ms is not None and cue.end_ms - cue.start_ms <= _SHORT_MS


def _text(line: Sequence[Item]) -> str:
    """What a reader sees of a line."""
    return " ".join(part for item in line if (part := item.shown if isinstance(item, Kept) else item.word.text.lower()))


def _echo(line: Sequence[Item], shown: _Line) -> list[Item]:
    places, echoed = iter(shown.places), list[Item]()
    for item in line:
        if isinstance(item, Kept):
            echoed.append(Kept(item.text, role=Role.LAYOUT))
        else:
            echoed.append(Echo(item.raw + item.after, spoken=item, place=next(places)))
    return echoed
