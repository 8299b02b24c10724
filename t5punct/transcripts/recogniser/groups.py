"""The words of the strings of one path, and which words two such groups share.

In: places.  Out: lines of words, mostly one for each string.  A word that is cut into pieces (Whisper's ` 1` `,000`),
or whose marks have strings of their own, is one line with several strings.

>>> from .places import find_places
>>> group = Group.of(find_places([{"words": [{"word": "so"}, {"word": "what"}, {"word": "?"}]}]))
>>> [[word.raw for word in line.words] for line in group.lines]
[['so'], ['what?']]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import accumulate, product

from rapidfuzz.distance import Levenshtein

from ...text.marks import DASH, Alphabet
from ...text.words import ALL_MARKS, APOSTROPHES, CLOSERS, OPENERS, Word
from ..items import Cue, Item, SpokenWord
from ..speech import read_line, set_cue_times
from .places import MARK_TYPE, WORD_TYPE, Path, Place

_TOKEN = re.compile(r"\[_\w+\]")  # of whisper.cpp, which nobody says
_SECOND_MS, _LONG_WORD_MS = 1000, 10_000
_QUOTES = "".join(char for char in OPENERS + CLOSERS if char not in APOSTROPHES)  # which stand inside words, too
_ORDERS = (("stream", "start_ms"), ("stream",), ("start_ms",), ())  # by what of their cues words may be sorted


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
    """Return the pairs of indices of words that two groups share, in their order: as many as there can be."""
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
    """Return the indices of a group's words, sorted in each way that their cues tell."""
    indices = [index for index, letters in enumerate(group.letters) if letters]
    orders = dict[tuple[str, ...], list[int]]()
    for names in _ORDERS:
        keys = {index: [getattr(group.words[index].cue, name) for name in names] for index in indices}
        if all(value not in (None, "") for key in keys.values() for value in key):
            orders[names] = sorted(indices, key=keys.__getitem__)
    return orders
