"""Where words stand in the json of a recogniser, and how they are read.

In: the values of json texts.  Out: `Place`s, the strings that hold words, and `Group`s, all places of one path.

>>> places = find_places([{"words": [{"word": "so", "end": "0.4"}, {"word": "what"}, {"word": "?"}]}])
>>> [(place.text, place.group, place.cue.end_ms) for place in places]
[('so', ".words'[].word", 400), ('what', ".words'[].word", None), ('?', ".words'[].word", None)]
>>> [[word.raw for word in line.words] for line in Group.of(places).lines]
[['so'], ['what?']]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import accumulate, pairwise, product
from sys import intern
from typing import Any

from rapidfuzz.distance import Levenshtein

from ...text.marks import DASH, Alphabet
from ...text.words import ALL_MARKS, APOSTROPHES, CLOSERS, OPENERS, Word
from ..items import Cue, Item, SpokenWord
from ..speech import read_line, set_cue_times
from .values import REPEATED

_CAPTION = "utf8"  # the key of a caption in YouTube's json3
_TEXT_KEYS = ("text", "transcript", _CAPTION)  # their strings may hold several words
_WORD_KEYS = ("punctuated_word", "word", "content")  # their strings hold one word; an object's first one counts
_START_KEYS = ("start", "start_time", "startTime", "startOffset", "ts")
_END_KEYS = ("end", "end_time", "endTime", "endOffset", "end_ts")
_SPEAKER_KEYS = (  # a name before a number
    "speaker_name", "speakerName", "speaker", "speaker_label", "speakerLabel", "speaker_id", "speakerId", "speakerTag",
    "speaker_tag",
)  # fmt: skip
_CHANNEL_KEYS = ("channel", "channel_label", "channelTag", "channel_tag")
TYPE, MARK_TYPE, WORD_TYPE = "type", "punctuation", "pronunciation"  # of AWS's items
# rev.ai's elements: the key of their text, and their types, in AWS's words; spaces are marks there, too
_ELEMENT, ELEMENT_TYPES = "value", {"text": WORD_TYPE, "punct": MARK_TYPE}
_PART_LISTS = ("segs", "elements")  # their elements have the times and the speaker of the object with the list
GUESSES = "alternatives"  # the first is the best
_QUOTING_KEY = re.compile(  # of lists that repeat names and phrases of the recording
    r".*entit(?:y|ies)$|(?:.*_)?(?:terms|topics)$|.*highlight|key_?(?:phrase|word)", re.IGNORECASE
)
_WORD_OF_LETTERS = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_LEAST_WORDS = 0.7  # share of a list's strings that must be words of letters, if it is a list of words
# keys whose value is empty if nothing was said
_SPEECH_KEYS = ("text", "transcript", "segments", "words", "results", "transcription", "utterances", "channels")
Path = tuple[Any, ...]  # keys and indices that lead to a value; the first is the number of the json text
_CONTROL_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp: `[_BEG_]`, which nobody says
_SECOND_MS, _LONG_WORD_MS = 1000, 10_000
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # apostrophes stand inside words, too
_ORDERS = (("stream", "start_ms"), ("stream",), ("start_ms",), ())  # fields of `Cue` by which words may be sorted


@dataclass(frozen=True, slots=True)
class Place:
    """A string that holds words.

    group: the path without indices.  cue: times and speaker; the stream is the channel.  item: the path of the element
    of a list that has the string, or empty; later elements may be pieces or marks of the same word.  type: of this
    element, in AWS's words, or empty.
    """

    path: Path
    text: str
    group: str
    cue: Cue
    item: Path = ()
    type: str = ""

    @property
    def is_text(self) -> bool:
        """Whether the string may hold several words."""
        key = self.path[-1]
        return key.rstrip(REPEATED) in _TEXT_KEYS if isinstance(key, str) else len(self.text.split()) > 1


def find_places(values: Sequence[Any]) -> list[Place]:
    """Find the strings that hold words, in the order of the file: by their keys, or else in lists."""
    places = [*_walk_all(values)]
    if not places and not says_nothing(values):
        return _find_in_lists(values)
    for index, (place, after) in enumerate(pairwise(places)):
        if place.path[-1] == _CAPTION == after.path[-1]:  # YouTube shows a caption while the next one is spoken
            start_ms, end_ms = after.cue.start_ms, place.cue.end_ms
            if end_ms is not None and start_ms is not None and end_ms > start_ms:
                places[index] = replace(place, cue=replace(place.cue, end_ms=start_ms))
    return places


def says_nothing(value: object) -> bool:
    """Return whether json is what a recogniser writes for a recording without speech."""
    if isinstance(value, list):
        return any(map(says_nothing, value))
    if not isinstance(value, dict):
        return False
    has_empty = any(key in value and value[key] in ([], None) for key in _SPEECH_KEYS)
    return has_empty or any(map(says_nothing, value.values()))


def _find_in_lists(values: Sequence[Any]) -> list[Place]:
    """Find the words of json whose keys are unknown.

    If the file is one list of texts, each is a recording, so a stream, of its own.  Otherwise the words are the strings
    of one path through a list: the path with the most different words.
    """
    by_group = dict[str, list[Place]]()
    for place in _walk_all(values, any_key=True):
        by_group.setdefault(place.group, []).append(place)
    texts = by_group.get("[]", [])  # the strings of a file that is one list
    has_only_strings = bool(texts) and len(texts) == len(values[0])
    if has_only_strings and (len(texts) == 1 or any(place.is_text for place in texts)):  # else a list of single words
        return [replace(place, cue=replace(place.cue, stream=str(place.path[-1]))) for place in texts]
    lists_of_words = [places for group, places in by_group.items() if "[]" in group and _are_words(places)]
    return max(lists_of_words, key=lambda places: len({place.text for place in places}), default=[])


def _are_words(places: Sequence[Place]) -> bool:
    """Return whether most strings are words of letters, unlike codes, and most differ, unlike names of kinds."""
    texts = [place.text.strip(ALL_MARKS.characters + " \n").lower() for place in places]
    n_words = sum(bool(_WORD_OF_LETTERS.fullmatch(text)) for text in texts)
    return n_words > 1 and n_words >= _LEAST_WORDS * len(texts) and 2 * len({*texts}) > len(texts)


def _walk_all(values: Sequence[Any], *, any_key: bool = False) -> Iterator[Place]:
    """Yield the places in json texts; each of several texts has streams of its own."""
    for number, value in enumerate(values):
        for place in _walk(value, (number,), "" if len(values) == 1 else "[]", any_key=any_key):
            stream = place.cue.stream if len(values) == 1 else f"{number}:{place.cue.stream}"
            yield replace(place, cue=replace(place.cue, stream=stream))


def _walk(
    value: Any,
    path: Path,
    group: str,
    outer: Mapping[str, Any] | None = None,
    around: Cue | None = None,
    item: Path = (),
    *,
    any_key: bool = False,
) -> Iterator[Place]:
    """Yield the places in a value.

    path, group, item: of the value, as in `Place`.  outer: the object whose times hold where the value has none of its
    own.  around: has the speaker and the channel of the lists and objects around the value.  any_key: whether any key
    may hold words.
    """
    around = around or Cue(0)
    if isinstance(value, list):
        for number, element in enumerate(value):
            cue = replace(around, stream=str(number)) if group.endswith(".channels") else around
            own_path = (*path, number)
            if any_key and type(element) is str:
                yield Place(own_path, element, f"{group}[]", cue)
            yield from _walk(element, own_path, f"{group}[]", outer, cue, own_path, any_key=any_key)
    if not isinstance(value, dict):
        return
    channel = _member_as_str(value, _CHANNEL_KEYS).removeprefix("ch_")  # AWS's is `ch_0`
    speaker = _member_as_str(value, _SPEAKER_KEYS)
    cue = replace(around, speaker=speaker or around.speaker, stream=channel or around.stream)
    members = {**(outer or {}), **value}
    word_key = next((name for name in _WORD_KEYS if type(value.get(name)) is str), None)
    if type(value.get(_ELEMENT)) is str and value.get(TYPE) in (*ELEMENT_TYPES,):
        word_key = _ELEMENT
    for name, member in value.items():
        key, own_path, own_group = name.rstrip(REPEATED), (*path, name), intern(f"{group}.{name}")
        if _QUOTING_KEY.match(key) or (any_key and key in (*_SPEAKER_KEYS, *_CHANNEL_KEYS, TYPE)):
            continue
        if type(member) is str:
            if any_key or key in _TEXT_KEYS or key == word_key:
                start_ms, end_ms = _times(members)
                kind = members[TYPE] if item and type(members.get(TYPE)) is str else ""
                kind = ELEMENT_TYPES.get(kind, kind) if _ELEMENT in members else kind
                own_cue = replace(cue, start_ms=start_ms, end_ms=end_ms)
                yield Place(own_path, member, own_group, own_cue, item, kind)
        elif key == GUESSES and isinstance(member, list):
            if member:  # the best guess; AWS's guesses have the times of the value
                yield from _walk(member[0], (*own_path, 0), f"{own_group}[]", value, cue, item, any_key=any_key)
        else:
            if key == "words" and not any(text in value for text in _TEXT_KEYS):
                own_group += "'"  # a group apart from the lists beside a text: Google's last list repeats all words
            outer_of_parts = value if key in _PART_LISTS else None
            yield from _walk(member, own_path, own_group, outer_of_parts, cue, any_key=any_key)


def _times(members: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return start and end in ms."""
    event_ms = _ms(members, ("tStartMs",), unit_ms=1)
    if event_ms is not None:  # YouTube's json3: `tOffsetMs` of a word counts from the start of its event
        offset_ms, duration_ms = (_ms(members, (key,), unit_ms=1) or 0 for key in ("tOffsetMs", "dDurationMs"))
        return event_ms + offset_ms, event_ms + duration_ms
    offsets = members.get("offsets")
    if isinstance(offsets, dict):  # whisper.cpp's
        return _ms(offsets, ("from",), unit_ms=1), _ms(offsets, ("to",), unit_ms=1)
    return _ms(members, _START_KEYS), _ms(members, _END_KEYS)


