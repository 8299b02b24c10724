"""One stream over a WebSocket: messages in, events out, until either side ends; and those who watch it.

In: a connection and what its client asks for.  Out: events; see `requests`.

A message is answered before the next one is taken, and an event waits until the client has room for it.  Messages are
read ahead, so that a client which goes is let go at once, and what it has said before is dropped; but no more than
`_READ_AHEAD` characters of them, so that one which reads slowly is held back by its own connection.

A stream that has a name is told to all who watch it, from then on, such as a page for OBS or a second screen: what
`/v1/stream?show=talk` says is heard at `/v1/watch?show=talk`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ..errors import InputError, T5PunctError
from ..streaming import Committed, StreamState, TimedWord
from ..streaming.language import LanguageWatch
from ..streaming.streams import committed_events, provisional_event
from ..text.words import readable
from .engine import Engine
from .metrics import Metrics
from .requests import Message, StreamFields, StreamSettings, message_of

_WAITING_EVENTS = 1000  # of one who does not read; then the oldest are dropped
_READ_AHEAD = 256_000  # characters of messages that wait
_STEP_WORDS = 16  # of a message that are decided at a time
_REASON_BYTES = 120
_CLOSING_S = 5  # for which a client is waited for
# https://www.iana.org/assignments/websocket/websocket.xhtml
ENDED, GOING_AWAY, UNFIT, TOO_MUCH, BROKEN, RESTARTING, BUSY = 1000, 1001, 1008, 1009, 1011, 1012, 1013


class _Inbox:
    """What a client has said, message by message, until it leaves or the service ends.

    `fill` reads while messages that came before are answered, so that it hears at once when the client leaves; it stops
    reading while too much waits.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._messages = asyncio.Queue[str | None]()
        self._n_chars = 0  # of the messages that wait
        self._room = asyncio.Event()  # set when one of them is taken

    async def fill(self) -> None:
        """Read messages until the client leaves.  Raises InputError for one that is no text."""
        with suppress(RuntimeError):  # it has left before
            while True:
                received = await self._socket.receive()
                if received["type"] == "websocket.disconnect":
                    return
                text = received.get("text")
                if text is None:
                    raise InputError("bytes", expected="text messages", fix="send words as text")
                self._n_chars += len(text)
                self._messages.put_nowait(text)
                while self._n_chars > _READ_AHEAD:
                    self._room.clear()
                    await self._room.wait()

    def end(self) -> None:
        """Let what was said by now be the last."""
        self._messages.put_nowait(None)

    async def next(self) -> str | None:
        """Return the next message, or None where there is no other."""
        message = await self._messages.get()
        self._n_chars -= len(message or "")
        self._room.set()
        return message


