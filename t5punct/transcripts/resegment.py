"""New cues for a punctuated transcript: sentences, split where they are too long and joined where they are short.

In: the written items of a transcript whose words or cues have times.  Out: cues, as `cues` writes them.

>>> from ..text.render import AnnotatedWord
>>> from ..text.words import Word
>>> from .items import *
>>> so = AnnotatedWord("so", "So.", ".", "capitalised", 1, 1)
>>> words = [WrittenWord(SpokenWord(Word("so"), " ", start_ms=at, end_ms=at + 500), so) for at in (0, 9000)]
>>> [(cue.start_ms, cue.text) for cue in sentence_cues(words, ResegmentConfig())]
[(0, 'So.'), (9000, 'So.')]
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from math import ceil

from ..errors import ConfigError, InputError
from ..text.marks import NO_MARKS, ends_sentence
from ..text.words import Word
from .items import Cue, Kept, Role, SpokenWord, WrittenItem, WrittenWord
from .subtitles import WrittenCue

_SECOND_MS, _MINUTE_MS = 1000, 60_000


@dataclass(frozen=True)
class ResegmentConfig:
    """How large a cue may be, and how long it is shown.

    Two lines of 42 characters, 5/6 to 7 seconds and 20 characters a second are the rules of Netflix for English
    (Timed Text Style Guide); 180 words a minute are the most of the BBC's Subtitle Guidelines.
    """

    max_chars: int = 84  # of a cue, line ends included
    max_lines: int = 2
    max_duration_ms: int = 7000
    min_duration_ms: int = 833  # a cue is shown for longer where there is time
    max_chars_per_second: float = 20.0  # likewise
    max_words_per_minute: float = 180.0  # likewise
    min_chars: int = 24  # a shorter cue is joined with its neighbour where that is allowed
    max_gap_ms: int = 1500  # a longer silence always ends a cue

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_lines", "max_duration_ms", "max_chars_per_second", "max_words_per_minute"):
            if not getattr(self, name) >= 1:  # nan is not, either
                raise ConfigError(f"{name} {getattr(self, name)}", expected="1 or more", fix="raise it")
        if self.min_duration_ms < 0:
            raise ConfigError(f"min_duration_ms {self.min_duration_ms}", expected="0 or more", fix="raise it")

    @property
    def least_ms(self) -> int:
        """How long a cue should be shown at least: no longer than the longest."""
        return min(self.min_duration_ms, self.max_duration_ms)

    def reading_ms(self, text: str) -> int:
        """Return how long a text should be shown, so that it can be read."""
        by_chars = _SECOND_MS * len(text) / self.max_chars_per_second
        by_words = _MINUTE_MS * len(text.split()) / self.max_words_per_minute
        return round(min(self.max_duration_ms, max(self.least_ms, by_chars, by_words)))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A written word with the labels and directions beside it, `JOHN: How`; or such a direction with a cue to itself.

    marks: those that separate it from the next word; begins_turn: whether a speaker begins with it, so that a cue does.
    """

    text: str
    marks: str
    begins_turn: bool
    spoken: SpokenWord
    start_ms: int = 0
    end_ms: int = 0


_Cue = list[_Shown]


def sentence_cues(written: Iterable[WrittenItem], config: ResegmentConfig) -> list[WrittenCue]:
    """Make new cues: sentences, split where they are too long and joined where they are short.

    Raises InputError for words without times in no cue with times.
    """
    cues = list[_Cue]()
    for sentence in _sentences(_timed(_labelled(written)), config):
        for part in _parts(sentence, config):
            if cues and _joins(cues[-1], part, config):
                cues[-1] = cues[-1] + part
            else:
                cues.append(part)
    new = list[WrittenCue]()
    for cue in _share_words(cues, config):
        end_ms = max(word.end_ms for word in cue)
        new.append(WrittenCue(cue[0].start_ms, end_ms, _lines(_joined(cue), config)))
    return sorted(_readable(new, config), key=lambda cue: cue.start_ms)  # of several streams, one came after the other


def _share_words(cues: Sequence[_Cue], config: ResegmentConfig) -> list[_Cue]:
    """Return cues of which those shown too briefly got words of a neighbour, which stays long enough.

    Such a cue is joined with the one before, and both are cut anew into two, if two that are long enough can be.
    """
    shared = list[_Cue]()
    for cue in cues:
        before = shared.pop() if shared else []
        is_next = bool(before) and not cue[0].begins_turn and _is_next(before[-1], cue[0], config)
        if is_next and (_is_brief(before, cue[0].start_ms, config) or _is_brief(cue, None, config)):
            shared += _cut_in_two(before + cue, config) or [before, cue]
        else:
            shared += [before, cue] if before else [cue]
    return shared


def _is_brief(cue: Sequence[_Shown], until_ms: int | None, config: ResegmentConfig) -> bool:
    """Return whether a cue is too short even if it is shown until the next begins; `until_ms` None: until it ends."""
    end_ms = cue[-1].end_ms if until_ms is None else max(until_ms, cue[-1].end_ms)
    return end_ms - cue[0].start_ms < config.least_ms


