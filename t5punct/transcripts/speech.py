"""Speech -> items: words, and the speaker labels and stage directions between them.

In: a line, the text of a cue, or the lines of a plain text with their ends.  Out: items.

>>> items = read_line("JOHN: how are [laughs] you\\n")
>>> [item.text if isinstance(item, Kept) else item.word.text for item in items]
['JOHN: ', 'how', 'are', '[laughs] ', 'you']
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain

from ..text.marks import DASH_APART, OPENING, Alphabet
from ..text.words import ALL_MARKS, OPENERS, lead_of, opening_apart, words_of
from .heads import BRACKETED, Heads, label_of, speaker_of
from .items import Cue, Item, Kept, Role, SpokenWord
from .markup import HTML_BLOCKS, HTML_TAGS, has_html, markdown_lines

TAGS = re.compile(r"(?P<tag><[^<>]*>|\{\\[^{}]*\})|(?P<entity>&(?:#\d+|#x[0-9a-fA-F]+|\w+);)")  # of SRT and WebVTT
DOUBLED_QUOTES = re.compile(r'(?P<tag>(?!))|(?P<entity>"")')  # of a quoted cell in CSV
OVERRIDES = re.compile(r"(?P<tag>\{[^{}]*\})|(?P<entity>(?!))")  # of ASS
_DASH = re.compile(r"\s*[-–—]\s+(?=\S)|\s*[-–—](?=[^\W\d_])")  # another speaker, at the start of a subtitle's line
_HEARD = (
    "applause|applauding|cheering|cheers|laughter|laughs|laughing|laugh|chuckles|chuckling|music|silence|pause|"
    "sighs|coughs|coughing|clears throat|whispers|gasps|sobs|crying|noise|bell rings|video plays|end of recording"
)
_UNHEARD = "inaudible|unintelligible|indiscernible|indistinct|crosstalk|foreign|blank_audio"
_DIRECTION = re.compile(
    rf"(?<!\S)(?:\[[^\W\d_][^\[\]]{{0,60}}\]|\((?:{_HEARD}|{_UNHEARD})\)|(?P<time>{BRACKETED})|[♪♫]+[{re.escape(ALL_MARKS.characters)}]*)(?!\S)\s*",
    re.IGNORECASE,
)
_IS_UNHEARD = re.compile(rf"[\[(](?:{_UNHEARD})\b", re.IGNORECASE)


def read_plain(lines: Iterable[str], alphabet: Alphabet | None = None, *, are_apart: bool = False) -> Iterator[Item]:
    """Read plain text; line ends and empty lines are white space between words.

    What opens lines and is not said is kept: ids, times, speakers' labels (`heads.py`); and headings, tables, code and
    tags (`markup.py`).  `are_apart`: no sentence goes on from one line to the next.
    """
    left = [*lines]
    layout = markdown_lines(left)
    tags = HTML_TAGS if has_html(left) else None
    heads = Heads.of([line for index, line in enumerate(left) if index not in layout] if layout else left)
    group = ""
    left.reverse()
    items = list[Item]()
    for number in range(len(left)):
        line = left.pop()  # so that a long text is not held twice
        if number in layout:
            items.append(Kept(line, breaks=True))
            continue
        head = heads.head_of(line)
        if head.length or head.behind:
            is_other = bool(group) and head.group not in ("", group)
            group = head.group or group
            items.append(Kept(line[: head.length], breaks=is_other or head.begins))
        if are_apart:
            items.append(Kept("", breaks=True))
        cue = Cue(number) if are_apart else None
        stop = len(line) - head.behind
        said = line[head.length : stop]
        for piece in [said] if tags is None else filter(None, HTML_BLOCKS.split(said)):
            if tags and HTML_BLOCKS.fullmatch(piece):
                items.append(Kept(piece, breaks="<br" not in piece.lower()))
            else:
                items += read_line(piece, alphabet=alphabet, cue=cue, markup=tags, known_labels=heads.labels)
        if head.behind:
            items.append(Kept(line[stop:]))
    return join_same_speakers(items)


read_utterances = partial(read_plain, are_apart=True)  # of which each line is a text of its own


def join_same_speakers(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items; a label that says once more who speaks already ends no sentence, and is not shown elsewhere.

    >>> lines = ["Ann: so\\n", "Ann: what\\n", "Tom: yes\\n"]
    >>> [item.breaks for line in lines for item in join_same_speakers(read_line(line)) if isinstance(item, Kept)]
    [True, True, True]
    >>> [item.breaks for item in read_plain(lines) if isinstance(item, Kept)]
    [True, False, True]
    """
    speaker = ""
    for item in items:
        if isinstance(item, Kept) and item.role is Role.SPEAKER:
            before, speaker = speaker, speaker_of(item.bare or item.text)
            if speaker and speaker == before:
                yield replace(item, breaks=False, role=Role.LAYOUT)
                continue
        yield item


