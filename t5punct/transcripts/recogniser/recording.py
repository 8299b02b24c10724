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
>>> recording.written(map(WrittenWord, recording.items, new))
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ...errors import InputError
from ...text.marks import Alphabet
from ...text.words import APOSTROPHES, CLOSERS, OPENERS, Word
from ..items import Cue, Item, Kept, SpokenWord, WrittenWord, join_around_removed, speaker_label
from .alignment import HeardWord, align_words
from .marks import MarkItems, marks_changed
from .places import JsonPlace, places_in_lists, places_of, places_of_lines, with_words
from .spelling import Spelling
from .strings import Edit, apply_edits, are_json_lines, edit_of_string, json_value

_WHOLE = 0.99  # of the letters of the group that has the most
_TWICE = 0.01  # so much of them may be missing
_QUOTED = 1 / 3  # a group with fewer of all letters quotes the recording
_MS, _LONG_WORD_MS = 1000, 10_000
_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp, which nobody says
_FIELD = re.compile(r'"([^"\\]{1,30})"\s*:')
_SEARCHED_CHARS, _NAMED_FIELDS = 10_000, 6  # of a json without words, so that a misspelt field is seen
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # which stand inside words, too
# what holds nothing when nothing was said
_HOLDERS = ("text", "transcript", "segments", "words", "results", "transcription", "utterances", "channels")


@dataclass(frozen=True, slots=True)
class _Group:
    """The places of one path."""

    places: tuple[JsonPlace, ...]
    has_speakers: bool
    has_typed_marks: bool
    n_words: int
    n_letters: int  # and digits
    n_times: int

    @classmethod
    def of(cls, places: Sequence[JsonPlace]) -> _Group:
        """Sum up places; their times become milliseconds."""
        counted = [(place, words) for place in places if (words := place.words)]
        known = [place for place in places if (place.start_ms, place.end_ms) != (None, None)]
        return cls(
            tuple(place.in_ms() for place in places) if _are_in_ms(counted) else tuple(places),
            any(place.speaker for place in places),
            any(place.has_typed_marks for place in places),
            sum(len(words) for _, words in counted),
            sum(_n_letters(word.word.text) for _, words in counted for word in words),
            len(known),
        )

    @property
    def is_text(self) -> bool:
        return self.places[0].is_text


