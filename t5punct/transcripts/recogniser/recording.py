"""The json of speech recognisers: Whisper, faster-whisper, whisperX, Deepgram, AWS Transcribe, or any list of words.

In: json in which the words of a recording stand, mostly several times: in one text, in segments, one by one with times.
Out: the words once, those of one group of strings, with their times; and the json with marks and capitals wherever
these words stand, as every other group is aligned with it.

>>> recording = RecogniserJson.read('{"text": "so what", "words": [{"word": "so", "end": 0.4}, {"word": "what"}]}')
>>> words = [item for item in recording.items if isinstance(item, SpokenWord)]
>>> from ...text.render import AnnotatedWord
>>> new = [AnnotatedWord("so", "So", "", "capitalised", 1, 1), AnnotatedWord("what", "what?", "?", "lower", 1, 1)]
>>> "".join(recording.pieces(map(WrittenWord, words, new)))
'{"text": "So what?", "words": [{"word": "So", "end": 0.4}, {"word": "what?"}]}'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...errors import InputError
from ...text.marks import Alphabet
from ..items import BESIDE_MS, Cue, Item, Kept, SpokenWord, WrittenWord, speaker_label
from .groups import MARK_TYPE, WORD_TYPE, Group, Place, align, find_places, says_nothing
from .spelling import NewItems, Spelling, write_items, write_line
from .values import parse_json, written_json

_COMPLETE = 0.99  # a complete group has this share of the letters of the longest group
_REPEATS = 1 / 3  # a group with a smaller share of the source's letters only quotes the recording
_FIELD = re.compile(r'"([^"\\]{1,30})"\s*:')
_SEARCHED_CHARS, _NAMED_FIELDS = 10_000, 6  # for the message on a json without words: a misspelt field is seen there


@dataclass(frozen=True, slots=True)
class RecogniserJson:
    """A file of a recogniser.

    text: the file.  groups: the strings with words, a group for each path.  source: the group whose words are the
    items; None: nothing was said.  items: its words, with the best times of any group, and breaks between speakers.
    """

    text: str
    groups: Sequence[Group] = ()
    source: Group | None = None
    items: Sequence[Item] = ()

    @classmethod
    def read(cls, text: str, alphabet: Alphabet | None = None, name: str = "the file") -> RecogniserJson:
        """Read the words of a json text, or of lines of json, each of which is a recording of its own.

        Raises InputError for what is no json, and for json without words.
        """
        values = [value for _, value in parse_json(text, name)]
        by_group = dict[str, list[Place]]()
        for place in find_places(values):
            by_group.setdefault(place.group, []).append(place)
        groups = [Group.of(places, alphabet) for places in by_group.values()]
        groups = [group for group in groups if group.lines]
        if not groups and says_nothing(values):
            return cls(text)
        if not groups:
            fields = [*dict.fromkeys(_FIELD.findall(text, 0, _SEARCHED_CHARS))][:_NAMED_FIELDS]
            raise InputError(
                f"no words in {name}" + (f", whose fields are {', '.join(fields)}" if fields else ""),
                expected="json of a recogniser, with `text`, `segments` or `words`",
                fix="convert it to text, or name its --format",
            )
        source = _source_of(groups)
        # of the groups with the most times, one with the words of the source, in its order, is best
        n_timed = max(group.n_timed_lines for group in groups)
        timed = [group for group in groups if group.n_timed_lines == n_timed]
        best_timed = next((group for group in timed if group.letters == source.letters), timed[0])
        timed_source = replace(source, words=_with_times(source, best_timed))
        groups = [timed_source if group is source else group for group in groups]
        return cls(text, groups, timed_source, [*_items(timed_source)])

    def pieces(self, words: Iterable[WrittenWord]) -> Iterator[str]:
        """Yield the pieces of the json, in which its words are written as `words` say."""
        spellings = [Spelling.of(word.spoken.word, word.annotated) for word in words]
        documents = parse_json(self.text)
        values = [value for _, value in documents]  # changed below
        new_items: NewItems = {}
        for group in self.groups:
            new: list[Spelling | None] = [None] * len(group.words)  # None: the source has no such word
            if group is self.source:
                new = [*spellings]
            elif self.source and group.n_letters >= _REPEATS * self.source.n_letters:
                for ours, theirs in align(self.source, group):
                    new[theirs] = spellings[ours]
            # where marks are items of their own, a word without a mark has no such item behind it
            types = {place.type for line in group.lines for place in line.places}
            items_of_group = new_items if types & {WORD_TYPE, MARK_TYPE} else None
            begin = 0
            for line in group.lines:
                end = begin + len(line.words)
                spoken = [index for index in range(begin, end) if group.letters[index]]
                if sum(new[index] is not None for index in spoken) > len(spoken) / 2:  # else it says something else
                    write_line(line, new[begin:end], values, items_of_group)
                begin = end
        write_items(new_items, values, self.text)
        for text, value in documents:
            yield written_json(text, value)


def _source_of(groups: Sequence[Group]) -> Group:
    """Choose the group to take the words from: a complete one, and of these texts before words, unsplit, with times."""
    most_letters = max(group.n_letters for group in groups)
    complete = [group for group in groups if group.n_letters >= _COMPLETE * most_letters]

    def merits(group: Group) -> tuple[bool, int, int, int]:
        n_pieces = len(group.words) + sum(len(line.starts) for line in group.lines)
        return group.lines[0].places[0].is_text, -n_pieces, group.n_timed_lines, len(group.lines)

    return max(complete, key=merits)


def _with_times(source: Group, timed: Group) -> list[SpokenWord]:
    """Return the source's words, each with the times, speaker and channel that `timed` has for it."""
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
    """Yield the words of a group, and a label where another channel or speaker begins.  Each channel is a stream.

    The label is a break, unless a speaker goes on at once in a channel that another one only interrupted.
    """
    words = iter(group.words)
    has_speakers = any(line.cue.speaker for line in group.lines)
    before = ("", "")  # channel and speaker of the last word
    last_of_channels = dict[str, tuple[str, int | None]]()  # the speaker of a channel's last word, and when that ended
    for line in group.lines:
        cue = replace(line.cue, stream=line.cue.stream or before[0])
        for item in line.items:
            if isinstance(item, Kept):
                yield Kept("", item.breaks, item.role, item.text, cue)
                continue
            word = next(words)  # the item with its times
            channel, speaker = before
            if word.cue:
                channel = word.cue.stream or channel
                speaker = cue.speaker if has_speakers else word.cue.speaker or speaker
            cue = replace(cue, stream=channel)
            if (channel, speaker) != before:
                last_speaker, end_ms = last_of_channels.get(channel, ("", None))
                is_near = end_ms is not None and word.start_ms is not None and word.start_ms - end_ms <= BESIDE_MS
                label = speaker_label(speaker if speaker != before[1] else "", cue)
                yield replace(label, breaks=speaker != last_speaker or not is_near, cue=cue)
                before = channel, speaker
            last_of_channels[channel] = speaker, word.end_ms
            yield replace(word, cue=cue)
