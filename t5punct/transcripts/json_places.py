"""Where words stand in the json of a recogniser.

In: a part of a json file.  Out: `Place`s: strings that hold words, with their times and speakers.

>>> part = JsonPart(Kind.VALUE, '{"words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> [(place.literal.text, place.group, place.end_ms) for place in ReadPart.of(part).places]
[('so', '.words[].word', 400), ('what', '.words[].word', None)]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

from ..text.marks import Alphabet
from .items import Cue, Item, SpokenWord
from .json_parts import JsonPart, Kind
from .json_strings import Edit, JsonObject, JsonStrings, Literal
from .speech import speech

TEXT_KEYS = ("text", "transcript")  # of several words
_WORD_KEYS = ("punctuated_word", "word", "content")  # of one; the first that is there counts
_START_KEYS, _END_KEYS = (
    ("start", "start_time", "startTime", "startOffset"),
    ("end", "end_time", "endTime", "endOffset"),
)
_OFFSETS, _MS = "offsets", 1000  # whisper.cpp's, in ms: {"from": 0, "to": 3000}
_SPEAKER_KEYS = ("speaker", "speaker_label")
_TYPE, MARK_TYPE, _WORD_TYPE = "type", "punctuation", "pronunciation"  # of AWS's items
_GUESSES = "alternatives"  # the first is the best


@dataclass(frozen=True, slots=True)
class Place:
    """A string that holds words: where it stands, of whom and when; or a piece of a long one."""

    literal: Literal
    group: str  # its path, without numbers
    start_ms: int | None
    end_ms: int | None
    speaker: str
    items: tuple[Item, ...]
    item: JsonObject | None = None  # of a list in which words and marks have items of their own: the word's
    mark: Place | None = None  # and that of the mark after it
    is_first: bool = True  # of the pieces
    is_last: bool = True

    @property
    def words(self) -> list[SpokenWord]:
        return [item for item in self.items if isinstance(item, SpokenWord)]

    @property
    def is_mark(self) -> bool:
        return self.item is not None and _text(self.item[_TYPE]) == MARK_TYPE

    @property
    def parts_marks(self) -> bool:
        """Whether a mark has an item of its own here."""
        return self.mark is not None or (self.item is not None and _text(self.item[_TYPE]) == _WORD_TYPE)

    @property
    def is_text(self) -> bool:
        return self.group.endswith(TEXT_KEYS)

    def in_ms(self) -> Place:
        """The same place, if its times are not in seconds but in milliseconds."""
        start_ms, end_ms = (None if time is None else time // _MS for time in (self.start_ms, self.end_ms))
        return replace(self, start_ms=start_ms, end_ms=end_ms)

    def cue(self, number: int) -> Cue:
        return Cue(number, self.start_ms, self.end_ms, self.speaker)

    def timed_words(self) -> Iterator[SpokenWord]:
        """Its words; the first begins with it, and the last ends with it."""
        start_ms, end_ms = self.start_ms if self.is_first else None, self.end_ms if self.is_last else None
        words, cue = self.words, Cue(0, start_ms, end_ms, self.speaker)
        for number, word in enumerate(words, start=1):
            begins, ends = number == 1, number == len(words)
            yield replace(word, cue=cue, start_ms=start_ms if begins else None, end_ms=end_ms if ends else None)


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A part of a file, and the places in it."""

    part: JsonPart
    strings: JsonStrings
    places: tuple[Place, ...]

    @classmethod
    def of(
        cls, part: JsonPart, alphabet: Alphabet | None = None, name: str = "the file", group: str | None = None
    ) -> ReadPart:
        """`group`: the only one that is wanted.  Raises InputError for what is no json."""
        opener, closer = _BRACKETS.get(part.kind, ("", ""))
        strings = JsonStrings.of(f"{opener}{part.text}{closer}", name) if part.kind is not Kind.LAYOUT else _NOTHING
        found = _Reader(alphabet, group).places_of(part, strings.value)
        return cls(part, strings, tuple(_with_marks(found, alphabet)))

    def written(self, edits: Sequence[Edit]) -> str:
        """The part with other text in some places."""
        if not edits:
            return self.part.text
        n_brackets = len(_BRACKETS.get(self.part.kind, ("", ""))[0])
        text = self.strings.written(edits)
        return text[n_brackets : len(text) - n_brackets]


