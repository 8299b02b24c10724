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

from ..text.marks import DASH_APART, OPENING, Alphabet
from ..text.words import ALL_MARKS, OPENERS, lead_of, opening_apart, words_of
from .heads import BRACKETED, Heads, label_of, speaker_of
from .items import Cue, Item, Kept, Role, SpokenWord
from .markup import HTML_BLOCKS, HTML_TAGS, has_html, layout_lines

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
_IN_BRACKETS = re.compile(r"\s*(?P<time>(?!))?\([^\W\d_][^()\n]{0,60}\)(?!\S)\s*")
_IS_UNHEARD = re.compile(rf"[\[(](?:{_UNHEARD})\b", re.IGNORECASE)


def read_plain(lines: Iterable[str], alphabet: Alphabet | None = None, *, are_apart: bool = False) -> Iterator[Item]:
    """Read plain text; line ends and empty lines are white space between words.

    What opens lines and is not said is kept: ids, times, speakers' labels (`heads.py`); and headings, tables, code and
    tags (`markup.py`).  `are_apart`: no sentence goes on from one line to the next.  All lines are read first, as much
    of this is known from the whole file.
    """
    unread = [*lines]
    layout = layout_lines(unread)  # the numbers of lines that are headings, tables, code and the like
    tags = HTML_TAGS if has_html(unread) else None
    heads = Heads.of([line for number, line in enumerate(unread) if number not in layout] if layout else unread)
    group = ""  # the last speaker or recording that a head named
    unread.reverse()  # lines are taken off the end, so that a long text is not held twice
    items = list[Item]()
    for number in range(len(unread)):
        line = unread.pop()
        if number in layout:
            items.append(Kept(line, breaks=True))
            continue
        head = heads.head_of(line)
        if head.n_chars or head.n_chars_behind:
            is_other = bool(group) and head.group not in ("", group)
            group = head.group or group
            items.append(Kept(line[: head.n_chars], breaks=is_other or head.begins_sentence))
        if are_apart:
            items.append(Kept("", breaks=True))
        cue = Cue(number) if are_apart else None
        stop = len(line) - head.n_chars_behind
        said = line[head.n_chars : stop]
        pieces = [said]
        if tags is not None:  # a paragraph or an item of a list is a text of its own; a mere line break ends none
            pieces = [piece for piece in HTML_BLOCKS.split(said) if piece]
        for piece in pieces:
            if tags and HTML_BLOCKS.fullmatch(piece):
                items.append(Kept(piece, breaks="<br" not in piece.lower()))
            else:
                items += read_line(piece, alphabet=alphabet, cue=cue, markup=tags, known_labels=heads.labels)
        if head.n_chars_behind:
            items.append(Kept(line[stop:]))
    return join_same_speakers(items)


read_utterances = partial(read_plain, are_apart=True)  # of which each line is a text of its own