@dataclass(frozen=True, slots=True)
class RecogniserJson:
    """A file of a recogniser.

    items: the words, in order, and the breaks between speakers; words: when these were said; groups: by the paths of
    their places, without numbers; source_group: the one that the words are from; is_lines: whether each line is a
    recording of its own, with brackets around them all in `source`.
    """

    source: str
    groups: Mapping[str, _Group]
    source_group: str = ""
    items: tuple[Item, ...] = ()
    words: tuple[HeardWord, ...] = ()
    is_lines: bool = False

    @classmethod
    def read(cls, source: str, alphabet: Alphabet | None = None, name: str = "the file") -> RecogniserJson:
        """Find the words of a json text.

        Raises InputError for what is no json, or has no words where a recogniser writes them.
        """
        is_lines = are_json_lines(source)
        source = f"[{source}]" if is_lines else source
        value, by_path = json_value(source, name, is_lines=is_lines), dict[str, list[JsonPlace]]()
        places = places_of_lines(value) if is_lines else places_of(value)
        is_silent = not places and _says_nothing(value)
        places = places or ([] if is_silent else places_in_lists(value))
        del value  # which is as large as what is made of it
        for place in with_words(places, alphabet):
            by_path.setdefault(place.group, []).append(place)
        groups = {path: _Group.of(places) for path, places in by_path.items()}
        if groups:
            chosen = _that_gives_the_words(groups)
            words = _with_times(_heard(groups[chosen]), _most_timed([*groups.values()], groups[chosen]))
            return cls(source, groups, chosen, tuple(_items(groups[chosen], words)), tuple(words), is_lines)
        if not is_silent:
            fields = [*dict.fromkeys(_FIELD.findall(source, 0, _SEARCHED_CHARS))][:_NAMED_FIELDS]
            raise InputError(
                f"no words in {name}" + (f", whose fields are {', '.join(fields)}" if fields else ""),
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        return cls(source, groups, is_lines=is_lines)

    def written(self, words: Iterable[WrittenWord]) -> str:
        """Return the json with its words as they are written now; a word without text is removed."""
        new = [Spelling.of(word.spoken.word, word.annotated) for word in words]
        mark_items = MarkItems.of(place for group in self.groups.values() for place in group.places)
        edits = list[Edit]()
        for path, group in self.groups.items():
            spellings = iter(new if path == self.source_group else self._spellings_in(group, new))
            for place in group.places:
                here = [*islice(spellings, len(place.words))]
                heard = [new for new, word in zip(here, place.words, strict=True) if _normal(word.word)]
                if 2 * sum(spelling is not None for spelling in heard) > len(heard):  # else it says something else
                    edits += self._edits(place, here, mark_items if group.has_typed_marks else None)
        text = mark_items.in_lists(apply_edits(self.source, edits))
        return text[1:-1] if self.is_lines else text

    def _spellings_in(self, group: _Group, new: Sequence[Spelling]) -> Sequence[Spelling | None]:
        """How the words of a group are written now; None: of a word that is not among those that were read."""
        theirs = _heard(group)
        spellings: list[Spelling | None] = [None] * len(theirs)
        if group.n_letters >= _QUOTED * self.groups[self.source_group].n_letters:
            for match in align_words(self.words, theirs):
                if len(match.ours) > 1:  # there may be a mark behind each of them
                    continue
                spelling, pieces = new[match.ours[0]], [theirs[place].normal for place in match.theirs]
                for place, part in zip(match.theirs, spelling.cut(pieces) if pieces[1:] else [spelling], strict=True):
                    spellings[place] = part
        return spellings

    def _edits(self, place: JsonPlace, new: Sequence[Spelling | None], mark_items: MarkItems | None) -> Iterator[Edit]:
        """What changes in one place.  `mark_items`: given where marks have items of their own."""
        text, marks, after = _written(place.items, new)
        as_it_was = place.literal.text if not place.marks else ""
        if text + marks + after == as_it_was or not (place.marks or (mark_items and place.listed)):
            yield edit_of_string(self.source, place.literal, text + marks + after)
            return
        if marks.startswith(".") and place.words[-1].word.dotted:  # its own, as the file has it: `etc.`
            text, marks = text + ".", marks[1:]
        if place.marks:  # with closing quotes that stand among them
            marks = "".join(_written(place.heard, new)).removeprefix(text)
        if mark_items and place.listed:
            yield from mark_items.edits(self.source, place, place.listed, text + after, marks.strip())
        else:
            yield edit_of_string(self.source, place.literal, text + after)
            yield from marks_changed(self.source, place, marks.strip())


def _items(group: _Group, words: Sequence[HeardWord]) -> Iterator[Item]:
    """The words of a group with their times, and breaks where another channel or speaker begins."""
    times, before = iter(words), ("", "")
    for number, place in enumerate(group.places):
        cue = Cue(number, place.start_ms, place.end_ms, place.speaker)
        for item in place.heard:
            if isinstance(item, Kept):
                yield Kept("", item.breaks, item.role, item.text, cue)
                continue
            word = next(times)
            channel = place.channel or word.channel or before[0]
            said_by = channel, place.speaker if group.has_speakers else word.speaker or before[1]
            if said_by != before:
                yield speaker_label(said_by[1] if said_by[1] != before[1] else "", cue)
                before = said_by
            yield replace(item, cue=cue, start_ms=word.start_ms, end_ms=word.end_ms)


def _heard(group: _Group) -> list[HeardWord]:
    """The words of a group; the first of a place begins with it, and the last ends with it."""
    heard = list[HeardWord]()
    for place in group.places:
        normals = [_normal(item.word) for item in place.heard if isinstance(item, SpokenWord)]
        for number, normal in enumerate(normals, start=1):
            start_ms, end_ms = place.start_ms if number == 1 else None, place.end_ms if number == len(normals) else None
            heard.append(HeardWord(normal, place.channel, place.start_ms, place.speaker, start_ms, end_ms))
    return heard


def _most_timed(groups: Sequence[_Group], chosen: _Group) -> list[HeardWord]:
    """The words of the group with most times; of several, one that has the words in the order of the chosen group."""
    n_times = max(group.n_times for group in groups)
    order = [word.normal for word in _heard(chosen)]
    timed = [_heard(group) for group in groups if group.n_times == n_times]
    return next((words for words in timed if [word.normal for word in words] == order), timed[0])


def _with_times(words: Sequence[HeardWord], timed: Sequence[HeardWord]) -> list[HeardWord]:
    """Words with the times, speakers and channels that others have of them."""
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
    # Google's words stand there once more, with their speakers
    letters = [group.n_letters for group in groups.values() if group.is_text]
    most = next((n_letters for n_letters in letters if abs(most - 2 * n_letters) < _TWICE * most), most)
    whole = [path for path, group in groups.items() if group.n_letters >= _WHOLE * most]

    def suits(path: str) -> tuple[bool, int, int, int]:
        group = groups[path]
        return group.is_text, -group.n_words, group.n_times, len(group.places)

    return max(whole, key=suits)


def _written(items: Iterable[Item], new: Sequence[Spelling | None]) -> tuple[str, str, str]:
    """Items with their words as they are written: the text, the marks behind the last word, and what follows these.

    Words without text are removed.
    """
    text, marks, after, spellings = "", "", "", iter(new)
    for item in items:
        text, marks, after = text + marks + after, "", ""
        if isinstance(item, Kept):
            text += item.text
        elif (spelling := next(spellings)) is None:
            text += item.raw + item.after
        elif spelling.is_removed:
            text = join_around_removed(text, item.after)
        else:
            word, marks = spelling.put_into(item.word)
            text, after = text + word, item.after
    return text, marks, after


def _are_in_ms(counted: Sequence[tuple[JsonPlace, Sequence[SpokenWord]]]) -> bool:
    """Whether times are milliseconds, as AssemblyAI's are: no speech has ten seconds a word."""
    duration_ms = n_words = 0
    for place, words in counted:
        if place.start_ms is not None and place.end_ms is not None:
            if place.start_ms % _MS or place.end_ms % _MS:
                return False
            duration_ms += place.end_ms - place.start_ms
            n_words += len(words)
    return duration_ms > _LONG_WORD_MS * n_words > 0


def _n_letters(word: str) -> int:
    return 0 if _TOKEN.fullmatch(word) else sum(map(str.isalnum, word))


def _normal(word: Word) -> str:
    """What the model reads; nothing of what is not said: tokens, and quotes, brackets and full stops alone."""
    return "" if _TOKEN.fullmatch(word.text) or not word.text.strip(_QUOTES + ".") else word.normal


def _says_nothing(value: object) -> bool:
    """Whether json is a recogniser's of a recording in which nothing was said."""
    if isinstance(value, list):
        return any(map(_says_nothing, value))
    if not isinstance(value, dict):
        return False
    return any(key in value and value[key] in ([], None) for key in _HOLDERS) or any(map(_says_nothing, value.values()))
