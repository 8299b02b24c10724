"""Where words stand in the json of a recogniser.

In: a json text.  Out: `JsonPlace`s: strings that hold words, with their times, speakers and channels.

>>> from .strings import json_value
>>> value = json_value('{"words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> [(place.literal.text, place.group, place.end_ms) for place in places_of(value)]
[('so', '.words[].word', 400), ('what', '.words[].word', None)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import pairwise, zip_longest
from typing import Any

from ...text.marks import DASH, Alphabet
from ...text.words import ALL_MARKS, CLOSERS
from ..items import Item, SpokenWord
from ..speech import read_line
from .strings import JsonObject, Literal

_CAPTION = "utf8"  # of YouTube's json3: some words, or one
TEXT_KEYS = ("text", "transcript", _CAPTION)  # of several words
_WORD_KEYS = ("punctuated_word", "word", "content")  # of one; the first that is there counts
_START_KEYS, _END_KEYS = (
    ("start", "start_time", "startTime", "startOffset", "ts"),
    ("end", "end_time", "endTime", "endOffset", "end_ts"),
)
_EVENT_START, _EVENT_LENGTH, _OFFSET = "tStartMs", "dDurationMs", "tOffsetMs"  # of YouTube's json3
_OFFSETS, _MS = "offsets", 1000  # whisper.cpp's, in ms: {"from": 0, "to": 3000}
_SPEAKER_KEYS = ("speaker", "speaker_label")
_CHANNEL_KEYS, _CHANNELS = ("channel", "channel_label", "channelTag", "channel_tag"), "channels"
TYPE, MARK_TYPE, WORD_TYPE = "type", "punctuation", "pronunciation"  # of AWS's items
_ELEMENT, ELEMENT_TYPES = "value", {"text": WORD_TYPE, "punct": MARK_TYPE}  # rev.ai's; spaces are marks, too
_PARTS = ("segs", "elements")  # lists whose elements are of the time, or of the speaker, of what has the list
GUESSES = "alternatives"  # the first is the best
_QUOTING = re.compile(  # lists of names and phrases
    r".*entit(?:y|ies)$|(?:.*_)?(?:terms|topics)$|.*highlight|key_?(?:phrase|word)", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_MOST = 0.7  # of the strings of a list are words, if it is one of words
_UNTYPED = JsonObject()  # in the place of objects that need not be kept
_HIDDEN = "'"  # behind a key that comes again, in the name of a group


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a list, in which words and marks may stand one behind the other.

    list_start: which list it is: where its first object stands; type: of AWS's items.
    """

    object: JsonObject
    list_start: int
    type: str


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """A string that holds words: where it stands, of whom and when.

    items: those of the string; heard: the same, the last word with the marks that have items of their own behind it.
    """

    literal: Literal
    group: str  # its path, without numbers
    key: str
    start_ms: int | None
    end_ms: int | None
    speaker: str
    channel: str
    items: tuple[Item, ...] = ()
    heard: tuple[Item, ...] = ()
    listed: Listed | None = None
    marks: tuple[JsonPlace, ...] = ()  # of a word: the places of these marks

    @property
    def words(self) -> list[SpokenWord]:
        return [item for item in self.items if isinstance(item, SpokenWord)]

    @property
    def is_text(self) -> bool:
        return self.key in TEXT_KEYS

    @property
    def has_typed_marks(self) -> bool:
        """Whether a mark has an item of its own here, and a word without a mark has none."""
        types = [item.listed.type for item in (self, *self.marks) if item.listed]
        return types[:1] == [WORD_TYPE] or MARK_TYPE in types[1:]

    def in_ms(self) -> JsonPlace:
        """Return the same place, if its times are not in seconds but in milliseconds."""
        start_ms, end_ms = (None if time is None else time // _MS for time in (self.start_ms, self.end_ms))
        return replace(self, start_ms=start_ms, end_ms=end_ms)


def places_of(value: Any) -> list[JsonPlace]:
    """Return the strings that may hold words, in the order of the file; these are not read yet."""
    places = [*_inside(value, "", {}, "", None)]
    following = {id(place): after.start_ms for place, after in pairwise(places) if place.key == _CAPTION == after.key}
    return [_until(place, following.get(id(place))) for place in places]


def places_of_lines(values: Sequence[Any]) -> list[JsonPlace]:
    """Return the places of lines of json, each of which is a recording of its own."""
    read = [places_of([value]) for value in values]
    return [
        replace(place, channel=f"{number}:{place.channel}") for number, places in enumerate(read) for place in places
    ]


def _until(place: JsonPlace, start_ms: int | None) -> JsonPlace:
    """A place that ends, at the latest, when the next begins."""
    if start_ms is None or place.end_ms is None or place.end_ms <= start_ms:
        return place
    return replace(place, end_ms=start_ms)


def places_in_lists(value: Any) -> list[JsonPlace]:
    """Return the strings of the path, in lists, that has the most different words: json of a shape nobody knows."""
    by_path = dict[str, list[JsonPlace]]()
    for place in _strings(value, "", {}):
        by_path.setdefault(place.group, []).append(place)
    wordy = [places for places in by_path.values() if "[]" in places[0].group and _are_words(places)]
    return max(wordy, key=lambda places: len({place.literal.text for place in places}), default=[])


def _strings(value: Any, path: str, around: Mapping[str, Any]) -> Iterator[JsonPlace]:
    if isinstance(value, Literal):
        key = path.removesuffix("[]").rpartition(".")[2]
        yield JsonPlace(value, path, key, *_times(around), _speaker(around), _channel(around))
    elif isinstance(value, list):
        for element in value:
            yield from _strings(element, f"{path}[]", around)
    elif isinstance(value, dict):
        for key, member in value.items():
            if not _QUOTING.match(key) and key not in (*_SPEAKER_KEYS, *_CHANNEL_KEYS, TYPE):
                yield from _strings(member, f"{path}.{key}", value)


def _are_words(places: Sequence[JsonPlace]) -> bool:
    """Whether most strings are a word of letters each, and most of them different: no codes, no names of kinds."""
    texts = [place.literal.text.strip(ALL_MARKS.characters + " \n").lower() for place in places]
    n_words = sum(bool(_LETTERS.fullmatch(text)) for text in texts)
    return n_words > 1 and n_words >= _MOST * len(texts) and 2 * len({*texts}) > len(texts)


def with_words(places: Iterable[JsonPlace], alphabet: Alphabet | None = None) -> list[JsonPlace]:
    """Return the places with their items; a mark alone that stands behind a word in its list belongs to the word."""
    read = list[JsonPlace]()
    for place in places:
        lines = StringIO(place.literal.text, newline="\n")
        items = tuple(item for line in lines for item in read_line(line, alphabet=alphabet, labels=place.is_text))
        read.append(replace(place, items=items, heard=items))
    return [
        place if place.listed and place.listed.type else replace(place, listed=None)
        for place in _with_marks(read, alphabet)
    ]


def _inside(
    value: Any, path: str, parent: Mapping[str, Any], channel: str, listed: Listed | None
) -> Iterator[JsonPlace]:
    """The places in a list or an object.  `parent`: the object of whose guesses it is one."""
    if isinstance(value, list):
        for number, element in enumerate(value):
            here = str(number) if path.endswith(f".{_CHANNELS}") else channel
            is_part = bool(parent) and path.rpartition(".")[2] in _PARTS
            inherits = bool(parent) and not is_part
            yield from _inside(element, f"{path}[]", parent, here, listed if inherits else _listed(element, value))
    elif isinstance(value, JsonObject):
        here = _channel(value) or channel
        for key, member in value.items():
            yield from _member(key, member, value, f"{path}.{key}", parent, here, listed)
        for key, member in value.hidden:
            yield from _member(key, member, value, f"{path}.{key}{_HIDDEN}", parent, here, listed)


def _member(
    key: str,
    member: Any,
    value: JsonObject,
    path: str,
    parent: Mapping[str, Any],
    channel: str,
    listed: Listed | None,
) -> Iterator[JsonPlace]:
    if _QUOTING.match(key):
        return
    if not isinstance(member, Literal):
        # AWS's guesses have no times of their own
        is_guess = key == GUESSES and isinstance(member, list)
        inner = member[:1] if is_guess else member
        is_part = key in _PARTS and isinstance(member, list)
        yield from _inside(inner, path, value if is_guess or is_part else {}, channel, listed if is_guess else None)
    elif key in TEXT_KEYS or key == _word_key(value):
        around = {**parent, **value}
        yield JsonPlace(member, path, key, *_times(around), _speaker(around), channel, listed=listed)


def _word_key(value: Mapping[str, Any]) -> str | None:
    """The member that is a word; None: there is none."""
    if isinstance(value.get(_ELEMENT), Literal) and _text(value.get(TYPE)) in ELEMENT_TYPES:
        return _ELEMENT
    return next((name for name in _WORD_KEYS if isinstance(value.get(name), Literal)), None)


def _listed(element: Any, elements: Sequence[Any]) -> Listed | None:
    if not isinstance(element, JsonObject):
        return None
    first = next(element for element in elements if isinstance(element, JsonObject))
    kind = element.get(TYPE)
    if not isinstance(kind, Literal):
        return Listed(_UNTYPED, first.start, "")
    return Listed(element, first.start, ELEMENT_TYPES.get(kind.text, kind.text) if _ELEMENT in element else kind.text)


def _with_marks(places: Sequence[JsonPlace], alphabet: Alphabet | None) -> Iterator[JsonPlace]:
    """Words, each with the marks that stand behind it in its list; other marks stay as they are."""
    held: JsonPlace | None = None
    spaced = {place.listed.list_start for place in places if place.listed and _begins_word(place)}
    for place, following in zip_longest(places, places[1:]):
        is_inside = place.listed and place.listed.list_start in spaced and _goes_on(place, following)
        if held and not is_inside and _is_mark_behind(place, held, alphabet or ALL_MARKS):
            held = _with_mark(held, place, alphabet)
            continue
        if place.listed and place.listed.type == MARK_TYPE:
            continue
        if held:
            yield held
        held = place
    if held:
        yield held


def _begins_word(place: JsonPlace) -> bool:
    """Whether a string says by the space before it that a word begins, as Whisper's tokens do."""
    return place.literal.text[:1].isspace() and _says_something(place)


def _goes_on(mark: JsonPlace, following: JsonPlace | None) -> bool:
    """Whether a mark is inside a word, as in ` 1` `,` `000`; a full stop, as in `U` `.` `S`, is a mark all the same."""
    if following is None or mark.group != following.group or not mark.literal.text.strip("."):
        return False
    return not following.literal.text[:1].isspace() and _says_something(following)


def _says_something(place: JsonPlace) -> bool:
    return bool(place.literal.text.strip().strip(ALL_MARKS.characters + CLOSERS))


def _with_mark(word: JsonPlace, mark: JsonPlace, alphabet: Alphabet | None) -> JsonPlace:
    marks = (*word.marks, mark)
    texts = [mark.literal.text.strip() for mark in marks]
    text = word.literal.text.rstrip() + "".join(" " * text.startswith(DASH) + text for text in texts)
    heard = tuple(read_line(text, alphabet=alphabet, labels=False))
    n_words = sum(isinstance(item, SpokenWord) for item in heard)
    # the dash of `well` `-` `.` would take the mark
    is_word = n_words == len(word.words) and word.words[-1].word.has_slot
    return replace(word, marks=marks, heard=heard if is_word else word.items)


def _is_mark_behind(place: JsonPlace, word: JsonPlace, alphabet: Alphabet) -> bool:
    """Whether a place is of a mark alone, which stands behind a word in the same list."""
    if place.listed is None or word.listed is None or place.listed.list_start != word.listed.list_start:
        return False
    if place.listed.type == WORD_TYPE:  # it was said, whatever it is made of
        return False
    raw, n_words = place.literal.text, len(word.words)
    if place.listed.type == MARK_TYPE:  # AWS has `¿` and `%`, too
        is_mark = n_words > 0 and bool(raw.strip(CLOSERS + " ")) and not raw.strip(ALL_MARKS.characters + CLOSERS + " ")
    else:
        may_be_hyphen = not raw.strip(DASH)  # inside a word: of `well` `-` `known`
        is_mark = n_words == 1 and bool(raw.strip()) and not raw.strip(alphabet.characters + " ") and not may_be_hyphen
    return place.group == word.group and is_mark


def _times(values: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Start and end in ms."""
    if (event_ms := _ms(values, (_EVENT_START,), 1)) is not None:
        return event_ms + (_ms(values, (_OFFSET,), 1) or 0), event_ms + (_ms(values, (_EVENT_LENGTH,), 1) or 0)
    if isinstance(offsets := values.get(_OFFSETS), dict):
        return _ms(offsets, ("from",), 1), _ms(offsets, ("to",), 1)
    return _ms(values, _START_KEYS), _ms(values, _END_KEYS)


def _ms(values: Mapping[str, Any], keys: Sequence[str], scale: int = _MS) -> int | None:
    value = _text(next((values[key] for key in keys if key in values), None))
    try:
        return round(scale * float(value.removesuffix("s")))  # Google's are "1.5s"
    except (AttributeError, ValueError, OverflowError):
        return None


def _speaker(values: Mapping[str, Any]) -> str:
    value = _text(next((values[key] for key in _SPEAKER_KEYS if key in values), ""))
    return value if isinstance(value, str) else ""


def _channel(values: Mapping[str, Any]) -> str:
    """The number of a channel: AWS's is `ch_0`."""
    value = _text(next((values[key] for key in _CHANNEL_KEYS if key in values), None))
    return value.removeprefix("ch_") if isinstance(value, str) else ""


def _text(value: Any) -> Any:
    """The characters of a string, or of a number as the file has it."""
    return value.text if isinstance(value, Literal) else value
