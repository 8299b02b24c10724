"""New cues for a punctuated transcript: sentences, split where they are too long and joined where they are short.

In: the written items of a transcript whose words or cues have times.  Out: cues, which `subtitles` writes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, zip_longest
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

    The defaults are the rules of Netflix for English (Timed Text Style Guide): two lines of 42 characters, 5/6 to 7
    seconds, 20 characters a second.  180 words a minute are the most that the BBC's Subtitle Guidelines allow.
    """

    max_chars: int = 84  # of a cue, line ends included
    max_lines: int = 2
    max_duration_ms: int = 7000
    # these three make a cue longer, if there is time until the next one
    min_duration_ms: int = 833
    max_chars_per_second: float = 20.0
    max_words_per_minute: float = 180.0
    min_chars: int = 24  # a shorter cue is joined with its neighbour, if both fit
    max_gap_ms: int = 1500  # a longer silence always ends a cue

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_lines", "max_duration_ms", "max_chars_per_second", "max_words_per_minute"):
            if not getattr(self, name) >= 1:  # `< 1` would let nan pass
                raise ConfigError(f"{name} {getattr(self, name)}", expected="1 or more", fix="raise it")
        if self.min_duration_ms < 0:
            raise ConfigError(f"min_duration_ms {self.min_duration_ms}", expected="0 or more", fix="raise it")

    @property
    def least_ms(self) -> int:
        """How long each cue should be shown at least."""
        return min(self.min_duration_ms, self.max_duration_ms)

    def reading_ms(self, text: str) -> int:
        """Return how long a text should be shown to be read, within the least and the most duration."""
        by_chars = _SECOND_MS * len(text) / self.max_chars_per_second
        by_words = _MINUTE_MS * len(text.split()) / self.max_words_per_minute
        return round(min(self.max_duration_ms, max(self.least_ms, by_chars, by_words)))


@dataclass(frozen=True, slots=True)
class _Token:
    """A written word with the labels and directions beside it, `JOHN: How`; or a direction with a cue of its own.

    marks: those that separate it from the next word.  begins_turn: a speaker begins with it.  start_ms, end_ms: set by
    `_with_times`.
    """

    text: str
    marks: str
    begins_turn: bool
    spoken: SpokenWord
    start_ms: int = 0
    end_ms: int = 0


_Cue = list[_Token]


def sentence_cues(written: Iterable[WrittenItem], config: ResegmentConfig) -> list[WrittenCue]:
    """Make new cues: sentences, split if they are too long and joined if they are short.

    Raises InputError if neither a word nor its cue has times.
    """
    cues = list[_Cue]()
    for sentence in _sentences(_with_times(_tokens(written)), config):
        for part in _parts(sentence, config):
            before = cues[-1] if cues else []
            one_is_short = min(len(_join(before)), len(_join(part))) < config.min_chars
            if one_is_short and _goes_on(before, part[0], config) and _fits(before + part, config):
                cues[-1] = before + part
            else:
                cues.append(part)
    new_cues = list[WrittenCue]()
    for cue in cues:
        end_ms = max(token.end_ms for token in cue)
        new_cues.append(WrittenCue(cue[0].start_ms, end_ms, _wrap(_join(cue), config)))
    return sorted(_show_longer(new_cues, config), key=lambda cue: cue.start_ms)  # streams came one after the other


def _show_longer(cues: Sequence[WrittenCue], config: ResegmentConfig) -> list[WrittenCue]:
    """Show each cue for as long as it takes to read, if there is time until the next one."""
    longer = list[WrittenCue]()
    for cue, following in zip_longest(cues, cues[1:]):
        end_ms = cue.start_ms + config.reading_ms(cue.text)
        if following and following.start_ms >= cue.start_ms:  # if times go back, another channel begins
            end_ms = min(end_ms, following.start_ms)
        longer.append(replace(cue, end_ms=max(cue.end_ms, end_ms)))
    for index, cue in enumerate(longer):
        if cue.end_ms - cue.start_ms < config.least_ms:
            _borrow_time(longer, index, config)
    return longer


