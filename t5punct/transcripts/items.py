"""A transcript as a sequence of items: words, and what the file has between them.  Readers return it, writers take it.

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
    """A cue of subtitles, a segment or a line: what is shown together.

    stream: one of the texts that a file has beside each other, such as dialogue and signs, or channels.
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
    """What kind of `Kept` text an item is."""

    LAYOUT = "layout"  # white space, times, tags
    SPEAKER = "speaker"  # who speaks: `JOHN:`
    DIRECTION = "direction"  # what happens: `[laughs]`


@dataclass(frozen=True, slots=True)
class Kept:
    """Text that is no word, and is written as it was read.

    breaks: it ends a sentence, as a speaker's name does.  bare: the text of a label or a direction without its tags.
    cue: the one in which it is shown; None: it is not shown, or the file has no cues.
    """

    text: str
    breaks: bool = False
    role: Role = Role.LAYOUT
    bare: str = ""
    cue: Cue | None = None

    @property
    def in_file(self) -> str:
        return self.text

    @property
    def shown(self) -> str:
        """The text that readers see in other formats: a label or a direction; empty for layout."""
        return "" if self.role is Role.LAYOUT else (self.bare or self.text).strip()


def speaker_label(speaker: str, cue: Cue | None = None, *, breaks: bool = True) -> Kept:
    """Make a label where a file names a speaker elsewhere, as in a column: other formats show it, the file does not.

    Of a speaker without a name nothing is shown.
    """
    if not speaker:
        return Kept("", breaks, cue=cue)
    name = f"Speaker {speaker}" if len(speaker) == 1 or speaker.isdecimal() else speaker
    return Kept("", breaks, Role.SPEAKER, f"{name}: ", cue)


class WordMarkup(Protocol):
    """What a file has inside a word or before its marks: tags (`TaggedText`), or rows of a table (`MarkRows`)."""

    @property
    def raw(self) -> str: ...  # the word and its marks as the file has them

    def rewrite(self, text: str) -> str: ...  # the same, written as `text`


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word of a transcript; times are None where the file does not say them."""

    word: Word  # without markup
    after: str = ""  # what the file has between this word and the next item
    markup: WordMarkup | None = None
    cue: Cue | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    source: tuple[str, ...] = ()  # recording and channel, of a CTM: there white space would begin another field

    @property
    def raw(self) -> str:
        return self.word.raw if self.markup is None else self.markup.raw

    def with_text(self, text: str) -> str:
        """Return what the file has for the word if it is written as `text`: with its tags, and what follows it."""
        if self.markup is not None:
            return self.markup.rewrite(text) + self.after
        return (without_spaces(text) if self.source else text) + self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(Kept):
    """A word that a file shows once more, as rolling captions do; it is written as it was the first time."""

    spoken: SpokenWord
    place: int  # the number of the first word among the file's words


Item = Kept | SpokenWord
_BESIDE_MS = 500
_DASHES = ("-", "–", "—")  # that open a line of a subtitle


def goes_on_beside(end_ms: int | None, start_ms: int | None) -> bool:
    """Return whether a stream's sentence goes on even if another stream began between: after so short a gap it does."""
    return end_ms is not None and start_ms is not None and start_ms - end_ms <= _BESIDE_MS


def without_spaces(text: str) -> str:
    """Return a written word for a field without white space; a dash that stands apart is left out."""
    return text.replace(DASH_APART, "").replace(" ", "_")


def numbered_texts(items: Iterable[Item]) -> list[list[tuple[int, SpokenWord]]]:
    """Return the words of each text, with their numbers in the file.

    A text ends at a break of its own stream: a file may show signs between two lines of speech.
    """
    texts = list[list[tuple[int, SpokenWord]]]()
    open_texts = dict[str, list[tuple[int, SpokenWord]]]()  # of each stream: the text that has not ended
    number = 0
    for item in items:
        stream = item.cue.stream if item.cue else ""
        if isinstance(item, SpokenWord):
            if stream not in open_texts:
                texts.append([])
                open_texts[stream] = texts[-1]
            open_texts[stream].append((number, item))
            number += 1
        elif item.breaks:
            open_texts.pop(stream, None)
    return texts


def in_file_order(items: Sequence[Item], words: Iterable[AnnotatedWord]) -> Iterator[AnnotatedWord]:
    """Return words in the order of the file.  `words` are in the order of `numbered_texts`: text after text.

    The two orders differ where texts of several streams, such as the channels of a call, stand mixed in the file.
    """
    streams = {item.cue.stream for item in items if isinstance(item, SpokenWord) and item.cue}
    if len(streams) < 2:  # one text ends where the next one begins
        return iter(words)
    places = [place for text in numbered_texts(items) for place, _ in text]  # of each word, its number in the file
    word_at = dict(zip(places, words, strict=True))
    return (word_at[place] for place in range(len(places)))


@dataclass(frozen=True, slots=True)
class WrittenWord:
    """A word of a transcript, and how it is written now."""

    spoken: SpokenWord
    annotated: AnnotatedWord

    @property
    def separator(self) -> str:
        """The marks behind it that separate it from the next word: not the full stop of `Mr.`."""
        return self.spoken.word.separator(self.annotated.marks)

    @property
    def in_file(self) -> str:
        """What its file has for the word, with what follows it."""
        return self.spoken.with_text(self.annotated.text)

    @property
    def shown(self) -> str:
        return self.annotated.text

    @property
    def cue(self) -> Cue | None:
        return self.spoken.cue


