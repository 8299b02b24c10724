"""What a client asks for, and what it and its stream say to each other.

In: names and values, of which a `RequestFields` makes a request; text messages.  Out: a `TextRequest` or a
`StreamRequest`; `Message`s: words, an order, or where an earlier stream was.  The command line makes the fields of its
own options (`cli/fields.py`), so that a service knows no others.  Events go the other way; those of words are the ones
of `t5punct stream --json` (`streaming/events.py`).

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
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import InputError, T5PunctError
from ..punctuator import PunctuatorConfig
from ..streaming import StreamConfig, StreamState, TimedWord
from ..text.io.live import timed_word
from ..transcripts.terms import Terms
from ..transcripts.words_out import seconds
from ..transcripts.writers import WriterConfig

ORDERS = ("flush", "end")  # a silence: all that was heard becomes final; the end of the stream
FLUSH, END = ('{"flush": true}', '{"end": true}')  # a client's messages that say so


class FieldError(InputError):
    """A field that is unknown, or has no such value."""


@dataclass(frozen=True)
class TextRequest:
    """How a text is decided, read (None: as its name or content type tells) and written."""

    config: PunctuatorConfig = field(default_factory=PunctuatorConfig)
    writer: WriterConfig = field(default_factory=WriterConfig)
    terms: Terms | None = None
    format: str | None = None


@dataclass(frozen=True)
class StreamSettings:
    """What a stream is decided by."""

    stream: StreamConfig = field(default_factory=StreamConfig)
    config: PunctuatorConfig = field(default_factory=PunctuatorConfig)


@dataclass(frozen=True)
class StreamRequest:
    """How a stream is decided, and what its client is told besides committed words."""

    settings: StreamSettings = field(default_factory=StreamSettings)
    provisional: bool = False  # the words that may still change, after each message
    state_every: int = 0  # the state, after so many committed words; 0: never
    show: str = ""  # the name under which others may watch it; empty: nobody may


class RequestFields(Protocol):
    """Reads requests.  Raises FieldError for fields that are none, ConfigError for values that do not agree."""

    def text_schema(self) -> dict[str, Any]:
        """Return the fields of a text, as json schemas by their names."""

    def text(self, values: Mapping[str, str]) -> TextRequest:
        """Return what the fields of a text ask for."""

    def stream(self, values: Mapping[str, str]) -> StreamRequest:
        """Return what the fields of a stream ask for."""


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


def _saved_of(values: Mapping[str, Any]) -> Saved:
    n_chars = values.get("n_chars", 0)
    if type(n_chars) is not int or n_chars < 0:
        raise ValueError(n_chars)
    return Saved(StreamState.from_json(json.dumps(values["state"])), n_chars)
