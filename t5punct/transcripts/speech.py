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
from itertools import chain

from rapidfuzz.distance import Indel

from ..text.io.files import take_each
from ..text.marks import Alphabet
from ..text.words import ALL_MARKS, lead_of, words_of
from .heads import BARE_TURN, BRACKETED, OPENING_CHARS, Heads, label_of, speaker_of
from .items import Cue, Item, Kept, Role, SpokenWord
from .markup import HTML_BLOCKS, HTML_TAGS, has_html, layout_lines

TAGS = re.compile(r"(?P<tag><[^<>]*>|\{\\[^{}]*\})|(?P<entity>&(?:#\d+|#x[0-9a-fA-F]+|\w+);)")  # of SRT and WebVTT
DOUBLED_QUOTES = re.compile(r'(?P<tag>(?!))|(?P<entity>"")')  # of a quoted cell in a table
OVERRIDES = re.compile(r"(?P<tag>\{[^{}]*\})|(?P<entity>(?!))")  # of ASS
# opens a subtitle's line: another speaker begins
_DASH = re.compile(r"\s*[-–—]\s+(?=\S)|\s*[-–—](?=[\"“«¿¡]{0,3}[^\W\d_])")
_BETWEEN_SENTENCES = (  # unlike `[laughs]`, `[name]` or `[phonetic]`, which stand inside them, too
    "applause|applauding|cheering|cheers|laughter|music|bell rings|video plays|end of recording"
)
_HEARD = (
    f"{_BETWEEN_SENTENCES}|laughs|laughing|laugh|chuckles|chuckling|silence|pause|sighs|coughs|coughing|clears throat|"
    "whispers|gasps|sobs|crying|noise"
)
_UNHEARD = "inaudible|unintelligible|indiscernible|indistinct|crosstalk|foreign|blank_audio"
_HOURS = r"\([1-9]\d?:\d\d(?:\s*[-–—,]|\s+\d)"  # `we meet (10:30 - 11:30)`
_DIRECTION = re.compile(
    rf"(?<!\S)(?:(?:\[[^\W\d_][^\[\]]{{0,60}}\]|\((?:{_HEARD}|{_UNHEARD})\)|(?P<time>(?!{_HOURS})(?:{BRACKETED}))|[♪♫]+[{re.escape(ALL_MARKS.characters)}]*)(?!\S)|(?P<turn>>{{2,}}(?=[\s\w]|$)))\s*",
    re.IGNORECASE,
)
_ROLES = {"time": Role.LAYOUT, "turn": Role.SPEAKER}  # by the group of _DIRECTION
_IN_BRACKETS = re.compile(r"\s*\([^\W\d_][^()\n]{0,60}\)(?!\S)\s*")
_IS_UNHEARD = re.compile(rf"[\[(](?:{_UNHEARD})\b", re.IGNORECASE)
_ENDS_SENTENCE = re.compile(rf"[♪♫]|\b(?:{_BETWEEN_SENTENCES})\b", re.IGNORECASE)
_MOST_ALONE = 4  # words in brackets that fill a line as a direction


def read_plain(lines: Iterable[str], alphabet: Alphabet | None = None, *, are_apart: bool = False) -> Iterator[Item]:
    """Read plain text; line ends and empty lines are white space between words.

    Heads of lines (`heads.py`), headings, tables, code and tags (`markup.py`) are kept.  All lines are read first, as
    many of these are known only from the whole file.  are_apart: each line is a text of its own.
    """
    lines = [*lines]
    layout = layout_lines(lines)
    tags = HTML_TAGS if has_html(lines) else None
    heads = Heads.of([line for number, line in enumerate(lines) if number not in layout] if layout else lines)
    group = ""  # the last speaker or recording that a head named
    items = list[Item]()
    for number, line in enumerate(take_each(lines)):
        if number in layout:
            items.append(Kept(line, breaks=True))
            continue
        head = heads.head_of(line)
        if head.n_chars or head.n_chars_behind:
            is_other_group = bool(group) and head.group not in ("", group)
            group = head.group or group
            items.append(Kept(line[: head.n_chars], breaks=is_other_group or head.begins_sentence))
        if are_apart:
            items.append(Kept("", breaks=True))
        cue = Cue(number) if are_apart else None
        stop = len(line) - head.n_chars_behind
        speech = line[head.n_chars : stop]
        for piece in HTML_BLOCKS.split(speech) if tags else [speech]:
            if tags and HTML_BLOCKS.fullmatch(piece):  # a paragraph or an item of a list; `<br>` may be in a sentence
                items.append(Kept(piece, breaks="<br" not in piece.lower()))
            elif piece:
                items += read_line(piece, alphabet=alphabet, cue=cue, markup=tags, known_labels=heads.labels)
        if head.n_chars_behind:
            items.append(Kept(line[stop:]))
    return join_same_speakers(items)


