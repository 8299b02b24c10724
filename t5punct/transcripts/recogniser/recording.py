"""The json of speech recognisers: Whisper, faster-whisper, whisperX, Deepgram, AWS Transcribe, or any list of words.

In: json in which the words of a recording stand, mostly several times: in one text, in segments, one by one with times.
Out: the words once, those of one group of strings, with their times; and the json with marks and capitals wherever
these words stand, as every other group is aligned with it.

>>> recording = RecogniserJson.read('{"text": "so what", "words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> words = [item for item in recording.items if isinstance(item, SpokenWord)]
>>> new = [AnnotatedWord("so", "So", "", "capitalised", 1, 1), AnnotatedWord("what", "what?", "?", "lower", 1, 1)]
>>> "".join(recording.pieces(map(WrittenWord, words, new)))
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count, pairwise
from operator import getitem
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...errors import InputError
from ...text.marks import DASH_APART, Alphabet, Case
from ...text.render import AnnotatedWord
from ...text.words import APOSTROPHES, Word, opening_apart
from ..items import BESIDE_MS, Cue, Item, Kept, SpokenWord, WrittenWord, join_around_removed, speaker_label
from .groups import (
    ELEMENT_TYPES,
    GUESSES,
    MARK_TYPE,
    TYPE,
    WORD_TYPE,
    Group,
    Line,
    Path,
    Place,
    align,
    find_places,
    says_nothing,
)
from .values import Number, parse_json, written_json

_COMPLETE = 0.99  # a complete group has this share of the letters of the longest group
_REPEATS = 1 / 3  # a group with a smaller share of the source's letters only quotes the recording
_FIELD = re.compile(r'"([^"\\]{1,30})"\s*:')
_NewItems = dict[Path, list[Any]]  # the path of an item -> the items that replace it
_ID = re.compile(r'"id"\s*:\s*(\d{1,18})\b')
_MARK_KEYS = ("id", TYPE, GUESSES, "confidence", "speaker", "speaker_label")  # what a mark's item takes from its word's
_SEARCHED_CHARS, _NAMED_FIELDS = 10_000, 6  # for the message on a json without words: a misspelt field is seen there


@dataclass(frozen=True, slots=True)
class RecogniserJson:
    """A file of a recogniser.

    text: the file.  groups: the strings with words, a group for each path.  source: the group whose words are the
    items; None: nothing was said.  items: its words, with the best times of any group, and breaks between speakers.
    """

    text: str
    groups: Sequence[Group] = ()
    source: Group | None = None
    items: Sequence[Item] = ()

    @classmethod
    def read(cls, text: str, alphabet: Alphabet | None = None, name: str = "the file") -> RecogniserJson:
        """Read the words of a json text, or of lines of json, each of which is a recording of its own.

        Raises InputError for what is no json, and for json without words.
        """
        values = [value for _, value in parse_json(text, name)]
        by_group = dict[str, list[Place]]()
        for place in find_places(values):
            by_group.setdefault(place.group, []).append(place)
        groups = [Group.of(places, alphabet) for places in by_group.values()]
        groups = [group for group in groups if group.lines]
        if not groups and says_nothing(values):
            return cls(text)
        if not groups:
            fields = [*dict.fromkeys(_FIELD.findall(text, 0, _SEARCHED_CHARS))][:_NAMED_FIELDS]
            raise InputError(
                f"no words in {name}" + (f", whose fields are {', '.join(fields)}" if fields else ""),
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        source = _source_of(groups)
        # of the groups with the most times, one with the words of the source, in its order, is best
        n_timed = max(group.n_timed_lines for group in groups)
        timed = [group for group in groups if group.n_timed_lines == n_timed]
        best_timed = next((group for group in timed if group.letters == source.letters), timed[0])
        timed_source = replace(source, words=_with_times(source, best_timed))
        groups = [timed_source if group is source else group for group in groups]
        return cls(text, groups, timed_source, [*_items(timed_source)])

    def pieces(self, words: Iterable[WrittenWord]) -> Iterator[str]:
        """Yield the pieces of the json, in which its words are written as `words` say."""
        spellings = [Spelling.of(word.spoken.word, word.annotated) for word in words]
        documents = parse_json(self.text)
        values = [value for _, value in documents]  # changed below
        new_items: _NewItems = {}
        for group in self.groups:
            new: list[Spelling | None] = [None] * len(group.words)  # None: the source has no such word
            if group is self.source:
                new = [*spellings]
            elif self.source and group.n_letters >= _REPEATS * self.source.n_letters:
                for ours, theirs in align(self.source, group):
                    new[theirs] = spellings[ours]
            # where marks are items of their own, a word without a mark has no such item behind it
            types = {place.type for line in group.lines for place in line.places}
            items_of_group = new_items if types & {WORD_TYPE, MARK_TYPE} else None
            begin = 0
            for line in group.lines:
                end = begin + len(line.words)
                spoken = [index for index in range(begin, end) if group.letters[index]]
                if sum(new[index] is not None for index in spoken) > len(spoken) / 2:  # else it says something else
                    _write_line(line, new[begin:end], values, items_of_group)
                begin = end
        _write_items(new_items, values, self.text)
        for text, value in documents:
            yield written_json(text, value)


def _source_of(groups: Sequence[Group]) -> Group:
    """Choose the group to take the words from: of those with nearly all letters, the best.

    A text is better than a list of words; of equals, that with fewer pieces, then with more times, then more lines.
    """
    most_letters = max(group.n_letters for group in groups)
    complete = [group for group in groups if group.n_letters >= _COMPLETE * most_letters]
    return max(complete, key=lambda group: (group.is_text, -group.n_pieces, group.n_timed_lines, len(group.lines)))


def _with_times(source: Group, timed: Group) -> list[SpokenWord]:
    """Return the source's words, each with the times, speaker and channel that `timed` has for it."""
    words = [*source.words]
    for theirs, ours in align(timed, source):
        word, other = words[ours], timed.words[theirs]
        cue, other_cue = word.cue or Cue(0), other.cue or Cue(0)
        cue = replace(
            cue,
            start_ms=cue.start_ms if other_cue.start_ms is None else other_cue.start_ms,
            speaker=other_cue.speaker,
            stream=cue.stream or other_cue.stream,
        )
        words[ours] = replace(word, cue=cue, start_ms=other.start_ms, end_ms=other.end_ms)
    return words