def _cut_in_two(words: _Cue, config: ResegmentConfig) -> list[_Cue] | None:
    """Return words as two cues that fit and are long enough, cut behind a mark if possible; None: there is no way."""
    half = len(_joined(words)) / 2
    cuts = list[tuple[bool, float, int]]()  # no mark before it, its distance from the middle, its index: least is best
    for index in range(1, len(words)):
        first, second = words[:index], words[index:]
        is_brief = _is_brief(first, second[0].start_ms, config) or _is_brief(second, None, config)
        if _fits(first, config) and _fits(second, config) and not is_brief:
            has_no_mark = not first[-1].marks
            cuts.append((has_no_mark, abs(len(_joined(first)) - half), index))
    if not cuts:
        return None
    _, _, best = min(cuts)
    return [words[:best], words[best:]]


def _readable(cues: Sequence[WrittenCue], config: ResegmentConfig) -> list[WrittenCue]:
    """Return cues that are shown for as long as it takes to read them, where there is time."""
    shown = list[WrittenCue]()
    for cue, following in zip_longest(cues, cues[1:]):
        end_ms = cue.start_ms + config.reading_ms(cue.text)
        if following and following.start_ms >= cue.start_ms:  # where times go back, a new channel begins
            end_ms = min(end_ms, following.start_ms)
        shown.append(replace(cue, end_ms=max(cue.end_ms, end_ms)))
    for number, cue in enumerate(shown):
        if cue.end_ms - cue.start_ms < config.least_ms:
            _lend_time(shown, number, config)
    return shown


def _lend_time(cues: list[WrittenCue], number: int, config: ResegmentConfig) -> None:
    """Begin the short cue of this number earlier, or end it later: in a silence, or at the cost of a long neighbour.

    `_readable` has used up the silence behind the cue.
    """
    cue = cues[number]
    least_ms = config.least_ms
    missing_ms = least_ms - (cue.end_ms - cue.start_ms)
    if number and cues[number - 1].start_ms < cue.start_ms:  # else another channel ends before it
        before = cues[number - 1]
        free_ms = max(0, cue.start_ms - before.end_ms)
        spare_ms = max(0, before.end_ms - before.start_ms - least_ms) if before.end_ms <= cue.start_ms else 0
        lent_ms = min(missing_ms, free_ms + spare_ms)
        cue = replace(cue, start_ms=cue.start_ms - lent_ms)
        missing_ms -= lent_ms
        cues[number - 1] = replace(before, end_ms=min(before.end_ms, cue.start_ms))
    if number + 1 < len(cues) and cue.end_ms <= cues[number + 1].start_ms:
        after = cues[number + 1]
        lent_ms = min(missing_ms, max(0, after.end_ms - cue.end_ms - least_ms))
        cue = replace(cue, end_ms=cue.end_ms + lent_ms)
        cues[number + 1] = replace(after, start_ms=max(after.start_ms, cue.end_ms))
    cues[number] = cue


def _labelled(written: Iterable[WrittenItem]) -> Iterator[_Shown]:
    """Yield written words with the labels and stage directions beside them, and directions that have their own cues."""
    lead = list[str]()  # the labels and directions before the word that comes
    begins_turn = True
    for word, between, after in _gaps(written):
        cue = word.spoken.cue if word else None
        following = after.spoken.cue if after else None
        shown = [part for part in between if part.shown]
        alone = [part for part in shown if _has_own_cue(part, cue, following) or not (word or after)]
        beside = [part for part in shown if part not in alone]
        n_behind = 0
        if word:
            n_behind = _n_behind(beside, cue, following) if after else len(beside)
            text = " ".join([*lead, word.annotated.text, *(part.shown for part in beside[:n_behind])])
            yield _Shown(text, word.separator, begins_turn, word.spoken)
            begins_turn = any(part.breaks for part in between)
        for own_cue, group in groupby(alone, key=lambda part: part.cue):
            if own_cue and own_cue.has_times:  # without times it is left out
                text = " ".join(part.shown for part in group)
                spoken = SpokenWord(Word(text), cue=own_cue, start_ms=own_cue.start_ms, end_ms=own_cue.end_ms)
                yield _Shown(text, NO_MARKS, True, spoken)
        lead = [part.shown for part in beside[n_behind:]]


def _gaps(written: Iterable[WrittenItem]) -> Iterator[tuple[WrittenWord | None, list[Kept], WrittenWord | None]]:
    """Yield each gap: the word before it, what stands between, and the word after it; None: there is no such word."""
    before: WrittenWord | None = None
    between = list[Kept]()
    for item in written:
        if isinstance(item, Kept):
            between.append(item)
        else:
            yield before, between, item
            before, between = item, []
    yield before, between, None


def _has_own_cue(part: Kept, cue: Cue | None, following: Cue | None) -> bool:
    """Return whether a stage direction that no sentence goes on over has a cue to itself, between these two.

    cue, following: of the words before and after it; None: there is no word, or it has no cue.
    """
    is_between = part.cue is not None and part.cue.has_times and part.cue not in (cue, following)
    return part.role is Role.DIRECTION and part.breaks and is_between


