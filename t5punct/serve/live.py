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
from itertools import pairwise
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ..errors import InputError, T5PunctError
from ..streaming import Committed, StreamState, TimedWord
from ..streaming.events import committed_events, provisional_event
from ..text.words import readable
from .engine import Engine
from .metrics import Metrics
from .requests import Message, Saved, StreamRequest, message_of

_WAITING_EVENTS = 1000  # of one who does not read; then the oldest are dropped
_READ_AHEAD = 256_000  # characters of messages that wait
_STEP_WORDS = 16  # of a message that are decided at a time
# https://www.iana.org/assignments/websocket/websocket.xhtml
ENDED, GOING_AWAY, UNFIT, TOO_MUCH, BROKEN, RESTARTING, BUSY = 1000, 1001, 1008, 1009, 1011, 1012, 1013


class _Inbox:
    """What a client has said, message by message."""

    def __init__(self, socket: WebSocket) -> None:
        self.gone = asyncio.Event()
        self._socket = socket
        self._texts = asyncio.Queue[str | None]()
        self._n_chars = 0
        self._room = asyncio.Event()

    async def fill(self) -> None:
        """Read messages until the client leaves."""
        try:
            while (received := await self._socket.receive())["type"] != "websocket.disconnect":
                text = received.get("text")
                self._n_chars += len(text or "")
                self._texts.put_nowait(text)
                while self._n_chars > _READ_AHEAD:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self.gone.set()

    async def next(self) -> str:
        """Return the next message.  Raises InputError for one that is no text."""
        text = await self._texts.get()
        if text is None:
            raise InputError("bytes", expected="text messages", fix="send words as text")
        self._n_chars -= len(text)
        self._room.set()
        return text


class LiveStream:
    """A stream and its client."""

    def __init__(
        self,
        socket: WebSocket,
        engine: Engine,
        request: StreamRequest,
        metrics: Metrics,
        idle_s: float = 300.0,
        on_event: Callable[[str], None] | None = None,
    ) -> None:
        """`on_event` is told each event of words as well."""
        self._socket = socket
        self._engine = engine
        self._metrics = metrics
        self._idle_s = idle_s
        self._on_event = on_event
        self._request = request
        self._settings = request.settings
        self._state = StreamState()
        self._n_chars = 0
        self._n_messages = self._n_told = 0  # of the client, and words that were committed when the state was last told

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve the stream to its end; once the service is stopping, the last words are committed and told."""
        code = BROKEN
        reason = ""
        try:
            code, reason = await self._serve(stopping)
        except WebSocketDisconnect:  # nobody is there to be told
            return
        except TimeoutError:
            code = GOING_AWAY
            reason = f"nothing was said or read for {self._idle_s:g} s"
        except T5PunctError as error:
            code = UNFIT
            reason = str(error)
        finally:
            await close(self._socket, code, reason)

    async def _serve(self, stopping: asyncio.Event) -> tuple[int, str]:
        """Serve the client until it has gone.  Raises WebSocketDisconnect then: what it has said before is dropped."""
        inbox = _Inbox(self._socket)
        reading = asyncio.ensure_future(inbox.fill())
        gone = asyncio.ensure_future(inbox.gone.wait())
        serving = asyncio.ensure_future(self._answer(inbox, stopping))
        try:
            await asyncio.wait({serving, gone}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                return serving.result()
            raise WebSocketDisconnect
        finally:
            for task in (serving, reading, gone):
                task.cancel()
            await asyncio.gather(serving, reading, gone, return_exceptions=True)

    async def _answer(self, inbox: _Inbox, stopping: asyncio.Event) -> tuple[int, str]:
        """Answer the messages one by one; the code and the reason by which the stream ends."""
        stop = asyncio.ensure_future(stopping.wait())
        try:
            while True:
                message = await self._next(inbox, stop)
                if message is None:
                    await self._leave()
                    return RESTARTING, "the service is ending"
                if message.order == "end":
                    await self._finish()
                    return ENDED, ""
                await self._take(message)
        finally:
            stop.cancel()

    async def _next(self, inbox: _Inbox, stop: asyncio.Future[Any]) -> Message | None:
        """The client's next message; None once the service is stopping.  Raises TimeoutError if nothing comes."""
        coming = asyncio.ensure_future(inbox.next())
        try:
            done, _ = await asyncio.wait({coming, stop}, timeout=self._idle_s, return_when=asyncio.FIRST_COMPLETED)
            if coming not in done:
                if stop in done:
                    return None
                raise TimeoutError
        finally:
            coming.cancel()
        text = coming.result()
        self._n_messages += 1
        return message_of(text)

    async def _take(self, message: Message) -> None:
        """Do what a message asks for, and tell what became final by it."""
        if message.saved is not None:
            if self._n_messages > 1:
                raise InputError("a state in the midst of a stream", expected="it first", fix="open a new stream")
            self._state, self._n_chars = message.saved.state, message.saved.n_chars
            self._n_told = self._state.n_committed
            return
        for words in in_steps(message.words) or [()]:
            started = time.perf_counter()
            step = await self._engine.step(self._settings, message.order or "push", self._state, words)
            self._metrics.stream_words.inc(max(0, step.state.n_seen - self._state.n_seen))
            self._state = step.state
            await self._tell(step.committed, started)
        if self._request.provisional:
            tail = await self._engine.provisional(self._settings, self._state)
            await self._send(provisional_event(tail))
        if self._request.state_every and self._state.n_committed - self._n_told >= self._request.state_every:
            self._n_told = self._state.n_committed
            await self._send(Saved(self._state, self._n_chars).as_event(self._n_messages))

    async def _leave(self) -> None:
        """Let the client go: one that can go on elsewhere is told where it is, others get their last words."""
        if self._request.state_every:
            await self._send(Saved(self._state, self._n_chars).as_event(self._n_messages))
        else:
            await self._finish()

    async def _finish(self) -> None:
        """Tell the last words, and that they are the last."""
        started = time.perf_counter()
        if not self._state.finished:
            step = await self._engine.step(self._settings, "finish", self._state)
            self._state = step.state
            await self._tell(step.committed, started)
        await self._send({"end": {"n_words": self._state.n_committed, "n_chars": self._n_chars}})

    async def _tell(self, words: Sequence[Committed], started: float) -> None:
        spent_s = time.perf_counter() - started
        self._metrics.stream_seconds.observe(spent_s)
        events, self._n_chars = committed_events(words, self._n_chars, round(1000 * spent_s, 1))
        for event in events:
            await self._send(event)

    async def _send(self, event: dict[str, Any]) -> None:
        text = json.dumps(event, ensure_ascii=False)
        text = text if text == readable(text) else json.dumps(event)  # half a character has a name in json alone
        if self._on_event and "state" not in event:
            self._on_event(text)
        await asyncio.wait_for(self._socket.send_text(text), self._idle_s)


