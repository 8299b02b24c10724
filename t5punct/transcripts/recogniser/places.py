"""Where words stand in the json of a recogniser.

In: the value of a json text.  Out: `Place`s: strings that hold words, with their times, speakers and channels; then
`Line`s of words, mostly one for each string.  A word that is cut into pieces (Whisper's ` 1` `,000`), or whose marks
have strings of their own, is one line with several strings.

>>> value = {"words": [{"word": "so", "end": "0.4"}, {"word": "what"}, {"word": "?"}]}
>>> places = find_places(value)
>>> [(place.text, place.path, place.cue.end_ms) for place in places]
[('so', ".words'[].word", 400), ('what', ".words'[].word", None), ('?', ".words'[].word", None)]
>>> [[word.raw for word in line.words] for line in read_lines(places)]
[['so'], ['what?']]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import accumulate, pairwise
from sys import intern
from typing import Any

from ...text.marks import DASH, Alphabet
from ...text.words import ALL_MARKS, CLOSERS
from ..items import Cue, Item, SpokenWord
from ..speech import read_line, set_cue_times
from .values import AGAIN

_CAPTION = "utf8"  # of YouTube's json3: some words, or one
_TEXT_KEYS = ("text", "transcript", _CAPTION)  # of several words
_WORD_KEYS = ("punctuated_word", "word", "content")  # of one; the first that is there counts
_START_KEYS = ("start", "start_time", "startTime", "startOffset", "ts")
_END_KEYS = ("end", "end_time", "endTime", "endOffset", "end_ts")
_EVENT_START, _EVENT_LENGTH, _OFFSET = "tStartMs", "dDurationMs", "tOffsetMs"  # of YouTube's json3
_OFFSETS = "offsets"  # whisper.cpp's, in ms: {"from": 0, "to": 3000}
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
TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp, which nobody says
_LETTERS = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_MOST = 0.7  # of the strings of a list are words, if it is one of words


@dataclass(frozen=True, slots=True)
class Place:
    """A string that holds words: where it stands, of whom and when.

    holder, key: the object or list that has it, and where; path: to it, without numbers; cue: its times, its speaker,
    and as its stream its channel; elements, element: a list, and what of it the string is part of: there words, their
    pieces and their marks may stand one behind the other.
    """

    holder: Any
    key: str | int
    path: str
    cue: Cue
    elements: Sequence[Any] | None = None
    element: Any = None

    @property
    def text(self) -> str:
        text: str = self.holder[self.key]
        return text

    @property
    def is_text(self) -> bool:
        return self.key.rstrip(AGAIN) in _TEXT_KEYS if isinstance(self.key, str) else len(self.text.split()) > 1

    @property
    def type(self) -> str:
        """The type of AWS's items that its element is of."""
        kind = self.element.get(TYPE) if isinstance(self.element, dict) else None
        if type(kind) is not str:
            return ""
        return ELEMENT_TYPES.get(kind, kind) if _ELEMENT in self.element else kind


def find_places(value: Any) -> list[Place]:
    """Return the strings that may hold words, in the order of the file; these are not read yet."""
    places = [*_walk(value)]
    for number, (place, after) in enumerate(pairwise(places)):
        start_ms, end_ms = after.cue.start_ms, place.cue.end_ms
        is_over = end_ms is not None and start_ms is not None and end_ms > start_ms
        if is_over and place.key == _CAPTION == after.key:  # the next line of captions is shown while this one is
            places[number] = replace(place, cue=replace(place.cue, end_ms=start_ms))
    return places


