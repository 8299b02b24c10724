"""One stream over a WebSocket: messages in, events out, until either side ends; and those who watch it.

In: a connection and what its client asks for.  Out: events; see `requests`.

A message is answered before the next one is taken, and an event waits until the client has room for it.  Streams of
`/v1/stream?show=talk` can be watched, such as by a page for OBS: their events are sent to `/v1/watch?show=talk`, too.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ..errors import InputError, T5PunctError
from ..streaming import StreamState, TimedWord
from ..streaming.streams import LanguageWatch, committed_events, provisional_event
from ..text.words import readable
from .engine import Engine
from .requests import Message, StreamFields, StreamSettings, as_client_reads, message_of

_WAITING_EVENTS = 1000  # of a watcher that does not read; then the oldest are dropped
_READ_AHEAD = 256_000  # characters of messages that wait
_STEP_WORDS = 16  # of a message that are decided at a time: if the client leaves, the later ones are not decided
_REASON_BYTES = 120
_CLOSING_S = 5  # how long closing waits for the client
# https://www.iana.org/assignments/websocket/websocket.xhtml
ENDED, GOING_AWAY, UNFIT, TOO_MUCH, BROKEN, RESTARTING, BUSY = 1000, 1001, 1008, 1009, 1011, 1012, 1013


class _Inbox:
    """The messages of a client that are not answered yet.

    They are read while earlier ones are answered, so that it is noticed at once when the client leaves; while too much
    waits, none are: so a client that reads slowly is held back by its own connection.
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
        """Take no message after those that were read by now."""
        self._messages.put_nowait(None)

    async def next(self) -> str | None:
        """Return the next message; None after the last one."""
        message = await self._messages.get()
        self._n_chars -= len(message or "")
        self._room.set()
        return message


@dataclass
class LiveStream:
    """A stream and its client.

    idle_s: after so many seconds without a message, or with an event that the client does not read, the stream ends.
    on_step: called with the number of new words and the seconds after each step of the model.
    on_event: called with each event that watchers may see, as json.
    """

    socket: WebSocket
    engine: Engine
    settings: StreamSettings
    fields: StreamFields
    idle_s: float
    on_step: Callable[[int, float], None]
    on_event: Callable[[str], None] | None
    _state: StreamState = field(default_factory=StreamState, init=False)
    _n_chars: int = field(default=0, init=False)  # of the text of all committed words
    _n_messages: int = field(default=0, init=False)  # of the client
    _n_in_state: int = field(default=0, init=False)  # committed words in the state that was sent last
    _language: LanguageWatch = field(init=False)

    def __post_init__(self) -> None:
        self._language = LanguageWatch(self.engine.model.name)

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve the stream to its end; once the service is stopping, the last words are committed and sent.

        When the client leaves, its words that are not decided yet are dropped.
        """
        code = BROKEN
        reason = ""
        mistake: T5PunctError | None = None
        inbox = _Inbox(self.socket)
        answering = asyncio.ensure_future(self._answer(inbox))
        reading = asyncio.ensure_future(inbox.fill())
        stop = asyncio.ensure_future(stopping.wait())
        stop.add_done_callback(lambda _: inbox.end())
        try:
            done, _ = await asyncio.wait({answering, reading}, return_when=asyncio.FIRST_COMPLETED)
            if answering not in done:  # the client has left, or sent what is no text: `result` raises that
                reading.result()
                return
            code, reason = answering.result()
        except WebSocketDisconnect:  # there is nobody to close the connection for
            return
        except TimeoutError:
            code = GOING_AWAY
            reason = f"nothing was said or read for {self.idle_s:g} s"
        except T5PunctError as error:
            mistake = error
        finally:
            for task in (answering, reading, stop):
                task.cancel()
            await asyncio.wait({answering, reading, stop})
            if not answering.cancelled():  # sending failed, as the client has left; asyncio logs what nobody looks at
                answering.exception()
            if mistake:
                await refuse(self.socket, mistake)
            else:
                await close(self.socket, code, reason)

    async def _answer(self, inbox: _Inbox) -> tuple[int, str]:
        """Answer the messages one by one; return the code and the reason with which the stream ends."""
        while True:
            text = await asyncio.wait_for(inbox.next(), self.idle_s)
            if text is None:  # the service is ending
                break
            self._n_messages += 1
            message = message_of(text)
            if message.order == "end":
                await self._finish()
                return ENDED, ""
            await self._take(message)
        if self.fields.state_every:  # with its state the client can go on elsewhere
            await self._send_state()
        else:
            await self._finish()
        return RESTARTING, "the service is ending"

    async def _take(self, message: Message) -> None:
        """Do what a message asks for, and send what became final by it."""
        if message.saved is not None:  # the state of a stream that goes on here
            if self._n_messages > 1:
                raise InputError("a state inside a stream", expected="it at the start", fix="open a new stream")
            self._state, self._n_chars = message.saved
            self._n_in_state = self._state.n_committed
            return
        if message.order == "clear":
            await self._send({"clear": True})
            return
        action = message.order or "push"  # an order, such as to flush, comes without words
        # a word of a message may hold several, which all have its times
        words = [replace(word, word=text) for word in message.words for text in word.word.split()]
        for start in range(0, max(1, len(words)), _STEP_WORDS):  # one step at least
            step_words = words[start : start + _STEP_WORDS]
            warning = self._language.hear(" ".join(word.word for word in step_words))
            await self._step(action, step_words, warning)
        if self.fields.provisional:
            tail = await self.engine.step(self.settings, "provisional", self._state)
            await self._send(provisional_event(tail))
        n_since_state = self._state.n_committed - self._n_in_state
        if self.fields.state_every and n_since_state >= self.fields.state_every:
            await self._send_state()

    async def _send_state(self) -> None:
        """Send where the stream is, so that the client can go on from there on another connection."""
        self._n_in_state = self._state.n_committed
        event = {"state": json.loads(self._state.to_json()), "n_chars": self._n_chars, "n_messages": self._n_messages}
        await self._send(event)

    async def _finish(self) -> None:
        """Send the last words, and the event that says so."""
        warning = self._language.end()
        if not self._state.finished:
            await self._step("finish", warning=warning)
        await self._send({"end": {"n_words": self._state.n_committed, "n_chars": self._n_chars}})

    async def _step(self, action: str, words: Sequence[TimedWord] = (), warning: str | None = None) -> None:
        """Let the model make a step, and send the words that became final by it, and a warning."""
        started = time.perf_counter()
        step = await self.engine.step(self.settings, action, self._state, words)
        spent_s = time.perf_counter() - started
        self.on_step(step.state.n_seen - self._state.n_seen, spent_s)
        self._state = step.state
        events, self._n_chars = committed_events(step.committed, self._n_chars, round(1000 * spent_s, 1))
        for event in events:
            await self._send(event)
        if warning is not None:
            await self._send({"warning": warning})

    async def _send(self, event: dict[str, Any]) -> None:
        """Send an event to the client, and to those who watch."""
        text = json.dumps(event, ensure_ascii=False)
        if text != readable(text):  # half a character (a lone surrogate): UTF-8 has none, an escape of json has
            text = json.dumps(event)
        if self.on_event and not event.keys() & {"state", "warning"}:  # these are for the client alone
            self.on_event(text)
        await asyncio.wait_for(self.socket.send_text(text), self.idle_s)


async def refuse(socket: WebSocket, error: T5PunctError) -> None:
    """Send the event of a client's mistake, and close the connection; a close frame has no room for all of it."""
    event = {"error": as_client_reads(error)}
    with suppress(RuntimeError, TimeoutError, OSError, WebSocketDisconnect):
        await asyncio.wait_for(socket.send_text(json.dumps(event)), _CLOSING_S)
    await close(socket, UNFIT, str(error))


