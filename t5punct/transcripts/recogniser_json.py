"""The json of speech recognisers: Whisper, faster-whisper, whisperX, Deepgram, AWS Transcribe, or any list of words.

In: json in which the words of a recording stand, mostly several times: in one text, in segments, one by one with times.
Out: the words once, with their times; and the json with marks and capitals wherever these words stand.

The strings of the keys that hold words are grouped by where they stand (`segments[].text`).  One group gives the words;
the others are aligned with it, so that none is forgotten, and strings that say something else stay as they are.

A file is gone through several times, part by part: to choose the groups, to read the words, and to write.  So memory
does not grow with it.

>>> found = RecogniserJson(['{"text": "so what", "words": [{"word": "so", "end": 0.4}, {"word": "what"}]}'])
>>> [(item.raw, item.start_ms, item.end_ms) for item in found.items() if isinstance(item, SpokenWord)]
[('so', None, 400), ('what', None, None)]
>>> "".join(found.written([("so", "So"), ("what", "what?")]))
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..errors import InputError
from ..text.formats.spool import Spool
from ..text.marks import Alphabet
from .items import Item, Kept, SpokenWord, joined
from .json_aligned import TimedWords, WrittenWords
from .json_marks import MarkItems
from .json_parts import LARGEST_CHARS, json_parts
from .json_places import MARK_TYPE, Place, ReadPart
from .json_strings import Edit

_WHOLE = 0.99  # of the letters of the group that has the most
_TWICE = 0.01  # so much of them may be missing
_MS, _LONG_WORD_MS = 1000, 10_000
_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp, which nobody says


@dataclass(slots=True)
class _Group:
    """What a group of places holds."""

    name: str
    is_text: bool
    n_words: int = 0
    n_letters: int = 0  # and digits
    n_places: int = 0
    n_times: int = 0
    parts_marks: bool = False
    has_speakers: bool = False
    has_fractions: bool = False  # of the unit of time
    duration_ms: int = 0  # of all places, and their words
    n_timed_words: int = 0

    def count(self, place: Place) -> None:
        """Count one more place."""
        self.n_words += len(place.words)
        self.n_letters += sum(_n_letters(word.word.text) for word in place.words)
        self.n_places += place.is_first
        self.has_speakers = self.has_speakers or bool(place.speaker)
        self.parts_marks = self.parts_marks or place.parts_marks
        times = [time for time in (place.start_ms, place.end_ms) if time is not None]
        self.n_times += bool(times)
        if len(times) > 1 and place.words:
            self.has_fractions = self.has_fractions or any(time % _MS for time in times)
            self.duration_ms += times[1] - times[0]
            self.n_timed_words += len(place.words)

    @property
    def is_in_ms(self) -> bool:
        """Whether its times are milliseconds, as AssemblyAI's are: no speech has ten seconds a word."""
        return not self.has_fractions and self.duration_ms > _LONG_WORD_MS * self.n_timed_words > 0