WrittenItem = Kept | WrittenWord


def written_items(items: Iterable[Item], words: Iterable[AnnotatedWord]) -> Iterator[WrittenItem]:
    """Yield the items of a transcript with its words as they are written now, which are in file order."""
    new_words = iter(words)
    written = list[AnnotatedWord]()  # the words so far; the place of an echo is the index of its word
    for item in items:
        if isinstance(item, SpokenWord):
            written.append(next(new_words))
            yield WrittenWord(item, written[-1])
        elif isinstance(item, Echo):
            yield Kept(item.spoken.with_text(written[item.place].text))
        else:
            yield item


def texts_together(written: Iterable[WrittenItem]) -> Iterator[WrittenItem]:
    """Yield items for a format without streams: one text after the other, by where they begin, with breaks between.

    A label inside a text, behind another stream's words, is left out: its speaker goes on.
    """
    texts = list[list[WrittenItem]]()
    open_texts = dict[str, list[WrittenItem]]()  # of each stream
    for item in written:
        stream = item.cue.stream if item.cue else ""
        begins_text = isinstance(item, Kept) and item.breaks and item.role is not Role.DIRECTION
        is_label = isinstance(item, Kept) and item.role is Role.SPEAKER
        if begins_text or stream not in open_texts:
            open_texts[stream] = [Kept("", breaks=True)] if texts else []
            texts.append(open_texts[stream])
        elif is_label:  # it breaks nothing, so it is that of a speaker who goes on
            continue
        open_texts[stream].append(item)
    return chain.from_iterable(texts)


def shown_items(written: Iterable[WrittenItem]) -> list[tuple[WrittenItem, list[Kept]]]:
    """Return the items that readers see in other formats, each with what stands behind it and is not seen."""
    shown = list[tuple[WrittenItem, list[Kept]]]()
    for item in written:
        if isinstance(item, WrittenWord) or item.shown:
            shown.append((item, []))
        elif shown:
            _, hidden = shown[-1]
            hidden.append(item)
    return shown


def seconds(start_ms: int | None, end_ms: int | None) -> dict[str, float]:
    """Return the members of a word's json that are its times in seconds; a time that is None has no member."""
    return {name: ms / 1000 for name, ms in (("start", start_ms), ("end", end_ms)) if ms is not None}


def iter_pieces(written: Iterable[WrittenItem]) -> Iterator[str]:
    """Yield the pieces of the file that the items are."""
    return (item.in_file for item in written)


def leave_out_removed(written: Iterable[WrittenItem]) -> list[WrittenItem]:
    """Return the items without the words that are to be removed; what stood behind one goes to the item before it."""
    remaining = list[WrittenItem]()
    for item in written:
        if isinstance(item, Kept) or not item.annotated.is_removed:
            remaining.append(item)
            continue
        remains = item.in_file  # the removed word has no text: its tags, and the white space behind it
        before = remaining.pop() if remaining else Kept("")
        if isinstance(before, WrittenWord):
            after = join_around_removed(before.spoken.after, remains)
            remaining.append(replace(before, spoken=replace(before.spoken, after=after)))
        elif before.role is Role.SPEAKER and before.shown in _DASHES and "\n" in remains:
            # the line had nothing but its dash and this word, so nothing stays of it
            remaining.append(Kept("", before.breaks, cue=before.cue))
        else:
            text = join_around_removed(before.text, remains)
            bare = before.bare or before.text  # what it shows is not changed by tags of the removed word
            remaining.append(replace(before, text=text, bare=bare))
    return remaining


def join_around_removed(before: str, remains: str) -> str:
    """Join what stands before a removed word with what remains of the word: tags, and the white space behind it.

    Of the white space on both sides, the one with more line ends stays.  So no line becomes empty but the first.

    >>> [join_around_removed(*texts) for texts in (("we ", "\\n"), ("we\\n", "<i> "), ("we ", " <i>"))]
    ['we\\n', 'we\\n<i>', 'we <i>']
    """
    body = before.rstrip()
    tags = remains.rstrip()
    space_before = before[len(body) :]
    space_behind = remains[len(tags) :]
    if space_before and tags[:1].isspace():  # tags behind white space belong to the next word
        return before + tags.lstrip() + space_behind
    if "\n" in space_before and tags:  # the tags stay on their line
        return before + tags.lstrip() + (space_behind if "\n" in space_behind else "")
    if not remains and "\n" not in space_before:  # nothing follows on the line
        return body
    n_line_ends_before = space_before.count("\n")
    n_line_ends_behind = space_behind.count("\n")
    return body + tags + (space_behind if n_line_ends_behind > n_line_ends_before else space_before)


def add_pauses(items: Sequence[Item], pauses_ms: Sequence[int]) -> list[Item]:
    """Return items whose words have the pauses of the silences behind them (see `pause_of`)."""
    paused = list(items)
    words = [(index, item) for index, item in enumerate(items) if isinstance(item, SpokenWord)]
    for (index, word), (_, following) in pairwise(words):
        if word.end_ms is not None and following.start_ms is not None:
            pause = pause_of(following.start_ms - word.end_ms, pauses_ms)
            paused[index] = replace(word, word=replace(word.word, pause=pause))
    return paused


def pause_of(silence_ms: int, pauses_ms: Sequence[int]) -> int:
    """Return the value of `Word.pause`: how many of the lengths `pauses_ms` a silence reaches."""
    return sum(silence_ms >= least_ms for least_ms in pauses_ms)
