"""Speech -> items: words, and the speaker labels and stage directions between them.

In: a line, the text of a cue, or the lines of a plain text with their ends.  Out: items.

>>> items = read_line("JOHN: how are [laughs] you\\n")
>>> [item.text if isinstance(item, Kept) else item.word.text for item in items]
['JOHN: ', 'how', 'are', '[laughs] ', 'you']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeVar

from ..text.marks import Alphabet
from ..text.words import ALL_MARKS, lead_of, words_of
from .items import Cue, Item, Kept, Role, SpokenWord
from .markup import Markup, remove_tags

_Item = TypeVar("_Item", bound=Item)
_TIME = r"\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?"
_BRACKETED = rf"\[{_TIME}(?:\s*(?:-->|[-–—])\s*{_TIME})?\]|\({_TIME}\)"
_CAPITAL = "[" + "".join(char for char in map(chr, range(0x530)) if char.isupper()) + "]"  # Latin, Greek, Cyrillic
_NAME = rf"(?-i:{_CAPITAL}[\w.'’-]*(?:\ (?:{_CAPITAL}[\w.'’-]*|\d{{1,3}}|&|and|of|de|del|der|di|van|von)){{0,3}})"
_LABEL = re.compile(  # who speaks, at the start of a line
    rf"""\s*(?:(?:{_BRACKETED})\s*)?(?:
        >{{2,}}(?:\s*[^\W\d_][\w.'’ -]{{0,40}}:(?=\s|$)|(?=[\s\w]|$))  # >> or >> JOHN:
      | [\[(]?(?:speaker|spk)[ _]?\w{{1,3}}[\])]?:(?=\s|$)           # Speaker 1: or [SPEAKER_00]:
      | (?-i:[A-Z][A-Z0-9.&'’ -]{{0,30}}:)(?=\s|$)                    # THE MAN IN THE RED COAT:
      | (?=[^:\n]{{1,44}}:){_NAME}(?:\ \([^():]{{1,12}}\))?:(?=\s|$)   # Jane Doe: or DR. SMITH (V.O.):
      | (?=[^:\n]{{1,44}}:){_NAME}\ \({_TIME}\):?(?=\s|$)              # Jane Doe (00:03):
      | (?=[^:\n]{{1,44}}:){_NAME}\s{{2,}}{_TIME}(?=\s*$)              # Jane Doe  0:03
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_TIME_LINE = re.compile(rf"\s*{_TIME}\s*\n")  # what YouTube shows beside a video has such; `10:30` alone may be said
_DASH = re.compile(r"\s*[-–—]\s+(?=\S)|\s*[-–—](?=[^\W\d_])")  # another speaker, at the start of a subtitle's line
_HEARD = (
    "applause|applauding|cheering|cheers|laughter|laughs|laughing|laugh|chuckles|chuckling|music|silence|pause|"
    "sighs|coughs|coughing|clears throat|whispers|gasps|sobs|crying|noise|bell rings|video plays|end of recording"
)
_UNHEARD = "inaudible|unintelligible|indiscernible|indistinct|crosstalk|foreign|blank_audio"
_DIRECTION = re.compile(
    rf"(?<!\S)(?:\[[^\W\d_][^\[\]]{{0,60}}\]|\((?:{_HEARD}|{_UNHEARD})\)|(?P<time>{_BRACKETED})|[♪♫]+[{re.escape(ALL_MARKS.characters)}]*)(?!\S)\s*",
    re.IGNORECASE,
)
_IS_UNHEARD = re.compile(rf"[\[(](?:{_UNHEARD})\b", re.IGNORECASE)


def read_plain(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read plain text; line ends and empty lines are white space between words."""
    for line in lines:
        if _TIME_LINE.fullmatch(line):
            yield Kept(line)
        else:
            yield from read_line(line, alphabet=alphabet)


def read_utterances(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read plain text of which each line is a text of its own."""
    for number, line in enumerate(lines):
        yield Kept("", breaks=True)
        if _TIME_LINE.fullmatch(line):
            yield Kept(line)
        else:
            yield from read_line(line, alphabet=alphabet, cue=Cue(number))


def read_line(
    line: str,
    *,
    alphabet: Alphabet | None = None,
    cue: Cue | None = None,
    markup: re.Pattern[str] | None = None,
    dashes: bool = False,
    labels: bool = True,
) -> Iterator[Item]:
    """Yield the items of one line.

    `markup`: the pattern of tags, as in markup.py; `dashes`: whether a dash that opens the line is another speaker, as
    in subtitles; `labels`: whether speaker labels are looked for.
    """
    seen = remove_tags(line, markup) if markup is not None and markup.search(line) else None
    text, cut = (line, int) if seen is None else (seen.text, seen.cut)  # labels are looked for without tags
    label = (labels and _LABEL.match(text)) or (dashes and _DASH.match(text))
    begin = cut(label.end()) if label else 0
    if label:
        yield _kept(line[:begin], label[0], Role.SPEAKER, cue)
    opens_line = not label
    for match in _DIRECTION.finditer(text, label.end() if label else 0):
        start, stop = cut(match.start()), cut(match.end())
        yield from _words(line[begin:start], alphabet, cue, markup, opens_line)
        role = Role.LAYOUT if match["time"] else Role.DIRECTION
        # what was said but not understood is part of its sentence
        breaks = role is Role.DIRECTION and _IS_UNHEARD.match(match[0]) is None
        yield _kept(line[start:stop], match[0], role, cue, breaks=breaks)
        begin, opens_line = stop, opens_line and role is Role.LAYOUT and not line[:start].strip()
    yield from _words(line[begin:], alphabet, cue, markup, opens_line)


def _kept(raw: str, text: str, role: Role, cue: Cue | None, *, breaks: bool = True) -> Kept:
    return Kept(raw, breaks, role, "" if text == raw else text, cue)


def _words(
    raw: str, alphabet: Alphabet | None, cue: Cue | None, markup: re.Pattern[str] | None, opens_line: bool
) -> Iterator[Item]:
    if markup is None or not markup.search(raw):
        if lead := lead_of(raw):
            yield Kept(lead)
        for word in words_of(raw, alphabet, opens_line=opens_line):
            yield SpokenWord(word, word.space, cue=cue)
        return
    bare_text = remove_tags(raw, markup)
    words = list(words_of(bare_text.text, alphabet, opens_line=opens_line))
    starts = list(accumulate((len(word.raw) + len(word.space) for word in words), initial=len(lead_of(bare_text.text))))
    begins = [bare_text.starts[start] for start in starts[: len(words)]] + [len(raw)]
    if raw[: begins[0]]:
        yield Kept(raw[: begins[0]])
    for word, start, following in zip(words, starts, begins[1:], strict=False):
        stop = start + len(word.raw)
        yield SpokenWord(word, raw[bare_text.ends[stop - 1] : following], Markup.of(bare_text, start, stop), cue)


def set_cue_times(items: Iterable[_Item], cue: Cue) -> Iterator[_Item]:
    """Return the items of a cue, whose first word begins with the cue and whose last word ends with it."""
    timed_items: list[Any] = list(items)
    places = [place for place, item in enumerate(timed_items) if isinstance(item, SpokenWord)]
    if places:
        timed_items[places[0]] = replace(timed_items[places[0]], start_ms=cue.start_ms)
        timed_items[places[-1]] = replace(timed_items[places[-1]], end_ms=cue.end_ms)
    return iter(timed_items)