read_utterances = partial(read_plain, are_apart=True)


def join_same_speakers(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items; a label that names the same speaker as the label before it becomes layout.

    So it ends no sentence, and other formats leave it out.  A label without a name (`>>`) is always another speaker.

    >>> [item.breaks for item in read_plain(["Ann: so\\n", "Ann: what\\n", "Tom: yes\\n"]) if isinstance(item, Kept)]
    [True, False, True]
    """
    speaker = ""
    for item in items:
        if isinstance(item, Kept) and item.role is Role.SPEAKER:
            speaker_before = speaker
            speaker = speaker_of(item.bare or item.text)
            if speaker and speaker == speaker_before:
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

    markup: the pattern of tags, such as `TAGS`; labels and directions are looked for in the text without them.
    dashes: a dash that opens the line is another speaker, as in subtitles.  known_labels: those of the file, which are
    not certain by themselves.
    """
    tagged = remove_tags(line, markup)
    text = tagged.bare
    read_words = partial(_words, alphabet=alphabet, cue=cue, markup=markup)
    label = label_of(text, known_labels) if labels else None
    if label is None and dashes:
        label = _DASH.match(text)
    if label:
        yield Kept(line[: tagged.starts[label.end()]], True, Role.SPEAKER, label[0], cue)
    n_label = label.end() if label else 0
    # known words in brackets are a direction anywhere.  At the begin of speech any words in brackets are one: behind a
    # label, as the whole line, or if they alone are in capitals, as in `(DOOR SLAMS) who is it`
    opening = _IN_BRACKETS.match(text, n_label)
    if opening and not label:
        n_words = len(opening[0].split())
        is_alone = opening.end() == len(text) and n_words <= _MOST_ALONE
        is_loud = opening[0].isupper() and not text[opening.end() :].isupper()
        opening = opening if n_words > 1 and (is_alone or is_loud) else None  # `(NATO)` may be an abbreviation
    others = _DIRECTION.finditer(text, opening.end() if opening else n_label)
    has_turns = BARE_TURN in known_labels or text.lstrip().startswith(BARE_TURN)  # else `>>` may be code
    begin = tagged.starts[n_label] if label else 0  # of what is not yielded yet
    is_behind_speech = False  # whether the direction is
    opens_line = not label  # whether the next words are the line's first: there `1.` is an item of a list
    for match in chain([opening] if opening else [], others):
        shown = match[0]
        role = _ROLES.get(match.lastgroup or "", Role.DIRECTION)
        if role is Role.SPEAKER:
            turn = label_of(text[match.start() : match.start() + OPENING_CHARS])  # `>> ` or `>> JOHN: `
            if turn is None or not (has_turns or ":" in turn[0]):
                continue
            shown = turn[0]
        start = tagged.starts[match.start()]
        stop = tagged.starts[match.start() + len(shown)]
        yield from read_words(line[begin:start], opens_line=opens_line)
        # `[inaudible]` stands for words, so it is part of a sentence; behind speech, so may be `[laughs]` or `[city]`
        is_behind_speech = is_behind_speech or bool(text[n_label : match.start()].strip())
        may_be_inside = is_behind_speech and _ENDS_SENTENCE.search(shown) is None
        is_inside = _IS_UNHEARD.match(shown) or (role is Role.DIRECTION and may_be_inside)
        breaks = role is not Role.LAYOUT and not is_inside
        yield Kept(line[start:stop], breaks, role, shown, cue)
        begin = stop
        opens_line = opens_line and role is Role.LAYOUT and not line[:start].strip()  # it does behind a time
    yield from read_words(line[begin:], opens_line=opens_line)


def _words(
    raw: str, alphabet: Alphabet | None, cue: Cue | None, markup: re.Pattern[str] | None, *, opens_line: bool
) -> Iterator[Item]:
    """Yield the words of a part of a line; white space and tags before the first word are kept."""
    tagged = remove_tags(raw, markup)
    text = tagged.bare
    lead = lead_of(text)
    words = words_of(text, alphabet, opens_line=opens_line)
    if text is raw:  # no tags, as nearly always
        if lead:
            yield Kept(lead)
        for word in words:
            yield SpokenWord(word, word.space, cue=cue)
        return
    start = len(lead)  # of the next word, in the text without tags
    raw_start = tagged.starts[start] if text.strip() else len(raw)  # the same with tags
    if raw_start:
        yield Kept(raw[:raw_start])
    for word in words:
        stop = start + len(word.raw)
        raw_stop = tagged.ends[stop - 1]
        raw_word = raw[tagged.starts[start] : raw_stop]
        start = stop + len(word.space)
        has_tags = raw_word != word.raw
        after = raw[raw_stop : tagged.starts[start]]
        yield SpokenWord(word, after, remove_tags(raw_word, markup) if has_tags else None, cue)


def set_cue_times(items: Iterable[Item], cue: Cue) -> list[Item]:
    """Return the items of a cue, whose first word begins with the cue and whose last word ends with it."""
    all_items = list(items)
    words = {place: item for place, item in enumerate(all_items) if isinstance(item, SpokenWord)}
    if words:
        first = min(words)
        last = max(words)  # may be the first one as well
        words[first] = replace(words[first], start_ms=cue.start_ms)
        words[last] = replace(words[last], end_ms=cue.end_ms)
    return [words.get(place, item) for place, item in enumerate(all_items)]


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text with tags and entities, such as `R<b>&amp;</b>D`.

    bare: without the tags, each entity as its character.  Character i of it stands at `starts[i]:ends[i]` of `raw`; the
    last one of `starts` is the end of `raw`.
    """

    raw: str
    bare: str
    starts: Sequence[int]
    ends: Sequence[int]

    def rewrite(self, text: str) -> str:
        """Return the word with its tags, written as `text`.

        A character that stays keeps the file's spelling, such as `&amp;`.  A new one stands before the tags of the next
        one, as marks before `</i>`; but an opening mark, which comes before a letter, stands behind them.
        """
        # before each character, and at the end
        tags = [self.raw[end:start] for end, start in zip([0, *self.ends], self.starts, strict=True)]
        chars = [self.raw[start:end] for start, end in zip(self.starts[:-1], self.ends, strict=True)] + [""]
        new_marks = [""] * len(tags)  # before each of the tags
        for step in Indel.opcodes([char.lower() for char in self.bare], [char.lower() for char in text]):
            begin = step.src_start
            new = text[step.dest_start : step.dest_end]
            is_before_letter = self.bare[begin : begin + 1].isalnum()
            if step.tag == "equal":  # but for the case
                for index, char in enumerate(new, start=begin):
                    if char != self.bare[index]:
                        chars[index] = char
            elif step.tag == "insert" and is_before_letter:
                tags[begin] += new
            else:
                new_marks[begin] += new
                chars[begin : step.src_end] = [""] * (step.src_end - begin)
        return "".join(map("".join, zip(new_marks, tags, chars, strict=True)))


def remove_tags(raw: str, pattern: re.Pattern[str] | None) -> TaggedText:
    """Remove the tags from a text, and replace entities with their characters: HTML's (`&amp;`), or `""` of a csv.

    pattern: has the groups `tag` and `entity`; None: there are none.
    """
    # of each character of the text, where it begins and ends in `raw`; of the text's end, where it is
    if pattern is None or not pattern.search(raw):
        return TaggedText(raw, raw, range(len(raw) + 1), range(1, len(raw) + 1))
    pieces = list[str]()
    starts = array("q")  # a line may have millions of characters, too many for a list of int
    ends = array("q")
    begin = 0  # of what follows the last match
    for match in pattern.finditer(raw):
        entity = match["entity"] or ""  # empty for a tag
        char = '"' if entity == '""' else html.unescape(entity)
        if entity and len(char) != 1:
            continue  # no entity after all
        pieces += [raw[begin : match.start()], char]
        starts.extend(range(begin, match.start()))
        ends.extend(range(begin + 1, match.start() + 1))
        if char:  # the character of an entity, which is all of it in `raw`; nothing is left of a tag
            starts.append(match.start())
            ends.append(match.end())
        begin = match.end()
    starts.extend(range(begin, len(raw) + 1))
    ends.extend(range(begin + 1, len(raw) + 1))
    return TaggedText(raw, "".join(pieces) + raw[begin:], starts, ends)
