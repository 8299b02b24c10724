"""Where words stand in the json of a recogniser, and how they are read.

In: the values of json texts.  Out: `Place`s: strings that hold words, with their times, speakers and channels; and
`Group`s: the words of all places of one path, which are aligned with those of another.  A word that is cut into pieces
(Whisper's ` 1` `,000`), or whose marks have strings of their own, is one line of several places.

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
from .values import AGAIN

_CAPTION = "utf8"  # of YouTube's json3: some words, or one
_TEXT_KEYS = ("text", "transcript", _CAPTION)  # of several words
_WORD_KEYS = ("punctuated_word", "word", "content")  # of one; the first that is there counts
_START_KEYS = ("start", "start_time", "startTime", "startOffset", "ts")
_END_KEYS = ("end", "end_time", "endTime", "endOffset", "end_ts")
_SPEAKER_KEYS = ("speaker", "speaker_label")
_CHANNEL_KEYS = ("channel", "channel_label", "channelTag", "channel_tag")
TYPE, MARK_TYPE, WORD_TYPE = "type", "punctuation", "pronunciation"  # of AWS's items
_ELEMENT, ELEMENT_TYPES = "value", {"text": WORD_TYPE, "punct": MARK_TYPE}  # rev.ai's; spaces are marks, too
_PARTS = ("segs", "elements")  # lists whose elements are of the time, or of the speaker, of what has the list
GUESSES = "alternatives"  # the first is the best
_QUOTING = re.compile(  # lists of names and phrases
    r".*entit(?:y|ies)$|(?:.*_)?(?:terms|topics)$|.*highlight|key_?(?:phrase|word)", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_MOST = 0.7  # of the strings of a list are words, if it is one of words
# what holds nothing when nothing was said
_HOLDERS = ("text", "transcript", "segments", "words", "results", "transcription", "utterances", "channels")
Path = tuple[Any, ...]  # keys and indices that lead to a value; the first is the number of the json text
_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp, which nobody says
_SECOND_MS, _LONG_WORD_MS = 1000, 10_000
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # which stand inside words, too
_ORDERS = (("stream", "start_ms"), ("stream",), ("start_ms",), ())  # by what of their cues words may be sorted


@dataclass(frozen=True, slots=True)
class Place:
    """A string that holds words: where it stands, of whom and when.

    group: the path without numbers; cue: its times, its speaker, and as its stream its channel; item: the path of the
    element of a list of which the string is part, if it is: behind it words, their pieces and their marks may follow;
    type: of this element, as AWS names it, or nothing.
    """

    path: Path
    text: str
    group: str
    cue: Cue
    item: Path = ()
    type: str = ""

    @property
    def is_text(self) -> bool:
        """Whether it may hold several words."""
        key = self.path[-1]
        return key.rstrip(AGAIN) in _TEXT_KEYS if isinstance(key, str) else len(self.text.split()) > 1


def find_places(values: Sequence[Any]) -> list[Place]:
    """Return the strings that hold words, in the order of the file.

    Of json of a shape nobody knows, they are a list of texts, each of which is a recording of its own, or those of the
    path, in lists, that has the most different words.

    >>> [place.text for place in find_places([["how are you", "yes"]])]
    ['how are you', 'yes']
    >>> value = {"n": ["x1"], "tokens": [{"t": "how", "lang": "en"}, {"t": "are"}]}
    >>> [place.text for place in find_places([value])]
    ['how', 'are']
    """
    places = [*_walk_all(values)]
    if not places and not says_nothing(values):
        return _find_in_lists(values)
    for number, (place, after) in enumerate(pairwise(places)):
        start_ms, end_ms = after.cue.start_ms, place.cue.end_ms
        is_over = end_ms is not None and start_ms is not None and end_ms > start_ms
        if is_over and place.path[-1] == _CAPTION == after.path[-1]:  # the next caption is shown while this one is
            places[number] = replace(place, cue=replace(place.cue, end_ms=start_ms))
    return places


def says_nothing(value: object) -> bool:
    """Return whether json is a recogniser's of a recording without speech."""
    if isinstance(value, list):
        return any(map(says_nothing, value))
    if not isinstance(value, dict):
        return False
    return any(value.get(key, 0) in ([], None) for key in _HOLDERS) or any(map(says_nothing, value.values()))


def _find_in_lists(values: Sequence[Any]) -> list[Place]:
    """Return the words of json of a shape that nobody knows.

    They are the texts of a file that is one list of strings, each of them a recording (so a stream) of its own; else
    the strings of the path, in lists, that has the most different words.
    """
    by_group = dict[str, list[Place]]()
    for place in _walk_all(values, any_key=True):
        by_group.setdefault(place.group, []).append(place)
    texts = by_group.get("[]", [])  # the strings of a file that is one list
    has_only_strings = bool(texts) and len(texts) == len(values[0])
    if has_only_strings and (len(texts) == 1 or any(place.is_text for place in texts)):  # texts, not single words
        return [replace(place, cue=replace(place.cue, stream=str(place.path[-1]))) for place in texts]
    lists_of_words = [places for group, places in by_group.items() if "[]" in group and _are_words(places)]
    return max(lists_of_words, key=lambda places: len({place.text for place in places}), default=[])


