"""What a stream remembers: its last words and a few numbers, a value that can be saved and resumed elsewhere.

>>> state = StreamState(n_committed=2).hear(Word("how"), 2).hear(Word("are"), 2).hear(Word("you"), 2)
>>> [word.text for word in state.words], state.n_seen, state.start
(['are', 'you'], 3, 1)
>>> StreamState.from_json(state.to_json()) == state
True
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_origin, get_type_hints

from ..errors import InputError
from ..t5.task import PAUSES
from ..text.marks import OPENING, Case
from ..text.words import Word, mark_abbreviation
from .kv_cache import Memory


@dataclass(frozen=True, slots=True)
class Times:
    """When a word was spoken, if the source says so."""

    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StreamState:
    """The state of a stream between two words."""

    words: tuple[Word, ...] = ()  # the last ones: as many as the model may read, or all that wait if these are more
    n_seen: int = 0
    n_committed: int = 0
    sentence_start: int = 0  # the first word after the last committed sentence end
    in_doubt: bool = False  # whether the last committed word, e.g. `Inc.`, may end a sentence: the next word will show
    opened: str = ""  # the mark before the current sentence: `¿`
    quoted: bool = False  # whether the current sentence is inside a quotation that began with a sentence
    unsure_case: str = ""  # of the last committed word (`SentencePosition`)
    end_ms: int | None = None  # when the last word ended
    finished: bool = False
    times: tuple[Times, ...] = ()  # of the last words; empty if the source gives none
    n_read: int = 0  # policy `delay`: the words that the model has read
    n_tokens: int = 0  # policy `delay`: the tokens of these words
    # policy `delay`: what the model remembers of these words; not saved, but computed again from `words`
    memory: Memory | None = field(default=None, compare=False, repr=False)

    @property
    def start(self) -> int:
        """The index, in the stream, of the first of `words`."""
        return self.n_seen - len(self.words)

    @property
    def n_waiting(self) -> int:
        """How many words were heard but are not committed yet."""
        return self.n_seen - self.n_committed

    def hear(self, word: Word, window: int, times: Times | None = None) -> StreamState:
        """Return the state with one more word.  It holds the last `window` words, or all that wait if they are more."""
        times = times or Times()
        n_outside = max(0, len(self.words) + 1 - window)
        n_committed_here = self.n_committed - self.start  # only these may be dropped
        n_dropped = min(n_outside, n_committed_here)
        words = [*self.words[n_dropped:], replace(word, space=" ")]
        if len(words) > 1:  # the new word may show that the word before is an ordinal
            raw_before = words[-3].raw if len(words) > 2 else ""
            words[-2] = mark_abbreviation(words[-2], raw_before, word.raw)
        has_times = bool(self.times) or times != Times()
        last_times = (*self.times, times)[-len(words) :] if has_times else ()
        return replace(self, words=tuple(words), n_seen=self.n_seen + 1, end_ms=times.end_ms, times=last_times)

    def times_of(self, index: int) -> Times:
        """Return when a word, by its index in the stream, was spoken."""
        n_from_end = self.n_seen - index
        return self.times[-n_from_end] if n_from_end <= len(self.times) else Times()

    def with_pause(self, pause: int) -> StreamState:
        """Return the state with a pause (as `pause_of` counts it) after the last word, unless a longer one is known."""
        if pause <= self.words[-1].pause:
            return self
        return replace(self, words=(*self.words[:-1], replace(self.words[-1], pause=pause)))

    def to_json(self) -> str:
        """Return the state as a line of JSON."""
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
            times = tuple(Times(**item) for item in values.pop("times", []))  # older versions wrote no times
            state = cls(words=tuple(Word(**word) for word in words), times=times, **values)
            if not (all(map(_has_types, (state, *state.words, *times))) and state._is_possible()):
                raise ValueError
            return state
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            mistake = f"a stream state that reads {str(text)[:40]!r}"
            raise InputError(mistake, expected="what to_json wrote", fix="begin a new stream") from error

    def _is_possible(self) -> bool:
        return (
            self.opened in ("", *OPENING)
            and self.unsure_case in ("", *Case)
            and 0 <= self.start <= self.n_committed <= self.n_seen
            and 0 <= self.sentence_start <= self.n_committed
            and 0 <= self.n_read <= self.n_seen
            and self.n_tokens >= 0
            and len(self.times) <= len(self.words)
            and all(word.text.split() == [word.text] for word in self.words)
            and all(0 <= word.n_closers <= len(word.text) for word in self.words)
            and all(word.pause in range(len(PAUSES) + 1) for word in self.words)  # older versions wrote a bool
        )


def _has_types(value: Any) -> bool:
    """Return whether all values of a dataclass, which come from json, have the types of its fields."""
    hints = get_type_hints(type(value))
    kinds = {name: tuple if get_origin(hint) is tuple else hint for name, hint in hints.items()}
    return all(isinstance(getattr(value, name), kind) for name, kind in kinds.items())