async def close(socket: WebSocket, code: int, reason: str) -> None:
    """Close a connection, if it is still there.  The reason is cut: a WebSocket takes at most 123 bytes."""
    if WebSocketState.DISCONNECTED in (socket.client_state, socket.application_state):
        return
    short = reason.encode()[:_REASON_BYTES].decode(errors="ignore")
    with suppress(RuntimeError, TimeoutError, OSError):  # the client is gone, or reads nothing
        await asyncio.wait_for(socket.close(code, short), _CLOSING_S)


class Watchers:
    """Connections that watch the streams of a name."""

    def __init__(self) -> None:
        self._queues: defaultdict[str, set[asyncio.Queue[str]]] = defaultdict(set)

    def publish(self, name: str, event: str) -> None:
        """Queue an event for all who watch a name; where one does not read, its oldest event is dropped."""
        for events in self._queues.get(name, ()):
            if events.full():
                events.get_nowait()
            events.put_nowait(event)

    async def watch(self, socket: WebSocket, name: str, stopping: asyncio.Event) -> None:
        """Send the events of a name until the client leaves, or the service ends."""
        events = asyncio.Queue[str](_WAITING_EVENTS)

        async def send_events() -> None:
            with suppress(WebSocketDisconnect, RuntimeError):  # the client has left meanwhile
                while True:
                    await socket.send_text(await events.get())

        async def wait_for_end() -> None:
            with suppress(RuntimeError):  # the client has left before; what it says is passed over
                while (await socket.receive())["type"] != "websocket.disconnect":
                    pass

        self._queues[name].add(events)
        tasks = [asyncio.ensure_future(work) for work in (send_events(), wait_for_end(), stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            self._queues[name].discard(events)
            if not self._queues[name]:
                del self._queues[name]