def _borrow_time(cues: list[WrittenCue], index: int, config: ResegmentConfig) -> None:
    """Begin a brief cue of `cues` earlier or end it later: in silence beside it, or in time that a neighbour spares."""
    cue = cues[index]
    least_ms = config.least_ms
    missing_ms = least_ms - (cue.end_ms - cue.start_ms)
    if index and cues[index - 1].start_ms < cue.start_ms:  # else the cue before is another channel's
        before = cues[index - 1]
        free_ms = max(0, cue.start_ms - before.end_ms)
        spare_ms = max(0, before.end_ms - before.start_ms - least_ms) if before.end_ms <= cue.start_ms else 0
        lent_ms = min(missing_ms, free_ms + spare_ms)
        cue = replace(cue, start_ms=cue.start_ms - lent_ms)
        missing_ms -= lent_ms
        cues[index - 1] = replace(before, end_ms=min(before.end_ms, cue.start_ms))  # one that overlaps is cut
    if index + 1 < len(cues) and cue.end_ms <= cues[index + 1].start_ms:
        after = cues[index + 1]
        # the silence before it, and what it can spare
        lent_ms = min(missing_ms, max(0, after.end_ms - cue.end_ms - least_ms))
        cue = replace(cue, end_ms=cue.end_ms + lent_ms)
        cues[index + 1] = replace(after, start_ms=max(after.start_ms, cue.end_ms))
    cues[index] = cue


def _tokens(written: Iterable[WrittenItem]) -> Iterator[_Token]:
    """Yield words with the labels and stage directions beside them, and directions that have their own cues."""
    words: list[tuple[WrittenWord | None, list[Kept]]] = [(None, [])]  # each with what stands behind it; first, no word
    for item in written:
        if isinstance(item, Kept):
            words[-1][1].append(item)
        else:
            words.append((item, []))
    has_words = len(words) > 1
    lead = list[str]()  # the labels and directions before the next word
    begins_turn = True
    for (word, gap), (next_word, _) in pairwise([*words, (None, [])]):
        cue = word.spoken.cue if word else None
        next_cue = next_word.spoken.cue if next_word else None
        texts = [*lead, word.annotated.text] if word else []
        lead = []
        apart = list[Kept]()  # directions in whose cue no word is
        for item in gap:
            if not item.shown:
                continue
            is_direction = item.role is Role.DIRECTION
            has_own_cue = item.cue is not None and item.cue.has_times and item.cue not in (cue, next_cue)
            ends_cue = cue is not None and cue != next_cue and item.cue == cue
            if (is_direction and item.breaks and has_own_cue) or not has_words:  # nothing to stand beside
                apart.append(item)
            elif word and not lead and (next_word is None or (is_direction and (ends_cue or "\n" in item.text))):
                texts.append(item.shown)  # with the word before it: it ends a cue or a line
            else:
                lead.append(item.shown)
        if word:
            yield _Token(" ".join(texts), word.separator, begins_turn, word.spoken)
            begins_turn = any(item.breaks for item in gap)
        for own_cue, group in groupby(apart, key=lambda item: item.cue):
            if own_cue and own_cue.has_times:  # without times it is left out
                text = " ".join(item.shown for item in group)
                spoken = SpokenWord(Word(text), cue=own_cue, start_ms=own_cue.start_ms, end_ms=own_cue.end_ms)
                yield _Token(text, NO_MARKS, True, spoken)


def words_with_times(written: Iterable[WrittenItem]) -> Iterator[tuple[WrittenWord, int, int]]:
    """Yield words with their starts and ends in ms, as new cues have them.  Raises InputError if there are no times."""
    words = [item for item in written if isinstance(item, WrittenWord)]
    tokens = (_Token(word.annotated.text, NO_MARKS, False, word.spoken) for word in words)
    for word, token in zip(words, _with_times(tokens), strict=True):
        yield word, token.start_ms, token.end_ms


