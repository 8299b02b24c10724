"""The json of speech recognisers: Whisper, faster-whisper, whisperX, Deepgram, AWS Transcribe, or any list of words.

In: json in which the words of a recording stand, mostly several times: in one text, in segments, one by one with times.
Out: the words once, with their times; and the json with marks and capitals wherever these words stand.

The strings of the keys that hold words are grouped by where they stand (`segments[].text`).  One group gives the words;
the others are aligned with it, so that none is forgotten, and strings that say something else stay as they are.

>>> recording = RecogniserJson.read('{"text": "so what", "words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> words = [item for item in recording.items if isinstance(item, SpokenWord)]
>>> [(word.raw, word.start_ms, word.end_ms) for word in words]
[('so', None, 400), ('what', None, None)]
>>> from ...text.render import AnnotatedWord
>>> new = [AnnotatedWord("so", "So", "", "capitalised", 1, 1), AnnotatedWord("what", "what?", "?", "lower", 1, 1)]
>>> "".join(recording.pieces(map(WrittenWord, words, new)))
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...errors import InputError
from ...text.marks import Alphabet
from ...text.words import APOSTROPHES, CLOSERS, OPENERS, Word
from ..items import Cue, Item, Kept, SpokenWord, WrittenItem, WrittenWord, leave_out_removed, seconds, speaker_label
from .places import MARK_TYPE, TOKEN, WORD_TYPE, Line, Place, find_places, find_places_in_lists, read_lines
from .spelling import Spelling, number_items, write_line
from .values import Changes, parse_json, written_json

_WHOLE = 0.99  # of the letters of the group that has the most
_QUOTED = 1 / 3  # a group with fewer of all letters quotes the recording
_MS, _LONG_WORD_MS = 1000, 10_000
_FIELD = re.compile(r'"([^"\\]{1,30})"\s*:')
_SEARCHED_CHARS, _NAMED_FIELDS = 10_000, 6  # of a json without words, so that a misspelt field is seen
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # which stand inside words, too
_ORDERS = (("stream", "start_ms"), ("stream",), ("start_ms",), ())  # by what of their cues words may be sorted
# what holds nothing when nothing was said
_HOLDERS = ("text", "transcript", "segments", "words", "results", "transcription", "utterances", "channels")


@dataclass(frozen=True, slots=True)
class Group:
    """The strings of one path, as lines, and their words with their times.

    words: the cue of each has the start of its line, the speaker, and as its stream the channel; letters: of each, as
    it is aligned with others, and none of what nobody says.
    """

    lines: Sequence[Line]
    words: Sequence[SpokenWord]
    letters: Sequence[str]

    @classmethod
    def of(cls, places: Sequence[Place], alphabet: Alphabet | None = None) -> Group:
        """Read the words of places."""
        lines = read_lines(_in_ms(places), alphabet)
        words = [word for line in lines for word in line.words]
        return cls(lines, words, [_letters(word.word) for word in words])

    @property
    def n_letters(self) -> int:
        """How many letters and digits its words have."""
        return sum(map(str.isalnum, "".join(self.letters)))

    @property
    def n_times(self) -> int:
        return sum((line.cue.start_ms, line.cue.end_ms) != (None, None) for line in self.lines)

    @property
    def marks_are_items(self) -> bool:
        """Whether a mark has an item here, and a word without a mark has none behind it."""
        return any(place.type in (WORD_TYPE, MARK_TYPE) for line in self.lines for place in line.places)


@dataclass(frozen=True, slots=True)
class RecogniserJson:
    """A file of a recogniser.

    documents: the json and its value, or each line, which is a recording of its own, and its value; groups: the strings
    with words, by their paths; source: the group that the words are from, with the times that another one has of them;
    items: the words, in order, and the breaks between speakers.
    """

    documents: Sequence[tuple[str, Any]]
    groups: Sequence[Group] = ()
    source: Group | None = None
    items: Sequence[Item] = ()

    @classmethod
    def read(cls, text: str, alphabet: Alphabet | None = None, name: str = "the file") -> RecogniserJson:
        """Find the words of a json text.

        Raises InputError for what is no json, or has no words where a recogniser writes them.
        """
        documents = parse_json(text, name)
        values, are_lines = [value for _, value in documents], len(documents) > 1
        places = [
            replace(place, cue=replace(place.cue, stream=f"{number}:{place.cue.stream}")) if are_lines else place
            for number, value in enumerate(values)
            for place in find_places(value)
        ]
        if not places and _says_nothing(values):
            return cls(documents)
        by_path = dict[str, list[Place]]()
        for place in places or find_places_in_lists(values if are_lines else values[0]):
            by_path.setdefault(place.path, []).append(place)
        groups = [group for places in by_path.values() if (group := Group.of(places, alphabet)).lines]
        if not groups:
            fields = [*dict.fromkeys(_FIELD.findall(text, 0, _SEARCHED_CHARS))][:_NAMED_FIELDS]
            raise InputError(
                f"no words in {name}" + (f", whose fields are {', '.join(fields)}" if fields else ""),
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        source = _source_of(groups)
        timed = replace(source, words=_with_times(source, _most_timed(groups, source)))
        groups = [timed if group is source else group for group in groups]
        return cls(documents, groups, timed, [*_items(timed)])

    def pieces(self, words: Iterable[WrittenWord]) -> Iterator[str]:
        """Yield the pieces of the json with its words as they are written now; a word without text is removed."""
        new = [Spelling.of(word.spoken.word, word.annotated) for word in words]
        changes, items = Changes(), list[Any]()
        for group in self.groups:
            spellings, marks_are_items = self._spellings_in(group, new), group.marks_are_items
            begin = 0
            for line in group.lines:
                own = slice(begin, begin + len(line.words))
                begin = own.stop
                said = [
                    spelling for spelling, letters in zip(spellings[own], group.letters[own], strict=True) if letters
                ]
                if 2 * said.count(None) < len(said):  # else it says something else
                    write_line(line, spellings[own], changes, marks_are_items=marks_are_items)
                if marks_are_items:
                    items += [place.element for place in line.places if place.type]
        number_items([value for _, value in self.documents], items, changes)
        for text, value in self.documents:
            yield written_json(text, value, changes)

    def _spellings_in(self, group: Group, new: Sequence[Spelling]) -> Sequence[Spelling | None]:
        """Return how the words of a group are written now; None: of a word that is not among those that were read."""
        if group is self.source:
            return new
        spellings: list[Spelling | None] = [None] * len(group.words)
        if self.source and group.n_letters >= _QUOTED * self.source.n_letters:
            for ours, theirs in align(self.source, group):
                spellings[theirs] = new[ours]
        return spellings


def _in_ms(places: Sequence[Place]) -> Sequence[Place]:
    """Return places with times in ms, where they were read as seconds and are ms: no speech has ten seconds a word."""
    timed = [place for place in places if place.cue.has_times and place.text.strip()]
    starts_ms, ends_ms = [place.cue.start_ms or 0 for place in timed], [place.cue.end_ms or 0 for place in timed]
    n_words = sum(len(place.text.split()) for place in timed)
    if any(ms % _MS for ms in starts_ms + ends_ms) or sum(ends_ms) - sum(starts_ms) <= _LONG_WORD_MS * n_words:
        return places
    in_ms = list[Place]()
    for place in places:
        start_ms, end_ms = (ms and ms // _MS for ms in (place.cue.start_ms, place.cue.end_ms))
        in_ms.append(replace(place, cue=replace(place.cue, start_ms=start_ms, end_ms=end_ms)))
    return in_ms


def _letters(word: Word) -> str:
    """Return the letters by which a word is known in another place, where it has other quotes and full stops.

    Tokens, and quotes, brackets and full stops that stand alone, have none.
    """
    if TOKEN.fullmatch(word.text) or not word.text.strip(_QUOTES + "."):
        return ""
    return word.normal.replace(".", "").strip(APOSTROPHES) or word.normal


def _source_of(groups: Sequence[Group]) -> Group:
    """Return the group to take the words from: complete, in texts, unsplit, and with times if possible."""
    most = max(group.n_letters for group in groups)
    return max(
        (group for group in groups if group.n_letters >= _WHOLE * most),
        key=lambda group: (
            group.lines[0].places[0].is_text,
            -sum(line.n_pieces for line in group.lines),
            group.n_times,
            len(group.lines),
        ),
    )


def _most_timed(groups: Sequence[Group], source: Group) -> Group:
    """Return the group with most times; of several, one that has the words in the order of the source."""
    n_times = max(group.n_times for group in groups)
    timed = [group for group in groups if group.n_times == n_times]
    return next((group for group in timed if group.letters == source.letters), timed[0])


def _with_times(source: Group, timed: Group) -> list[SpokenWord]:
    """Return the words of a group with the times, speakers and channels that another one has of them."""
    words = [*source.words]
    for theirs, ours in align(timed, source):
        word, other = words[ours], timed.words[theirs]
        cue, other_cue = word.cue or Cue(0), other.cue or Cue(0)
        cue = replace(
            cue,
            start_ms=cue.start_ms if other_cue.start_ms is None else other_cue.start_ms,
            speaker=other_cue.speaker,
            stream=cue.stream or other_cue.stream,
        )
        words[ours] = replace(word, cue=cue, start_ms=other.start_ms, end_ms=other.end_ms)
    return words


def _items(group: Group) -> Iterator[Item]:
    """Yield the words of a group, and breaks where another channel or speaker begins."""
    words, before, has_speakers = iter(group.words), ("", ""), any(line.cue.speaker for line in group.lines)
    for line in group.lines:
        cue = replace(line.cue, stream="")
        for item in line.items:
            if isinstance(item, Kept):
                yield Kept("", item.breaks, item.role, item.text, cue)
                continue
            word = next(words)
            channel, speaker = before
            if word.cue:
                channel = word.cue.stream or channel
                speaker = cue.speaker if has_speakers else word.cue.speaker or speaker
            if (channel, speaker) != before:
                yield speaker_label(speaker if speaker != before[1] else "", cue)
                before = channel, speaker
            yield replace(word, cue=cue)


def _says_nothing(value: object) -> bool:
    """Return whether json is a recogniser's of a recording without speech."""
    if isinstance(value, list):
        return any(map(_says_nothing, value))
    if not isinstance(value, dict):
        return False
    return any(key in value and value[key] in ([], None) for key in _HOLDERS) or any(map(_says_nothing, value.values()))