def find_places_in_lists(value: Any) -> list[Place]:
    """Return the strings of json of a shape nobody knows: a list of texts, each of which is a recording of its own.

    Or those of the path, in lists, that has the most different words.

    >>> [place.text for place in find_places_in_lists(["how are you", "yes"])]
    ['how are you', 'yes']
    >>> value = {"n": ["x1"], "tokens": [{"t": "how", "lang": "en"}, {"t": "are"}]}
    >>> [place.text for place in find_places_in_lists(value)]
    ['how', 'are']
    """
    by_path = dict[str, list[Place]]()
    for place in _walk(value, any_key=True):
        by_path.setdefault(place.path, []).append(place)
    texts = by_path.get("[]", [])
    if texts and len(texts) == len(value) and (len(texts) == 1 or any(place.is_text for place in texts)):
        return [replace(place, cue=replace(place.cue, stream=str(place.key))) for place in texts]
    wordy = [places for path, places in by_path.items() if "[]" in path and _are_words(places)]
    return max(wordy, key=lambda places: len({place.text for place in places}), default=[])


def _are_words(places: Sequence[Place]) -> bool:
    """Return whether most strings are words of letters, and most of them different: no codes, no names of kinds."""
    texts = [place.text.strip(ALL_MARKS.characters + " \n").lower() for place in places]
    n_words = sum(bool(_LETTERS.fullmatch(text)) for text in texts)
    return n_words > 1 and n_words >= _MOST * len(texts) and 2 * len({*texts}) > len(texts)


def _walk(
    value: Any,
    path: str = "",
    around: Mapping[str, Any] | None = None,
    channel: str = "",
    listed: tuple[Any, Any] = (None, None),
    *,
    any_key: bool = False,
) -> Iterator[Place]:
    """Yield the places in a list or an object.

    `around`: the object of which it is a part, or a guess; `listed`: a list, and which of its elements it is, or is a
    guess of; `any_key`: whether strings of any key may be words.
    """
    if isinstance(value, list):
        for number, element in enumerate(value):
            here = str(number) if path.endswith(f".{_CHANNELS}") else channel
            if any_key and type(element) is str:
                yield Place(value, number, f"{path}[]", Cue(0, stream=here))
            yield from _walk(element, f"{path}[]", around, here, (value, element), any_key=any_key)
    if not isinstance(value, dict):
        return
    here = _text(value, _CHANNEL_KEYS).removeprefix("ch_") or channel  # AWS's is `ch_0`
    word_key, values = _word_key(value), {**(around or {}), **value}
    for name, member in value.items():
        key, inner = name.rstrip(AGAIN), intern(f"{path}.{name}")
        if _QUOTING.match(key) or (any_key and key in (*_SPEAKER_KEYS, *_CHANNEL_KEYS, TYPE)):
            continue
        if type(member) is str:
            if any_key or key in _TEXT_KEYS or key == word_key:
                cue = Cue(0, *_times(values), _text(values, _SPEAKER_KEYS), here)
                yield Place(value, name, inner, cue, *listed)
        elif key == GUESSES and isinstance(member, list):  # AWS's have no times of their own
            yield from _walk(next(iter(member), None), f"{inner}[]", value, here, listed, any_key=any_key)
        else:
            if key == _WORDS and not any(text in value for text in _TEXT_KEYS):
                inner += "'"  # another list than those beside a text: Google's last has all words once more
            yield from _walk(member, inner, value if key in _PARTS else None, here, any_key=any_key)


def _word_key(value: Mapping[str, Any]) -> str | None:
    if type(value.get(_ELEMENT)) is str and value.get(TYPE) in (*ELEMENT_TYPES,):
        return _ELEMENT
    return next((name for name in _WORD_KEYS if type(value.get(name)) is str), None)


