"""A transcript as a sequence of items: words, and what the file has between them.

In: nothing; these are the values that every reader gives and every writer takes.

A line of a subtitle, `<i>how are</i> you`, is `Kept("<i>")`, `SpokenWord("how")`, `SpokenWord("are", after="</i> ")`,
`SpokenWord("you")`.  Written one after the other, items are the file, character for character.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, pairwise
from typing import Protocol

from ..text.marks import DASH_APART
from ..text.render import AnnotatedWord
from ..text.words import Word


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue of subtitles, a segment or a line: what is shown together.  Times in ms.

    stream: in which its sentences go on, if a file has several beside each other, as ASS has dialogue and signs.
    """

    number: int
    start_ms: int | None = None
    end_ms: int | None = None
    speaker: str = ""
    stream: str = ""

    @property
    def has_times(self) -> bool:
        return self.start_ms is not None and self.end_ms is not None


class Role(Enum):
    """What a piece is that is no word."""

    LAYOUT = "layout"  # white space, times, tags
    SPEAKER = "speaker"  # who speaks: `JOHN:`
    DIRECTION = "direction"  # what happens: `[laughs]`


@dataclass(frozen=True, slots=True)
class Kept:
    """What is written as it was read.

    breaks: no sentence goes on over it, as over a speaker's name; bare: the text without its tags, if it has some; cue:
    in which it is shown, if it is.
    """

    text: str
    breaks: bool = False
    role: Role = Role.LAYOUT
    bare: str = ""
    cue: Cue | None = None

    @property
    def shown(self) -> str:
        """What of it is part of the text for readers, as a speaker's name is and a cue's times are not."""
        return "" if self.role is Role.LAYOUT else (self.bare or self.text).strip()


def speaker_label(speaker: str, cue: Cue | None = None) -> Kept:
    """Return what says that another speaker begins: not written to the file itself, but shown in other formats.

    >>> speaker_label("Ann").shown, speaker_label("0").shown, speaker_label("").shown
    ('Ann:', 'Speaker 0:', '')
    """
    if not speaker:
        return Kept("", breaks=True)
    name = f"Speaker {speaker}" if len(speaker) == 1 or speaker.isdecimal() else speaker
    return Kept("", breaks=True, role=Role.SPEAKER, bare=f"{name}: ", cue=cue)