@dataclass
class LiveStream:
    """A stream and its client.

    fields: what it is told beside its words; idle_s: after so many seconds without a word it is ended; on_event: told
    each event that others may see.
    """

    socket: WebSocket
    engine: Engine
    settings: StreamSettings
    fields: StreamFields
    metrics: Metrics
    idle_s: float
    on_event: Callable[[str], None] | None
    _state: StreamState = field(default_factory=StreamState, init=False)
    _n_chars: int = field(default=0, init=False)  # of the text of all committed words
    _n_messages: int = field(default=0, init=False)  # of the client
    _n_told: int = field(default=0, init=False)  # words that were committed when the state was last told
    _language: LanguageWatch = field(init=False)

    def __post_init__(self) -> None:
        self._language = LanguageWatch(self.engine.model.name)

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve the stream to its end; once the service is stopping, the last words are committed and told.

        A client that leaves is let go: what it has said before is dropped.
        """
        code = BROKEN
        reason = ""
        inbox = _Inbox(self.socket)
        answering = asyncio.ensure_future(self._answer(inbox))
        reading = asyncio.ensure_future(inbox.fill())
        stop = asyncio.ensure_future(stopping.wait())
        stop.add_done_callback(lambda _: inbox.end())
        try:
            done, _ = await asyncio.wait({answering, reading}, return_when=asyncio.FIRST_COMPLETED)
            if answering not in done:
                reading.result()
                return
            code, reason = answering.result()
        except WebSocketDisconnect:  # nobody is there to be told
            return
        except TimeoutError:
            code = GOING_AWAY
            reason = f"nothing was said or read for {self.idle_s:g} s"
        except T5PunctError as error:
            code = UNFIT
            reason = str(error)
        finally:
            for task in (answering, reading, stop):
                task.cancel()
            await asyncio.wait({answering, reading, stop})
            if not answering.cancelled():  # sending failed, as the client has left; asyncio logs what nobody looks at
                answering.exception()
            await close(self.socket, code, reason)

    async def _answer(self, inbox: _Inbox) -> tuple[int, str]:
        """Answer the messages one by one; the code and the reason by which the stream ends."""
        while True:
            text = await asyncio.wait_for(inbox.next(), self.idle_s)
            if text is None:
                break
            self._n_messages += 1
            message = message_of(text)
            if message.order == "end":
                await self._finish()
                return ENDED, ""
            await self._take(message)
        if self.fields.state_every:  # a client that can go on elsewhere is told where it is
            await self._tell_state()
        else:
            await self._finish()
        return RESTARTING, "the service is ending"

    async def _take(self, message: Message) -> None:
        """Do what a message asks for, and tell what became final by it."""
        if message.saved is not None:
            if self._n_messages > 1:
                raise InputError("a state in the midst of a stream", expected="it first", fix="open a new stream")
            self._state, self._n_chars = message.saved
            self._n_told = self._state.n_committed
            return
        if message.order == "clear":
            await self._send({"clear": True})
            return
        for words in in_steps(message.words) or [()]:  # an order comes without words
            warning = self._language.hear(" ".join(word.word for word in words))
            started = time.perf_counter()
            step = await self.engine.step(self.settings, message.order or "push", self._state, words)
            n_new = step.state.n_seen - self._state.n_seen
            self.metrics.stream_words.inc(max(0, n_new))
            self._state = step.state
            await self._tell(step.committed, started)
            await self._warn(warning)
        if self.fields.provisional:
            tail = await self.engine.provisional(self.settings, self._state)
            await self._send(provisional_event(tail))
        n_untold = self._state.n_committed - self._n_told
        if self.fields.state_every and n_untold >= self.fields.state_every:
            await self._tell_state()

    async def _tell_state(self) -> None:
        """Tell where the stream is, so that the client can go on from there on another connection."""
        self._n_told = self._state.n_committed
        event = {"state": json.loads(self._state.to_json()), "n_chars": self._n_chars, "n_messages": self._n_messages}
        await self._send(event)

    async def _finish(self) -> None:
        """Tell the last words, and that they are the last."""
        warning = self._language.end()
        started = time.perf_counter()
        if not self._state.finished:
            step = await self.engine.step(self.settings, "finish", self._state)
            self._state = step.state
            await self._tell(step.committed, started)
        await self._warn(warning)
        await self._send({"end": {"n_words": self._state.n_committed, "n_chars": self._n_chars}})

    async def _warn(self, warning: str | None) -> None:
        if warning is not None:
            await self._send({"warning": warning})

    async def _tell(self, words: Sequence[Committed], started: float) -> None:
        """Tell words that became final; `started`: when the model was asked, by `time.perf_counter`."""
        spent_s = time.perf_counter() - started
        self.metrics.stream_seconds.observe(spent_s)
        events, self._n_chars = committed_events(words, self._n_chars, round(1000 * spent_s, 1))
        for event in events:
            await self._send(event)

    async def _send(self, event: dict[str, Any]) -> None:
        """Tell an event to the client, and to those who watch."""
        text = json.dumps(event, ensure_ascii=False)
        if text != readable(text):  # half a character, which UTF-8 cannot hold, and an escape of json can
            text = json.dumps(event)
        if self.on_event and not event.keys() & {"state", "warning"}:  # which are for the client alone
            self.on_event(text)
        await asyncio.wait_for(self.socket.send_text(text), self.idle_s)


def in_steps(words: Sequence[TimedWord]) -> list[tuple[TimedWord, ...]]:
    """Cut a message into steps of at most `_STEP_WORDS` words: if the client goes, the later ones are never decided.

    A `TimedWord` may hold several words; a longer one is cut, and its parts have its times, as its words would have.
    A mark that stands apart stays with the word before it.

    >>> [[word.word for word in part] for part in in_steps([TimedWord("so " * 16 + "- we")])]
    [['so so so so so so so so so so so so so so so so -'], ['we']]
    >>> [part[0].start_ms for part in in_steps([TimedWord("so " * 17, 10, 20)])]
    [10, 10]
    """
    pieces = list[TimedWord]()
    for word in words:
        texts = word.word.split()
        if len(texts) <= _STEP_WORDS:
            pieces.append(word)
            continue
        spoken = [index for index, text in enumerate(texts) if any(map(str.isalnum, text))]  # the others are marks
        cuts = [0, *spoken[_STEP_WORDS::_STEP_WORDS], len(texts)]  # before every sixteenth word that is spoken
        pieces += [replace(word, word=" ".join(texts[start:stop])) for start, stop in pairwise(cuts)]
    if any(" " in piece.word for piece in pieces):  # some hold several words: each is a step of its own
        return [(piece,) for piece in pieces]
    return [tuple(pieces[start : start + _STEP_WORDS]) for start in range(0, len(pieces), _STEP_WORDS)]


async def close(socket: WebSocket, code: int, reason: str) -> None:
    """Close a connection, if it is still there; of the reason a WebSocket takes no more than 123 bytes."""
    if WebSocketState.DISCONNECTED in (socket.client_state, socket.application_state):
        return
    short = reason.encode()[:_REASON_BYTES].decode(errors="ignore")
    with suppress(RuntimeError, TimeoutError, OSError):  # the client is gone, or reads nothing
        await asyncio.wait_for(socket.close(code, short), _CLOSING_S)


class Watchers:
    """Who watches which name."""

    def __init__(self) -> None:
        self._queues: defaultdict[str, set[asyncio.Queue[str]]] = defaultdict(set)

    def tell(self, name: str, event: str) -> None:
        """Tell an event to all who watch a name; nobody waits for one who does not read."""
        for events in self._queues.get(name, ()):
            if events.full():
                events.get_nowait()  # the oldest is dropped
            events.put_nowait(event)

    async def watch(self, socket: WebSocket, name: str, stopping: asyncio.Event) -> None:
        """Tell the events of a name until the client leaves, or the service ends."""
        events = asyncio.Queue[str](_WAITING_EVENTS)

        async def tell_events() -> None:
            with suppress(WebSocketDisconnect, RuntimeError):  # the client has left meanwhile
                while True:
                    await socket.send_text(await events.get())

        async def hear_nothing() -> None:
            """Pass over what the client says, until it leaves."""
            with suppress(RuntimeError):  # the client has left before
                while (await socket.receive())["type"] != "websocket.disconnect":
                    pass

        self._queues[name].add(events)
        tasks = [asyncio.ensure_future(work) for work in (tell_events(), hear_nothing(), stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            self._queues[name].discard(events)
            if not self._queues[name]:
                del self._queues[name]