class RecogniserJson:
    """A file of a recogniser.  `items` is to be asked for before `written`.

    `largest_chars`: of a part of the file, as it is held in memory.
    """

    def __init__(
        self,
        lines: Iterable[str],
        alphabet: Alphabet | None = None,
        name: str = "the file",
        largest_chars: int | None = None,
    ) -> None:
        self._alphabet, self._name, self._largest_chars = alphabet, name, largest_chars or LARGEST_CHARS
        self._text = Spool.of(lines)
        self._only: ReadPart | None = None  # of a small file, which is read once
        self._groups: dict[str, _Group] = {}
        self._mark_items = MarkItems(alphabet)

    def items(self) -> Iterator[Item]:
        """The words, in order, and the breaks between speakers.

        Raises InputError for what is no json, or has no words where a recogniser writes them.
        """
        self._survey()
        if not self._groups:
            raise InputError(
                f"no words in {self._name}",
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        groups = [group for group in self._groups.values() if group.n_words]
        if not groups:  # nothing was said
            return
        first = _that_gives_the_words(groups)
        timing = max(groups, key=lambda group: group.n_times)
        with_times = (word for places in self._places(timing.name) for place in places for word in place.timed_words())
        times, number, speaker = TimedWords((word.word.normal, word) for word in with_times), -1, ""
        for places in self._places(first.name):
            found = iter(times.found([word.word.normal for place in places for word in place.words]))
            for place in places:
                number += place.is_first
                for item in place.items:
                    if isinstance(item, Kept):
                        yield Kept("", item.breaks, item.role, item.text, place.cue(number))
                        continue
                    timed = next(found)
                    said_by = place.speaker if first.has_speakers else _speaker(timed) or speaker
                    if said_by != speaker:
                        yield Kept("", breaks=True)
                        speaker = said_by
                    start_ms, end_ms = (timed.start_ms, timed.end_ms) if timed else (None, None)
                    yield replace(item, cue=place.cue(number), start_ms=start_ms, end_ms=end_ms)

    def written(self, words: Iterable[tuple[str, str]]) -> Iterator[str]:
        """The json, once all words are decided.  `words`: of each, as the model reads it and as it is written now.

        A word without text is removed.
        """
        decided = Spool.of(f"{normal}\t{text}\n" for normal, text in words)
        aligned: dict[str, WrittenWords] = {}
        for read in self._parts():
            by_group: dict[str, list[Place]] = {}
            for place in read.places:
                by_group.setdefault(place.group, []).append(place)
            edits = list[Edit]()
            for name, places in by_group.items():
                if name not in aligned:
                    lines = (line.removesuffix("\n").partition("\t") for line in decided.reader())
                    aligned[name] = WrittenWords((normal, text) for normal, _, text in lines)
                edits += self._edits(read, places, aligned[name])
            yield self._mark_items.in_lists(read.written(edits))

    def _edits(self, read: ReadPart, places: Sequence[Place], words: WrittenWords) -> Iterator[Edit]:
        here = [word for place in places for word in place.words]
        found = iter(words.found([word.word.normal for word in here]))
        for place in places:
            texts = [*islice(found, len(place.words))]
            if texts and 2 * sum(text is not None for text in texts) <= len(texts):
                continue  # it says something else
            new = (word.raw if text is None else text for word, text in zip(place.words, texts, strict=True))
            text = _written(place, new)
            if self._groups[place.group].parts_marks:
                yield from self._mark_items.edits(read.strings, place, text)
            else:
                yield read.strings.changed(place.literal, text)

    def _survey(self) -> None:
        """Count what each group holds."""
        n_parts = 0
        for n_parts, read in enumerate(self._parts(), start=1):
            self._only = read if n_parts == 1 else None
            for place in read.places:
                self._groups.setdefault(place.group, _Group(place.group, place.is_text)).count(place)
                if place.parts_marks:
                    self._mark_items.seen(place)

    def _places(self, group: str) -> Iterator[tuple[Place, ...]]:
        """The places of a group, part by part."""
        is_in_ms = self._groups[group].is_in_ms
        for read in self._parts(group):
            yield tuple(place.in_ms() if is_in_ms else place for place in read.places if place.group == group)

    def _parts(self, group: str | None = None) -> Iterator[ReadPart]:
        """The file.  `group`: the only one that is wanted."""
        if self._only is not None:
            yield self._only
            return
        marks = f'"{MARK_TYPE}"'
        for part in json_parts(self._text.reader(), self._largest_chars, self._name, joined=marks):
            yield ReadPart.of(part, self._alphabet, self._name, group)


def _that_gives_the_words(groups: Sequence[_Group]) -> _Group:
    """Many hold the same letters, and some of them words in pieces (`50`, `%`) or less (words without times)."""
    most = max(group.n_letters for group in groups)
    # Google's words stand there once more, with their speakers
    halves = (one.n_letters for one in groups if one.is_text and abs(most - 2 * one.n_letters) < _TWICE * most)
    most = next(halves, most)
    whole = [group for group in groups if group.n_letters >= _WHOLE * most]
    return max(whole, key=lambda group: (group.is_text, -group.n_words, group.n_times, group.n_places))


def _written(place: Place, texts: Iterator[str]) -> str:
    """The words of a place as they are written; `texts` begins with theirs, and those without text are removed."""
    found = ""
    for item in place.items:
        if isinstance(item, Kept):
            found += item.text
        elif text := next(texts):
            found += item.written(text)
        else:
            found = joined(found, item.written(text))
    return found


def _n_letters(word: str) -> int:
    return 0 if _TOKEN.fullmatch(word) else sum(map(str.isalnum, word))


def _speaker(word: SpokenWord | None) -> str:
    return word.cue.speaker if word and word.cue else ""
