"""What a stream remembers: its last words and a few numbers, however long it is.

In: words, one after the other.  Out: a `StreamState`, a value that can be saved and resumed elsewhere.

>>> state = StreamState(n_committed=2).hear(Word("how"), 2).hear(Word("are"), 2).hear(Word("you"), 2)
>>> [word.text for word in state.words], state.n_seen, state.start
(['are', 'you'], 3, 1)
>>> StreamState.from_json(state.to_json()) == state
True
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from ..errors import InputError
from ..t5.task import PAUSES
from ..text.marks import OPENING, Case
from ..text.words import Word, between

if TYPE_CHECKING:
    from .kv_cache import Memory


@dataclass(frozen=True, slots=True)
class Times:
    """When a word was spoken, if the source says so."""

    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StreamState:
    """The state of a stream between two words."""

    words: tuple[Word, ...] = ()  # the last words: a window of them, or more while they wait (`delay`: all it needs)
    n_seen: int = 0
    n_committed: int = 0
    sentence_start: int = 0  # the first word after the last committed sentence end
    in_doubt: bool = False  # whether only the next word shows if the last committed one ends a sentence: `Inc.`
    opened: str = ""  # the mark that opened the sentence that goes on: `¿`
    quoted: bool = False  # whether a quotation that began with a sentence goes on
    unsure_case: str = ""  # of the last committed word (`SentencePosition`)
    end_ms: int | None = None  # when the last word ended
    finished: bool = False
    times: tuple[Times, ...] = ()  # of the last of `words`
    n_read: int = 0  # policy `delay`: words that the model has read, and their tokens
    n_tokens: int = 0
    # policy `delay`: what the model remembers of them; it is not saved but computed again from the last words
    memory: Memory | None = field(default=None, compare=False, repr=False)

    @property
    def start(self) -> int:
        """The place of the first remembered word in the stream."""
        return self.n_seen - len(self.words)

    @property
    def begins_sentence(self) -> bool | None:
        """Whether a sentence begins with the first word that is not committed; None: that is not known."""
        return None if self.in_doubt else self.n_committed == self.sentence_start

    @property
    def n_waiting(self) -> int:
        """How many words were heard and are not committed yet."""
        return self.n_seen - self.n_committed

    def hear(self, word: Word, window: int, times: Times | None = None) -> StreamState:
        """Return the state with one more word; older words are dropped if they are committed and outside the window."""
        times = times or Times()
        n_outside = max(0, len(self.words) + 1 - window)
        n_dropped = min(n_outside, self.n_committed - self.start)  # words that wait are kept
        words = (*self.words[n_dropped:], replace(word, space=" "))
        if len(words) > 1:  # only now it shows that the word before is an ordinal
            raw_before = words[-3].raw if len(words) > 2 else ""
            words = (*words[:-2], between(words[-2], raw_before, words[-1].raw), words[-1])
        has_times = bool(self.times) or times != Times()  # a source that tells none keeps the state small
        known = (*self.times, times)[-len(words) :] if has_times else ()
        return replace(self, words=words, n_seen=self.n_seen + 1, end_ms=times.end_ms, times=known)

    def times_of(self, index: int) -> Times:
        """Return when the word at a place of the stream was spoken."""
        n_behind = self.n_seen - index
        return self.times[-n_behind] if n_behind <= len(self.times) else Times()  # of older ones they are not known

    def paused(self, pause: int) -> StreamState:
        """Return the state with a silence after the last word, unless a longer one is known already."""
        if pause <= self.words[-1].pause:
            return self
        return replace(self, words=(*self.words[:-1], replace(self.words[-1], pause=pause)))

    def to_json(self) -> str:
        """Return the state as a line of json."""
        values = asdict(replace(self, memory=None))
        del values["memory"]
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> StreamState:
        """Return the state that `to_json` wrote.  Raises InputError for anything else."""
        try:
            values = json.loads(text)
            words = values.pop("words")
            if "memory" in values or not isinstance(words, list):
                raise TypeError
            times = tuple(Times(**times_values) for times_values in values.pop("times", []))  # an older state has none
            state = cls(words=tuple(Word(**word) for word in words), times=times, **values)
            state._check()
            return state
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InputError(
                f"a stream state that reads {str(text)[:40]!r}", expected="what to_json wrote", fix="begin a new stream"
            ) from error

    def _check(self) -> None:
        """Raises ValueError for a state that no stream can have."""
        numbers = [self.n_seen, self.n_committed, self.sentence_start, self.n_read, self.n_tokens]
        if self.end_ms is not None:
            numbers.append(self.end_ms)
        numbers += [ms for times in self.times for ms in (times.start_ms, times.end_ms) if ms is not None]
        is_possible = (
            all(type(number) is int for number in numbers)
            and type(self.finished) is bool
            and type(self.in_doubt) is bool
            and type(self.quoted) is bool
            and self.opened in ("", *OPENING)
            and self.unsure_case in ("", *Case)
            and 0 <= self.start <= self.n_committed <= self.n_seen
            and 0 <= self.sentence_start <= self.n_committed
            and 0 <= self.n_read <= self.n_seen
            and self.n_tokens >= 0
            and len(self.times) <= len(self.words)
            and all(map(_is_sound, self.words))
        )
        if not is_possible:
            raise ValueError


def _is_sound(word: Word) -> bool:
    """Return whether a word has values of the right types, and is one word."""
    texts = (word.text, word.marks, word.raw, word.space, word.spelled)
    if not all(isinstance(text, str) for text in texts):
        return False
    if type(word.dotted) is not bool or type(word.is_abbreviated) is not bool:
        return False
    if not isinstance(word.pause, int) or word.pause not in range(len(PAUSES) + 1):  # an older state has true or false
        return False
    is_one_word = word.text.split() == [word.text]
    return is_one_word and type(word.n_closers) is int and 0 <= word.n_closers <= len(word.text)
