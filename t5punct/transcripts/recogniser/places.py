"""Where words stand in the json of a recogniser.

In: the value of a json text.  Out: `JsonPlace`s: strings that hold words, with their times, speakers and channels.

>>> value = {"words": [{"word": "so", "end": "0.4"}, {"word": "what"}]}
>>> [(place.text, place.group, place.end_ms) for place in places_of(value)]
[('so', ".words'[].word", 400), ('what', ".words'[].word", None)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import pairwise, zip_longest
from sys import intern
from typing import Any, TypeGuard

from ...text.marks import DASH, Alphabet
from ...text.words import ALL_MARKS, CLOSERS
from ..items import Item, SpokenWord
from ..speech import read_line
from .values import AGAIN, Number

_CAPTION = "utf8"  # of YouTube's json3: some words, or one
TEXT_KEYS = ("text", "transcript", _CAPTION)  # of several words
_WORD_KEYS = ("punctuated_word", "word", "content")  # of one; the first that is there counts
_START_KEYS = ("start", "start_time", "startTime", "startOffset", "ts")
_END_KEYS = ("end", "end_time", "endTime", "endOffset", "end_ts")
_EVENT_START, _EVENT_LENGTH, _OFFSET = "tStartMs", "dDurationMs", "tOffsetMs"  # of YouTube's json3
_OFFSETS, _MS = "offsets", 1000  # whisper.cpp's, in ms: {"from": 0, "to": 3000}
_SPEAKER_KEYS = ("speaker", "speaker_label")
_CHANNEL_KEYS, _CHANNELS = ("channel", "channel_label", "channelTag", "channel_tag"), "channels"
TYPE, MARK_TYPE, WORD_TYPE = "type", "punctuation", "pronunciation"  # of AWS's items
_ELEMENT, ELEMENT_TYPES = "value", {"text": WORD_TYPE, "punct": MARK_TYPE}  # rev.ai's; spaces are marks, too
_PARTS = ("segs", "elements")  # lists whose elements are of the time, or of the speaker, of what has the list
_WORDS = "words"
GUESSES = "alternatives"  # the first is the best
_QUOTING = re.compile(  # lists of names and phrases
    r".*entit(?:y|ies)$|(?:.*_)?(?:terms|topics)$|.*highlight|key_?(?:phrase|word)", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_MOST = 0.7  # of the strings of a list are words, if it is one of words


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """A string that holds words: where it stands, of whom and when.

    holder, key: the object or list that has it, and where; element: the one of a list, in which words and marks may
    stand one behind the other; items: those of the string; heard: the same, the last word with the marks that have
    items of their own behind it; marks: the places of these marks.
    """

    holder: Any
    key: str | int
    group: str  # its path, without numbers
    start_ms: int | None = None
    end_ms: int | None = None
    speaker: str = ""
    channel: str = ""
    elements: Sequence[Any] | None = None
    element: Any = None
    items: tuple[Item, ...] = ()
    heard: tuple[Item, ...] = ()
    marks: tuple[JsonPlace, ...] = ()

    @property
    def text(self) -> str:
        text: str = self.holder[self.key]
        return text

    @property
    def at(self) -> tuple[int, str | int]:
        """Where `Changes.texts` have it."""
        return id(self.holder), self.key

    @property
    def words(self) -> list[SpokenWord]:
        return [item for item in self.items if isinstance(item, SpokenWord)]

    @property
    def is_text(self) -> bool:
        return self.key.rstrip(AGAIN) in TEXT_KEYS if isinstance(self.key, str) else len(self.text.split()) > 1

    @property
    def type(self) -> str:
        """The type of AWS's items that its element is of."""
        kind = self.element.get(TYPE) if isinstance(self.element, dict) else None
        if not _is_string(kind):
            return ""
        return ELEMENT_TYPES.get(kind, kind) if _ELEMENT in self.element else kind

    @property
    def has_typed_marks(self) -> bool:
        """Whether a mark has an item of its own here, and a word without a mark has none."""
        return self.type == WORD_TYPE or any(mark.type == MARK_TYPE for mark in self.marks)


