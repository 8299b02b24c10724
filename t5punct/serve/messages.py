"""What a client and a stream say to each other, a message at a time.

In: a text message of a client.  Out: a `Message`: words, an order, or where an earlier stream was.  Events go the other
way; those of words are the ones of `t5punct stream --json` (`streaming/events.py`).

>>> message_of("how are you").words
(TimedWord(word='how are you', start_ms=None, end_ms=None),)
>>> message_of('{"words": [{"word": "so", "start": 0.1, "end": 0.4}]}').words
(TimedWord(word='so', start_ms=100, end_ms=400),)
>>> message_of('{"end": true}').order
'end'
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, T5PunctError
from ..streaming import StreamState, TimedWord
from ..text.io.live import timed_word
from ..transcripts.words_out import seconds

ORDERS = ("flush", "end")  # a silence: all that was heard becomes final; the end of the stream


@dataclass(frozen=True, slots=True)
class Saved:
    """Where a stream is: a client that has it can go on with another server."""

    state: StreamState
    n_chars: int  # of the text of all committed words

    def as_event(self, n_messages: int) -> dict[str, Any]:
        """Return the event that tells a client; n_messages: how many of its messages it holds, on this connection."""
        return {"state": json.loads(self.state.to_json()), "n_chars": self.n_chars, "n_messages": n_messages}


@dataclass(frozen=True, slots=True)
class Message:
    """What a client says: words, an order, or, first of all, where its stream was before."""

    words: tuple[TimedWord, ...] = ()
    order: str | None = None
    saved: Saved | None = None


def message_of(text: str) -> Message:
    """Return what a client has said.  Raises InputError for what is no message."""
    if not text.lstrip().startswith("{"):
        return Message((TimedWord(text),))
    try:
        values = json.loads(text)
        (name,) = values if "state" not in values else ("state",)
        if name in ORDERS and values[name] is True:
            return Message(order=name)
        if name == "state":
            return Message(saved=_saved_of(values))
        if name == "words":
            words = values["words"]
            return Message((TimedWord(words),) if isinstance(words, str) else tuple(map(timed_word, words)))
        raise ValueError(name)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, T5PunctError):
        raise InputError(
            f"a message that reads {text[:40]!r}",
            expected='words, {"words": [{"word": "so", "start": 0.1, "end": 0.4}]}, {"flush": true} or {"end": true}',
            fix="correct the client",
        ) from None


def words_message(words: Sequence[TimedWord]) -> str:
    """Return a client's message that says words.

    >>> words_message([TimedWord("so", 100, 400), TimedWord("we")])
    '{"words": [{"word": "so", "start": 0.1, "end": 0.4}, {"word": "we"}]}'
    """
    return json.dumps({"words": [{"word": word.word, **seconds(word.start_ms, word.end_ms)} for word in words]})


def flush_message() -> str:
    """Return a client's message that says a silence."""
    return json.dumps({"flush": True})


def _saved_of(values: Mapping[str, Any]) -> Saved:
    n_chars = values.get("n_chars", 0)
    if type(n_chars) is not int or n_chars < 0:
        raise ValueError(n_chars)
    return Saved(StreamState.from_json(json.dumps(values["state"])), n_chars)