def _with_times(tokens: Iterable[_Token]) -> Iterator[_Token]:
    """Yield tokens with times.  Words without times share the time between those around them, or that of their cue."""
    all_tokens = list(tokens)
    # all speakers of a cue share its time
    cues = [token.spoken.cue and replace(token.spoken.cue, speaker="") for token in all_tokens]
    cue_before: Cue | None = None
    waiting = list[_Token]()  # tokens since `start_ms`, as no word's end is known since
    start_ms: int | None = None
    for token, following, cue, next_cue in zip_longest(all_tokens, all_tokens[1:], cues, cues[1:]):
        # the first one starts when it says, or with its cue, or when the word before it ended
        if not waiting and token.spoken.start_ms is not None:
            start_ms = token.spoken.start_ms
        elif not waiting and cue and cue != cue_before and cue.start_ms is not None:
            start_ms = cue.start_ms
        cue_before = cue
        waiting.append(token)
        # it ends when it says, or with its cue, or when the next word starts; else that is not known yet
        end_ms = token.spoken.end_ms
        ends_cue = following is None or next_cue != cue
        if end_ms is None and cue and ends_cue:
            end_ms = cue.end_ms
        if end_ms is None and following and following.spoken.start_ms is not None:
            end_ms = max(start_ms or 0, following.spoken.start_ms)  # another channel may begin earlier
        if end_ms is not None or following is None:
            yield from _share_time(waiting, start_ms, end_ms)
            waiting = []
            start_ms = end_ms


def _share_time(tokens: Sequence[_Token], start_ms: int | None, end_ms: int | None) -> Iterator[_Token]:
    """Divide a span of time among tokens by their lengths; a span with only one known end is empty."""
    start_ms = end_ms if start_ms is None else start_ms
    end_ms = start_ms if end_ms is None else end_ms
    if start_ms is None or end_ms is None:
        raise InputError(
            f"no time for the word {tokens[0].spoken.raw!r}",
            expected="words or cues with times",
            fix="write another format",
        )
    end_ms = max(start_ms, end_ms)  # some cues end before they begin
    n_chars = sum(len(token.text) + 1 for token in tokens)  # each with a space behind it
    n_before = 0
    for token in tokens:
        n_behind = n_before + len(token.text) + 1
        token_start_ms = start_ms + (end_ms - start_ms) * n_before // n_chars
        token_end_ms = start_ms + (end_ms - start_ms) * n_behind // n_chars
        yield replace(token, start_ms=token_start_ms, end_ms=token_end_ms)
        n_before = n_behind


def _sentences(tokens: Iterable[_Token], config: ResegmentConfig) -> Iterator[_Cue]:
    """Yield sentences, which end at their marks, before another speaker's turn, and at a long silence."""
    sentence = _Cue()
    for token in tokens:
        if sentence and (ends_sentence(sentence[-1].marks) or not _goes_on(sentence, token, config)):
            yield sentence
            sentence = []
        sentence.append(token)
    if sentence:
        yield sentence


def _parts(sentence: _Cue, config: ResegmentConfig) -> Iterator[_Cue]:
    """Cut a sentence into parts that fit into cues: behind the last mark in the second half of what fits, if any.

    A word that does not fit is a part by itself.
    """
    begin = 0
    while begin < len(sentence):
        end = begin + 1
        while end < len(sentence) and _fits(sentence[begin : end + 1], config):
            end += 1
        if end < len(sentence):  # words are left for another part
            marked = [index for index in range((begin + end) // 2, end) if sentence[index].marks]
            end = marked[-1] + 1 if marked else end
        yield sentence[begin:end]
        begin = end


def _goes_on(tokens: _Cue, token: _Token, config: ResegmentConfig) -> bool:
    """Return whether a token goes on what others begin: without another speaker's turn or a long silence.

    If times go back, it does not: a new channel begins.
    """
    if not tokens or token.begins_turn or token.start_ms < tokens[-1].start_ms:
        return False
    return token.start_ms - tokens[-1].end_ms <= config.max_gap_ms


def _fits(tokens: _Cue, config: ResegmentConfig) -> bool:
    duration_ms = tokens[-1].end_ms - tokens[0].start_ms
    return len(_join(tokens)) <= config.max_chars and duration_ms <= config.max_duration_ms


def _join(tokens: _Cue) -> str:
    return " ".join(token.text for token in tokens)


def _wrap(text: str, config: ResegmentConfig) -> str:
    """Break a text into as few lines as `max_chars` and `max_lines` allow, about equally long."""
    width = ceil(config.max_chars / config.max_lines)
    n_lines = min(config.max_lines, ceil(len(text) / width))
    for columns in range(ceil(len(text) / n_lines), len(text) + 1):  # the narrowest width that gives so few lines
        lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
        if len(lines) <= n_lines:
            return "\n".join(lines)
    return text