def places_of(value: Any) -> list[JsonPlace]:
    """Return the strings that may hold words, in the order of the file; these are not read yet."""
    places = [*_inside(value)]
    for number, (place, after) in enumerate(pairwise(places)):
        is_over = place.end_ms is not None and after.start_ms is not None and place.end_ms > after.start_ms
        if is_over and place.key == _CAPTION == after.key:  # the next line of captions is shown while this one is
            places[number] = replace(place, end_ms=after.start_ms)
    return places


def places_in_lists(value: Any) -> list[JsonPlace]:
    """Return the strings of json of a shape nobody knows: a list of texts, each of which is a recording of its own.

    Or those of the path, in lists, that has the most different words.

    >>> [place.text for place in places_in_lists(["how are you", "yes"])]
    ['how are you', 'yes']
    >>> [place.text for place in places_in_lists({"n": ["x1"], "tokens": [{"t": "how", "lang": "en"}, {"t": "are"}]})]
    ['how', 'are']
    """
    by_path = dict[str, list[JsonPlace]]()
    for place in _inside(value, any_key=True):
        by_path.setdefault(place.group, []).append(place)
    texts = by_path.get("[]", [])
    if texts and len(texts) == len(value) and (len(texts) == 1 or any(place.is_text for place in texts)):
        return [replace(place, channel=str(place.key)) for place in texts]
    wordy = [places for path, places in by_path.items() if "[]" in path and _are_words(places)]
    return max(wordy, key=lambda places: len({place.text for place in places}), default=[])


def _are_words(places: Sequence[JsonPlace]) -> bool:
    """Return whether most strings are words of letters, and most of them different: no codes, no names of kinds."""
    texts = [place.text.strip(ALL_MARKS.characters + " \n").lower() for place in places]
    n_words = sum(bool(_LETTERS.fullmatch(text)) for text in texts)
    return n_words > 1 and n_words >= _MOST * len(texts) and 2 * len({*texts}) > len(texts)


def _inside(
    value: Any,
    path: str = "",
    around: Mapping[str, Any] | None = None,
    channel: str = "",
    listed: tuple[Any, Any] = (None, None),
    *,
    any_key: bool = False,
) -> Iterator[JsonPlace]:
    """Yield the places in a list or an object.

    `around`: the object of whose guesses or parts it is one; `listed`: its list, and which element; `any_key`: whether
    strings of any key may be words.
    """
    if isinstance(value, list):
        is_guess = bool(around) and path.rpartition(".")[2] not in _PARTS
        for number, element in enumerate(value):
            here = str(number) if path.endswith(f".{_CHANNELS}") else channel
            own = listed if is_guess else (value, element)
            if any_key and _is_string(element):
                yield JsonPlace(value, number, f"{path}[]", channel=here)
            yield from _inside(element, f"{path}[]", around, here, own, any_key=any_key)
    if not isinstance(value, dict):
        return
    here = _text(value, _CHANNEL_KEYS).removeprefix("ch_") or channel  # AWS's is `ch_0`
    word_key = next((name for name in _WORD_KEYS if _is_string(value.get(name))), None)
    if _is_string(value.get(_ELEMENT)) and value.get(TYPE) in (*ELEMENT_TYPES,):
        word_key = _ELEMENT
    values = {**(around or {}), **value}
    for name, member in value.items():
        key, inner = name.rstrip(AGAIN), intern(f"{path}.{name}")
        if _QUOTING.match(key) or (any_key and key in (*_SPEAKER_KEYS, *_CHANNEL_KEYS, TYPE)):
            continue
        if _is_string(member):
            if any_key or key in TEXT_KEYS or key == word_key:
                yield JsonPlace(value, name, inner, *_times(values), _text(values, _SPEAKER_KEYS), here, *listed)
        elif key == GUESSES and isinstance(member, list):  # AWS's have no times of their own
            yield from _inside(member[:1], inner, value, here, listed, any_key=any_key)
        else:
            if key == _WORDS and not any(text in value for text in TEXT_KEYS):
                inner += "'"  # another list than those beside a text: Google's last has all words once more
            yield from _inside(member, inner, value if key in _PARTS else None, here, any_key=any_key)