def align(ours: Group, theirs: Group) -> list[tuple[int, int]]:
    """Return the pairs of indices of words that two groups share, in their order: as many as there can be."""
    best = list[tuple[int, int]]()
    orders, their_orders = _orders(ours), _orders(theirs)
    # both in the same order, if they tell it; else each in any that it tells
    for order, their_order in dict.fromkeys([*zip(orders, their_orders, strict=True), *product(orders, their_orders)]):
        if order is None or their_order is None:
            continue
        blocks = Levenshtein.opcodes(
            [ours.letters[index] for index in order], [theirs.letters[index] for index in their_order]
        ).as_matching_blocks()
        pairs = [(order[block.a + n], their_order[block.b + n]) for block in blocks for n in range(block.size)]
        if len(pairs) > len(best):
            best = pairs
        if len(pairs) == len(their_order):
            break
    return best


def _orders(group: Group) -> list[tuple[int, ...] | None]:
    """Return the indices of a group's words, sorted in several ways; None: some do not tell by what."""
    indices = [index for index, letters in enumerate(group.letters) if letters]
    orders = list[tuple[int, ...] | None]()
    for names in _ORDERS:
        keys = {index: [getattr(group.words[index].cue, name) for name in names] for index in indices}
        is_told = not any(value in (None, "") for key in keys.values() for value in key)
        orders.append(tuple(sorted(indices, key=keys.__getitem__)) if is_told else None)
    return orders


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