def _are_words(places: Sequence[Place]) -> bool:
    """Return whether most strings are words of letters, and most of them different: no codes, no names of kinds."""
    texts = [place.text.strip(ALL_MARKS.characters + " \n").lower() for place in places]
    n_words = sum(bool(_LETTERS.fullmatch(text)) for text in texts)
    return n_words > 1 and n_words >= _MOST * len(texts) and 2 * len({*texts}) > len(texts)


def _walk_all(values: Sequence[Any], *, any_key: bool = False) -> Iterator[Place]:
    """Yield the places in json texts, each of which is a recording of its own.

    `any_key`: whether strings of any key may be words.
    """
    if len(values) == 1:
        yield from _walk(values[0], (0,), "", any_key=any_key)
        return
    for number, value in enumerate(values):
        for place in _walk(value, (number,), "[]", any_key=any_key):
            yield replace(place, cue=replace(place.cue, stream=f"{number}:{place.cue.stream}"))


def _walk(
    value: Any,
    path: Path,
    group: str,
    around: Mapping[str, Any] | None = None,
    channel: str = "",
    item: Path = (),
    *,
    any_key: bool = False,
) -> Iterator[Place]:
    """Yield the places in a value.

    around: an object of which it is a part, whose times and speaker it has; item: as in `Place`.
    """
    if isinstance(value, list):
        for number, element in enumerate(value):
            own_channel = str(number) if group.endswith(".channels") else channel
            own_path = (*path, number)
            if any_key and type(element) is str:
                yield Place(own_path, element, f"{group}[]", Cue(0, stream=own_channel))
            yield from _walk(element, own_path, f"{group}[]", around, own_channel, own_path, any_key=any_key)
    if not isinstance(value, dict):
        return
    own_channel = _text(value, _CHANNEL_KEYS).removeprefix("ch_") or channel  # AWS's is `ch_0`
    members = {**(around or {}), **value}
    for name, member in value.items():
        key, own_path, own_group = name.rstrip(AGAIN), (*path, name), intern(f"{group}.{name}")
        if _QUOTING.match(key) or (any_key and key in (*_SPEAKER_KEYS, *_CHANNEL_KEYS, TYPE)):
            continue
        if type(member) is str:
            if any_key or key in _TEXT_KEYS or key == _word_key(value):
                cue = Cue(0, *_times(members), _text(members, _SPEAKER_KEYS), own_channel)
                yield Place(own_path, member, own_group, cue, item, _type(members) if item else "")
        elif key == GUESSES and isinstance(member, list):  # AWS's have no times of their own
            if member:
                yield from _walk(member[0], (*own_path, 0), f"{own_group}[]", value, own_channel, item, any_key=any_key)
        else:
            if key == "words" and not any(text in value for text in _TEXT_KEYS):
                own_group += "'"  # another list than those beside a text: Google's last has all words once more
            holder = value if key in _PARTS else None
            yield from _walk(member, own_path, own_group, holder, own_channel, any_key=any_key)


def _word_key(value: Mapping[str, Any]) -> str | None:
    if type(value.get(_ELEMENT)) is str and value.get(TYPE) in (*ELEMENT_TYPES,):
        return _ELEMENT
    return next((name for name in _WORD_KEYS if type(value.get(name)) is str), None)


def _type(members: Mapping[str, Any]) -> str:
    kind = members.get(TYPE)
    if type(kind) is not str:
        return ""
    return ELEMENT_TYPES.get(kind, kind) if _ELEMENT in members else kind


