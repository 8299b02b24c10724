"""The json of speech recognisers: Whisper, faster-whisper, whisperX, Deepgram, AWS Transcribe, or any list of words.

In: json in which the words of a recording stand, mostly several times: in one text, in segments, one by one with times.
Out: the words once, with their times; and the json with marks and capitals wherever these words stand.

The strings of the keys that hold words are grouped by where they stand (`segments[].text`).  One group gives the words;
the others are aligned with it, so that none is forgotten, and strings that say something else stay as they are.

>>> found = RecogniserJson.of('{"text": "so what", "words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> [(item.raw, item.start_ms, item.end_ms) for item in found.items if isinstance(item, SpokenWord)]
[('so', None, 400), ('what', None, None)]
>>> found.written(["So", "what?"])
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rapidfuzz.distance import Levenshtein

from ..errors import InputError
from ..text.marks import Alphabet
from .items import Cue, Item, Kept, SpokenWord
from .json_strings import JsonStrings, Literal
from .speech import speech, timed

_TEXT_KEYS = ("text", "transcript")  # of several words
_WORD_KEYS = ("punctuated_word", "word", "content")  # of one; the first that is there counts
_SEARCHED_WORDS = 50  # beyond its place in order, a string is looked for among so many words
_START_KEYS, _END_KEYS = ("start", "start_time", "startTime"), ("end", "end_time", "endTime")


@dataclass(frozen=True, slots=True)
class _Place:
    """A string that holds words: where it stands, of whom and when."""

    literal: Literal
    group: str  # its path, without numbers
    start_ms: int | None
    end_ms: int | None
    speaker: str
    items: tuple[Item, ...]

    @property
    def words(self) -> list[SpokenWord]:
        return [item for item in self.items if isinstance(item, SpokenWord)]


@dataclass(frozen=True, slots=True)
class RecogniserJson:
    """A file of a recogniser.  `items`: its words, in order, and the breaks between speakers."""

    json: JsonStrings
    items: tuple[Item, ...]
    groups: tuple[tuple[_Place, ...], ...]

    @classmethod
    def of(cls, source: str, alphabet: Alphabet | None = None, name: str = "the file") -> RecogniserJson:
        """Raises InputError for what is no json, or has no words where a recogniser writes them."""
        strings = JsonStrings.of(source, name)
        found: dict[str, list[_Place]] = {}
        for place in _places(strings.value, "", {}, alphabet):
            found.setdefault(place.group, []).append(place)
        groups = [tuple(places) for places in found.values() if any(place.words for place in places)]
        if not groups:
            raise InputError(
                f"no words in {name}",
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        # all groups hold the same words: segments are best to read, since words may lack what has no time
        first = max(groups, key=lambda places: (sum(map(_n_words, places)), _is_text(places), len(places)))
        timing = max(groups, key=lambda places: sum((place.start_ms, place.end_ms) != (None, None) for place in places))
        return cls(strings, tuple(_items(first, timing)), tuple(groups))

    def written(self, texts: Sequence[str]) -> str:
        """The json with the words written as `texts`, one for each word of `items`."""
        words = [item for item in self.items if isinstance(item, SpokenWord)]
        changed: dict[int, str] = {}
        for places in self.groups:
            here = [word for place in places for word in place.words]
            new = [word.raw for word in here]
            for one, other in _matches(words, places):
                new[other] = texts[one]
            rest = iter(new)
            for place in places:
                changed[place.literal.place] = "".join(
                    item.text if isinstance(item, Kept) else item.written(next(rest)) for item in place.items
                )
        return self.json.written(changed)


def _places(value: Any, path: str, parent: Mapping[str, Any], alphabet: Alphabet | None) -> Iterator[_Place]:
    """The strings that may hold words, in the order of the file."""
    if isinstance(value, list):
        for item in value:
            yield from _places(item, f"{path}[]", parent, alphabet)
    elif isinstance(value, dict):
        word_key = next((key for key in _WORD_KEYS if isinstance(value.get(key), Literal)), None)
        for key, item in value.items():
            if not isinstance(item, Literal):
                # the first guess is the best; AWS's guesses have no times of their own
                is_guess = key == "alternatives" and isinstance(item, list)
                around = value if is_guess else {}
                yield from _places(item[:1] if is_guess else item, f"{path}.{key}", around, alphabet)
            elif key in _TEXT_KEYS or key == word_key:
                around = {**parent, **value}
                start_ms, end_ms = _ms(around, _START_KEYS), _ms(around, _END_KEYS)
                items = tuple(speech(item.text, alphabet=alphabet, labels=key in _TEXT_KEYS))
                yield _Place(item, f"{path}.{key}", start_ms, end_ms, _speaker(around), items)


def _items(first: Sequence[_Place], timing: Sequence[_Place]) -> Iterator[Item]:
    """The words of a group, with the times of another and with breaks where the speaker changes."""
    words = [replace(word, cue=_cue(number, place)) for number, place in enumerate(first) for word in place.words]
    with_times = [word for number, place in enumerate(timing) for word in timed(place.words, _cue(number, place))]
    for one, other in _matches(words, timing):
        words[one] = replace(words[one], start_ms=with_times[other].start_ms, end_ms=with_times[other].end_ms)
    rest, speaker = iter(words), ""
    for place in first:
        if place.speaker != speaker:
            yield Kept("", breaks=True)
            speaker = place.speaker
        for item in place.items:
            yield next(rest) if isinstance(item, SpokenWord) else Kept("", breaks=item.breaks)


def _matches(words: Sequence[SpokenWord], places: Iterable[_Place]) -> Iterator[tuple[int, int]]:
    """The pairs of equal words in `words` and in the places of a group, which says mostly the same."""
    ours, at, n_theirs = [word.word.normal for word in words], 0, 0
    for place in places:
        theirs = [word.word.normal for word in place.words]
        seen = ours[at : at + len(theirs) + _SEARCHED_WORDS]
        if seen[: len(theirs)] == theirs:
            pairs = [(offset, offset) for offset in range(len(theirs))]
        else:
            blocks = Levenshtein.opcodes(seen, theirs).as_matching_blocks()
            pairs = [(block.a + offset, block.b + offset) for block in blocks for offset in range(block.size)]
        yield from ((at + one, n_theirs + other) for one, other in pairs)
        at += pairs[-1][0] + 1 if pairs else 0
        n_theirs += len(theirs)


def _is_text(places: Sequence[_Place]) -> bool:
    return places[0].group.endswith(_TEXT_KEYS)


def _n_words(place: _Place) -> int:
    return len(place.words)


def _cue(number: int, place: _Place) -> Cue:
    return Cue(number, place.start_ms, place.end_ms, place.speaker)


def _ms(values: Mapping[str, Any], keys: Sequence[str]) -> int | None:
    value = next((values[key] for key in keys if key in values), None)
    try:
        return round(1000 * float(value.text if isinstance(value, Literal) else value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _speaker(values: Mapping[str, Any]) -> str:
    value = next((values[key] for key in ("speaker", "speaker_label") if key in values), "")
    return value.text if isinstance(value, Literal) else str(value)