class Around(Protocol):
    """What a file has inside a word, or between it and its marks: tags (`Markup`), or rows of a table (`MarkRows`)."""

    @property
    def raw(self) -> str:
        """The word and its marks as the file has them."""

    def around(self, text: str, n_stem: int, n_closers: int) -> str:
        """Return the word as the file is to have it, once it is written as `text`.

        The first `n_stem` characters of the word as it was read stand before its marks; `n_closers` quotes or brackets
        stand behind them.
        """


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word, its place in the file, and when it was spoken if the file says so."""

    word: Word  # without markup
    after: str = ""  # what the file has between this word and the next item
    markup: Around | None = None  # tags and entities inside the word, or rows of a table
    cue: Cue | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    in_field: bool = False  # whether white space would begin another field of the file

    @property
    def raw(self) -> str:
        """The word and its marks as the file has them."""
        return self.word.raw if self.markup is None else self.markup.raw

    def with_text(self, text: str) -> str:
        """Return the word, written as `text`, with its tags, and what follows it."""
        if self.markup is not None:
            word = self.word.closing_as(text)
            return self.markup.around(text, word.n_stem, word.n_closers) + self.after
        return (without_spaces(text) if self.in_field else text) + self.after


@dataclass(frozen=True, slots=True)
class Echo(Kept):
    """A word that a file shows once more, as rolling captions do; it is written as it was the first time."""

    spoken: SpokenWord | None = None
    place: int = 0  # which word of the transcript it is


Item = Kept | SpokenWord
BESIDE_MS = (
    500  # between two parts of a stream: what another stream says there is said beside them, and ends no sentence
)
ECHOED_WORDS = 1000  # a word that is shown once more is one of so many


def without_spaces(text: str) -> str:
    """Return a written word for a format whose fields hold no white space: without a dash that stands apart.

    >>> without_spaces("so -"), without_spaces("going to,")
    ('so', 'going_to,')
    """
    return text.replace(DASH_APART, "").replace(" ", "_")


def numbered_texts(items: Iterable[Item]) -> list[list[tuple[int, SpokenWord]]]:
    """Return the words of each text with their numbers in the file.  A break ends the text of its own stream.

    Several streams may each have a text that has not ended: a file may show signs between two lines of speech.

    >>> two = [Kept("JOHN: ", breaks=True), SpokenWord(Word("yes"), "\\n"), Kept("ANN: ", breaks=True)]
    >>> [[(number, item.word.text) for number, item in text] for text in numbered_texts([*two, SpokenWord(Word("no"))])]
    [[(0, 'yes')], [(1, 'no')]]
    """
    texts = list[list[tuple[int, SpokenWord]]]()
    under_way = dict[str, list[tuple[int, SpokenWord]]]()  # by stream: the text that has not ended
    number = 0
    for item in items:
        stream = item.cue.stream if item.cue else ""
        if isinstance(item, SpokenWord):
            if stream not in under_way:
                texts.append([])
                under_way[stream] = texts[-1]
            under_way[stream].append((number, item))
            number += 1
        elif item.breaks:
            under_way.pop(stream, None)
    return texts


def in_file_order(items: Sequence[Item], words: Iterable[AnnotatedWord]) -> Iterator[AnnotatedWord]:
    """Return words in the order of their file.  `words`: of one text after the other, as `numbered_texts` has them.

    >>> [one, two] = (Cue(0, stream=name) for name in ("talk", "sign"))
    >>> items = [SpokenWord(Word(text), cue=cue) for text, cue in (("so", one), ("bank", two), ("what", one))]
    >>> list(in_file_order(items, "abc"))
    ['a', 'c', 'b']
    """
    if len({item.cue.stream for item in items if isinstance(item, SpokenWord) and item.cue}) < 2:
        return iter(words)
    numbers = [number for text in numbered_texts(items) for number, _ in text]
    ordered = sorted(zip(numbers, words, strict=True), key=lambda pair: pair[0])
    return (word for _, word in ordered)


@dataclass(frozen=True, slots=True)
class WrittenWord:
    """A word of a transcript, and how it is written now."""

    spoken: SpokenWord
    annotated: AnnotatedWord

    @property
    def separator(self) -> str:
        """What stands between it and the next word: its marks, but not the full stop of `Mr.`."""
        return self.spoken.word.separator(self.annotated.marks)

    @property
    def in_file(self) -> str:
        """The word as its file has it, with its tags, and what follows it."""
        return self.spoken.with_text(self.annotated.text)

    @property
    def is_removed(self) -> bool:
        return self.annotated.is_removed


WrittenItem = Kept | WrittenWord


def written_items(items: Iterable[Item], words: Iterable[AnnotatedWord]) -> Iterator[WrittenItem]:
    """Return items, each word of which takes the next of `words`; an echo is written as its word."""
    coming = iter(words)
    taken = list[AnnotatedWord]()  # by number, which an echo names its word by
    for item in items:
        if isinstance(item, SpokenWord):
            taken.append(next(coming))
            yield WrittenWord(item, taken[-1])
        elif isinstance(item, Echo) and item.spoken:
            yield Kept(item.spoken.with_text(taken[item.place].text))
        else:
            yield item


def texts_together(written: Iterable[WrittenItem]) -> Iterator[WrittenItem]:
    """Yield items for a format without streams: the texts one after the other, by where they begin, each after a break.

    Where another stream interrupts a text, its speaker is not named once more.
    """
    texts = list[list[WrittenItem]]()
    under_way = dict[str, list[WrittenItem]]()  # by stream
    for item in written:
        cue = item.cue if isinstance(item, Kept) else item.spoken.cue
        stream = cue.stream if cue else ""
        begins_text = isinstance(item, Kept) and item.breaks and item.role is not Role.DIRECTION
        if begins_text or stream not in under_way:
            under_way[stream] = [Kept("", breaks=True)] if texts else []
            texts.append(under_way[stream])
        elif isinstance(item, Kept) and item.role is Role.SPEAKER:
            continue
        under_way[stream].append(item)
    return chain.from_iterable(texts)


def seconds(start_ms: int | None, end_ms: int | None) -> dict[str, float]:
    """Return the times of a word as json has them, those that are known."""
    return {name: ms / 1000 for name, ms in (("start", start_ms), ("end", end_ms)) if ms is not None}


def iter_pieces(written: Iterable[WrittenItem]) -> Iterator[str]:
    """Return the file that the items are, in pieces."""
    return (item.text if isinstance(item, Kept) else item.spoken.with_text(item.annotated.text) for item in written)


def leave_out_removed(written: Iterable[WrittenItem]) -> list[WrittenItem]:
    """Return the items without words that are to be removed, and without the white space that these leave.

    What stood behind a removed word, tags and white space, goes to the item before it.
    """
    staying = list[WrittenItem]()
    for item in written:
        if isinstance(item, Kept) or not item.is_removed:
            staying.append(item)
            continue
        before = staying.pop() if staying else Kept("")
        if isinstance(before, WrittenWord):
            after = join_around_removed(before.spoken.after, item.in_file)
            staying.append(replace(before, spoken=replace(before.spoken, after=after)))
        else:
            text = join_around_removed(before.text, item.in_file)
            bare = before.bare or before.text  # what it shows is not changed by tags of the removed word
            staying.append(replace(before, text=text, bare=bare))
    return staying


def join_around_removed(before: str, left: str) -> str:
    """Join what stands before a removed word with what is left of it: tags, and the white space that followed.

    Of white space on both sides, that with more line ends stays.  So no line is left empty but the first.

    >>> [join_around_removed("we ", left) for left in (" ", "\\n", "")]
    ['we ', 'we\\n', 'we']
    >>> join_around_removed("we\\n", "\\n"), join_around_removed("", " ")
    ('we\\n', '')
    >>> join_around_removed("00:02,000\\n", "<i> "), join_around_removed("we ", " <i>")
    ('00:02,000\\n<i>', 'we <i>')
    """
    body = before.rstrip()
    rest = left.rstrip()
    space_before = before[len(body) :]
    space_behind = left[len(rest) :]
    if space_before and rest[:1].isspace():  # the tags behind the removed word open the next one
        return before + rest.lstrip() + space_behind
    if "\n" in space_before and rest:  # tags begin the line, and do not go up to the one before
        return before + rest.lstrip() + (space_behind if "\n" in space_behind else "")
    if space_before.count("\n") == space_behind.count("\n"):
        return body + rest + (space_before if left else "")
    return body + rest + max(space_before, space_behind, key=lambda space: space.count("\n"))


def add_pauses(items: Sequence[Item], pauses_ms: Sequence[int]) -> list[Item]:
    """Return items; each word says how many of these lengths the silence after it reaches.

    >>> items = [SpokenWord(Word("so"), end_ms=1000), SpokenWord(Word("what"), start_ms=1800)]
    >>> [item.word.pause for item in add_pauses(items, [500, 2000]) if isinstance(item, SpokenWord)]
    [1, 0]
    """
    paused = list(items)
    words = [(place, item) for place, item in enumerate(items) if isinstance(item, SpokenWord)]
    for (place, word), (_, following) in pairwise(words):
        if word.end_ms is not None and following.start_ms is not None:
            pause = pause_of(following.start_ms - word.end_ms, pauses_ms)
            paused[place] = replace(word, word=replace(word.word, pause=pause))
    return paused


def pause_of(silence_ms: int, pauses_ms: Sequence[int]) -> int:
    """Return how many of these lengths a silence reaches, which is what `Word.pause` holds.

    >>> [pause_of(silence_ms, (280, 900)) for silence_ms in (100, 280, 2000)]
    [0, 1, 2]
    """
    return sum(silence_ms >= least_ms for least_ms in pauses_ms)