def _times(members: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return start and end in ms."""
    event_ms = _ms(members, ("tStartMs",), 1)
    if event_ms is not None:  # YouTube's json3
        return event_ms + (_ms(members, ("tOffsetMs",), 1) or 0), event_ms + (_ms(members, ("dDurationMs",), 1) or 0)
    offsets = members.get("offsets")
    if isinstance(offsets, dict):  # whisper.cpp's
        return _ms(offsets, ("from",), 1), _ms(offsets, ("to",), 1)
    return _ms(members, _START_KEYS), _ms(members, _END_KEYS)


def _ms(members: Mapping[str, Any], keys: Sequence[str], scale: int = 1000) -> int | None:
    try:
        return round(scale * float(_text(members, keys).removesuffix("s")))  # Google's are "1.5s"
    except (ValueError, OverflowError):
        return None


def _text(members: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the first member that is there: a string, or a number as the file has it."""
    value = next((members[key] for key in keys if key in members), None)
    return str(value) if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Line:
    """Strings that are read one behind the other: the words and what is between them.

    starts: where the second string begins in the text of all, and so on; cue: the times of all.
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
    """The strings of one path, as lines, and their words with their times.

    words: the cue of each has the start of its line, the speaker, and as its stream the channel; letters: of each, as
    it is aligned with others, and none of what nobody says.
    """

    lines: Sequence[Line]
    words: Sequence[SpokenWord]
    letters: Sequence[str]

    @classmethod
    def of(cls, places: Sequence[Place], alphabet: Alphabet | None = None) -> Group:
        """Read the words of places of one path.

        Some items of marks have no word before them, or are no marks that anybody knows: these are left out.
        """
        places = _in_ms(places)
        token_lists = _lists_of_tokens(places)
        joined = list[list[Place]]()  # the places of each line
        for place in places:
            are_tokens = place.item[:-1] in token_lists
            if joined and _goes_on(joined[-1][0], place, alphabet or ALL_MARKS, are_tokens=are_tokens):
                joined[-1].append(place)
            elif place.type != MARK_TYPE:
                joined.append([place])
        lines = [
            _read_line(line, number, alphabet, are_tokens=line[0].item[:-1] in token_lists)
            for number, line in enumerate(joined)
        ]
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


def _in_ms(places: Sequence[Place]) -> Sequence[Place]:
    """Return places with times in ms, where they were read as seconds and are ms: no speech has ten seconds a word."""
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
    in_ms = list[Place]()
    for place in places:
        start_ms, end_ms = (ms and ms // _SECOND_MS for ms in (place.cue.start_ms, place.cue.end_ms))
        in_ms.append(replace(place, cue=replace(place.cue, start_ms=start_ms, end_ms=end_ms)))
    return in_ms


def _lists_of_tokens(places: Sequence[Place]) -> set[Path]:
    """Return the lists in which a space before a string says that a word begins, as in Whisper's tokens."""
    spaced_lists = set[Path]()
    text_lists = set[Path]()
    for place in places:
        words = place.text.strip().strip(ALL_MARKS.characters + " ").split()
        if words and place.text[:1].isspace():
            spaced_lists.add(place.item[:-1])
        if len(words) > 1:
            text_lists.add(place.item[:-1])
    return spaced_lists - text_lists


def _goes_on(first: Place, place: Place, alphabet: Alphabet, *, are_tokens: bool) -> bool:
    """Return whether `place` goes on with the line that `first` begins: by a mark, or by a piece of the same word."""
    text, before = place.text, first.text.strip()
    if not place.item or place.item[:-1] != first.item[:-1] or not before or _TOKEN.fullmatch(before):
        return False
    if place.type == WORD_TYPE:  # it was said, whatever it is made of
        return False
    if place.type == MARK_TYPE:  # AWS has `¿` and `%`, too
        return bool(text.strip(CLOSERS + " ")) and not _says_something(text)
    if are_tokens and not text[:1].isspace():
        return not _TOKEN.fullmatch(text)
    is_mark = bool(text.strip()) and not text.strip(alphabet.characters + " ")
    return is_mark and len(before.split()) == 1


def _says_something(text: str) -> bool:
    return bool(text.strip().strip(ALL_MARKS.characters + CLOSERS + " "))


def _read_line(places: Sequence[Place], number: int, alphabet: Alphabet | None, *, are_tokens: bool) -> Line:
    first, *others = places
    texts = [first.text]
    end_ms = first.cue.end_ms
    for place in others:
        # a dash stands apart, and is a hyphen only where all spaces are told
        is_apart = place.text.startswith(DASH) and not are_tokens
        texts.append(" " * is_apart + place.text)
        end_ms = place.cue.end_ms if _says_something(place.text) else end_ms
    cue = replace(first.cue, number=number, end_ms=end_ms)
    items = list[Item]()
    for line in StringIO("".join(texts), newline="\n"):
        items += read_line(line, alphabet=alphabet, cue=cue, labels=first.is_text and not others)
    return Line(places, [*accumulate(map(len, texts[:-1]))], cue, set_cue_times(items, cue))


def _letters(word: Word) -> str:
    """Return the letters by which a word is known in another place, where it has other quotes and full stops.

    Tokens, and quotes, brackets and full stops that stand alone, have none.
    """
    if _TOKEN.fullmatch(word.text) or not word.text.strip(_QUOTES + "."):
        return ""
    return word.normal.replace(".", "").strip(APOSTROPHES) or word.normal


def align(ours: Group, theirs: Group) -> list[tuple[int, int]]:
    """Return pairs of indices of words that two groups share, in their order: those that a shortest edit keeps.

    Groups may list their words in the order of the file, by channel or by time (`_ORDERS`).  The orders that both have
    are tried first, then all pairs of them; the first that finds all of theirs, else the one that finds most, is taken.
    """
    our_orders, their_orders = _orders(ours), _orders(theirs)
    same = [(order, order) for order in our_orders if order in their_orders]
    best = list[tuple[int, int]]()
    for our_order, their_order in [*same, *product(our_orders, their_orders)]:
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
    """Return the indices of a group's words in each order of `_ORDERS` that the cues of all of them have values for."""
    indices = [index for index, letters in enumerate(group.letters) if letters]  # without what nobody says
    orders = dict[tuple[str, ...], list[int]]()
    for fields in _ORDERS:
        keys = {index: [getattr(group.words[index].cue, field) for field in fields] for index in indices}
        if all(value not in (None, "") for key in keys.values() for value in key):
            orders[fields] = sorted(indices, key=keys.__getitem__)
    return orders
