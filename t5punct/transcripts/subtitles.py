"""SubRip (SRT), WebVTT and ASS: the words of their cues; all else is kept as it is.  And any transcript as cues.

In: the lines of a file, with their ends.  Out: items, cue by cue.  Or the written items of a transcript of any format,
and cues: those that it has; `resegment` makes new ones that hold sentences.

>>> lines = ["1\\n", "00:00:01,000 --> 00:00:02,500\\n", "<i>how are</i>\\n", "you\\n"]
>>> words = [item for item in read_srt(lines) if not isinstance(item, Kept)]
>>> [(item.raw, item.start_ms, item.end_ms) for item in words]
[('how', 1000, None), ('are', None, None), ('you', None, 2500)]
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, pairwise

from ..errors import InputError
from ..text.marks import Alphabet
from .heads import labels_of
from .items import BESIDE_MS, ECHOED_WORDS, Cue, Echo, Item, Kept, SpokenWord, WrittenItem, speaker_label
from .speech import OVERRIDES, TAGS, read_line, remove_tags, set_cue_times

_TIME = r"(?:(\d{1,9}):)?(\d{1,2}):(\d{1,2})(?:(?:[.,]|:(?=\d{3}))(\d{1,3}))?"  # some write `00:00:01:500`
TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_START, _END = slice(4), slice(4, 8)  # the groups of the two times
_ARROW = "-->"  # of a line of times, whether they can be read or not; never of speech
_FULL_TIME = rf"(?=\d+:\d+(?::\d|[.,])){_TIME}"  # `10:30` may be said
_DAMAGED = re.compile(rf"\s*{_FULL_TIME}\s*[-–—>〉→]{{1,3}}\s*{_FULL_TIME}\s*")  # a line of times with another arrow
_OF_TIMES = "0123456789:.,;+- \tOolI"  # characters of times, and letters that are taken for digits
_SHORT_MS = 50  # nobody can read a cue that is shown no longer
_GAP_MS = 50  # between cues that belong together
_OPENING_CHARS = 300  # of a line, which may have a label
_INLINE_TIME = re.compile(rf"<{_TIME}>")  # of the word behind it, in WebVTT
_TEAMS_TIME = re.compile(r"\s*\d+:\d:\d\.\d+\s*-->")  # as Teams first wrote it; behind it stands who speaks
_NOTE = re.compile(r"(?:NOTE|STYLE|REGION)\b")
_VOICE = re.compile(r"\s*<v(?:\.[^\s>]*)?\s+([^>]*)>")
_BREAK = re.compile(r"(\\[Nnh])")  # a line's end in ASS, and a space that does not break
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")  # from the last brace before it: from each would be quadratic


def read_ass(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read Advanced SubStation Alpha: the text of its `Dialogue` lines.

    A file shows texts beside each other, as speech and signs: each actor of each style is a stream (`Cue.stream`).  A
    sentence goes on over events of other styles, and over those that are shown beside.  An actor who speaks again when
    another one of the same style has spoken begins a sentence.
    """
    # of the fields of an event; a line `Format` names others
    names = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
    ends_ms = dict[str, int | None]()  # of each stream: when its last event ends
    last_streams = dict[str, str]()  # of each style: the stream of its last event
    speaker = ""  # of the event before
    for number, line in enumerate(lines):
        kind, _, rest = line.partition(":")
        if kind.strip() == "Format" and "text" in rest.lower():
            names = [name.strip().lower() for name in rest.split(",")]
        fields = rest.split(",", len(names) - 1)  # the last one, the text, may have commas
        if kind.strip() != "Dialogue" or len(fields) < len(names) or _DRAWING.search(fields[-1]):
            yield Kept(line)
            continue
        values = {name: field.strip() for name, field in zip(names, fields, strict=True)}
        name = values.get("name", "")  # the actor
        style = values.get("style", "")
        start_ms = _event_ms(values.get("start", ""))
        end_ms = _event_ms(values.get("end", ""))
        stream = f"{style},{name}"
        before_ms = ends_ms.get(stream)
        is_near = before_ms is not None and start_ms is not None and start_ms - before_ms <= BESIDE_MS
        another_spoke = last_streams.get(style, stream) != stream
        ends_ms[stream] = end_ms
        last_streams[style] = stream
        cue = Cue(number, start_ms, end_ms, name, stream)
        label = speaker_label(name if name != speaker else "", cue)
        speaker = name
        yield Kept(line[: len(line) - len(fields[-1])])
        yield replace(label, breaks=another_spoke and not is_near, cue=cue)
        items = list[Item]()
        for piece in _BREAK.split(fields[-1]):  # the breaks are pieces, too
            if _BREAK.fullmatch(piece):
                items.append(Kept(piece))
            else:
                items += read_line(piece, alphabet=alphabet, cue=cue, markup=OVERRIDES, dashes=True)
        yield from set_cue_times(items, cue)