def _ms(members: Mapping[str, Any], keys: Sequence[str], unit_ms: int = _SECOND_MS) -> int | None:
    try:
        return round(unit_ms * float(_member_as_str(members, keys).removesuffix("s")))  # Google writes "1.5s"
    except (ValueError, OverflowError):
        return None


def _member_as_str(members: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the member of the first of these keys that is there, as a str; empty without one, and for other types."""
    value = next((members[key] for key in keys if key in members), None)
    return str(value) if isinstance(value, str) else ""  # a number is a str, too: `Number`


@dataclass(frozen=True, slots=True)
class Line:
    """Places that are read as one text: a string of words, or a word, its other pieces and its marks.

    A word may be cut into pieces (Whisper's ` 1` `,000`), and its marks may be strings of their own.  starts: the index
    in the text at which each place but the first begins.  cue: from the first place's start to the end of the last
    place that is no mark.  items: the words of the text, and what stands between them.
    """

    places: Sequence[Place]
    starts: Sequence[int]
    cue: Cue
    items: Sequence[Item]

    @property
    def words(self) -> list[SpokenWord]:
        return [item for item in self.items if isinstance(item, SpokenWord)]


@dataclass(frozen=True, slots=True)
class Group:
    """The strings of one path, such as `.segments[].text`, as lines, and the words of all lines.

    words: the cue of a word has the start of its line, the speaker, and the channel as its stream.  letters: of each
    word, what `align` compares; empty if nobody says the word.
    """

    lines: Sequence[Line]
    words: Sequence[SpokenWord]
    letters: Sequence[str]

    @classmethod
    def of(cls, places: Sequence[Place], alphabet: Alphabet | None = None) -> Group:
        """Read the words of places of one path.  A mark's item is left out if unknown, or if no word is before it."""
        places = _in_ms(places)
        token_lists = _lists_of_tokens(places)
        places_of_lines = list[list[Place]]()
        for place in places:
            are_tokens = place.item[:-1] in token_lists
            line = places_of_lines[-1] if places_of_lines else []
            if line and _is_same_line(line[0], place, alphabet or ALL_MARKS, are_tokens=are_tokens):
                line.append(place)
            elif place.type != MARK_TYPE:
                places_of_lines.append([place])
        lines = [
            _read_line(line, number, alphabet, are_tokens=line[0].item[:-1] in token_lists)
            for number, line in enumerate(places_of_lines)
        ]
        words = [word for line in lines for word in line.words]
        return cls(lines, words, [_letters(word.word) for word in words])

    @property
    def n_letters(self) -> int:
        """How many letters and digits its words have."""
        return sum(map(str.isalnum, "".join(self.letters)))

    @property
    def is_text(self) -> bool:
        """Whether its strings may hold several words."""
        return self.lines[0].places[0].is_text

    @property
    def n_pieces(self) -> int:
        """How many words it has, and one more for each further place of a line, which cuts a word or its marks off."""
        return len(self.words) + sum(len(line.starts) for line in self.lines)

    @property
    def n_timed_lines(self) -> int:
        return sum((line.cue.start_ms, line.cue.end_ms) != (None, None) for line in self.lines)


def _in_ms(places: Sequence[Place]) -> Sequence[Place]:
    """Correct times in ms that `_times` took for seconds: whole numbers that would give a word over ten seconds."""
    n_words, n_ms = 0, 0
    for place in places:
        start_ms, end_ms = place.cue.start_ms, place.cue.end_ms
        if start_ms is not None and end_ms is not None and place.text.strip():
            if start_ms % _SECOND_MS or end_ms % _SECOND_MS:
                return places
            n_words += len(place.text.split())
            n_ms += end_ms - start_ms
    if n_ms <= _LONG_WORD_MS * n_words:
        return places
    corrected = list[Place]()
    for place in places:
        start_ms, end_ms = (ms and ms // _SECOND_MS for ms in (place.cue.start_ms, place.cue.end_ms))
        corrected.append(replace(place, cue=replace(place.cue, start_ms=start_ms, end_ms=end_ms)))
    return corrected


def _lists_of_tokens(places: Sequence[Place]) -> set[Path]:
    """Return the paths of lists of tokens: as in Whisper's, a string begins a word only if it begins with a space."""
    spaced_lists = set[Path]()
    text_lists = set[Path]()  # of texts of several words
    for place in places:
        words = place.text.strip().strip(ALL_MARKS.characters + " ").split()
        if words and place.text[:1].isspace():
            spaced_lists.add(place.item[:-1])
        if len(words) > 1:
            text_lists.add(place.item[:-1])
    return spaced_lists - text_lists


def _is_same_line(first: Place, place: Place, alphabet: Alphabet, *, are_tokens: bool) -> bool:
    """Return whether `place` is a mark or another piece of the word of the line that `first` begins."""
    text, before = place.text, first.text.strip()
    if not place.item or place.item[:-1] != first.item[:-1] or not before or _CONTROL_TOKEN.fullmatch(before):
        return False
    if place.type == WORD_TYPE:  # a word, even if it looks like a mark
        return False
    if place.type == MARK_TYPE:  # AWS gives this type to `¿` and `%`, too, which are no marks of ours
        return bool(text.strip(CLOSERS + " ")) and not _has_words(text)
    if are_tokens and not text[:1].isspace():
        return not _CONTROL_TOKEN.fullmatch(text)
    is_mark = bool(text.strip()) and not text.strip(alphabet.characters + " ")
    return is_mark and len(before.split()) == 1


def _has_words(text: str) -> bool:
    return bool(text.strip().strip(ALL_MARKS.characters + CLOSERS + " "))


def _read_line(places: Sequence[Place], number: int, alphabet: Alphabet | None, *, are_tokens: bool) -> Line:
    first, *others = places
    texts = [first.text]
    end_ms = first.cue.end_ms
    for place in others:
        # tokens have their spaces, so theirs may be a hyphen; elsewhere a string that begins with one is a dash
        is_dash = place.text.startswith(DASH) and not are_tokens
        texts.append(" " + place.text if is_dash else place.text)
        end_ms = place.cue.end_ms if _has_words(place.text) else end_ms
    cue = replace(first.cue, number=number, end_ms=end_ms)
    items = list[Item]()
    for line in StringIO("".join(texts), newline="\n"):
        items += read_line(line, alphabet=alphabet, cue=cue, labels=first.is_text and not others)
    return Line(places, [*accumulate(map(len, texts[:-1]))], cue, set_cue_times(items, cue))


def _letters(word: Word) -> str:
    """Return a word without its case, marks, quotes and full stops; empty for what nobody says."""
    if _CONTROL_TOKEN.fullmatch(word.text) or not word.text.strip(_QUOTES + "."):
        return ""
    return word.normal.replace(".", "").strip(APOSTROPHES) or word.normal


def align(ours: Group, theirs: Group) -> list[tuple[int, int]]:
    """Match the words of two groups.  Return pairs of an index in `ours` and one in `theirs`.

    The words that match are those that a shortest edit of one list of letters into the other keeps (Levenshtein).
    Groups may list their words by channel, by time or otherwise: pairs of `_ORDERS` are tried, equal ones first, until
    one matches all of theirs; if none does, the one that matches most is taken.
    """
    our_orders, their_orders = _orders(ours), _orders(theirs)
    equal_orders = [(order, order) for order in our_orders if order in their_orders]
    best = list[tuple[int, int]]()  # the most pairs so far
    for our_order, their_order in [*equal_orders, *product(our_orders, their_orders)]:
        our_indices, their_indices = our_orders[our_order], their_orders[their_order]
        blocks = Levenshtein.opcodes(
            [ours.letters[index] for index in our_indices], [theirs.letters[index] for index in their_indices]
        ).as_matching_blocks()
        pairs = list[tuple[int, int]]()
        for block in blocks:
            pairs += zip(our_indices[block.a :][: block.size], their_indices[block.b :][: block.size], strict=True)
        if len(pairs) > len(best):
            best = pairs
        if len(pairs) == len(their_indices):
            break
    return best


def _orders(group: Group) -> dict[tuple[str, ...], list[int]]:
    """Return the indices of a group's spoken words, sorted by each of `_ORDERS` whose fields all of them have."""
    indices = [index for index, letters in enumerate(group.letters) if letters]
    orders = dict[tuple[str, ...], list[int]]()
    for fields in _ORDERS:
        keys = {index: [getattr(group.words[index].cue, field) for field in fields] for index in indices}
        if all(value not in (None, "") for key in keys.values() for value in key):
            orders[fields] = sorted(indices, key=keys.__getitem__)
    return orders