def _times(values: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return start and end in ms."""
    if (event_ms := _ms(values, (_EVENT_START,), 1)) is not None:
        return event_ms + (_ms(values, (_OFFSET,), 1) or 0), event_ms + (_ms(values, (_EVENT_LENGTH,), 1) or 0)
    if isinstance(offsets := values.get(_OFFSETS), dict):
        return _ms(offsets, ("from",), 1), _ms(offsets, ("to",), 1)
    return _ms(values, _START_KEYS), _ms(values, _END_KEYS)


def _ms(values: Mapping[str, Any], keys: Sequence[str], scale: int = 1000) -> int | None:
    try:
        return round(scale * float(_text(values, keys).removesuffix("s")))  # Google's are "1.5s"
    except (ValueError, OverflowError):
        return None


def _text(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the first member that is there: a string, or a number as the file has it."""
    value = next((values[key] for key in keys if key in values), None)
    return str(value) if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Line:
    """Strings that are read one behind the other.

    starts: where the second begins in the text, and so on; cue: the times of all; items: the words and what is between.
    """

    places: Sequence[Place]
    starts: Sequence[int]
    cue: Cue
    items: Sequence[Item]

    @property
    def words(self) -> list[SpokenWord]:
        return [item for item in self.items if isinstance(item, SpokenWord)]

    @property
    def n_pieces(self) -> int:
        """How many words it has, and how many more strings they are cut into."""
        return len(self.words) + len(self.starts)


def read_lines(places: Sequence[Place], alphabet: Alphabet | None = None) -> list[Line]:
    """Return the words of places of one path.

    Some items of marks have no word before them, or are no marks that anybody knows: these are left out.
    """
    spaced_lists, text_lists = set[int](), set[int]()
    for place in places:
        words = place.text.strip().strip(ALL_MARKS.characters + " ").split()
        if words and place.text[:1].isspace():
            spaced_lists.add(id(place.elements))
        if len(words) > 1:
            text_lists.add(id(place.elements))
    token_lists = spaced_lists - text_lists  # in which a space before a string says that a word begins
    lines = list[list[Place]]()
    for place in places:
        if lines and _goes_on(lines[-1][0], place, alphabet or ALL_MARKS, are_tokens=id(place.elements) in token_lists):
            lines[-1].append(place)
        elif place.type != MARK_TYPE:
            lines.append([place])
    return [
        _read(line, number, alphabet, are_tokens=id(line[0].elements) in token_lists)
        for number, line in enumerate(lines)
    ]


def _goes_on(first: Place, place: Place, alphabet: Alphabet, *, are_tokens: bool) -> bool:
    """Return whether `place` goes on with the line that `first` begins: with a mark, or with a piece of the same word.

    `are_tokens`: a space before a string says that a word begins, as in Whisper's tokens.
    """
    text, before = place.text, first.text.strip()
    if place.elements is None or place.elements is not first.elements or not before or TOKEN.fullmatch(before):
        return False
    if place.type == WORD_TYPE:  # it was said, whatever it is made of
        return False
    if place.type == MARK_TYPE:  # AWS has `¿` and `%`, too
        return bool(text.strip(CLOSERS + " ")) and not _says_something(text)
    is_mark = bool(text.strip()) and not text.strip(alphabet.characters + " ")
    if are_tokens and not text[:1].isspace():
        return not TOKEN.fullmatch(text)
    return is_mark and len(before.split()) == 1


def _says_something(text: str) -> bool:
    return bool(text.strip().strip(ALL_MARKS.characters + CLOSERS + " "))


def _read(places: Sequence[Place], number: int, alphabet: Alphabet | None, *, are_tokens: bool) -> Line:
    first = places[0]
    # a dash stands apart, and is a hyphen only where all spaces are told
    texts = [" " * (not are_tokens and place.text.startswith(DASH)) + place.text for place in places]
    texts[0] = first.text
    end_ms = next((place.cue.end_ms for place in reversed(places) if _says_something(place.text)), first.cue.end_ms)
    cue = replace(first.cue, number=number, end_ms=end_ms)
    items = list[Item]()
    for line in StringIO("".join(texts), newline="\n"):
        items += read_line(line, alphabet=alphabet, cue=cue, labels=first.is_text and len(places) == 1)
    return Line(places, [*accumulate(map(len, texts[:-1]))], cue, set_cue_times(items, cue))
