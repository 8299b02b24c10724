"""Tags and entities inside text: read without them, written with them.

In: a piece of a file, and the pattern of its tags.  Out: the bare text, and where the file has each character.

>>> bare_text = remove_tags("<i>AT&amp;T</i> is", TAGS)
>>> bare_text.text, bare_text.raw[bare_text.starts[0] : bare_text.ends[3]]
('AT&T is', 'AT&amp;T')
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from ..text.marks import DASH_APART, OPENING
from ..text.words import OPENERS, opening_apart

TAGS = re.compile(r"(?P<tag><[^<>]*>|\{\\[^{}]*\})|(?P<entity>&(?:#\d+|#x[0-9a-fA-F]+|\w+);)")  # of SRT and WebVTT
OVERRIDES = re.compile(r"(?P<tag>\{[^{}]*\})|(?P<entity>(?!))")  # of ASS


@dataclass(frozen=True, slots=True)
class Bare:
    """Text without its tags.  Character i of it stands at `starts[i]:ends[i]` of `raw`; `&amp;` for `&`."""

    text: str
    raw: str
    starts: Sequence[int]
    ends: Sequence[int]

    def cut(self, place: int) -> int:
        """Return where `raw` is to be cut before a character of the text; tags stay with what is before them."""
        return self.starts[place] if place < len(self.text) else len(self.raw)


@dataclass(frozen=True, slots=True)
class Markup:
    """A word's characters as the file has them, and the tags before each."""

    bare: str
    spelled: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def of(cls, bare_text: Bare, start: int, stop: int) -> Markup | None:
        """Return the markup of the word at `start:stop`; None where it has none."""
        places = range(start, stop)
        spelled = tuple(bare_text.raw[bare_text.starts[place] : bare_text.ends[place]] for place in places)
        tags = tuple(bare_text.raw[bare_text.ends[place - 1] : bare_text.starts[place]] for place in places[1:])
        text = bare_text.text[start:stop]
        return cls(text, spelled, ("", *tags)) if any(tags) or "".join(spelled) != text else None

    @property
    def raw(self) -> str:
        """The word with its tags."""
        return "".join(tags + char for tags, char in zip(self.tags, self.spelled, strict=True))

    def around(self, text: str, n_stem: int, n_closers: int) -> str:
        """Return a word written anew, with its tags.

        Its first `n_stem` characters are the word's; marks follow them, then `n_closers` closing quotes or brackets,
        each behind its own tags.
        """
        (said, opening), (own, had) = opening_apart(text), opening_apart(self.bare)
        n_said = n_stem - len(had)
        if text[:n_stem] != self.bare[:n_stem] and opening != had and said[:n_said].lower() == own[:n_said].lower():
            return self._reopened(opening).around(said, n_said, n_closers)
        if text[:n_stem].lower() != self.bare[:n_stem].lower():  # a term of the user's, with other letters
            return text + "".join(self.tags)
        stem = zip(self.tags, self.spelled, text[:n_stem], self.bare, strict=False)
        letters = "".join(tags + (spelled if new == old else new) for tags, spelled, new, old in stem)
        return letters + self._tail(text[n_stem:], n_stem, n_closers)

    def _reopened(self, opening: str) -> Markup:
        """The markup without the word's opening mark, and with another one where the quotes before it end."""
        n_head, chars, carried = len(self.bare) - len(self.bare.lstrip(OPENERS)), list[tuple[str, str, str]](), ""
        for place, (char, spelled, tags) in enumerate(zip(self.bare, self.spelled, self.tags, strict=True)):
            carried += tags + opening * (place == n_head)
            if place >= n_head or char not in OPENING:
                chars.append((char, spelled, carried))
                carried = ""
        bare, spelled_chars, all_tags = zip(*chars, strict=True)
        return Markup("".join(bare), spelled_chars, all_tags)

    def _tail(self, text: str, n_stem: int, n_closers: int) -> str:
        """Marks and closers written anew."""
        old = [*zip(self.tags, self.spelled, self.bare, strict=True)][n_stem:]
        if text == self.bare[n_stem:]:
            return "".join(tags + spelled for tags, spelled, _ in old)
        place = len(text.partition(DASH_APART)[0] if n_closers else text)
        begin = place - n_closers
        pieces = [text[:begin]]
        for tags, spelled, char in old:  # closers may stand before marks and behind them
            is_closer = begin < place and text[begin] == char
            pieces.append(tags + spelled * is_closer)
            begin += is_closer
        return "".join(pieces) + text[begin:]


def remove_tags(raw: str, pattern: re.Pattern[str]) -> Bare:
    """Take the tags out of a text.  `pattern` has the groups `tag` and `entity`."""
    pieces, starts, ends, place = list[str](), array("q"), array("q"), 0  # a line may have millions of characters
    for match in pattern.finditer(raw):
        char = html.unescape(match["entity"]) if match["entity"] else ""
        if match["entity"] and len(char) != 1:
            continue  # no entity after all
        pieces += [raw[place : match.start()], char]
        starts.extend(chain(range(place, match.start()), [match.start()] * len(char)))
        ends.extend(chain(range(place + 1, match.start() + 1), [match.end()] * len(char)))
        place = match.end()
    starts.extend(range(place, len(raw)))
    ends.extend(range(place + 1, len(raw) + 1))
    return Bare("".join(pieces) + raw[place:], raw, starts, ends)