def _event_ms(time: str) -> int | None:
    match = re.fullmatch(_TIME, time)
    return _ms(*match.groups()) if match else None


def _read_cues(lines: Iterable[str], alphabet: Alphabet | None = None, *, is_vtt: bool) -> Iterator[Item]:
    """Yield the items of SubRip or WebVTT.

    A line with `-->` is no speech, nor is a number before it, whether its times can be read or not.  Nor are two times
    with another arrow (`->`, `–`).  All lines are read first, as labels such as `maria:` are known from the whole file.
    A cue of SubRip goes on to the next one's times, one of WebVTT (`is_vtt`) to an empty line.
    """
    cue: Cue | None = None  # None: before the first one, and between those of WebVTT
    held = list[list[Item]]()  # the lines of the cue, or of what stands between cues
    rolling = Rolling()
    number = 0  # of the next cue
    before = ""  # the line before
    speaker = ""
    unread = [*lines]
    labels = labels_of(remove_tags(line[:_OPENING_CHARS], TAGS).text for line in unread)
    has_names = any(_TEAMS_TIME.match(line) for line in unread)  # on a line of their own, below the times
    unread.reverse()  # lines are taken off the end, so that no line is held twice
    # following: the next line; spoken: the next that is not empty
    for line, following, spoken in _looking_ahead(unread.pop() for _ in range(len(unread))):
        start, arrow, _ = line.partition(_ARROW)
        if _has_arrow(line):
            # what cannot be read may be a time, too: `00:00:0l,000`; a line with another arrow is known by its times
            states_times = any(char.isdecimal() for char in start) and (not arrow or not start.strip(_OF_TIMES))
            if states_times:
                yield from _items_of_cue(held, cue, rolling)
                held = []
                without_spaces = "".join(line.split())  # some write `00: 00: 02,000`
                timing = TIMING.match(line) or TIMING.match(without_spaces) or _DAMAGED.fullmatch(line)
                start_ms = _ms(*timing.groups()[_START]) if timing else None
                end_ms = _ms(*timing.groups()[_END]) if timing else None
                cue = Cue(number, start_ms, end_ms, speaker)
                number += 1
            held.append([Kept(line)])
        elif not line.strip():
            held.append([Kept(line)])
            is_empty = not line.strip("\r\n")  # a line of a space ends no cue: YouTube's have such
            if is_vtt and (is_empty or _NOTE.match(following)):
                yield from _items_of_cue(held, cue, rolling)
                held = []
                cue = None
        elif cue is None or _is_id(line, before, following, spoken, is_vtt=is_vtt):
            held.append([Kept(line)])
        elif has_names and _has_arrow(before) and following.strip():  # Teams: who speaks; what is said comes next
            is_new = line.strip() != speaker
            speaker = line.strip()
            cue = Cue(cue.number, cue.start_ms, cue.end_ms, speaker)
            held.append([speaker_label(speaker, cue), Kept(line)] if is_new else [Kept(line)])
        else:
            voice = _VOICE.match(line)
            if voice and voice[1].strip() != speaker:
                speaker = voice[1].strip()
                cue = Cue(cue.number, cue.start_ms, cue.end_ms, speaker)
                held.append([speaker_label(speaker, cue)])
            held.append([*read_line(line, alphabet=alphabet, cue=cue, markup=TAGS, dashes=True, known_labels=labels)])
        before = line
    yield from _items_of_cue(held, cue, rolling)