_BRACKETS = {Kind.ELEMENTS: ("[", "]"), Kind.STRING: ('"', '"')}
_NOTHING = JsonStrings("", None)


@dataclass(frozen=True, slots=True)
class _Reader:
    alphabet: Alphabet | None
    group: str | None

    def places_of(self, part: JsonPart, value: Any) -> Iterator[Place]:
        path = part.path.replace("[+]", "[]")
        if part.kind is Kind.LAYOUT or f".{_GUESSES}[+]" in part.path:
            return
        if part.kind is Kind.ELEMENTS and path.endswith(f".{_GUESSES}"):
            yield from self._inside(value[: int(part.is_first)], path, part.around)
        elif part.key and part.kind is not Kind.ELEMENTS:
            found = self._member(part.key, value, {**part.around, part.key: value}, path, {}, goes_on=part.goes_on)
            yield from (replace(one, is_first=part.is_first, is_last=part.is_last) for one in found)
        else:
            yield from self._inside(value, path, {})

    def _inside(self, value: Any, path: str, parent: Mapping[str, Any]) -> Iterator[Place]:
        """The strings that may hold words, in the order of the file."""
        if isinstance(value, list):
            for item in value:
                yield from self._inside(item, f"{path}[]", parent)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from self._member(key, item, value, f"{path}.{key}", parent)

    def _member(
        self, key: str, item: Any, value: Mapping[str, Any], path: str, parent: Mapping[str, Any], goes_on: bool = False
    ) -> Iterator[Place]:
        """`goes_on`: whether a string begins inside a line, as a piece of a longer one may."""
        if not isinstance(item, Literal):
            # AWS's guesses have no times of their own
            is_guess = key == _GUESSES and isinstance(item, list)
            yield from self._inside(item[:1] if is_guess else item, path, value if is_guess else {})
        elif (key in TEXT_KEYS or key == _word_key(value)) and self.group in (None, path):
            around = {**parent, **value}
            start_ms, end_ms = _times(around)
            items = tuple(_speech(item.text, self.alphabet, labels=key in TEXT_KEYS, goes_on=goes_on))
            whole = value if _TYPE in value else parent
            typed = whole if isinstance(whole, JsonObject) and isinstance(whole.get(_TYPE), Literal) else None
            yield Place(item, path, start_ms, end_ms, _speaker(around), items, typed)


def _speech(text: str, alphabet: Alphabet | None, *, labels: bool, goes_on: bool) -> Iterator[Item]:
    """The items of a string, line by line."""
    for number, line in enumerate(StringIO(text, newline="\n")):
        yield from speech(line, alphabet=alphabet, labels=labels, goes_on=goes_on and not number)


def _with_marks(places: Iterator[Place], alphabet: Alphabet | None) -> Iterator[Place]:
    """Words, each with the mark that has the item after it."""
    held: Place | None = None
    for place in places:
        if not place.is_mark:
            if held:
                yield held
            held = place
        elif held and held.mark is None and held.group == place.group and held.words:
            items = tuple(speech(held.literal.text + place.literal.text.strip(), alphabet=alphabet, labels=False))
            held = replace(held, items=items, mark=place)
    if held:
        yield held


def _word_key(value: Mapping[str, Any]) -> str | None:
    return next((key for key in _WORD_KEYS if isinstance(value.get(key), Literal | str)), None)


def _times(values: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Start and end in ms."""
    if isinstance(offsets := values.get(_OFFSETS), dict):
        return _ms(offsets, ("from",), 1), _ms(offsets, ("to",), 1)
    return _ms(values, _START_KEYS), _ms(values, _END_KEYS)


def _ms(values: Mapping[str, Any], keys: Sequence[str], scale: int = _MS) -> int | None:
    value = next((values[key] for key in keys if key in values), None)
    try:
        value = _text(value)
        return round(scale * float(value.removesuffix("s") if isinstance(value, str) else value))  # Google's are "1.5s"
    except (TypeError, ValueError, OverflowError):
        return None


def _speaker(values: Mapping[str, Any]) -> str:
    return str(_text(next((values[key] for key in _SPEAKER_KEYS if key in values), "")))


def _text(value: Any) -> Any:
    return value.text if isinstance(value, Literal) else value
