"""Where words stand in the json of a recogniser, and how they are read.

In: the values of json texts.  Out: `Place`s, the strings that hold words, and `Group`s, all places of one path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from io import StringIO
from itertools import pairwise
from operator import getitem
from sys import intern
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...text.marks import DASH, Alphabet
from ...text.words import ALL_MARKS, APOSTROPHES, CLOSERS, OPENERS, Word
from ..items import Cue, Item, SpokenWord
from ..speech import read_line, set_cue_times
from ..tables import parse_ms
from .values import REPEATED

_CAPTION = "utf8"  # the key of a caption in YouTube's json3
_TEXT_KEYS = (  # their strings may hold several words; Azure's `lexical` is what was heard, and stays
    "text", "transcript", "Transcript", "full_transcript", "transcription", "sentence", "segment", "pred_text",
    "raw_text", "display", "displayText", "DisplayText", _CAPTION,
)  # fmt: skip
_TIMED_TEXT = "body"  # of Podcasting 2.0, which holds words if its object has times
_WORD_KEYS = ("punctuated_word", "word", "content", "Content")  # mostly of one word; an object's first one counts
_START_KEYS = ("start", "start_time", "startTime", "startOffset", "ts", "start_timestamp", "StartTime")
_END_KEYS = ("end", "end_time", "endTime", "endOffset", "end_ts", "end_timestamp", "EndTime")
_DURATION = "duration"  # beside a start, in the place of an end
_SPEAKER_KEYS = (  # a name before a number
    "speaker_name", "speakerName", "speakerDisplayName", "speaker", "speaker_label", "speakerLabel", "speaker_id",
    "speakerId", "speakerTag", "speaker_tag", "participant", "ParticipantRole",
)  # fmt: skip
_NESTED_KEYS = ("relative", "name")  # of recall.ai's times and speakers, which are objects
_CHANNEL_KEYS = ("channel", "channel_label", "channelTag", "channel_tag")
TYPE, MARK_TYPE, WORD_TYPE = "type", "punctuation", "pronunciation"  # of AWS's items
# rev.ai's elements: the key of their text, and their types, in AWS's words; spaces are marks there, too
_ELEMENT, ELEMENT_TYPES = "value", {"text": WORD_TYPE, "punct": MARK_TYPE}
_PART_LISTS = ("segs", "elements")  # their elements have the times and the speaker of the object with the list
GUESSES = "alternatives"  # the first is the best
_QUOTING_KEY = re.compile(  # of lists that repeat names and phrases of the recording
    r".*entit(?:y|ies)$|(?:.*_)?(?:terms|topics)$|.*highlight|key_?(?:phrase|word)", re.IGNORECASE
)
_WORD_OF_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # unlike `a.wav`
_LEAST_WORDS = 0.7  # share of a list's strings that must be words of letters, if it is a list of words
_MOST_KINDS = 50  # different strings of a list that names kinds or speakers
# keys whose value is empty if nothing was said
_SPEECH_KEYS = ("text", "transcript", "segments", "words", "results", "transcription", "utterances", "channels")
Path = tuple[Any, ...]  # keys and indices that lead to a value; the first is the number of the json text
_CONTROL_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp: `[_BEG_]`, which nobody says
_SECOND_MS, _LONG_WORD_MS, _TICK_MS = 1000, 10_000, 1e-4
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # apostrophes stand inside words, too
_ORDERS = ((), ("stream", "start_ms"), ("stream",), ("start_ms",))  # fields of `Cue` by which words may be sorted


@dataclass(frozen=True, slots=True)
class Place:
    """A string that holds words, or a list or an object on the way to it, which has no text.

    group: the path without indices.  cue: times and speaker; the stream is the channel.  item: the path of the element
    of a list that has the string, or empty; later elements may be pieces or marks of the same word.  type: of this
    element, in AWS's words, or empty.
    """

    path: Path
    group: str
    cue: Cue
    text: str = ""
    item: Path = ()
    type: str = ""

    @property
    def is_text(self) -> bool:
        """Whether the string may hold several words."""
        key = self.path[-1]
        return key.rstrip(REPEATED) in _TEXT_KEYS if isinstance(key, str) else len(self.text.split()) > 1


def find_places(values: Sequence[Any]) -> list[list[Place]]:
    """Find the strings that hold words, by their keys, or else in lists.  Return a list of places for each path."""
    groups = _walk_all(values)
    if not groups and not is_silent(values):
        return _find_in_lists(values)
    for places in groups:
        for index, (place, after) in enumerate(pairwise(places)):
            # YouTube shows a caption while the next one is spoken
            if place.path[-1] == _CAPTION or _DURATION in member_at(place.path[:-1], values):
                start_ms, end_ms = after.cue.start_ms, place.cue.end_ms
                if end_ms is not None and start_ms is not None and end_ms > start_ms:
                    places[index] = replace(place, cue=replace(place.cue, end_ms=start_ms))
    return groups


def member_at(path: Path, values: Sequence[Any]) -> Any:
    """Return the value to which a path leads."""
    return reduce(getitem, path, values)


def is_silent(value: object) -> bool:
    """Return whether json is what a recogniser writes for a recording without speech."""
    if isinstance(value, list):
        return any(map(is_silent, value))
    if not isinstance(value, dict):
        return False
    has_empty = any(key in value and value[key] in ([], None) for key in _SPEECH_KEYS)
    return has_empty or any(map(is_silent, value.values()))


def _find_in_lists(values: Sequence[Any]) -> list[list[Place]]:
    """Find the words of json whose keys are unknown.

    If the file is one list of texts, each is a recording, so a stream, of its own.  Otherwise the words are the strings
    of one path through a list: the path with the most different words.
    """
    groups = _walk_all(values, any_key=True)
    texts = next((places for places in groups if places[0].group == "[]"), [])  # the strings of a file that is one list
    has_only_strings = bool(texts) and len(texts) == len(values[0])  # several json texts are objects
    has_texts = len(texts) == 1 or any(place.is_text for place in texts)  # else they are single words of one text
    if has_only_strings and has_texts:
        return [[replace(place, cue=replace(place.cue, stream=str(place.path[-1]))) for place in texts]]
    lists_of_words = [places for places in groups if "[]" in places[0].group and _are_words(places)]
    by_variety = sorted(lists_of_words, key=lambda places: len({place.text for place in places}))
    return by_variety[-1:]  # empty if no list has words


def _are_words(places: Sequence[Place]) -> bool:
    """Return whether most strings are words of letters, unlike codes, and many differ, unlike names of kinds."""
    texts = [place.text.strip(ALL_MARKS.characters + " \n").lower() for place in places]
    n_words = sum(bool(_WORD_OF_LETTERS.fullmatch(text)) for text in texts)
    many_differ = len({*texts}) > min(len(texts) / 2, _MOST_KINDS)
    return many_differ and n_words > 1 and n_words >= _LEAST_WORDS * len(texts)


def _walk_all(values: Sequence[Any], *, any_key: bool = False) -> list[list[Place]]:
    """Return the places in json texts by their paths; each of several texts has streams of its own."""
    groups = dict[str, list[Place]]()
    are_several = len(values) > 1
    for number, value in enumerate(values):
        top = Place((number,), "[]" if are_several else "", Cue(0))  # as of a list's elements
        for place in _walk(value, top, {}, any_key=any_key):
            stream = f"{number}:{place.cue.stream}"
            place_of_text = replace(place, cue=replace(place.cue, stream=stream)) if are_several else place
            groups.setdefault(place.group, []).append(place_of_text)
    return [*groups.values()]


def _walk(value: Any, place: Place, outer: Mapping[str, Any], *, any_key: bool) -> Iterator[Place]:
    """Yield the places in a value.

    place: the value's own.  outer: the object whose times hold for words without times of their own.  any_key: whether
    any key may hold words.
    """
    if isinstance(value, list):
        yield from _walk_list(value, place, outer, any_key=any_key)
    elif isinstance(value, dict):
        yield from _walk_object(value, place, outer, any_key=any_key)


def _walk_list(elements: Sequence[Any], place: Place, outer: Mapping[str, Any], *, any_key: bool) -> Iterator[Place]:
    """Yield the places in a list, each with its element as the item that has the word."""
    are_channels = place.group.endswith(".channels")  # Deepgram has a list of them
    name_speakers = any(isinstance(element, dict) and _member_as_str(element, _SPEAKER_KEYS) for element in elements)
    # then an element without a speaker has none, and not the one of the object around the list
    cue = replace(place.cue, speaker="") if name_speakers else place.cue
    for number, element in enumerate(elements):
        path = (*place.path, number)
        cue = replace(cue, stream=str(number)) if are_channels else cue
        if type(element) is str and (any_key or place.path[-1] in _TEXT_KEYS):  # a `Number` is a subclass
            start_ms, end_ms = _times(outer)
            group = f"{place.group}[]" if any_key else place.group  # Telegram's texts are strings or lists
            # without an item: no other element is a piece of it
            yield Place(path, group, replace(cue, start_ms=start_ms, end_ms=end_ms), element)
        yield from _walk(element, Place(path, f"{place.group}[]", cue, item=path), outer, any_key=any_key)


def _walk_object(
    members: Mapping[str, Any], place: Place, outer: Mapping[str, Any], *, any_key: bool
) -> Iterator[Place]:
    """Yield the places in an object, whose speaker, channel and times hold for the words in it."""
    channel = _member_as_str(members, _CHANNEL_KEYS).removeprefix("ch_")  # AWS's is `ch_0`
    speaker = _member_as_str(members, _SPEAKER_KEYS)
    cue = place.cue
    if speaker or channel:
        cue = replace(cue, speaker=speaker or cue.speaker, stream=channel or cue.stream)
    word_key = next((name for name in _WORD_KEYS if type(members.get(name)) is str), None)
    if type(members.get(_ELEMENT)) is str and members.get(TYPE) in (*ELEMENT_TYPES,):
        word_key = _ELEMENT
    for name, member in members.items():
        key = name.rstrip(REPEATED)
        holds_no_words = _QUOTING_KEY.match(key) or (any_key and key in (*_SPEAKER_KEYS, *_CHANNEL_KEYS, TYPE))
        if holds_no_words:
            continue
        path = (*place.path, name)
        group = intern(f"{place.group}.{name}")
        if type(member) is str:
            holds_words = any_key or key in _TEXT_KEYS or key == word_key
            if holds_words or key == _TIMED_TEXT:
                with_outer = {**outer, **members}
                start_ms, end_ms = _times(with_outer)
                kind = _type_of(with_outer) if place.item else ""  # only elements of lists have types
                if holds_words or start_ms is not None:  # a body without times may be that of an answer over HTTP
                    timed = replace(cue, start_ms=start_ms, end_ms=end_ms)
                    yield Place(path, group, timed, member, place.item, kind)
        elif key == GUESSES and isinstance(member, list):
            if member:  # only the best guess is read: to AWS it is a part of this object, which has the times
                best = Place((*path, 0), f"{group}[]", cue, item=place.item)
                yield from _walk(member[0], best, members, any_key=any_key)
        elif isinstance(member, list | dict):
            if key == "words" and not any(text in members for text in _TEXT_KEYS):
                group += "'"  # a group apart from the lists beside a text: Google's last list repeats all words
            has_outer = key in (*_PART_LISTS, *_TEXT_KEYS)
            yield from _walk(member, Place(path, group, cue), members if has_outer else {}, any_key=any_key)


def _type_of(members: Mapping[str, Any]) -> str:
    """Return the type of an element, a word or a mark, in AWS's words; empty if it has none."""
    kind = members.get(TYPE)
    if type(kind) is not str:
        return ""
    return ELEMENT_TYPES.get(kind, kind) if _ELEMENT in members else kind