def _items(group: Group) -> Iterator[Item]:
    """Yield the words of a group, and a label where another channel or speaker begins.  Each channel is a stream.

    The label is a break, unless a speaker goes on at once in a channel that another one only interrupted.
    """
    words = iter(group.words)
    has_speakers = any(line.cue.speaker for line in group.lines)
    before = ("", "")  # channel and speaker of the last word
    last_of_channels = dict[str, tuple[str, int | None]]()  # the speaker of a channel's last word, and when that ended
    for line in group.lines:
        cue = replace(line.cue, stream=line.cue.stream or before[0])
        for item in line.items:
            if isinstance(item, Kept):
                yield Kept("", item.breaks, item.role, item.text, cue)
                continue
            word = next(words)  # the item with its times
            channel, speaker = before
            if word.cue:
                channel = word.cue.stream or channel
                speaker = cue.speaker if has_speakers else word.cue.speaker or speaker
            cue = replace(cue, stream=channel)
            if (channel, speaker) != before:
                last_speaker, end_ms = last_of_channels.get(channel, ("", None))
                is_near = end_ms is not None and word.start_ms is not None and word.start_ms - end_ms <= BESIDE_MS
                label = speaker_label(speaker if speaker != before[1] else "", cue)
                yield replace(label, breaks=speaker != last_speaker or not is_near, cue=cue)
                before = channel, speaker
            last_of_channels[channel] = speaker, word.end_ms
            yield replace(word, cue=cue)


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word as it is written now.

    letters: without quotes, brackets and marks.  opening: the mark before it.  Where one of these is None, each place
    keeps its own.  ends_quote: the marks stand inside the quotes behind the word.
    """

    letters: str | None
    marks: str = ""
    opening: str | None = None
    is_removed: bool = False
    ends_quote: bool = False

    @classmethod
    def of(cls, word: Word, annotated: AnnotatedWord) -> Spelling:
        if annotated.is_removed or not word.has_slot:
            return cls(None, is_removed=annotated.is_removed)
        text, opening = opening_apart(annotated.text)
        old_text, old_opening = opening_apart(word.text)
        read = replace(word, text=old_text)
        word = read.closing_as(text)
        start = old_text.find(word.core)
        stop = start + len(word.core)
        letters = word.spelled or text[start:stop]
        behind = text[start + len(letters) :].removeprefix(old_text[stop : word.n_stem])
        marks = behind.replace(old_text[word.n_stem :], "", 1)  # marks stand before or behind closing quotes
        keeps_letters = not word.spelled and annotated.case == Case.VERBATIM.value and letters == word.core
        return cls(
            None if keeps_letters else letters,
            marks,
            None if opening == old_opening else opening,
            ends_quote=word.n_closers > read.n_closers,
        )

    def put_into(self, word: Word) -> str:
        """Return a place's word in this spelling, with the quotes, brackets and outer apostrophes of the place."""
        word = word if self.opening is None else word.with_opening(self.opening)
        word = word.with_quotes_behind() if self.ends_quote else word
        core, marks = word.core, self.marks
        letters = core
        if self.letters is not None:
            letters = core.replace(core.strip(APOSTROPHES), self.letters.strip(APOSTROPHES), 1)
        if core.endswith(".") and not letters.endswith("."):  # the place has `U.S.` where the source has `U.S`
            letters, marks = letters + ".", marks.removeprefix(".")
        stem = word.text[: word.n_stem].replace(core, letters, 1)
        inside, dash, behind = marks.partition(DASH_APART)  # a dash stands apart, so never inside quotes
        return stem + inside + word.text[word.n_stem :] + dash + behind


