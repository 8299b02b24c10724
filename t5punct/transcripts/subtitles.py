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
from itertools import chain, groupby

from ..errors import InputError
from ..text.marks import Alphabet
from .heads import labels_of
from .items import ECHOED_WORDS, Cue, Echo, Item, Kept, SpokenWord, WrittenItem, speaker_label
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
_BESIDE_MS = 500  # between two events of an actor: what another one shows there is beside them
_OPENING_CHARS = 300  # of a line, which may have a label
_INLINE_TIME = re.compile(rf"<{_TIME}>")  # of the word behind it, in WebVTT
_TEAMS_TIME = re.compile(r"\s*\d+:\d:\d\.\d+\s*-->")  # as Teams first wrote it; behind it stands who speaks
_NOTE = re.compile(r"(?:NOTE|STYLE|REGION)\b")
_VOICE = re.compile(r"\s*<v(?:\.[^\s>]*)?\s+([^>]*)>")
_BREAK = re.compile(r"(\\[Nnh])")  # a line's end in ASS, and a space that does not break
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")  # from the last brace before it: from each would be quadratic


def read_ass(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read Advanced SubStation Alpha: the text of its `Dialogue` lines.

    A sentence goes on over events of other styles, and over those that are shown beside.  An actor who speaks again
    when another one of the same style has spoken begins a sentence.
    """
    names = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
    ends_ms, last, speaker = dict[str, int | None](), dict[str, str](), ""  # of streams; by style its last one
    for number, line in enumerate(lines):
        kind, _, rest = line.partition(":")
        if kind.strip() == "Format" and "text" in rest.lower():
            names = [name.strip().lower() for name in rest.split(",")]
        fields = rest.split(",", len(names) - 1)
        if kind.strip() != "Dialogue" or len(fields) < len(names) or _DRAWING.search(fields[-1]):
            yield Kept(line)
            continue
        values = {name: field.strip() for name, field in zip(names, fields, strict=True)}
        name, style = values.get("name", ""), values.get("style", "")
        times = (re.fullmatch(_TIME, values.get(which, "")) for which in ("start", "end"))
        start_ms, end_ms = (_ms(*match.groups()) if match else None for match in times)
        stream = f"{style},{name}"
        before_ms, is_last = ends_ms.get(stream), last.get(style, stream) == stream
        is_near = before_ms is not None and start_ms is not None and start_ms - before_ms <= _BESIDE_MS
        ends_ms[stream], last[style] = end_ms, stream
        cue = Cue(number, start_ms, end_ms, name, stream)
        label = speaker_label(name if name != speaker else "", cue)
        speaker = name
        yield Kept(line[: len(line) - len(fields[-1])])
        yield replace(label, breaks=not is_last and not is_near, cue=cue)
        pieces = (
            [Kept(piece)]
            if _BREAK.fullmatch(piece)
            else read_line(piece, alphabet=alphabet, cue=cue, markup=OVERRIDES, dashes=True)
            for piece in _BREAK.split(fields[-1])
        )
        yield from set_cue_times(chain.from_iterable(pieces), cue)


def _read_cues(lines: Iterable[str], alphabet: Alphabet | None = None, *, is_vtt: bool) -> Iterator[Item]:
    """Yield the items of SubRip or WebVTT.

    A line with `-->` is no speech, nor is a number before it, whether its times can be read or not.  Nor are two times
    with another arrow (`->`, `–`).
    """
    cue: Cue | None = None
    held, rolling = list[list[Item]](), Rolling()  # the lines of a cue
    number, before, speaker = 0, "", ""
    left = [*lines]
    labels = labels_of(remove_tags(line[:_OPENING_CHARS], TAGS).text for line in left)
    has_names = any(_TEAMS_TIME.match(line) for line in left)
    left.reverse()
    for line, following, spoken in _looking_ahead(left.pop() for _ in range(len(left))):  # no line is held twice
        start, arrow, _ = line.partition(_ARROW)
        if _has_arrow(line):
            # those that cannot be read are times, too: `00:00:0l,000`
            states_times = any(char.isdecimal() for char in start) and (not arrow or not start.strip(_OF_TIMES))
            if states_times:
                yield from _items_of_cue(held, cue, rolling)
                held = []
                timing = TIMING.match(line) or TIMING.match("".join(line.split()))  # `00: 00: 02,000`
                timing = timing or _DAMAGED.fullmatch(line)
                start_ms, end_ms = (_ms(*timing.groups()[part]) if timing else None for part in (_START, _END))
                cue, number = Cue(number, start_ms, end_ms, speaker), number + 1
            held.append([Kept(line)])
        elif not line.strip():
            held.append([Kept(line)])
            if is_vtt and (not line.strip("\r\n") or _NOTE.match(following)):  # YouTube's cues have lines of a space
                yield from _items_of_cue(held, cue, rolling)
                held, cue = [], None
        elif cue is None or _is_id(line, before, following, spoken, is_vtt=is_vtt):
            held.append([Kept(line)])
        elif has_names and _has_arrow(before) and following.strip():
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

    A word behind a time, `<00:00:01.500>`, begins then.  A cue with such times builds its line up word by word, which
    `rolling` has to know to tell what it shows again.
    """
    if cue is None:
        yield from chain.from_iterable(lines)
        return
    is_built_up = any(_INLINE_TIME.search(_behind(item)) for line in lines for item in line)
    before = ""  # what stands between the last word and this one
    for item in set_cue_times(chain.from_iterable(rolling.read_cue(lines, cue, is_built_up=is_built_up)), cue):
        if not isinstance(item, SpokenWord):
            before += _behind(item)
            yield item
            continue
        times = _INLINE_TIME.findall(before)
        before = item.after
        yield replace(item, start_ms=_ms(*times[-1])) if times else item


def _behind(item: Item) -> str:
    """Return what stands behind a word; all of what is no word."""
    return item.text if isinstance(item, Kept) else item.after


def _looking_ahead(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each line with the one that follows it, and with the next one that is not empty."""
    waiting = list[str]()
    for line in chain(lines, [None]):
        if line is None or line.strip():
            for index, before in enumerate(waiting):
                yield before, waiting[index + 1] if index + 1 < len(waiting) else line or "", line or ""
            waiting = []
        if line is not None:
            waiting.append(line)


def _has_arrow(line: str) -> bool:
    """Return whether a line is none of speech but one of times, or what is left of it."""
    return _ARROW in line or _DAMAGED.fullmatch(line) is not None


def _is_id(line: str, before: str, following: str, spoken: str, *, is_vtt: bool) -> bool:
    """Return whether a line names the cue whose times follow it, or is its number, twice or with empty lines behind it.

    Behind times, a number is what is said.
    """
    is_number = line.strip().isdecimal()
    if _has_arrow(following):
        return is_number or not before.strip()
    is_twice = not before.strip() and line.strip() == following.strip()
    return not is_vtt and is_number and (is_twice or (_has_arrow(spoken) and not _has_arrow(before)))


class Rolling:
    """Goes along with the cues of a file whose lines are shown two or three times, as YouTube's automatic captions are.

    In one cue a new line is built up, word by word with times, below the line before; the next one, of 10 ms, shows the
    new line alone.  A file converted to SRT has the same cues without the times of words.  People who say something
    twice have no cue of 10 ms for it, so their words stay words.
    """

    def __init__(self) -> None:
        self._n_words = 0
        self._shown: list[tuple[str, range]] = []  # the lines of the cue before, and which words of the file they have
        self._end_ms: int | None = None
        self._was_short = False

    def read_cue(self, lines: Sequence[Sequence[Item]], cue: Cue, *, is_built_up: bool = False) -> list[list[Item]]:
        """Return the lines of the next cue; words that the one before has shown are `Echo`es.

        `is_built_up`: whether it has times of words inside.

        >>> rolling, line = Rolling(), list(read_line("so"))
        >>> cues = Cue(0, 0, 1990), Cue(1, 1990, 2000)
        >>> [type(item).__name__ for cue in cues for item in rolling.read_cue([line], cue)[0]]
        ['SpokenWord', 'Echo']
        """
        is_short = cue.start_ms is not None and cue.end_ms is not None and cue.end_ms - cue.start_ms <= _SHORT_MS
        texts = [  # what a reader sees
            " ".join(filter(None, (item.shown if isinstance(item, Kept) else item.word.text.lower() for item in line)))
            for line in lines
        ]
        shown, before = [text for text in texts if text], [text for text, _ in self._shown]
        # how many of the first lines are the last ones of the cue before, shown once more
        n_again = next((n for n in range(min(len(shown), len(before)), 0, -1) if shown[:n] == before[-n:]), 0)
        is_all = n_again == len(shown)
        is_rolling = self._was_short or (is_short and is_all) or (is_built_up and not is_all)
        first = next((index for _, indices in self._shown for index in indices), self._n_words)
        is_far = self._end_ms is None or cue.start_ms is None or abs(cue.start_ms - self._end_ms) > _GAP_MS
        if is_far or not is_rolling or self._n_words - first >= ECHOED_WORDS:
            n_again = 0
        again = iter(self._shown[len(self._shown) - n_again :])
        read, now = list[list[Item]](), list[tuple[str, range]]()
        for line, text in zip(lines, texts, strict=True):
            if text and len(now) < n_again:
                now.append(next(again))
                indices = iter(now[-1][1])
                read.append(
                    [
                        Kept(item.text)
                        if isinstance(item, Kept)
                        else Echo(item.raw + item.after, spoken=item, place=next(indices))
                        for item in line
                    ]
                )
                continue
            if text:
                begin = self._n_words
                self._n_words += sum(isinstance(item, SpokenWord) for item in line)
                now.append((text, range(begin, self._n_words)))
            read.append([*line])
        self._shown, self._end_ms, self._was_short = now, cue.end_ms, is_short
        return read


def _ms(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> int:
    return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int((fraction or "").ljust(3, "0"))


@dataclass(frozen=True, slots=True)
class WrittenCue:
    """A cue as it is shown; lines end with a newline."""

    start_ms: int
    end_ms: int
    text: str


def own_cues(written: Iterable[WrittenItem], name: str) -> list[WrittenCue]:
    """Return the cues of the transcript `name`.  Raises InputError for words without a cue, or one without times."""
    cues = list[WrittenCue]()
    for cue, group in groupby(_pieces_shown(written), key=lambda piece: piece[0] and replace(piece[0], speaker="")):
        pieces = list(group)
        if cue is not None and cue.start_ms is not None and cue.end_ms is not None:
            cues.append(WrittenCue(cue.start_ms, cue.end_ms, "".join(text for _, text, _ in pieces).strip()))
        elif any(is_word for _, _, is_word in pieces):  # a stage direction without times is left out
            first = next(text for _, text, is_word in pieces if is_word).strip()
            raise InputError(
                f"words in no cue with times in {name}, the first of them {first!r}",
                expected="subtitles, or segments with times",
                fix="make cues with --resegment if words have times, or write another format",
            )
    return cues


def _pieces_shown(written: Iterable[WrittenItem]) -> Iterator[tuple[Cue | None, str, bool]]:
    """Yield what is shown of the items: its cue, its text up to the next piece, and whether it is a word."""
    held: tuple[Cue | None, str, bool] | None = None
    ends_line = False
    for item in written:
        # of json there is only the bare text
        text = item.text or item.bare if isinstance(item, Kept) else item.spoken.after
        has_end = "\n" in text or "\\N" in text
        if isinstance(item, Kept) and not item.shown:
            ends_line = ends_line or has_end
            continue
        if held:
            yield held[0], held[1] + ("\n" if ends_line else " "), held[2]
        ends_line = has_end
        shown = (item.cue, item.shown) if isinstance(item, Kept) else (item.spoken.cue, item.annotated.text)
        held = *shown, not isinstance(item, Kept)
    if held:
        yield held


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
        text = re.sub(r"([{}])", r"\\\1", cue.text.replace("\\", "\\\u2060")).replace("\n", "\\N")
        file.append(SSAEvent(cue.start_ms, cue.end_ms, text))
    return file.to_string("ass")


def _clock(time_ms: int, point: str) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{point}{ms:03}"
