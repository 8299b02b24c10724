"""SubRip (SRT), WebVTT and ASS: the words of their cues.  And any transcript as cues.

In: the lines of a file, with their ends.  Out: items, cue by cue.
In: the written items of any transcript.  Out: the cues that it has.  (`resegment` makes new cues, of sentences.)

>>> lines = ["1\\n", "00:00:01,000 --> 00:00:02,500\\n", "<i>how are</i>\\n", "you\\n"]
>>> words = [item for item in read_srt(lines) if not isinstance(item, Kept)]
>>> [(item.raw, item.start_ms, item.end_ms) for item in words]
[('how', 1000, None), ('are', None, None), ('you', None, 2500)]
"""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby

from ..errors import InputError
from ..text.marks import Alphabet
from .heads import OPENING_CHARS, labels_of
from .items import (
    Cue,
    Echo,
    Item,
    Kept,
    Role,
    SpokenWord,
    WrittenItem,
    WrittenWord,
    goes_on_beside,
    shown_items,
    speaker_label,
)
from .speech import OVERRIDES, TAGS, read_line, remove_tags, set_cue_times

_TIME = r"(?:(\d{1,9}):)?(\d{1,2}):(\d{1,2})(?:(?:[.,]|:(?=\d{3}))(\d{1,3}))?"  # some write `00:00:01:500`
TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_START, _END = slice(4), slice(4, 8)  # the groups of the two times
_ARROW = "-->"  # between the two times of a cue, which may be damaged; also said: `x --> y`
_CLOCK = re.compile(r"\d\s*:\s*\d")
_FULL_TIME = rf"(?=\d+:\d+(?::\d|[.,])){_TIME}"  # unlike `10:30`, which may be said
_OTHER_ARROW = re.compile(
    rf"\s*{_FULL_TIME}\s*[-–—>〉→]{{1,3}}\s*{_FULL_TIME}\s*"
)  # a line of times with another arrow
_TIME_CHARS = "0123456789:.,;+- \tOolI"  # characters of times, and letters that are taken for digits
_SHORT_MS = 50  # a cue that is shown no longer is there for software, not for readers
_GAP_MS = 50  # the most between cues of which one rolls up the other's lines
_INLINE_TIME = re.compile(rf"<{_TIME}>")  # in WebVTT: when the word behind it begins
_TEAMS_TIME = re.compile(r"\s*\d+:\d:\d\.\d+\s*-->")  # as Teams first wrote it; the next line says who speaks
_BLOCK = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)\b")  # of WebVTT, which is no cue
# the tag of a voice, or its end with the marks behind it; `more`: what is said before the next tag
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s(?P<name>[^<>]*)>|</v>[^\w\s<]*(?=(?P<more>[^<]*\w)?)")
# to `{\p0}` or the end; [^{}]: a search from every brace to the line's end would be quadratic
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9](?:(?!\{[^{}]*\\p0).)*", re.DOTALL)
_NO_SPEECH = re.compile(rf"(\\[Nnh]|{_DRAWING.pattern})", re.DOTALL)  # a line's end, a space that does not break


def read_ass(lines: Iterable[str], alphabet: Alphabet | None = None) -> Iterator[Item]:
    """Read Advanced SubStation Alpha: the text of its `Dialogue` lines.

    Speech and signs may stand beside each other, so each actor of each style is a stream.  A sentence of a stream ends
    if another actor of its style has spoken since, unless the stream goes on at once.
    """
    # the fields of an event, unless a line `Format` names others
    names = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
    ends_ms = dict[str, int | None]()  # of each stream: when its last event ends
    last_streams = dict[str, str]()  # of each style: the stream of its last event
    actor_before = ""
    for number, line in enumerate(lines):
        kind, _, line_fields = line.partition(":")
        kind = kind.strip()
        if kind == "Format" and "text" in line_fields.lower():
            names = [name.strip().lower() for name in line_fields.split(",")]
        fields = line_fields.split(",", len(names) - 1)  # the last one, the text, may have commas
        text = fields[-1]
        only_draws = _DRAWING.search(text) and not remove_tags(_DRAWING.sub("", text), OVERRIDES).bare.strip()
        if kind != "Dialogue" or len(fields) < len(names) or only_draws:
            yield Kept(line)
            continue
        event = {name: field.strip() for name, field in zip(names, fields, strict=True)}
        actor = event.get("name", "")
        style = event.get("style", "")
        start = re.fullmatch(_TIME, event.get("start", ""))
        end = re.fullmatch(_TIME, event.get("end", ""))
        start_ms = _ms(*start.groups()) if start else None
        end_ms = _ms(*end.groups()) if end else None
        stream = f"{style},{actor}"
        another_spoke = last_streams.get(style, stream) != stream
        breaks = another_spoke and not goes_on_beside(ends_ms.get(stream), start_ms)
        ends_ms[stream] = end_ms
        last_streams[style] = stream
        cue = Cue(number, start_ms, end_ms, actor, stream)
        yield Kept(line[: len(line) - len(text)])
        yield speaker_label(actor if actor != actor_before else "", cue, breaks=breaks)
        actor_before = actor
        items = list[Item]()
        for piece in _NO_SPEECH.split(text):  # breaks and drawings are pieces, too
            if _NO_SPEECH.fullmatch(piece):
                items.append(Kept(piece))
            else:
                items += read_line(piece, alphabet=alphabet, cue=cue, markup=OVERRIDES, dashes=True)
        yield from set_cue_times(items, cue)


def _read_cues(lines: Iterable[str], alphabet: Alphabet | None = None, *, is_vtt: bool) -> Iterator[Item]:
    """Read SubRip or WebVTT.

    A line of times is no speech, even if they are damaged, nor is a cue's number before them.  A cue of SubRip ends at
    the next line of times, one of WebVTT at an empty line; its notes, styles, regions and settings are kept.  All lines
    are read first: labels such as `maria:` are known from the whole file.
    """
    unread = [*lines]
    in_cues = (line for line in unread if not (is_vtt and _BLOCK.match(line)))
    labels = labels_of(remove_tags(line[:OPENING_CHARS], TAGS).bare for line in in_cues)
    is_teams = any(map(_TEAMS_TIME.match, unread))  # below the times, a line says who speaks
    unread.reverse()  # lines are taken off the end, so that no line is held twice
    line_before = ""
    cue: Cue | None = None  # None: before the first one, and between those of WebVTT
    shown = list[list[Item]]()  # the lines of the cue, each line as its items
    cues = [(cue, shown)]
    n_cues = 0
    speaker = ""
    voices = list[str]()  # whose tags are open in the cue, the outer before the inner
    while unread:
        line = unread.pop()
        following = unread[-1] if unread else ""
        new_cue = _cue_of_times(line, n_cues, speaker)
        if new_cue:
            voices = []
            cue = new_cue
            shown = []
            cues.append((cue, shown))
            n_cues += 1
        is_blank = not line.strip()
        if cue is None or is_blank or _has_arrow(line) or _is_id(line, line_before, unread, is_vtt=is_vtt):
            shown.append([Kept(line)])
        elif is_teams and _has_arrow(line_before) and following.strip():  # who speaks; the next line is what is said
            if line.strip() != speaker:
                speaker = line.strip()
                cue = replace(cue, speaker=speaker)
                shown.append([speaker_label(speaker, cue)])
            shown.append([Kept(line)])
        else:
            for voice, piece in _split_by_voices(line, voices, speaker):  # `voices` is brought up to date, too
                if voice != speaker:
                    speaker = voice
                    cue = replace(cue, speaker=speaker)
                    shown.append([speaker_label(speaker, cue)])
                items = read_line(piece, alphabet=alphabet, cue=cue, markup=TAGS, dashes=True, known_labels=labels)
                shown.append([*items])
        line_before = line
        # a line of a space ends no cue: YouTube's have such
        if is_vtt and is_blank and (not line.strip("\r\n") or _BLOCK.match(following)):
            cue = None
            shown = []
            cues.append((cue, shown))
    return _items_of_cues(cues)


def _split_by_voices(line: str, voices: list[str], speaker: str) -> Iterator[tuple[str, str]]:
    """Yield who speaks and what is said, for each piece of a line, with the tags of voices in it.

    speaker: of the line before.  voices: whose tags are open, the outer before the inner; changed by the line's tags.
    """
    begin = 0  # of the next piece
    for tag in _VOICE.finditer(line):
        if tag["name"] is not None:
            voices.append(html.unescape(tag["name"]).strip())
            cut = tag.start()  # the tag stands with what its voice says
        else:
            del voices[-1:]
            cut = tag.end()
            if not tag["more"]:  # nothing is said before the next tag
                continue
        if voices and voices[-1] != speaker:
            yield speaker, line[begin:cut]
            begin = cut
            speaker = voices[-1]
    yield speaker, line[begin:]


read_srt = partial(_read_cues, is_vtt=False)
read_vtt = partial(_read_cues, is_vtt=True)


def _cue_of_times(line: str, number: int, speaker: str) -> Cue | None:
    """Return the cue that begins with a line; None: the line states no times.

    Damaged times, such as `00:00:0l,000 -->`, begin a cue without times.
    """
    start, arrow, _ = line.partition(_ARROW)
    has_text_before = arrow and start.strip(_TIME_CHARS)
    if not _has_arrow(line) or not any(map(str.isdecimal, start)) or has_text_before:
        return None
    without_spaces = "".join(line.split())  # some write `00: 00: 02,000`
    timing = TIMING.match(line) or TIMING.match(without_spaces) or _OTHER_ARROW.fullmatch(line)
    if timing is None:
        return Cue(number, speaker=speaker)  # damaged
    return Cue(number, _ms(*timing.groups()[_START]), _ms(*timing.groups()[_END]), speaker)


def _has_arrow(line: str) -> bool:
    """Return whether a line has times, maybe damaged ones, with `-->` or another arrow (`->`, `–`) between them.

    A line with letters before its `-->` must have a time.
    """
    start, arrow, _ = line.partition(_ARROW)
    if not arrow:
        return _OTHER_ARROW.fullmatch(line) is not None
    return not start.strip(_TIME_CHARS) or _CLOCK.search(line) is not None


def _is_id(line: str, before: str, unread: Sequence[str], *, is_vtt: bool) -> bool:
    """Return whether a line is the name or the number of the cue whose times follow.

    unread: the lines behind it, the next one last.  Damaged files of SubRip have a number twice, or empty lines behind
    it.  A number that follows times is speech, unless other times follow at once.
    """
    is_number = line.strip().isdecimal()
    opens_cue = not before.strip()
    following = unread[-1] if unread else ""
    if _has_arrow(following):
        return is_number or opens_cue
    if is_vtt or not is_number:
        return False
    is_twice = opens_cue and line.strip() == following.strip()
    next_filled = next((line for line in reversed(unread) if line.strip()), "")
    return is_twice or (_has_arrow(next_filled) and not _has_arrow(before))


def _items_of_cues(cues: Iterable[tuple[Cue | None, Sequence[Sequence[Item]]]]) -> Iterator[Item]:
    """Yield the items of cues and of their lines; those without a cue stand between two cues.

    Words that the cue before has shown are `Echo`es.  In YouTube's automatic captions a cue builds a new line up, word
    by word with times, below the line before.  The next cue, of 10 ms, shows the new line alone.  Converted to SRT, the
    cues are the same but have no times of words.  So a cue repeats lines if it follows the cue before at once and
    begins with the last lines of it.  One of the two must be short, or the cue is built up (it has times of words)
    below the lines that it repeats.  If people say something twice, there is no such cue.
    """
    n_words = 0  # of the file so far
    # of the cue before: its lines, each with the numbers of its words in the file; its end; whether it was short
    lines_before = list[tuple[str, range]]()
    end_ms: int | None = None
    was_short = False
    for cue, lines in cues:
        if cue is None:
            yield from chain.from_iterable(lines)
            continue
        is_short = cue.start_ms is not None and cue.end_ms is not None and cue.end_ms - cue.start_ms <= _SHORT_MS
        between_words = (item.text if isinstance(item, Kept) else item.after for line in lines for item in line)
        is_built_up = any(map(_INLINE_TIME.search, between_words))
        texts = [*map(_seen_in, lines)]
        filled = [text for text in texts if text]
        before = [text for text, _ in lines_before]
        most = min(len(filled), len(before))
        n_repeated = next((n_lines for n_lines in range(most, 0, -1) if filled[:n_lines] == before[-n_lines:]), 0)
        repeats_all = n_repeated == len(filled)
        is_rolling = was_short or (is_short and repeats_all) or (is_built_up and not repeats_all)
        is_far = end_ms is None or cue.start_ms is None or abs(cue.start_ms - end_ms) > _GAP_MS
        if is_far or not is_rolling:
            n_repeated = 0
        repeated = deque(lines_before[len(before) - n_repeated :])  # those that are not shown again yet
        lines_before = []
        end_ms = cue.end_ms
        was_short = is_short
        items = list[Item]()
        for line, text in zip(lines, texts, strict=True):
            if text and repeated:
                _, numbers = repeated.popleft()
                next_numbers = iter(numbers)
                for item in line:
                    if isinstance(item, Kept):
                        items.append(Kept(item.text))  # a label that is shown again ends no sentence
                    else:
                        items.append(Echo(item.raw + item.after, spoken=item, place=next(next_numbers)))
            else:
                numbers = range(n_words, n_words + sum(isinstance(item, SpokenWord) for item in line))
                n_words = numbers.stop
                items += line
            if text:
                lines_before.append((text, numbers))
        yield from _with_inline_times(set_cue_times(items, cue))


def _seen_in(line: Iterable[Item]) -> str:
    """Return what readers see of a line, in lower case; empty if nothing."""
    return " ".join(filter(None, (item.shown if isinstance(item, Kept) else item.word.text.lower() for item in line)))


def _with_inline_times(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of a cue, in which a word behind a time, `<00:00:01.500>`, begins then."""
    before = ""  # what stands between the last word and the next one
    for item in items:
        if isinstance(item, Kept):
            before += item.text
            yield item
            continue
        times = _INLINE_TIME.findall(before)
        before = item.after
        yield replace(item, start_ms=_ms(*times[-1])) if times else item


def _ms(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> int:
    """Return the time of the groups of `_TIME` in ms: a fraction of `5` is 500 ms."""
    return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int((fraction or "").ljust(3, "0"))


@dataclass(frozen=True, slots=True)
class WrittenCue:
    """A cue to be written; a newline stands between its lines."""

    start_ms: int
    end_ms: int
    text: str


def own_cues(written: Iterable[WrittenItem], name: str) -> list[WrittenCue]:
    """Return the cues that a transcript has; one in which the speaker changes stays one cue.

    name: of its file, for messages.  Raises InputError for words in no cue, or in one without times.
    """
    pieces = list[tuple[Cue | None, str]]()  # what is shown, and in which cue; all speakers of a cue share it
    for item, hidden in shown_items(written):
        cue = item.cue
        if isinstance(item, WrittenWord) and (cue is None or not cue.has_times):
            raise InputError(
                f"words in no cue with times in {name}, the first of them {item.shown!r}",
                expected="subtitles, or segments with times",
                fix="make cues with --resegment if words have times, or write another format",
            )
        if isinstance(item, Kept) and item.role is Role.SPEAKER and pieces:  # each voice of a cue has a line
            cue_before, text_before = pieces[-1]
            pieces[-1] = cue_before, text_before[:-1] + "\n"
        # what stands up to the next item that is shown; a label of json has only its bare text
        texts_behind = [item.spoken.after] if isinstance(item, WrittenWord) else [item.text or item.bare]
        texts_behind += [kept.text or kept.bare for kept in hidden]
        ends_line = any("\n" in text or "\\N" in text for text in texts_behind)
        pieces.append((cue and replace(cue, speaker=""), item.shown + ("\n" if ends_line else " ")))
    cues = list[WrittenCue]()
    for cue, group in groupby(pieces, key=lambda piece: piece[0]):
        if cue and cue.start_ms is not None and cue.end_ms is not None:  # without times a direction is left out
            cues.append(WrittenCue(cue.start_ms, cue.end_ms, "".join(text for _, text in group).strip()))
    return cues


def write_srt(cues: Sequence[WrittenCue]) -> str:
    """Write cues as SubRip.  A text in which something would be read as a tag or an entity is escaped."""
    texts = (
        html.escape(cue.text, quote=False).replace("{", "&#123;") if TAGS.search(cue.text) else cue.text for cue in cues
    )
    return _blocks(cues, texts, ",")


def write_vtt(cues: Sequence[WrittenCue]) -> str:
    """Write cues as WebVTT.  A brace with a backslash is escaped, too, as players read it as a tag of SRT."""
    texts = (html.escape(cue.text, quote=False).replace("{\\", "&#123;\\") for cue in cues)
    return "WEBVTT\n\n" + _blocks(cues, texts, ".")


def _blocks(cues: Sequence[WrittenCue], texts: Iterable[str], point: str) -> str:
    """Return the blocks of cues that SRT and WebVTT have.  (pysubs2 would read `{x}` and `C:\\New` as codes of ASS.)"""
    return "".join(
        f"{number}\n{_clock(cue.start_ms, point)} --> {_clock(cue.end_ms, point)}\n{text}\n\n"
        for number, (cue, text) in enumerate(zip(cues, texts, strict=True), start=1)
    )


def write_ass(cues: Sequence[WrittenCue]) -> str:
    """Write cues as ASS, with escaped braces and an invisible character behind each backslash."""
    from pysubs2 import SSAEvent, SSAFile  # only those who write ASS wait for it

    file = SSAFile()
    for cue in cues:
        text = cue.text.replace("\\", "\\\u2060")  # else `\N` would end a line
        text = re.sub(r"([{}])", r"\\\1", text).replace("\n", "\\N")
        file.append(SSAEvent(cue.start_ms, cue.end_ms, text))
    return file.to_string("ass")


def _clock(time_ms: int, point: str) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{point}{ms:03}"