def _n_behind(kept: Sequence[Kept], cue: Cue | None, following: Cue | None) -> int:
    """Return how many stage directions, from the first on, go with the word before them: they end its cue, or a line.

    A label ends the count, and so does a direction of the following cue.
    """
    for n_behind, part in enumerate(kept):
        ends_cue = part.cue is not None and part.cue == cue and cue != following
        if part.role is not Role.DIRECTION or not (ends_cue or "\n" in part.text):
            return n_behind
    return len(kept)


def _timed(shown: Iterable[_Shown]) -> Iterator[_Shown]:
    """Yield words with times; those that have none share what their cue or their neighbours leave them."""
    for cue, group in groupby(shown, key=lambda word: word.spoken.cue):
        words = list(group)
        untimed = list[_Shown]()  # words that share the time from `start_ms` on, as the first one's end is not known
        start_ms = cue.start_ms if cue else None
        for word, following in zip_longest(words, words[1:]):
            if not untimed and word.spoken.start_ms is not None:
                start_ms = word.spoken.start_ms
            untimed.append(word)
            end_ms = word.spoken.end_ms
            if end_ms is None and following:
                end_ms = following.spoken.start_ms
            elif end_ms is None and cue:
                end_ms = cue.end_ms
            if end_ms is not None or following is None:
                yield from _share_time(untimed, start_ms, end_ms)
                untimed = []
                start_ms = end_ms


def _share_time(words: Sequence[_Shown], start_ms: int | None, end_ms: int | None) -> Iterator[_Shown]:
    """Yield words that share out the time that there is by their letters.  Raises InputError where none is known."""
    if start_ms is None or end_ms is None:
        raise InputError(
            f"no time for the word {words[0].spoken.raw!r}",
            expected="words or cues with times",
            fix="write another format",
        )
    n_chars = sum(len(word.text) + 1 for word in words)  # each with a space behind it
    n_before = 0
    for word in words:
        n_behind = n_before + len(word.text) + 1
        begin_ms = start_ms + (end_ms - start_ms) * n_before // n_chars
        stop_ms = start_ms + (end_ms - start_ms) * n_behind // n_chars
        yield replace(word, start_ms=begin_ms, end_ms=stop_ms)
        n_before = n_behind


def _sentences(words: Iterable[_Shown], config: ResegmentConfig) -> Iterator[_Cue]:
    """Yield sentences, which end at their marks, where a speaker begins, and at a long silence."""
    sentence = _Cue()
    for word in words:
        if sentence and (word.begins_turn or not _is_next(sentence[-1], word, config)):
            yield sentence
            sentence = []
        sentence.append(word)
        if ends_sentence(word.marks):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _parts(sentence: _Cue, config: ResegmentConfig) -> Iterator[_Cue]:
    """Yield a sentence in parts that fit, cut behind a mark if the second half of the room has one.

    A word that does not fit is a part.
    """
    begin = 0
    while begin < len(sentence):
        end = begin + 1
        n_chars = len(sentence[begin].text)
        while end < len(sentence):
            n_chars += 1 + len(sentence[end].text)
            lasts_ms = sentence[end].end_ms - sentence[begin].start_ms
            if n_chars > config.max_chars or lasts_ms > config.max_duration_ms:
                break
            end += 1
        if end < len(sentence):  # words are left for another part
            marked = [index for index in range((begin + end) // 2, end) if sentence[index].marks]
            end = marked[-1] + 1 if marked else end
        yield sentence[begin:end]
        begin = end


def _joins(before: _Cue, part: _Cue, config: ResegmentConfig) -> bool:
    """Return whether a part goes into the cue before it: one of them is short, and nothing stands between."""
    is_short = min(len(_joined(before)), len(_joined(part))) < config.min_chars
    is_next = _is_next(before[-1], part[0], config) and not part[0].begins_turn
    return is_short and is_next and _fits(before + part, config)


def _is_next(before: _Shown, word: _Shown, config: ResegmentConfig) -> bool:
    """Return whether a word follows without a long silence.  Where times go back, a new channel begins."""
    return word.start_ms >= before.start_ms and word.start_ms - before.end_ms <= config.max_gap_ms


def _fits(words: _Cue, config: ResegmentConfig) -> bool:
    lasts_ms = words[-1].end_ms - words[0].start_ms
    return len(_joined(words)) <= config.max_chars and lasts_ms <= config.max_duration_ms


def _joined(words: _Cue) -> str:
    return " ".join(word.text for word in words)


def _lines(text: str, config: ResegmentConfig) -> str:
    """Return the text in as few lines as a cue of `max_chars` allows, about equally long."""
    width = ceil(config.max_chars / config.max_lines)
    n_lines = min(config.max_lines, ceil(len(text) / width))
    for columns in range(ceil(len(text) / n_lines), len(text) + 1):  # the narrowest that gives so few lines
        lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
        if len(lines) <= n_lines:
            return "\n".join(lines)
    return text