# a text behind an empty line belongs to the cue before it
read_srt = partial(_read_cues, is_vtt=False)
# notes, styles, regions and settings of cues are kept; a word behind a time inside its cue (`<00:01.500>`) begins then
read_vtt = partial(_read_cues, is_vtt=True)


def _items_of_cue(lines: list[list[Item]], cue: Cue | None, rolling: Rolling) -> Iterator[Item]:
    """Yield the items of a cue that has ended, or of what stands between cues.

    lines: of which each has its items; cue: None between cues, where nothing is said.  A word behind a time,
    `<00:00:01.500>`, begins then.  A cue with such times builds its line up word by word, which `rolling` has to know
    to tell what it shows again.
    """
    if cue is None:
        yield from chain.from_iterable(lines)
        return
    is_built_up = any(_INLINE_TIME.search(_not_of_words(item)) for line in lines for item in line)
    between = ""  # what stands between the last word and this one
    shown = rolling.read_cue(lines, cue, is_built_up=is_built_up)
    for item in set_cue_times(chain.from_iterable(shown), cue):
        if not isinstance(item, SpokenWord):
            between += _not_of_words(item)
            yield item
            continue
        times = _INLINE_TIME.findall(between)
        between = item.after
        yield replace(item, start_ms=_ms(*times[-1])) if times else item


def _not_of_words(item: Item) -> str:
    """Return what of an item is no word: what follows a word, or all of a `Kept` one."""
    return item.text if isinstance(item, Kept) else item.after