def _times(members: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return start and end in ms."""
    # YouTube's json3, in which `tOffsetMs` of a word counts from the start of its event; and Azure
    event_ms = _ms(members, ("tStartMs", "offsetMilliseconds"), unit_ms=1)
    if event_ms is not None:
        offset_ms = _ms(members, ("tOffsetMs",), unit_ms=1) or 0
        duration_ms = _ms(members, ("dDurationMs", "durationMilliseconds"), unit_ms=1) or 0
        return event_ms + offset_ms, event_ms + duration_ms
    phrase_ms = _ms(members, ("offsetInTicks", "Offset"), unit_ms=_TICK_MS)  # Azure's batches and SDK
    if phrase_ms is not None:
        return phrase_ms, phrase_ms + (_ms(members, ("durationInTicks", "Duration"), unit_ms=_TICK_MS) or 0)
    start_ms = _ms(members, ("start_ms", "startMs", "BeginOffsetMillis"), unit_ms=1)
    if start_ms is not None:
        return start_ms, _ms(members, ("end_ms", "endMs", "EndOffsetMillis"), unit_ms=1)
    timestamp = members.get("timestamp")
    if isinstance(timestamp, list) and len(timestamp) == 2:  # of transformers' pipelines
        members = {"start": timestamp[0], "end": timestamp[1]}
    offsets = members.get("offsets")
    if isinstance(offsets, dict):  # whisper.cpp's
        return _ms(offsets, ("from",), unit_ms=1), _ms(offsets, ("to",), unit_ms=1)
    start_ms = _ms(members, _START_KEYS)
    end_ms = _ms(members, _END_KEYS)
    length_ms = _ms(members, (_DURATION,))
    if start_ms is not None and end_ms is None and length_ms is not None:
        end_ms = start_ms + length_ms
    return start_ms, end_ms


def _ms(members: Mapping[str, Any], keys: Sequence[str], unit_ms: float = _SECOND_MS) -> int | None:
    return parse_ms(_member_as_str(members, keys).removesuffix("s"), unit_ms)  # Google writes "1.5s"


def _member_as_str(members: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the member of the first of these keys that is there, as a str; empty without one, and for other types."""
    value = next((members[key] for key in keys if key in members), None)
    if isinstance(value, dict):
        return _member_as_str(value, _NESTED_KEYS)
    return str(value) if isinstance(value, str) else ""  # a number is a str, too: `Number`


@dataclass(frozen=True, slots=True)
class Line:
    """Places that are read as one text: a string of words, or a word, its other pieces and its marks.

    A word may be cut into pieces (Whisper's ` 1` `,000`), and its marks may be strings of their own.  texts: what each
    place adds to the text.  cue: from the first place's start to the end of the last place that is no mark.  items: the
    words of the text, and what stands between them.
    """

    places: Sequence[Place]
    texts: Sequence[str]
    cue: Cue
    items: Sequence[Item]

    @property
    def words(self) -> list[SpokenWord]:
        return [item for item in self.items if isinstance(item, SpokenWord)]


@dataclass(frozen=True, slots=True)
class Group:
    """The strings of one path, such as `.segments[].text`, as lines, and the words of all lines.

    letters: of each word, what `align` compares; empty if nobody says the word.
    """

    lines: Sequence[Line]
    words: Sequence[SpokenWord]
    letters: Sequence[str]

    @classmethod
    def of(cls, places: Sequence[Place], alphabet: Alphabet | None = None) -> Group:
        """Read the words of places of one path.  A mark's item is left out if unknown, or if no word is before it."""
        places = _in_ms(places)
        token_lists = _lists_of_tokens(places)
        lines = list[list[Place]]()
        for place in places:
            are_tokens = place.item[:-1] in token_lists
            if lines and _is_same_line(lines[-1][0], place, alphabet or ALL_MARKS, are_tokens=are_tokens):
                lines[-1].append(place)
            elif place.type != MARK_TYPE:
                lines.append([place])
        read_lines = [
            _read_line(line, number, alphabet, are_tokens=line[0].item[:-1] in token_lists)
            for number, line in enumerate(lines)
        ]
        words = [word for line in read_lines for word in line.words]
        return cls(read_lines, words, [_letters(word.word) for word in words])

    @property
    def n_letters(self) -> int:
        """How many letters and digits its words have."""
        return sum(map(str.isalnum, "".join(self.letters)))

    @property
    def n_timed(self) -> int:
        """How many lines have a start or an end."""
        return sum((line.cue.start_ms, line.cue.end_ms) != (None, None) for line in self.lines)

    @property
    def n_voices(self) -> int:
        """How many speakers and channels its lines name: Google and AWS have lists that repeat all words with them."""
        return len({(line.cue.speaker, line.cue.stream) for line in self.lines})


def _in_ms(places: Sequence[Place]) -> Sequence[Place]:
    """Correct times in ms that `_times` took for seconds: whole numbers that would give a word over ten seconds."""
    timed = [place for place in places if place.cue.has_times and place.text.strip()]
    times = [(place.cue.start_ms or 0, place.cue.end_ms or 0) for place in timed]
    n_words = sum(len(place.text.split()) for place in timed)
    has_fractions = any(start_ms % _SECOND_MS or end_ms % _SECOND_MS for start_ms, end_ms in times)
    if has_fractions or sum(end_ms - start_ms for start_ms, end_ms in times) <= _LONG_WORD_MS * n_words:
        return places
    corrected = list[Place]()
    for place in places:
        start_ms, end_ms = (ms and ms // _SECOND_MS for ms in (place.cue.start_ms, place.cue.end_ms))
        corrected.append(replace(place, cue=replace(place.cue, start_ms=start_ms, end_ms=end_ms)))
    return corrected


def _lists_of_tokens(places: Sequence[Place]) -> set[Path]:
    """Return the paths of lists of tokens: as in Whisper's, a string begins a word only if it begins with a space."""
    spaced_lists = set[Path]()
    text_lists = set[Path]()  # of texts of several words
    for place in places:
        words = place.text.strip().strip(ALL_MARKS.characters + " ").split()
        if words and place.text[:1].isspace():
            spaced_lists.add(place.item[:-1])
        if len(words) > 1:
            text_lists.add(place.item[:-1])
    return spaced_lists - text_lists


def _is_same_line(first: Place, place: Place, alphabet: Alphabet, *, are_tokens: bool) -> bool:
    """Return whether `place` goes on with the line that begins with `first`: as a mark or a piece of its word."""
    text = place.text
    word = first.text.strip()
    are_in_one_list = bool(place.item) and place.item[:-1] == first.item[:-1]
    if not are_in_one_list or not word or _CONTROL_TOKEN.fullmatch(word):
        return False
    if place.type == WORD_TYPE:  # a word, even if it looks like a mark
        return False
    if place.type == MARK_TYPE:  # AWS gives this type to `%`, too, which is a word of ours, and to quotes alone
        has_mark = bool(text.strip(CLOSERS + " "))
        return has_mark and not _has_words(text)
    if are_tokens and not text[:1].isspace():  # without a space a token goes on with the word
        return not _CONTROL_TOKEN.fullmatch(text)
    is_mark = bool(text.strip()) and not text.strip(alphabet.characters + " ")
    is_behind_one_word = len(word.split()) == 1  # a whole text has its own marks
    return is_mark and is_behind_one_word


def _has_words(text: str) -> bool:
    return bool(text.strip().strip(ALL_MARKS.characters + CLOSERS + " "))


def _read_line(places: Sequence[Place], number: int, alphabet: Alphabet | None, *, are_tokens: bool) -> Line:
    """Join the strings of some places to one text, and read its items."""
    first, *others = places
    texts = [first.text]
    end_ms = first.cue.end_ms
    for place in others:
        # a token has its own space before it, so without one `-` is a hyphen; elsewhere it is a dash
        is_dash = place.text.startswith(DASH) and not are_tokens
        texts.append(" " + place.text if is_dash else place.text)
        end_ms = place.cue.end_ms if _has_words(place.text) else end_ms
    cue = replace(first.cue, number=number, end_ms=end_ms)
    items = list[Item]()
    for line in StringIO("".join(texts), newline="\n"):
        items += read_line(line, alphabet=alphabet, cue=cue, labels=first.is_text and not others)
    return Line(places, texts, cue, set_cue_times(items, cue))


def _letters(word: Word) -> str:
    """Return a word without its case, marks, quotes and full stops; empty for what nobody says."""
    if _CONTROL_TOKEN.fullmatch(word.text) or not word.text.strip(_QUOTES + "."):
        return ""
    return word.normal.replace(".", "").strip(APOSTROPHES) or word.normal


def align(source: Group, group: Group) -> list[tuple[int, int]]:
    """Match the words of a group with those of the source.  Return pairs of an index in each of them.

    The words that match are those that a shortest edit of one list of letters into the other keeps (Levenshtein).
    Groups may list their words by channel, by time or otherwise: each of `_ORDERS` is tried until one matches all words
    of the group; if none does, the one that matches most is taken.
    """
    best = list[tuple[int, int]]()  # the most pairs so far
    for fields in _ORDERS:
        ours = _in_order(source, fields)
        theirs = _in_order(group, fields)
        our_letters = [source.letters[index] for index in ours]
        their_letters = [group.letters[index] for index in theirs]
        pairs = list[tuple[int, int]]()
        for block in Levenshtein.opcodes(our_letters, their_letters).as_matching_blocks():
            pairs += zip(ours[block.a :][: block.size], theirs[block.b :][: block.size], strict=True)
        if len(pairs) > len(best):
            best = pairs
        if len(pairs) == len(theirs):
            break
    return best


def _in_order(group: Group, fields: Sequence[str]) -> list[int]:
    """Return the indices of a group's spoken words, sorted by fields of their cues if all of them have these."""
    indices = [index for index, letters in enumerate(group.letters) if letters]
    keys = {index: [getattr(group.words[index].cue, field) for field in fields] for index in indices}
    is_known = all(value not in (None, "") for key in keys.values() for value in key)
    return sorted(indices, key=keys.__getitem__) if is_known else indices
