"""One stream over a WebSocket: messages in, events out, until either side ends.

In: a connection and what its client asks for.  Out: events; see `requests`.

A message is answered before the next one is taken, and an event waits until the client has room for it.  So a client
that reads slowly is held back by its own connection, and the service keeps one message of it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ..errors import InputError, T5PunctError
from ..streaming import Committed, StreamState
from ..streaming.events import committed_events, provisional_event
from ..text.words import readable
from .engine import Engine
from .metrics import Metrics
from .requests import Message, Saved, StreamRequest, message_of

# https://www.iana.org/assignments/websocket/websocket.xhtml
ENDED, GOING_AWAY, UNFIT, TOO_MUCH, BROKEN, RESTARTING, BUSY = 1000, 1001, 1008, 1009, 1011, 1012, 1013


class LiveStream:
    """A stream and its client."""

    def __init__(
        self,
        socket: WebSocket,
        engine: Engine,
        request: StreamRequest,
        metrics: Metrics,
        idle_s: float = 300.0,
    ) -> None:
        self._socket, self._engine, self._metrics, self._idle_s = socket, engine, metrics, idle_s
        self._request, self._settings = request, request.settings
        self._state, self._n_chars = StreamState(), 0
        self._n_messages = self._n_told = 0  # of the client, and words that were committed when the state was last told

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve the stream to its end; once the service is stopping, the last words are committed and told."""
        code, reason = BROKEN, ""
        try:
            code, reason = await self._serve(stopping)
        except WebSocketDisconnect:  # nobody is there to be told
            return
        except TimeoutError:
            code, reason = GOING_AWAY, f"nothing was said or read for {self._idle_s:g} s"
        except T5PunctError as error:
            code, reason = UNFIT, str(error)
        finally:
            await close(self._socket, code, reason)

    async def _serve(self, stopping: asyncio.Event) -> tuple[int, str]:
        stop = asyncio.ensure_future(stopping.wait())
        try:
            while True:
                message = await self._next(stop)
                if message is None:
                    await self._leave()
                    return RESTARTING, "the service is ending"
                if message.order == "end":
                    await self._finish()
                    return ENDED, ""
                await self._take(message)
        finally:
            stop.cancel()

    async def _next(self, stop: asyncio.Future[Any]) -> Message | None:
        """The client's next message; None once the service is stopping.  Raises TimeoutError if nothing comes."""
        receive = asyncio.ensure_future(self._socket.receive())
        try:
            done, _ = await asyncio.wait({receive, stop}, timeout=self._idle_s, return_when=asyncio.FIRST_COMPLETED)
            if receive not in done:
                if stop in done:
                    return None
                raise TimeoutError
        finally:
            if not receive.done():
                receive.cancel()
        received = receive.result()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received.get("code", GOING_AWAY))
        if (text := received.get("text")) is None:
            raise InputError("bytes", expected="text messages", fix="send words as text")
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
        started = time.perf_counter()
        step = await self._engine.step(self._settings, message.order or "push", self._state, message.words)
        self._metrics.stream_words.inc(max(0, step.state.n_seen - self._state.n_seen))
        self._state = step.state
        await self._tell(step.committed, started)
        if self._request.provisional:
            words = await self._engine.provisional(self._settings, self._state)
            await self._send(provisional_event(words))
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
        await asyncio.wait_for(self._socket.send_text(text), self._idle_s)


async def close(socket: WebSocket, code: int, reason: str) -> None:
    """Close a connection with a reason of at most 123 bytes, if it is still there."""
    if socket.client_state is WebSocketState.DISCONNECTED or socket.application_state is WebSocketState.DISCONNECTED:
        return
    try:
        await asyncio.wait_for(socket.close(code, reason.encode()[:120].decode(errors="ignore")), 5)
    except (RuntimeError, TimeoutError, OSError):  # the client is gone, or reads nothing
        return