def _write_line(line: Line, new: Sequence[Spelling | None], values: Sequence[Any], new_items: _NewItems | None) -> None:
    """Change a line's strings in json values: its words are written as `new`; None: the word stays.

    Where marks are items of their own, as in AWS's list, `so` `.` `what` becomes `so` `what` `?`: the items to be added
    or removed are put into `new_items`, for `_write_items`.  None: marks have no items here.
    """
    first, *others = line.places
    if new_items is None or not first.type:
        for place, string in zip(line.places, _rewrite(line, new, line.starts), strict=True):
            if place is first or string.split() != place.text.split():  # a piece that stays keeps its white space
                _member(values, place.path[:-1])[place.path[-1]] = string
        return
    starts = line.starts if others else [len(first.text)]  # what is new behind a single word is its marks
    string, *marks = _rewrite(line, new, starts)
    _member(values, first.path[:-1])[first.path[-1]] = string
    if not others and marks[0].strip():
        item = _member(values, first.item)
        new_items[first.item] = [item, _mark_item(item, first.path[-1], marks[0].strip())]
    for place, mark in zip(others, marks, strict=False):  # a single word has a mark, but no other place
        if not mark.strip():
            new_items[place.item] = []
        elif mark.split() != place.text.split():
            _member(values, place.path[:-1])[place.path[-1]] = mark.strip()


def _member(values: Sequence[Any], path: Path) -> Any:
    return reduce(getitem, path, values)


def _rewrite(line: Line, new: Sequence[Spelling | None], starts: Sequence[int]) -> list[str]:
    """Return the strings of a line with its words written anew.

    starts: where the second of the old strings begins in the line's text, and so on.  Each piece of a word keeps its
    letters, unless a user spells the word with others.  Marks replace marks, or stand behind the last piece.
    """
    text = ""
    new_starts = [0]
    begin = 0  # of the item in the old text
    spellings = iter(new)
    for item in line.items:
        spelling = None if isinstance(item, Kept) else next(spellings)
        old = item.text if isinstance(item, Kept) else item.raw + item.after
        if isinstance(item, Kept) or spelling is None:
            written = old
        elif spelling.is_removed:
            text, written = join_around_removed(text, item.after), ""
        else:
            written = spelling.put_into(item.word) + item.after
        starts_here = [start - begin for start in starts if begin < start <= begin + len(old)]
        new_starts += [len(text) + _moved_index(old, written, start) for start in starts_here]
        text += written
        begin += len(old)
    return [text[start:stop] for start, stop in pairwise([*new_starts, len(text)])]


def _moved_index(old: str, new: str, index: int) -> int:
    """Return where an index in a word lies in the same word written anew: before what is inserted there."""
    letters, new_letters = [char.lower() for char in old], [char.lower() for char in new]
    step = next(step for step in Levenshtein.opcodes(letters, new_letters) if index <= step.src_end)
    return min(step.dest_start + index - step.src_start, step.dest_end)  # the end, where the new part is shorter


def _mark_item(word: Mapping[str, Any], key: str, marks: str) -> dict[str, Any]:
    """Make an item for marks from the item of the word before them.  `key`: the member that is the word's text."""
    item = {name: value for name, value in word.items() if name in (*_MARK_KEYS, key)}
    kind, confidence, guesses = item.get(TYPE), item.get("confidence"), item.get(GUESSES)
    if isinstance(kind, str):
        item[TYPE] = "punct" if kind in ELEMENT_TYPES else MARK_TYPE  # rev.ai's, or AWS's
    if confidence is not None:
        item["confidence"] = Number("0.0") if isinstance(confidence, Number) else "0.0"
    if key in item:
        item[key] = marks
    elif isinstance(guesses, list):
        item[GUESSES] = [{**guess, **_mark_item(guess, key, marks)} for guess in guesses[:1] if isinstance(guess, dict)]
    return item


def _write_items(items: _NewItems, values: Sequence[Any], source: str) -> None:
    """Replace items in json values, and their ids in the lists of AWS's segments.

    An added item gets an id that `source`, the json, does not have yet.
    """
    next_id = count(1 + max(map(int, _ID.findall(source)), default=0))
    new_ids_of = dict[str, list[Number]]()  # an item's id -> the ids of the items that replace it
    for path, replacements in items.items():
        old_id = _member(values, path).get("id")
        if isinstance(old_id, Number):
            for added in replacements[1:]:
                added["id"] = Number(next(next_id))
            new_ids_of[old_id] = [item["id"] for item in replacements]
    for path, replacements in reversed(items.items()):  # from behind, as a replacement moves the items behind it
        index = path[-1]
        _member(values, path[:-1])[index : index + 1] = replacements
    for ids in _lists_of_ids(values) if new_ids_of else ():
        ids[:] = [new_id for old_id in ids for new_id in new_ids_of.get(old_id, [old_id])]


def _lists_of_ids(value: Any) -> Iterator[list[Number]]:
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "items" and isinstance(member, list) and all(isinstance(element, Number) for element in member):
            yield member
        elif isinstance(member, dict | list):
            yield from _lists_of_ids(member)