def _is_string(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, Number)


def with_words(places: Iterable[JsonPlace], alphabet: Alphabet | None = None) -> Iterator[JsonPlace]:
    """Yield the places with their items; a mark alone that stands behind a word in its list belongs to the word.

    Other marks stay as they are.
    """
    read = list[JsonPlace]()
    for place in places:
        lines = StringIO(place.text, newline="\n")
        items = tuple(item for line in lines for item in read_line(line, alphabet=alphabet, labels=place.is_text))
        read.append(replace(place, items=items, heard=items))
    # lists of strings that say by the space before them that a word begins, as Whisper's tokens do
    spaced = {id(place.elements) for place in read if place.text[:1].isspace() and _says_something(place)}
    word: JsonPlace | None = None
    for place, following in zip_longest(read, read[1:]):
        is_inside = place.elements is not None and id(place.elements) in spaced and _goes_on(place, following)
        if word and not is_inside and _is_mark_behind(place, word, alphabet or ALL_MARKS):
            word = _with_mark(word, place, alphabet)
        elif place.type != MARK_TYPE:
            if word:
                yield word
            word = place
    if word:
        yield word


def _goes_on(mark: JsonPlace, following: JsonPlace | None) -> bool:
    """Return whether a mark is inside a word, as in ` 1` `,` `000`; a full stop, as in `U` `.` `S`, is a mark."""
    if following is None or mark.group != following.group or not mark.text.strip("."):
        return False
    return not following.text[:1].isspace() and _says_something(following)


def _says_something(place: JsonPlace) -> bool:
    return bool(place.text.strip().strip(ALL_MARKS.characters + CLOSERS))


def _is_mark_behind(place: JsonPlace, word: JsonPlace, alphabet: Alphabet) -> bool:
    """Return whether a place is of a mark alone, which stands behind a word in the same list."""
    if place.elements is None or place.elements is not word.elements or place.group != word.group:
        return False
    if place.type == WORD_TYPE:  # it was said, whatever it is made of
        return False
    raw, n_words = place.text, len(word.words)
    if place.type == MARK_TYPE:  # AWS has `¿` and `%`, too
        return n_words > 0 and bool(raw.strip(CLOSERS + " ")) and not raw.strip(ALL_MARKS.characters + CLOSERS + " ")
    may_be_hyphen = not raw.strip(DASH)  # inside a word: of `well` `-` `known`
    return n_words == 1 and bool(raw.strip()) and not raw.strip(alphabet.characters + " ") and not may_be_hyphen


def _with_mark(word: JsonPlace, mark: JsonPlace, alphabet: Alphabet | None) -> JsonPlace:
    marks = (*word.marks, mark)
    texts = [mark.text.strip() for mark in marks]
    text = word.text.rstrip() + "".join(" " * text.startswith(DASH) + text for text in texts)
    heard = tuple(read_line(text, alphabet=alphabet, labels=False))
    n_words = sum(isinstance(item, SpokenWord) for item in heard)
    # the dash of `well` `-` `.` would take the mark
    is_word = n_words == len(word.words) and word.words[-1].word.has_slot
    return replace(word, marks=marks, heard=heard if is_word else word.items)


def _times(values: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return start and end in ms."""
    if (event_ms := _ms(values, (_EVENT_START,), 1)) is not None:
        return event_ms + (_ms(values, (_OFFSET,), 1) or 0), event_ms + (_ms(values, (_EVENT_LENGTH,), 1) or 0)
    if isinstance(offsets := values.get(_OFFSETS), dict):
        return _ms(offsets, ("from",), 1), _ms(offsets, ("to",), 1)
    return _ms(values, _START_KEYS), _ms(values, _END_KEYS)


def _ms(values: Mapping[str, Any], keys: Sequence[str], scale: int = _MS) -> int | None:
    try:
        return round(scale * float(_text(values, keys).removesuffix("s")))  # Google's are "1.5s"
    except (ValueError, OverflowError):
        return None


def _text(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the first member that is there: a string, or a number as the file has it."""
    value = next((values[key] for key in keys if key in values), None)
    return str(value) if isinstance(value, str) else ""