def read_line(
    line: str,
    *,
    alphabet: Alphabet | None = None,
    cue: Cue | None = None,
    markup: re.Pattern[str] | None = None,
    dashes: bool = False,
    labels: bool = True,
    known_labels: Container[str] = (),
) -> Iterator[Item]:
    """Yield the items of one line.

    `markup`: the pattern of tags, such as `TAGS`; `dashes`: whether a dash that opens the line is another speaker, as
    in subtitles; `labels`: whether speaker labels are looked for; `known_labels`: the file's own, beside what is
    certain by itself.
    """
    seen = remove_tags(line, markup) if markup is not None and markup.search(line) else None
    text, cut = (line, int) if seen is None else (seen.text, seen.cut)  # labels are looked for without tags
    label = (labels and label_of(text, known_labels)) or (dashes and _DASH.match(text))
    begin = cut(label.end()) if label else 0
    if label:
        bare = "" if label[0] == line[:begin] else label[0]
        yield Kept(line[:begin], True, Role.SPEAKER, bare, cue)
    opens_line = not label
    for match in _DIRECTION.finditer(text, label.end() if label else 0):
        start, stop = cut(match.start()), cut(match.end())
        yield from _words(line[begin:start], alphabet, cue, markup, opens_line)
        role = Role.LAYOUT if match["time"] else Role.DIRECTION
        # what was said but not understood is part of its sentence
        breaks = role is Role.DIRECTION and _IS_UNHEARD.match(match[0]) is None
        yield Kept(line[start:stop], breaks, role, "" if match[0] == line[start:stop] else match[0], cue)
        begin, opens_line = stop, opens_line and role is Role.LAYOUT and not line[:start].strip()
    yield from _words(line[begin:], alphabet, cue, markup, opens_line)


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


def set_cue_times(items: Iterable[Item], cue: Cue) -> list[Item]:
    """Return the items of a cue, whose first word begins with the cue and whose last word ends with it."""
    timed = list(items)
    indices = [index for index, item in enumerate(timed) if isinstance(item, SpokenWord)]
    for index, name, ms in (
        ((indices[0], "start_ms", cue.start_ms), (indices[-1], "end_ms", cue.end_ms)) if indices else ()
    ):
        timed[index] = replace(timed[index], **{name: ms})  # type: ignore[arg-type]
    return timed


@dataclass(frozen=True, slots=True)
class Bare:
    """Text without its tags.  Character i of it stands at `starts[i]:ends[i]` of `raw`; `&amp;` for `&`."""

    text: str
    raw: str
    starts: Sequence[int]
    ends: Sequence[int]

    def cut(self, index: int) -> int:
        """Return where `raw` is to be cut before a character of the text; tags stay with what is before them."""
        return self.starts[index] if index < len(self.text) else len(self.raw)


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
        """Return the markup without the word's opening mark, and with another one where the quotes before it end."""
        n_head, chars, carried = len(self.bare) - len(self.bare.lstrip(OPENERS)), list[tuple[str, str, str]](), ""
        for index, (char, spelled, tags) in enumerate(zip(self.bare, self.spelled, self.tags, strict=True)):
            carried += tags + opening * (index == n_head)
            if index >= n_head or char not in OPENING:
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
        entity = match["entity"] or ""
        char = '"' if entity == '""' else html.unescape(entity)
        if entity and len(char) != 1:
            continue  # no entity after all
        pieces += [raw[place : match.start()], char]
        starts.extend(chain(range(place, match.start()), [match.start()] * len(char)))
        ends.extend(chain(range(place + 1, match.start() + 1), [match.end()] * len(char)))
        place = match.end()
    starts.extend(range(place, len(raw)))
    ends.extend(range(place + 1, len(raw) + 1))
    return Bare("".join(pieces) + raw[place:], raw, starts, ends)