def in_steps(words: Sequence[TimedWord]) -> list[tuple[TimedWord, ...]]:
    """Return words in parts of some, so that the others of a client that goes are never decided.

    A mark that stands apart stays with the word before it.

    >>> [[word.word for word in part] for part in in_steps([TimedWord("so " * 16 + "- we")])]
    [['so so so so so so so so so so so so so so so so -'], ['we']]
    """
    pieces = list[TimedWord]()
    for word in words:
        if len(texts := word.word.split()) <= _STEP_WORDS:
            pieces.append(word)
            continue
        begins = [place for place, text in enumerate(texts) if any(map(str.isalnum, text))][::_STEP_WORDS]
        cuts = [0, *begins[1:], len(texts)]
        pieces += [TimedWord(" ".join(texts[start:stop])) for start, stop in pairwise(cuts)]
    if any(" " in piece.word for piece in pieces):
        return [(piece,) for piece in pieces]
    return [tuple(pieces[start : start + _STEP_WORDS]) for start in range(0, len(pieces), _STEP_WORDS)]


async def close(socket: WebSocket, code: int, reason: str) -> None:
    """Close a connection with a reason of at most 123 bytes, if it is still there."""
    if socket.client_state is WebSocketState.DISCONNECTED or socket.application_state is WebSocketState.DISCONNECTED:
        return
    try:
        await asyncio.wait_for(socket.close(code, reason.encode()[:120].decode(errors="ignore")), 5)
    except (RuntimeError, TimeoutError, OSError):  # the client is gone, or reads nothing
        return


class Watchers:
    """Who watches which name."""

    def __init__(self) -> None:
        self._queues: defaultdict[str, set[asyncio.Queue[str]]] = defaultdict(set)

    def tell(self, name: str, event: str) -> None:
        """Tell an event to all who watch a name; nobody waits for one who does not read."""
        for events in self._queues.get(name, ()):
            if events.full():
                events.get_nowait()
            events.put_nowait(event)

    async def watch(self, socket: WebSocket, name: str, stopping: asyncio.Event) -> None:
        """Tell the events of a name until the client leaves, or the service ends."""
        events = asyncio.Queue[str](_WAITING_EVENTS)
        self._queues[name].add(events)
        tasks = [
            asyncio.ensure_future(work) for work in (_send_events(socket, events), _until_gone(socket), stopping.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            self._queues[name].discard(events)
            if not self._queues[name]:
                del self._queues[name]


async def _send_events(socket: WebSocket, events: asyncio.Queue[str]) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):  # it has left meanwhile
        while True:
            await socket.send_text(await events.get())


async def _until_gone(socket: WebSocket) -> None:
    """Wait until the client leaves; what it says is passed over."""
    with suppress(RuntimeError):  # it has left before
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
