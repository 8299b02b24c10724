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

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from operator import attrgetter
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...errors import InputError
from ...text.marks import Alphabet
from ...text.words import APOSTROPHES, CLOSERS, OPENERS, Word
from ..items import (
    Cue,
    Item,
    Kept,
    SpokenWord,
    WrittenItem,
    WrittenWord,
    leave_out_removed,
    seconds,
    speaker_label,
)  # fmt: skip
from .places import JsonPlace, places_in_lists, places_of, with_words
from .spelling import Changes, Spelling
from .values import parse_json, written_json

_WHOLE = 0.99  # of the letters of the group that has the most
_QUOTED = 1 / 3  # a group with fewer of all letters quotes the recording
_MS, _LONG_WORD_MS = 1000, 10_000
_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp, which nobody says
_FIELD = re.compile(r'"([^"\\]{1,30})"\s*:')
_SEARCHED_CHARS, _NAMED_FIELDS = 10_000, 6  # of a json without words, so that a misspelt field is seen
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # which stand inside words, too
_MOST_PIECES = 20  # of a word
_ORDERS = (("channel", "order_ms"), ("channel",), ("order_ms",), ())  # by what of its words a list may be sorted
# what holds nothing when nothing was said
_HOLDERS = ("text", "transcript", "segments", "words", "results", "transcription", "utterances", "channels")


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word as the model reads it; when, by whom and in which channel it was said, as far as that is known.

    order_ms: when the string in which it stands was begun, or the word itself.
    """

    normal: str
    channel: str = ""
    order_ms: int | None = None
    speaker: str = ""
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class _Group:
    """The places of one path, their words with the marks that have places of their own, and when these were said."""

    places: Sequence[JsonPlace]
    words: Sequence[Word]
    heard: Sequence[HeardWord]

    @classmethod
    def of(cls, places: Sequence[JsonPlace]) -> _Group:
        """Read the words of places; the first of a place begins with it, and the last ends with it."""
        words, heard = list[Word](), list[HeardWord]()
        scale = _MS if _are_in_ms(places) else 1
        in_ms = [
            replace(place, start_ms=_divided(place.start_ms, scale), end_ms=_divided(place.end_ms, scale))
            for place in places
        ]
        for place in in_ms:
            own = [item.word for item in place.heard if isinstance(item, SpokenWord)]
            for index, word in enumerate(own):
                start_ms = None if index else place.start_ms
                end_ms = place.end_ms if index == len(own) - 1 else None
                heard.append(HeardWord(_normal(word), place.channel, place.start_ms, place.speaker, start_ms, end_ms))
            words += own
        return cls(in_ms, words, heard)

    @property
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

    documents: the json and its value, or each line, which is a recording of its own, and its value; items: the words,
    in order, and the breaks between speakers; words: when these were said; groups: of places by their paths; source:
    the group that the words are from.
    """

    documents: Sequence[tuple[str, Any]]
    groups: Sequence[_Group] = ()
    source: _Group | None = None
    items: Sequence[Item] = ()
    words: Sequence[HeardWord] = ()

    @classmethod
    def read(cls, text: str, alphabet: Alphabet | None = None, name: str = "the file") -> RecogniserJson:
        """Find the words of a json text.

        Raises InputError for what is no json, or has no words where a recogniser writes them.
        """
        documents = parse_json(text, name)
        values, is_lines = [value for _, value in documents], len(documents) > 1
        places = [
            replace(place, channel=f"{number}:{place.channel}") if is_lines else place
            for number, value in enumerate(values)
            for place in places_of(value)
        ]
        if not places and _says_nothing(values):
            return cls(documents)
        by_path = dict[str, list[JsonPlace]]()
        for place in with_words(places or places_in_lists(values if is_lines else values[0]), alphabet):
            by_path.setdefault(place.group, []).append(place)
        if not by_path:
            fields = [*dict.fromkeys(_FIELD.findall(text, 0, _SEARCHED_CHARS))][:_NAMED_FIELDS]
            raise InputError(
                f"no words in {name}" + (f", whose fields are {', '.join(fields)}" if fields else ""),
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        groups = [*map(_Group.of, by_path.values())]
        source = _source_of(groups)
        words = _with_times(source.heard, _most_timed(groups, source))
        return cls(documents, groups, source, [*_items(source, words)], words)

    def pieces(self, words: Iterable[WrittenWord]) -> Iterator[str]:
        """Yield the pieces of the json with its words as they are written now; a word without text is removed."""
        new, changes = [Spelling.of(word.spoken.word, word.annotated) for word in words], Changes()
        typed_places = list[JsonPlace]()
        for group in self.groups:
            has_typed_marks = any(place.has_typed_marks for place in group.places)
            typed_places += group.places if has_typed_marks else ()
            spellings = iter(new if group is self.source else self._spellings_in(group, new))
            for place in group.places:
                here = [*islice(spellings, len(place.words))]
                heard = [new for new, word in zip(here, place.words, strict=True) if _normal(word.word)]
                if 2 * sum(spelling is not None for spelling in heard) > len(heard):  # else it says something else
                    changes.write(place, here, has_typed_marks=has_typed_marks)
        changes.finish_lists([value for _, value in self.documents], typed_places)
        for text, value in self.documents:
            yield from written_json(text, value, changes.texts, changes.lists)

    def _spellings_in(self, group: _Group, new: Sequence[Spelling]) -> Sequence[Spelling | None]:
        """Return how the words of a group are written now; None: of a word that is not among those that were read."""
        spellings: list[Spelling | None] = [None] * len(group.words)
        if self.source and group.n_letters >= _QUOTED * self.source.n_letters:
            for ours, theirs in align_words(self.words, group.heard):
                if len(ours) == 1:  # else there may be a mark behind each of them
                    pieces = new[ours[0]].cut([group.words[index].core for index in theirs])
                    for index, piece in zip(theirs, pieces, strict=True):
                        spellings[index] = piece
        return spellings


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


def _source_of(groups: Sequence[_Group]) -> _Group:
    """Return the group to take the words from: complete, in texts, unsplit, and with times if possible."""
    n_letters = [group.n_letters for group in groups]
    whole = [group for group, n in zip(groups, n_letters, strict=True) if n >= _WHOLE * max(n_letters)]
    return max(
        whole,
        key=lambda group: (group.places[0].is_text, -sum(len(place.words) for place in group.places),
                           group.n_times, len(group.places)),
    )  # fmt: skip


def _most_timed(groups: Sequence[_Group], source: _Group) -> Sequence[HeardWord]:
    """Return the words of the group with most times; of several, one that has them in the order of the source."""
    n_times, order = max(group.n_times for group in groups), [word.normal for word in source.heard]
    timed = [group.heard for group in groups if group.n_times == n_times]
    return next((words for words in timed if [word.normal for word in words] == order), timed[0])


def _with_times(words: Sequence[HeardWord], timed: Sequence[HeardWord]) -> list[HeardWord]:
    """Return words with the times, speakers and channels that others have of them."""
    timed_words = [replace(word, speaker="", start_ms=None, end_ms=None) if word.normal else word for word in words]
    for ours, theirs in align_words(timed, words):
        first, last = timed[ours[0]], timed[ours[-1]]
        for index in theirs:
            word = words[index]
            timed_words[index] = HeardWord(
                word.normal,
                word.channel or first.channel,
                word.order_ms if first.order_ms is None else first.order_ms,
                first.speaker,
                first.start_ms if index == theirs[0] else None,
                last.end_ms if index == theirs[-1] else None,
            )
    return timed_words


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


def _divided(ms: int | None, scale: int) -> int | None:
    return None if ms is None else ms // scale


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


def align_words(
    ours: Sequence[HeardWord], theirs: Sequence[HeardWord]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return which words of `theirs` are which of `ours`, by their indices, in the order in which most are found.

    Each pair is one word; it has several indices in the list in which it stands in pieces: Whisper splits `1,000` into
    `1` and `,000`.  A word without letters is none.

    >>> ours, theirs = (tuple(map(HeardWord, text.split())) for text in ("it's 1,000", "so it's 1 ,000"))
    >>> align_words(ours, theirs)
    [((0,), (1,)), ((1,), (2, 3))]
    """
    best, n_most, tried = list[tuple[tuple[int, ...], tuple[int, ...]]](), -1, list[tuple[list[int], list[int]]]()
    # both in the same order, if they tell it; else each in any that it tells
    for keys, their_keys in sorted(product(_ORDERS, _ORDERS), key=lambda pair: pair[0] != pair[1]):
        order, their_order = _order(ours, keys), _order(theirs, their_keys)
        if order is None or their_order is None or (order, their_order) in tried:
            continue
        tried.append((order, their_order))
        spans = _same_words([ours[n].normal for n in order], [theirs[n].normal for n in their_order])
        matches = [((*order[here],), (*their_order[there],)) for here, there in spans]
        n_matched = sum(len(there) for _, there in matches)
        if n_matched > n_most:
            best, n_most = matches, n_matched
        if n_matched == len(their_order):
            break
    return best


def _order(words: Sequence[HeardWord], keys: Sequence[str]) -> list[int] | None:
    """Return the indices of a list's words, sorted; None: some do not tell by what."""
    indices = [index for index, word in enumerate(words) if word.normal]
    if any(getattr(words[index], key) in (None, "") for key in keys for index in indices):
        return None
    by_keys: Any = attrgetter(*keys) if keys else None
    return sorted(indices, key=lambda index: by_keys(words[index])) if keys else indices


def _same_words(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Yield the stretches of two lists that are one word each, in order."""
    end = their_end = 0  # of what was looked at; mostly that is all
    for here, there in _same_letters(ours, slice(0, len(ours)), theirs, slice(0, len(theirs))):
        yield here, there
        end, their_end = here.stop, there.stop
    begin, their_begin = end, their_end
    for block in Levenshtein.opcodes(ours[begin:], theirs[their_begin:]).as_matching_blocks():
        start, their_start = begin + block.a, their_begin + block.b
        yield from _same_letters(ours, slice(end, start), theirs, slice(their_end, their_start))
        end, their_end = start + block.size, their_start + block.size
        for n in range(block.size):
            yield slice(start + n, start + n + 1), slice(their_start + n, their_start + n + 1)


def _same_letters(
    ours: Sequence[str], here: slice, theirs: Sequence[str], there: slice
) -> Iterator[tuple[slice, slice]]:
    """From the start of two stretches: a word of one, and the pieces that make it up in the other."""
    i, j = here.start, there.start
    while i < here.stop and j < there.stop:
        k, m, our, their = i + 1, j + 1, ours[i], theirs[j]
        while (letters := _letters(our)) != (their_letters := _letters(their)):
            if max(k - i, m - j) > _MOST_PIECES:
                return
            if len(letters) < len(their_letters) and k < here.stop:
                our, k = our + ours[k], k + 1
            elif len(their_letters) < len(letters) and m < there.stop:
                their, m = their + theirs[m], m + 1
            else:
                return
        yield slice(i, k), slice(j, m)
        i, j = k, m


def _letters(word: str) -> str:
    """Return a word without full stops, as the last one of `u` `.s.` is read as a mark, and apostrophes around it."""
    return word.replace(".", "").strip(APOSTROPHES) or word


def write_json(written: Sequence[WrittenItem], source: str) -> Iterator[str]:
    """Yield a line of json.

    start, end: seconds, if the input has times; start_char, end_char: where the word stands in what `punctuate` makes
    of the input in its own format (of json: in its words, with their white space).  Words that were removed are listed
    behind the others, if there are some.
    """
    yield f'{{"source": {json.dumps(source, ensure_ascii=False)}, "words": ['
    place, comma = 0, ""
    for item in leave_out_removed(written):
        if isinstance(item, Kept):
            place += len(item.text)
            continue
        spoken, stop = item.spoken, place + len(item.in_file)
        times = seconds(spoken.start_ms, spoken.end_ms)
        word_values = {**item.annotated.as_dict(), **times, "start_char": place, "end_char": stop - len(spoken.after)}
        yield comma + json.dumps(word_values, ensure_ascii=False)
        place, comma = stop, ", "
    removed = [
        json.dumps(
            {"word": item.annotated.word, **seconds(item.spoken.start_ms, item.spoken.end_ms)}, ensure_ascii=False
        )
        for item in written
        if isinstance(item, WrittenWord) and item.is_removed
    ]
    yield f'], "removed": [{", ".join(removed)}]}}\n' if removed else "]}\n"