def join_same_speakers(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items; a label that says once more who speaks already ends no sentence, and is shown in no other format.

    A label without a name (`>>`) is always another speaker.

    >>> lines = ["Ann: so\\n", "Ann: what\\n", "Tom: yes\\n"]
    >>> [item.breaks for line in lines for item in join_same_speakers(read_line(line)) if isinstance(item, Kept)]
    [True, True, True]
    >>> [item.breaks for item in read_plain(lines) if isinstance(item, Kept)]
    [True, False, True]
    """
    speaker = ""
    for item in items:
        if isinstance(item, Kept) and item.role is Role.SPEAKER:
            before = speaker
            speaker = speaker_of(item.bare or item.text)
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
    certain by itself.  Labels and directions are looked for in the text without tags.
    """
    bare = remove_tags(line, markup) if markup is not None and markup.search(line) else None
    text = line if bare is None else bare.text

    def place(index: int) -> int:
        """Return where the line has a character of the text."""
        return index if bare is None else bare.cut(index)

    label = label_of(text, known_labels) if labels else None
    if label is None and dashes:
        label = _DASH.match(text)
    begin = 0  # of what is not yielded yet
    if label:
        begin = place(label.end())
        yield Kept(line[:begin], True, Role.SPEAKER, _if_other(label[0], line[:begin]), cue)
    opens_line = not label  # whether words would be the line's first: there `1.` is an item of a list
    for match in _directions(text, label.end() if label else 0, is_behind_label=label is not None):
        start = place(match.start())
        stop = place(match.end())
        yield from _words(line[begin:start], alphabet, cue, markup, opens_line)
        role = Role.LAYOUT if match["time"] else Role.DIRECTION
        # what was said but not understood, `[inaudible]`, is part of its sentence
        breaks = role is Role.DIRECTION and _IS_UNHEARD.match(match[0]) is None
        yield Kept(line[start:stop], breaks, role, _if_other(match[0], line[start:stop]), cue)
        begin = stop
        # behind a time that opens the line they still are
        opens_line = opens_line and role is Role.LAYOUT and not line[:start].strip()
    yield from _words(line[begin:], alphabet, cue, markup, opens_line)


def _directions(text: str, begin: int, *, is_behind_label: bool) -> Iterator[re.Match[str]]:
    """Yield the stage directions and times in what is said, which begins at `begin`.

    Directions behind a label may be any words in brackets.  Those that open a line are words in capitals, `(DOOR
    SLAMS)`, unless all of the line is in capitals.
    """
    opening = _IN_BRACKETS.match(text, begin)
    if opening:
        is_loud = opening[0].isupper() and len(opening[0].split()) > 1 and not text[opening.end() :].isupper()
        if is_behind_label or is_loud:
            yield opening
            begin = opening.end()
    yield from _DIRECTION.finditer(text, begin)


def _if_other(bare: str, text: str) -> str:
    """Return what `Kept.bare` is of a text: nothing, if it has no tags."""
    return "" if bare == text else bare


def _words(
    raw: str, alphabet: Alphabet | None, cue: Cue | None, markup: re.Pattern[str] | None, opens_line: bool
) -> Iterator[Item]:
    """Yield the words of a part of a line, and before them the white space and the tags that open it."""
    if markup is None or not markup.search(raw):
        lead = lead_of(raw)
        if lead:
            yield Kept(lead)
        for word in words_of(raw, alphabet, opens_line=opens_line):
            yield SpokenWord(word, word.space, cue=cue)
        return
    bare_text = remove_tags(raw, markup)
    words = list(words_of(bare_text.text, alphabet, opens_line=opens_line))
    starts = list[int]()  # where each word begins in the text without tags
    place = len(lead_of(bare_text.text))
    for word in words:
        starts.append(place)
        place += len(word.raw) + len(word.space)
    raw_starts = [*(bare_text.starts[start] for start in starts), len(raw)]
    if raw_starts[0]:
        yield Kept(raw[: raw_starts[0]])
    for word, start, following in zip(words, starts, raw_starts[1:], strict=True):
        stop = start + len(word.raw)
        yield SpokenWord(word, raw[bare_text.ends[stop - 1] : following], Markup.of(bare_text, start, stop), cue)


def set_cue_times(items: Iterable[Item], cue: Cue) -> list[Item]:
    """Return the items of a cue, whose first word begins with the cue and whose last word ends with it."""
    timed = list(items)
    words = [(index, item) for index, item in enumerate(timed) if isinstance(item, SpokenWord)]
    if words:
        first_index, first = words[0]
        timed[first_index] = replace(first, start_ms=cue.start_ms)
        last_index, last = words[-1]
        if last_index == first_index:  # a single word begins and ends with the cue
            last = replace(last, start_ms=cue.start_ms)
        timed[last_index] = replace(last, end_ms=cue.end_ms)
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
    """A word's characters as the file has them, and the tags before each.

    `R<b>&amp;</b>D` is bare `R&D`, spelled `R`, `&amp;`, `D`, with the tags `""`, `<b>`, `</b>`.
    """

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
        said, opening = opening_apart(text)  # `¿` may come or go, so letters are compared without it
        own, own_opening = opening_apart(self.bare)
        n_said = n_stem - len(own_opening)
        has_own_letters = said[:n_said].lower() == own[:n_said].lower()
        if text[:n_stem] != self.bare[:n_stem] and opening != own_opening and has_own_letters:
            return self._reopened(opening).around(said, n_said, n_closers)
        if text[:n_stem].lower() != self.bare[:n_stem].lower():  # a term of the user's, with other letters
            return text + "".join(self.tags)
        # a character that is as it was keeps the file's spelling: `&amp;`
        stem = zip(self.tags, self.spelled, text[:n_stem], self.bare, strict=False)
        letters = "".join(tags + (spelled if new == old else new) for tags, spelled, new, old in stem)
        return letters + self._tail(text[n_stem:], n_stem, n_closers)

    def _reopened(self, opening: str) -> Markup:
        """Return the markup without the word's opening mark, and with another one where the quotes before it end.

        The new one counts as a tag before the first letter, so that `around` writes it without knowing of it.
        """
        n_head = len(self.bare) - len(self.bare.lstrip(OPENERS))  # quotes, brackets and opening marks
        bare = ""
        spelled_chars = list[str]()
        all_tags = list[str]()
        carried = ""  # tags before a mark that goes are before the next character now
        for index, (char, spelled, tags) in enumerate(zip(self.bare, self.spelled, self.tags, strict=True)):
            carried += tags
            if index == n_head:
                carried += opening
            if index >= n_head or char not in OPENING:
                bare += char
                spelled_chars.append(spelled)
                all_tags.append(carried)
                carried = ""
        return Markup(bare, tuple(spelled_chars), tuple(all_tags))

    def _tail(self, text: str, n_stem: int, n_closers: int) -> str:
        """Return marks and closers written anew: the new marks, and the old closers and all tags in their old order."""
        old = [*zip(self.tags, self.spelled, self.bare, strict=True)][n_stem:]
        if text == self.bare[n_stem:]:
            return "".join(tags + spelled for tags, spelled, _ in old)
        # closers stand behind the new marks, but before a dash that stands apart: `" -`
        closers_end = len(text.partition(DASH_APART)[0] if n_closers else text)
        place = closers_end - n_closers  # of the next closer
        pieces = [text[:place]]
        for tags, spelled, char in old:  # old closers may stand before old marks and behind them; the marks go
            pieces.append(tags)
            if place < closers_end and text[place] == char:
                pieces.append(spelled)
                place += 1
        return "".join(pieces) + text[place:]


def remove_tags(raw: str, pattern: re.Pattern[str]) -> Bare:
    """Take the tags out of a text, and put characters in the place of entities.

    `pattern` has the groups `tag` and `entity`.
    """
    pieces = list[str]()
    starts = array("q")  # a line may have millions of characters, too many for a list of int
    ends = array("q")
    place = 0
    for match in pattern.finditer(raw):
        entity = match["entity"] or ""  # empty for a tag
        char = '"' if entity == '""' else html.unescape(entity)
        if entity and len(char) != 1:
            continue  # no entity after all
        pieces += [raw[place : match.start()], char]
        starts.extend(range(place, match.start()))
        ends.extend(range(place + 1, match.start() + 1))
        if char:  # stands for the whole entity
            starts.append(match.start())
            ends.append(match.end())
        place = match.end()
    starts.extend(range(place, len(raw)))
    ends.extend(range(place + 1, len(raw) + 1))
    return Bare("".join(pieces) + raw[place:], raw, starts, ends)
