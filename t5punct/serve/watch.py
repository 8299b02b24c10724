"""Streams that others may watch: what a page for OBS, or a second screen, shows of a stream that another one speaks.

In: the events of streams that have a name.  Out: the same to all who watch that name, from then on.

A stream is watched by the field `show`: `/v1/stream?show=talk` is heard at `/v1/watch?show=talk`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

_WAITING_EVENTS = 1000  # of one who does not read; then the oldest are dropped


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
        tasks = [asyncio.ensure_future(work) for work in (_send(socket, events), _until_gone(socket), stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            self._queues[name].discard(events)
            if not self._queues[name]:
                del self._queues[name]


async def _send(socket: WebSocket, events: asyncio.Queue[str]) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):  # it has left meanwhile
        while True:
            await socket.send_text(await events.get())


async def _until_gone(socket: WebSocket) -> None:
    """Wait until the client leaves; what it says is passed over."""
    with suppress(RuntimeError):  # it has left before
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
