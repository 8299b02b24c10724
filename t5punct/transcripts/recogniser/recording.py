"""The json of speech recognisers: Whisper, faster-whisper, whisperX, Deepgram, AWS Transcribe, or any list of words.

In: json in which the words of a recording stand, mostly several times: in one text, in segments, one by one with times.
Out: the words once, those of one group of strings, with their times; and the json with marks and capitals wherever
these words stand, as every other group is aligned with it.

>>> from ...text.render import AnnotatedWord
>>> recording = RecogniserJson.read('{"text": "so what", "words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> words = [item for item in recording.items if not isinstance(item, Kept)]
>>> new = [AnnotatedWord("so", "So", "", "capitalised", 1, 1), AnnotatedWord("what", "what?", "?", "lower", 1, 1)]
>>> "".join(recording.pieces(map(WrittenWord, words, new)))
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, count, pairwise
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...errors import InputError
from ...text.marks import DASH_APART, Alphabet, Case
from ...text.words import ALL_MARKS, APOSTROPHES, Word, opening_apart
from ..items import Item, Kept, WrittenItem, WrittenWord, goes_on_beside, iter_pieces, leave_out_removed, speaker_label
from .groups import (
    ELEMENT_TYPES,
    GUESSES,
    MARK_TYPE,
    TYPE,
    WORD_TYPE,
    Group,
    Line,
    Path,
    align,
    find_places,
    is_silent,
    member_at,
)
from .values import Number, parse_json, written_json

_COMPLETE = 0.99  # a complete group has this share of the letters of the longest group
_REPEATS = 1 / 3  # a group with a smaller share of the source's letters only quotes the recording
_FIELD = re.compile(r'"([^"\\]{1,30})"\s*:')
_ID = re.compile(r'"id"\s*:\s*(\d{1,18})\b')
_MARK_KEYS = ("id", TYPE, GUESSES, "confidence", "speaker", "speaker_label")  # what a mark's item takes from its word's
_NewItems = dict[Path, list[Any]]  # by the path of an item of a list: the items that replace it
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
        groups = [Group.of(places, alphabet) for places in find_places(values)]
        groups = [group for group in groups if group.lines]
        if not groups and is_silent(values):
            return cls(text)
        if not groups:
            fields = [*dict.fromkeys(_FIELD.findall(text, 0, _SEARCHED_CHARS))][:_NAMED_FIELDS]
            raise InputError(
                f"no words in {name}" + (f", whose fields are {', '.join(fields)}" if fields else ""),
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        # most files say the same in several groups: one of those that have all words gives the words
        most_letters = max(group.n_letters for group in groups)
        complete = [group for group in groups if group.n_letters >= _COMPLETE * most_letters]
        source = max(complete, key=_quality)
        # and the one with the most times gives the times; of equals, the one that names most speakers and channels
        timed = max(groups, key=lambda group: (group.n_timed, group.n_voices, group.letters == source.letters))
        return cls(text, groups, source, [*_items(source, timed)])

    def pieces(self, words: Iterable[WrittenWord]) -> Iterator[str]:
        """Yield the pieces of the json, in which its words are written as `words` say."""
        source_words = [*words]
        documents = parse_json(self.text)
        values = [value for _, value in documents]  # changed below
        new_items: _NewItems = {}
        for group in self.groups:
            new: list[WrittenWord | None] = [None] * len(group.words)  # None: the source has no such word
            if group is self.source:
                new = [*source_words]
            elif self.source and group.n_letters >= _REPEATS * self.source.n_letters:
                for ours, theirs in align(self.source, group):
                    new[theirs] = source_words[ours]
            # if marks are items of their own, a word without a mark has no such item behind it
            types = {place.type for line in group.lines for place in line.places}
            marks_are_items = WORD_TYPE in types or MARK_TYPE in types
            begin = 0  # the number of the line's first word in the group
            for line in group.lines:
                end = begin + len(line.words)
                new_words = new[begin:end]
                spoken = [word for word, letters in zip(new_words, group.letters[begin:end], strict=True) if letters]
                n_known = sum(word is not None for word in spoken)
                if n_known > len(spoken) / 2:  # else the line says something else
                    has_type = line.places[0].type != ""
                    _write_line(line, new_words, values, new_items, marks_are_items=marks_are_items and has_type)
                begin = end
        _replace_items(new_items, values, self.text)
        for text, value in documents:
            yield written_json(text, value)


def _quality(group: Group) -> tuple[bool, int, int, int]:
    """Return what makes a group the source: a text, few words that are cut, times, and many lines, in this order."""
    n_cuts = sum(len(line.places) - 1 for line in group.lines)
    return group.lines[0].places[0].is_text, -len(group.words) - n_cuts, group.n_timed, len(group.lines)


def _items(source: Group, timed: Group) -> Iterator[Item]:
    """Yield the words of the source, and a label where another channel or speaker begins.  Each channel is a stream.

    The words have the times of `timed`, its speakers if it knows those of the source, and its channels where the source
    has none.  A label is a break, unless a speaker goes on at once in a channel that another one only interrupted.
    """
    timed_words = {ours: timed.words[theirs] for ours, theirs in align(source, timed)}
    names = {line.cue.speaker for line in source.lines} - {""}
    knows_names = names <= {line.cue.speaker for line in timed.lines}  # else words may number speakers with names
    channel = ""  # of the last word
    speaker = ""  # of the last word
    last_of_channels = dict[str, tuple[str, int | None]]()  # the speaker of a channel's last word, and when that ended
    number = 0
    for line in source.lines:
        cue = replace(line.cue, stream=line.cue.stream or channel)
        # without names in the source, a speaker goes on until a timed word names another one
        new_speaker = line.cue.speaker if names else speaker
        for item in line.items:
            if isinstance(item, Kept):
                yield Kept("", item.breaks, item.role, item.text, cue)
                continue
            word = timed_words.get(number, item)
            number += 1
            word_cue = word.cue or line.cue
            new_channel = line.cue.stream or word_cue.stream or channel
            if knows_names and word is not item:
                new_speaker = word_cue.speaker or new_speaker
            cue = replace(cue, stream=new_channel)
            if new_channel != channel or new_speaker != speaker:
                last_speaker, end_ms = last_of_channels.get(new_channel, ("", None))
                breaks = new_speaker != last_speaker or not goes_on_beside(end_ms, word.start_ms)
                yield speaker_label(new_speaker if new_speaker != speaker else "", cue, breaks=breaks)
            channel = new_channel
            speaker = new_speaker
            last_of_channels[channel] = (speaker, word.end_ms)
            yield replace(item, cue=cue, start_ms=word.start_ms, end_ms=word.end_ms)


def _write_line(
    line: Line, new: Sequence[WrittenWord | None], values: Sequence[Any], new_items: _NewItems, *, marks_are_items: bool
) -> None:
    """Change a line's strings in json values, so that its words are written anew.

    new: for each word, how it is written; None: as before.  marks_are_items: as in AWS's list, where `so` `.` `what`
    becomes `so` `what` `?`.  There the items that come in place of each item are put into `new_items`, by its path,
    for `_replace_items`.
    """
    first, *others = line.places
    if marks_are_items and not others:  # what is new behind a single word is its marks
        string, marks = _rewrite(line.items, new, [*line.texts, ""])  # the empty piece takes what is behind the word
        _set_member(values, first.path, string)
        if marks.strip():
            item = member_at(first.item, values)
            new_items[first.item] = [item, _mark_item(item, first.path[-1], marks.strip())]
        return
    string, *pieces = _rewrite(line.items, new, line.texts)
    _set_member(values, first.path, string)
    for place, piece in zip(others, pieces, strict=True):
        if marks_are_items and not piece.strip():  # the mark is gone
            new_items[place.item] = []
        elif piece.split() != place.text.split():  # a piece that stays keeps its white space
            _set_member(values, place.path, piece.strip() if marks_are_items else piece)


def _set_member(values: Sequence[Any], path: Path, string: str) -> None:
    member_at(path[:-1], values)[path[-1]] = string


def _rewrite(items: Sequence[Item], new: Sequence[WrittenWord | None], texts: Sequence[str]) -> list[str]:
    """Return the strings of a line with its words written anew.

    items: of the line; new: for each of its words, how it is written, None: as before; texts: the strings so far.
    Each piece of a word keeps its letters, unless a user spells the word with others.  Marks replace marks, or stand
    behind the last piece.
    """
    written = list[WrittenItem]()
    new_words = iter(new)
    for item in items:
        if isinstance(item, Kept):
            written.append(item)
            continue
        new_word = next(new_words)
        if new_word is None:
            written.append(Kept(item.raw + item.after))
        else:
            text = _spell_as(item.word, new_word)
            written.append(WrittenWord(item, replace(new_word.annotated, text=text)))
    text = "".join(iter_pieces(leave_out_removed(written)))
    if len(texts) == 1:
        return [text]
    # a piece begins where it began in the old text, before what is inserted there; inside a part that became shorter,
    # at the part's end at the latest.  Of several marks at the end, the first one's piece gets all that are new
    steps = Levenshtein.opcodes([char.lower() for char in "".join(texts)], [char.lower() for char in text])
    are_words = [bool(piece.strip(ALL_MARKS.characters + " ")) for piece in texts]
    n_before_marks = max((number for number, is_word in enumerate(are_words, start=1) if is_word), default=0)
    new_starts = [0]
    for index, start in enumerate(accumulate(map(len, texts[:-1])), start=1):
        step = next(step for step in steps if start <= step.src_end)
        if index > n_before_marks and step.tag != "equal":
            new_starts.append(len(text))
        else:
            new_starts.append(min(step.dest_start + start - step.src_start, step.dest_end))
    return [text[begin:end] for begin, end in pairwise([*new_starts, len(text)])]


def _spell_as(word: Word, source_word: WrittenWord) -> str:
    """Return a word of any place with the letters and marks that the word of the source is written with.

    Its quotes, brackets and outer apostrophes stay.
    """
    old = source_word.spoken.word  # as the source has it
    annotated = source_word.annotated  # as it is written now
    is_same = word.text == old.text and word.n_closers == old.n_closers  # nearly always
    if annotated.is_removed or is_same:
        return annotated.text
    if not old.has_slot:
        return word.text
    text, opening = opening_apart(annotated.text)
    old_text, old_opening = opening_apart(old.text)
    closed = replace(old, text=old_text).closing_as(text)  # its closing quotes stand where the new text has them
    if opening != old_opening:
        word = word.with_opening(opening)
    if closed.n_closers > old.n_closers:  # the marks have moved before the quotes
        word = word.with_quotes_behind()

    # the source's word as it is written: opening quotes, letters, what is behind the core, marks and closing quotes
    start = old_text.find(closed.core)
    stop = start + len(closed.core)
    letters = closed.spelled or text[start:stop]
    marks = text[start + len(letters) :].removeprefix(old_text[stop : closed.n_stem])
    marks = marks.replace(old_text[closed.n_stem :], "", 1)  # they stand before or behind closing quotes

    core = word.core
    keeps_case = annotated.case == Case.VERBATIM.value and letters == closed.core and not closed.spelled
    if keeps_case:
        letters = core
    letters = core.replace(core.strip(APOSTROPHES), letters.strip(APOSTROPHES), 1)
    if core.endswith(".") and not letters.endswith("."):  # the place has `U.S.` where the source has `U.S`
        letters += "."
        marks = marks.removeprefix(".")
    stem = word.text[: word.n_stem].replace(core, letters, 1)
    inside, dash, behind = marks.partition(DASH_APART)  # a dash stands apart, so never inside quotes
    return stem + inside + word.text[word.n_stem :] + dash + behind


def _mark_item(word: Mapping[str, Any], key: str, marks: str) -> dict[str, Any]:
    """Make an item for marks from the item of the word before them.  `key`: the member that is the word's text.

    Of AWS's `{"type": "pronunciation", "alternatives": [{"content": "so"}]}`: `punctuation`, and the marks as content.
    """
    item = {name: value for name, value in word.items() if name in (*_MARK_KEYS, key)}
    kind = item.get(TYPE)
    if isinstance(kind, str):
        item[TYPE] = "punct" if kind in ELEMENT_TYPES else MARK_TYPE  # rev.ai's, or AWS's
    confidence = item.get("confidence")
    if confidence is not None:
        item["confidence"] = Number("0.0") if isinstance(confidence, Number) else "0.0"
    guesses = item.get(GUESSES)
    if key in item:
        item[key] = marks
    elif isinstance(guesses, list):
        # the best guess alone, with all its members, but of a mark
        item[GUESSES] = [{**guess, **_mark_item(guess, key, marks)} for guess in guesses[:1] if isinstance(guess, dict)]
    return item


def _replace_items(new_items: _NewItems, values: Sequence[Any], source: str) -> None:
    """Replace items in json values, and their ids in the lists of AWS's segments.

    An added item gets an id that `source`, the json, does not have yet.
    """
    next_id = count(1 + max(map(int, _ID.findall(source)), default=0))
    new_ids_of = dict[str, list[Number]]()  # an item's id -> the ids of the items that replace it
    for path, replacements in new_items.items():
        old_id = member_at(path, values).get("id")
        if isinstance(old_id, Number):
            for added in replacements[1:]:
                added["id"] = Number(next(next_id))
            new_ids_of[old_id] = [item["id"] for item in replacements]
    for path, replacements in reversed(new_items.items()):  # from behind, as a replacement moves the items behind it
        index = path[-1]
        member_at(path[:-1], values)[index : index + 1] = replacements
    for ids in _lists_of_ids(values) if new_ids_of else ():
        ids[:] = chain.from_iterable(new_ids_of.get(old_id, [old_id]) for old_id in ids)


def _lists_of_ids(value: Any) -> Iterator[list[Number]]:
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "items" and isinstance(member, list) and all(isinstance(element, Number) for element in member):
            yield member
        elif isinstance(member, dict | list):
            yield from _lists_of_ids(member)