def _looking_ahead(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each line with the one that follows it, and with the next one that is not empty; `""` where none is.

    >>> list(_looking_ahead(["1", "", "so"]))
    [('1', '', 'so'), ('', 'so', 'so'), ('so', '', '')]
    """
    waiting = list[str]()  # the last line that is not empty, and the empty ones behind it
    for line in lines:
        if line.strip():
            for before, following in pairwise([*waiting, line]):
                yield before, following, line
            waiting = []
        waiting.append(line)
    for before, following in pairwise([*waiting, ""]):
        yield before, following, ""


def _has_arrow(line: str) -> bool:
    """Return whether a line is none of speech but one of times, or what is left of it."""
    return _ARROW in line or _DAMAGED.fullmatch(line) is not None


def _is_id(line: str, before: str, following: str, spoken: str, *, is_vtt: bool) -> bool:
    """Return whether a line names the cue whose times follow it, or is its number, twice or with empty lines behind it.

    before, following: the lines beside it; spoken: the next one that is not empty.  Behind times, a number is what is
    said.
    """
    is_number = line.strip().isdecimal()
    opens_cue = not before.strip()
    if _has_arrow(following):
        return is_number or opens_cue
    if is_vtt or not is_number:
        return False
    is_twice = opens_cue and line.strip() == following.strip()
    has_times_behind = _has_arrow(spoken) and not _has_arrow(before)
    return is_twice or has_times_behind


class Rolling:
    """Goes along with the cues of a file whose lines are shown two or three times, as YouTube's automatic captions are.

    In one cue a new line is built up, word by word with times, below the line before; the next one, of 10 ms, shows the
    new line alone.  A file converted to SRT has the same cues without the times of words.  People who say something
    twice have no cue of 10 ms for it, so their words stay words.
    """

    def __init__(self) -> None:
        self._n_words = 0  # of the file so far
        # of the cue before: its lines, each with the numbers of its words in the file; its end; whether it was short
        self._shown: list[tuple[str, range]] = []
        self._end_ms: int | None = None
        self._was_short = False

    def read_cue(self, lines: Sequence[Sequence[Item]], cue: Cue, *, is_built_up: bool = False) -> list[list[Item]]:
        """Return the lines of the next cue; words that the one before has shown are `Echo`es.

        A cue repeats lines if the first of its lines are the last ones of the cue before, and if it follows that one at
        once: the short cue repeats all, the one behind it those that stay, and one that is built up, the line above.
        `is_built_up`: whether it has times of words inside.

        >>> rolling, line = Rolling(), list(read_line("so"))
        >>> cues = Cue(0, 0, 1990), Cue(1, 1990, 2000)
        >>> [type(item).__name__ for cue in cues for item in rolling.read_cue([line], cue)[0]]
        ['SpokenWord', 'Echo']
        """
        is_short = cue.start_ms is not None and cue.end_ms is not None and cue.end_ms - cue.start_ms <= _SHORT_MS
        texts = [_text_seen(line) for line in lines]
        n_again = _n_repeated([text for text in texts if text], [text for text, _ in self._shown])
        is_all = n_again == sum(map(bool, texts))
        is_rolling = self._was_short or (is_short and is_all) or (is_built_up and not is_all)
        is_far = self._end_ms is None or cue.start_ms is None or abs(cue.start_ms - self._end_ms) > _GAP_MS
        n_words_before = sum(len(numbers) for _, numbers in self._shown)
        if is_far or not is_rolling or n_words_before >= ECHOED_WORDS:
            n_again = 0
        repeated = self._shown[len(self._shown) - n_again :]
        read = list[list[Item]]()
        shown_now = list[tuple[str, range]]()
        for line, text in zip(lines, texts, strict=True):
            if not text:
                read.append([*line])
            elif len(shown_now) < n_again:
                known = repeated[len(shown_now)]
                shown_now.append(known)
                read.append(_echoes(line, known[1]))
            else:
                begin = self._n_words
                self._n_words += sum(isinstance(item, SpokenWord) for item in line)
                shown_now.append((text, range(begin, self._n_words)))
                read.append([*line])
        self._shown = shown_now
        self._end_ms = cue.end_ms
        self._was_short = is_short
        return read


def _text_seen(line: Sequence[Item]) -> str:
    """Return what a reader sees of a line, by which two lines are the same."""
    pieces = (item.shown if isinstance(item, Kept) else item.word.text.lower() for item in line)
    return " ".join(piece for piece in pieces if piece)


def _n_repeated(texts: Sequence[str], before: Sequence[str]) -> int:
    """Return how many of the first lines are the last ones of the cue before: 1 of `b c` behind `a b`."""
    for n_lines in range(min(len(texts), len(before)), 0, -1):
        if texts[:n_lines] == before[-n_lines:]:
            return n_lines
    return 0


def _echoes(line: Sequence[Item], numbers: Iterable[int]) -> list[Item]:
    """Return a line that is shown once more; `numbers`: which words of the file its words are."""
    unused = iter(numbers)
    return [
        Kept(item.text)  # a label that is shown again ends no sentence
        if isinstance(item, Kept)
        else Echo(item.raw + item.after, spoken=item, place=next(unused))
        for item in line
    ]


def _ms(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> int:
    """Return a time in ms; its parts are the groups of `_TIME`: a fraction of `5` is 500 ms."""
    return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int((fraction or "").ljust(3, "0"))


@dataclass(frozen=True, slots=True)
class WrittenCue:
    """A cue as it is shown; lines end with a newline."""

    start_ms: int
    end_ms: int
    text: str


def own_cues(written: Iterable[WrittenItem], name: str) -> list[WrittenCue]:
    """Return the cues that a transcript has; `name` is what a message calls it.

    A cue whose speaker changes is one cue.  Raises InputError for words without a cue, or one without times.
    """

    def without_speaker(piece: tuple[Cue | None, str, bool]) -> Cue | None:
        cue = piece[0]
        return None if cue is None else replace(cue, speaker="")

    cues = list[WrittenCue]()
    for cue, group in groupby(_pieces_shown(written), key=without_speaker):
        pieces = list(group)
        words = [text.strip() for _, text, is_word in pieces if is_word]
        if cue is not None and cue.start_ms is not None and cue.end_ms is not None:
            cues.append(WrittenCue(cue.start_ms, cue.end_ms, "".join(text for _, text, _ in pieces).strip()))
        elif words:  # a stage direction without times is left out
            raise InputError(
                f"words in no cue with times in {name}, the first of them {words[0]!r}",
                expected="subtitles, or segments with times",
                fix="make cues with --resegment if words have times, or write another format",
            )
    return cues


def _pieces_shown(written: Iterable[WrittenItem]) -> Iterator[tuple[Cue | None, str, bool]]:
    """Yield what is shown of the items: its cue, its text up to the next piece, and whether it is a word.

    A line's end of the file, `\\N` in ASS, is one here; whatever else stands between two pieces is a space.
    """
    cue: Cue | None = None  # of the piece that waits for what stands behind it
    shown = ""  # its text
    is_word = False
    ends_line = False  # whether a line ended since
    is_first = True
    for item in written:
        # of json there is only the bare text
        text = item.text or item.bare if isinstance(item, Kept) else item.spoken.after
        has_end = "\n" in text or "\\N" in text
        if isinstance(item, Kept) and not item.shown:
            ends_line = ends_line or has_end
            continue
        if is_first:
            is_first = False
        else:
            yield cue, shown + ("\n" if ends_line else " "), is_word
        ends_line = has_end
        is_word = not isinstance(item, Kept)
        cue = item.cue if isinstance(item, Kept) else item.spoken.cue
        shown = item.shown if isinstance(item, Kept) else item.annotated.text
    if not is_first:
        yield cue, shown, is_word


def write_srt(cues: Sequence[WrittenCue]) -> str:
    """Write new cues as SubRip; a file that is SubRip already is written by `items.iter_pieces`, with all that it had.

    Where something in a text would be read as a tag or an entity, all of it is escaped.
    """
    texts = (
        html.escape(cue.text, quote=False).replace("{", "&#123;") if TAGS.search(cue.text) else cue.text for cue in cues
    )
    return _blocks(cues, texts, ",")


def write_vtt(cues: Sequence[WrittenCue]) -> str:
    """Write cues as WebVTT; players read a brace and a backslash as a tag of SRT."""
    texts = (html.escape(cue.text, quote=False).replace("{\\", "&#123;\\") for cue in cues)
    return "WEBVTT\n\n" + _blocks(cues, texts, ".")


def _blocks(cues: Sequence[WrittenCue], texts: Iterable[str], point: str) -> str:
    """Return cues as SRT and WebVTT have them; pysubs2 would read `{x}` and `C:\\New` as codes of ASS."""
    return "".join(
        f"{number}\n{_clock(cue.start_ms, point)} --> {_clock(cue.end_ms, point)}\n{text}\n\n"
        for number, (cue, text) in enumerate(zip(cues, texts, strict=True), start=1)
    )


def write_ass(cues: Sequence[WrittenCue]) -> str:
    """Write cues as ASS: braces escaped, backslashes kept off letters."""
    from pysubs2 import SSAEvent, SSAFile  # only those who write ASS wait for it

    file = SSAFile()
    for cue in cues:
        text = cue.text.replace("\\", "\\\u2060")  # behind a backslash an unseen character: `\N` would be a line's end
        text = re.sub(r"([{}])", r"\\\1", text).replace("\n", "\\N")
        file.append(SSAEvent(cue.start_ms, cue.end_ms, text))
    return file.to_string("ass")


def _clock(time_ms: int, point: str) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{point}{ms:03}"
