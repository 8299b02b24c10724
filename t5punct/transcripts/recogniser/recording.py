"""The json of speech recognisers: Whisper, faster-whisper, whisperX, Deepgram, AWS Transcribe, or any list of words.

In: json in which the words of a recording stand, mostly several times: in one text, in segments, one by one with times.
Out: the words once, with their times; and the json with marks and capitals wherever these words stand.

The strings of the keys that hold words are grouped by where they stand (`segments[].text`).  One group gives the words;
the others are aligned with it, so that none is forgotten, and strings that say something else stay as they are.

>>> recording = RecogniserJson.read('{"text": "so what", "words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> [(word.normal, word.start_ms, word.end_ms) for word in recording.words]
[('so', None, 400), ('what', None, None)]
>>> from ...text.render import AnnotatedWord
>>> new = [AnnotatedWord("so", "So", "", "capitalised", 1, 1), AnnotatedWord("what", "what?", "?", "lower", 1, 1)]
>>> "".join(recording.pieces(map(WrittenWord, recording.items, new)))
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from itertools import islice
from typing import Any

from ...errors import InputError
from ...text.marks import Alphabet
from ...text.words import APOSTROPHES, CLOSERS, OPENERS, Word
from ..items import Cue, Item, Kept, SpokenWord, WrittenWord, speaker_label
from .alignment import HeardWord, align_words
from .places import JsonPlace, places_in_lists, places_of, texts_in_list, with_words
from .spelling import Spelling, change_place, number_items
from .values import Changes, are_json_lines, json_value, written_json

_WHOLE = 0.99  # of the letters of the group that has the most
_QUOTED = 1 / 3  # a group with fewer of all letters quotes the recording
_MS, _LONG_WORD_MS = 1000, 10_000
_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp, which nobody says
_FIELD = re.compile(r'"([^"\\]{1,30})"\s*:')
_SEARCHED_CHARS, _NAMED_FIELDS = 10_000, 6  # of a json without words, so that a misspelt field is seen
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # which stand inside words, too
# what holds nothing when nothing was said
_HOLDERS = ("text", "transcript", "segments", "words", "results", "transcription", "utterances", "channels")


@dataclass(frozen=True)
class _Group:
    """The places of one path."""

    places: tuple[JsonPlace, ...]

    @classmethod
    def of(cls, places: Sequence[JsonPlace]) -> _Group:
        """Take places; their times become milliseconds."""
        return cls(tuple(place.in_ms() for place in places) if _are_in_ms(places) else tuple(places))

    @property
    def words(self) -> list[Word]:
        return [item.word for place in self.places for item in place.heard if isinstance(item, SpokenWord)]

    @property
    def heard(self) -> list[HeardWord]:
        """Its words; the first of a place begins with it, and the last ends with it."""
        heard = list[HeardWord]()
        for place in self.places:
            normals = [_normal(item.word) for item in place.heard if isinstance(item, SpokenWord)]
            for number, normal in enumerate(normals, start=1):
                start_ms = place.start_ms if number == 1 else None
                end_ms = place.end_ms if number == len(normals) else None
                heard.append(HeardWord(normal, place.channel, place.start_ms, place.speaker, start_ms, end_ms))
        return heard

    @cached_property
    def n_letters(self) -> int:
        """How many letters and digits its words have; tokens that nobody says have none."""
        words = [item.word.text for place in self.places for item in place.words]
        return sum(sum(map(str.isalnum, word)) for word in words if not _TOKEN.fullmatch(word))

    @property
    def n_times(self) -> int:
        return sum((place.start_ms, place.end_ms) != (None, None) for place in self.places)


@dataclass(frozen=True, slots=True)
class RecogniserJson:
    """A file of a recogniser.

    values: of the json, or of each line, which is a recording of its own; items: the words, in order, and the breaks
    between speakers; words: when these were said; groups: by the paths of their places, without numbers; source_group:
    the one that the words are from.
    """

    source: str
    values: Sequence[Any]
    groups: Mapping[str, _Group] = field(default_factory=dict)
    source_group: str = ""
    items: tuple[Item, ...] = ()
    words: tuple[HeardWord, ...] = ()

    @classmethod
    def read(cls, source: str, alphabet: Alphabet | None = None, name: str = "the file") -> RecogniserJson:
        """Find the words of a json text.

        Raises InputError for what is no json, or has no words where a recogniser writes them.
        """
        is_lines = are_json_lines(source)
        lines = [line for line in _lines(source) if line.strip()] if is_lines else [source]
        values = [json_value(line, name) for line in lines]
        places = [
            replace(place, channel=f"{number}:{place.channel}") if is_lines else place
            for number, value in enumerate(values)
            for place in places_of(value)
        ]
        if not places and _says_nothing(values):
            return cls(source, values)
        if not places:
            places = texts_in_list(values[0]) or places_in_lists(values if is_lines else values[0])
        by_path = dict[str, list[JsonPlace]]()
        for place in with_words(places, alphabet):
            by_path.setdefault(place.group, []).append(place)
        if not by_path:
            fields = [*dict.fromkeys(_FIELD.findall(source, 0, _SEARCHED_CHARS))][:_NAMED_FIELDS]
            raise InputError(
                f"no words in {name}" + (f", whose fields are {', '.join(fields)}" if fields else ""),
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        groups = {path: _Group.of(places) for path, places in by_path.items()}
        chosen = _that_gives_the_words(groups)
        words = _with_times(groups[chosen].heard, _most_timed([*groups.values()], groups[chosen]))
        return cls(source, values, groups, chosen, tuple(_items(groups[chosen], words)), tuple(words))

    def pieces(self, words: Iterable[WrittenWord]) -> Iterator[str]:
        """Yield the pieces of the json with its words as they are written now; a word without text is removed."""
        new, changes = [Spelling.of(word.spoken.word, word.annotated) for word in words], Changes()
        typed_places = list[JsonPlace]()
        for path, group in self.groups.items():
            has_typed_marks = any(place.has_typed_marks for place in group.places)
            typed_places += [place for place in group.places if has_typed_marks]
            spellings = iter(new if path == self.source_group else self._spellings_in(group, new))
            for place in group.places:
                here = [*islice(spellings, len(place.words))]
                heard = [new for new, word in zip(here, place.words, strict=True) if _normal(word.word)]
                if 2 * sum(spelling is not None for spelling in heard) > len(heard):  # else it says something else
                    change_place(changes, place, here, has_typed_marks=has_typed_marks)
        number_items(changes, self.values, typed_places)
        values = iter(self.values)
        for line in _lines(self.source) if len(self.values) > 1 else [self.source]:
            yield from written_json(line, next(values), changes) if line.strip() else [line]

    def _spellings_in(self, group: _Group, new: Sequence[Spelling]) -> Sequence[Spelling | None]:
        """Return how the words of a group are written now; None: of a word that is not among those that were read."""
        spellings: list[Spelling | None] = [None] * len(group.words)
        if group.n_letters >= _QUOTED * self.groups[self.source_group].n_letters:
            theirs = group.words
            for match in align_words(self.words, group.heard):
                if len(match.ours) == 1:  # else there may be a mark behind each of them
                    pieces = new[match.ours[0]].cut([theirs[place].core for place in match.theirs])
                    for place, piece in zip(match.theirs, pieces, strict=True):
                        spellings[place] = piece
        return spellings


def _lines(source: str) -> Iterator[str]:
    return StringIO(source, newline="\n")  # other ends of lines may stand in strings


def _items(group: _Group, words: Sequence[HeardWord]) -> Iterator[Item]:
    """Yield the words of a group with their times, and breaks where another channel or speaker begins."""
    times, before, has_speakers = iter(words), ("", ""), any(place.speaker for place in group.places)
    for number, place in enumerate(group.places):
        cue = Cue(number, place.start_ms, place.end_ms, place.speaker)
        for item in place.heard:
            if isinstance(item, Kept):
                yield Kept("", item.breaks, item.role, item.text, cue)
                continue
            word = next(times)
            channel = place.channel or word.channel or before[0]
            said_by = channel, place.speaker if has_speakers else word.speaker or before[1]
            if said_by != before:
                yield speaker_label(said_by[1] if said_by[1] != before[1] else "", cue)
                before = said_by
            yield replace(item, cue=cue, start_ms=word.start_ms, end_ms=word.end_ms)


def _most_timed(groups: Sequence[_Group], chosen: _Group) -> list[HeardWord]:
    """Return the words of the group with most times; of several, one that has the words in the order of the chosen
    group.
    """
    n_times, order = max(group.n_times for group in groups), [word.normal for word in chosen.heard]
    timed = [group.heard for group in groups if group.n_times == n_times]
    return next((words for words in timed if [word.normal for word in words] == order), timed[0])


def _with_times(words: Sequence[HeardWord], timed: Sequence[HeardWord]) -> list[HeardWord]:
    """Return words with the times, speakers and channels that others have of them."""
    timed_words = [replace(word, speaker="", start_ms=None, end_ms=None) if word.normal else word for word in words]
    for match in align_words(timed, words):
        first, last = timed[match.ours[0]], timed[match.ours[-1]]
        for place in match.theirs:
            word = words[place]
            timed_words[place] = HeardWord(
                word.normal,
                word.channel or first.channel,
                word.order_ms if first.order_ms is None else first.order_ms,
                first.speaker,
                first.start_ms if place == match.theirs[0] else None,
                last.end_ms if place == match.theirs[-1] else None,
            )
    return timed_words


def _that_gives_the_words(groups: Mapping[str, _Group]) -> str:
    """Many hold the same letters, and some of them words in pieces (`50`, `%`) or less (words without times)."""
    most = max(group.n_letters for group in groups.values())
    whole = {path: group for path, group in groups.items() if group.n_letters >= _WHOLE * most}
    return max(
        whole,
        key=lambda path: (
            whole[path].places[0].is_text, -len(whole[path].words), whole[path].n_times, len(whole[path].places)
        ),
    )  # fmt: skip


def _are_in_ms(places: Sequence[JsonPlace]) -> bool:
    """Return whether times are milliseconds, as AssemblyAI's are: no speech has ten seconds a word."""
    duration_ms = n_words = 0
    for place in places:
        if place.words and place.start_ms is not None and place.end_ms is not None:
            if place.start_ms % _MS or place.end_ms % _MS:
                return False
            duration_ms += place.end_ms - place.start_ms
            n_words += len(place.words)
    return duration_ms > _LONG_WORD_MS * n_words > 0


def _normal(word: Word) -> str:
    """Return the text that the model reads, without tokens, and quotes, brackets and full stops that stand alone."""
    return "" if _TOKEN.fullmatch(word.text) or not word.text.strip(_QUOTES + ".") else word.normal


def _says_nothing(value: object) -> bool:
    """Return whether json is a recogniser's of a recording without speech."""
    if isinstance(value, list):
        return any(map(_says_nothing, value))
    if not isinstance(value, dict):
        return False
    return any(key in value and value[key] in ([], None) for key in _HOLDERS) or any(map(_says_nothing, value.values()))
