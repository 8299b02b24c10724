"""The client of a stream: sends words to a service and gets its events, over connections that may be lost.

In: the address of a stream, and messages, one at a time.  Out: events, each committed word once.

Messages are kept until the service has sent a state that includes them.  When a connection is lost, the next one begins
with that state, the messages since are sent again, and words that `on_event` got before are passed over.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection, connect

from ..config import check
from ..errors import InputError
from .guard import SUBPROTOCOL
from .live import TOO_MUCH, UNFIT
from .requests import END

_STATE_WORDS = 16  # committed words between two states
_MOST_WAITING = 1_000  # messages that no state includes yet; then `say` waits
_PAUSES_S = (0.1, 0.2, 0.5, 1.0, 2.0)  # before the next try; the last one again and again
_REFUSED = (UNFIT, TOO_MUCH)  # codes of a closed connection after which another one would be closed, too
Event = Mapping[str, Any]


def stream_address(server: str, fields: Mapping[str, object]) -> str:
    """Return the address of a stream with these fields.  Raises ConfigError if `server` is no address.

    >>> stream_address("http://127.0.0.1:8008", {"lookahead": 2})
    'ws://127.0.0.1:8008/v1/stream?lookahead=2'
    """
    parts = urlsplit(server)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    is_address = scheme in ("ws", "wss") and parts.netloc
    expected = "an address such as ws://127.0.0.1:8008"
    check(is_address, f"server {server!r}", expected=expected, fix="check --server")
    path = parts.path if parts.path.strip("/") else "/v1/stream"
    return urlunsplit((scheme, parts.netloc, path, urlencode(fields), ""))


class RemoteStream:
    """A stream of a service.  By the end of a `with` block `on_event` has got all words, and the warnings."""

    def __init__(
        self, address: str, on_event: Callable[[Event], None], token: str | None = None, patience_s: float = 60.0
    ) -> None:
        """patience_s: for how long a lost connection is tried again."""
        joint = "&" if "?" in address else "?"
        self._address = f"{address}{joint}state_every={_STATE_WORDS}"
        self._on_event = on_event
        self._token = token
        self._patience_s = patience_s
        self._messages = deque[str]()  # since the last state
        self._n_sent = 0  # of these messages, on this connection
        self._n_words = 0  # committed words that `on_event` got
        self._n_repeated = 0  # words that this connection will send once more, and `on_event` has
        self._state: Event | None = None  # the last one that the service has sent
        self._warnings = set[str]()  # `on_event` gets each once, however many connections send it
        self._pauses = iter(_PAUSES_S)
        self._is_over = False
        self._error: Exception | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="t5punct-server", daemon=True)

    def __enter__(self) -> RemoteStream:
        """Connect.  Raises InputError if there is no service at the address."""
        self._connection = self._connect(tries_s=0.0)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        """End the stream, and wait for its last words.  Raises InputError if the service was lost for good."""
        if kind is None:
            self.say(END)
        while kind is None and self._thread.is_alive():
            self._thread.join(0.2)  # so that Ctrl-C is heard
        self._is_over = True
        self._connection.close()
        if kind is None and self._error is not None:
            raise self._error

    def say(self, message: str) -> None:
        """Queue a message; wait while too many are queued.  Raises InputError once the service is lost for good."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._messages) < _MOST_WAITING or self._is_over)
            if self._error is not None:
                raise self._error
            self._messages.append(message)
            self._changed.notify_all()

    def _run(self) -> None:
        """Receive events, on one connection after the other, until the stream ends or the patience does."""
        worked_at = time.monotonic()  # when a connection worked for the last time
        try:
            while not self._is_over:
                began = time.monotonic()
                has_events = self._receive()
                has_lasted = time.monotonic() - began > self._patience_s  # it worked: a silence has no events
                if has_events or has_lasted:
                    worked_at = time.monotonic()
                    self._pauses = iter(_PAUSES_S)
                if self._is_over:
                    return
                if time.monotonic() - worked_at > self._patience_s:
                    mistake = f"no answer from the service for {self._patience_s:g} s"
                    raise InputError(mistake, expected="a running service", fix="start it again, or try later")
                time.sleep(next(self._pauses, _PAUSES_S[-1]))
                connection = self._connect(self._patience_s)
                with self._changed:
                    self._connection = connection
                    self._n_sent = 0  # all messages since the last state are sent again
                self._n_repeated = self._n_words
                if self._state is not None:
                    # the words after the state are decided and sent once more
                    self._n_repeated -= self._state["state"]["n_committed"]
                    with suppress(ConnectionClosed):  # `_receive` notices it
                        connection.send(json.dumps({name: self._state[name] for name in ("state", "n_chars")}))
        except Exception as error:
            self._error = error
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def _receive(self) -> bool:
        """Send messages and receive events until the stream or the connection ends; return whether any event came."""
        connection = self._connection
        has_events = False
        # messages of this connection that the last state includes; the state that was sent first counts as one
        n_included = int(self._state is not None)
        threading.Thread(target=self._send, args=(connection,), daemon=True).start()
        with suppress(ConnectionClosed):
            for text in connection:
                event = json.loads(text)
                has_events = True
                if "state" in event:
                    n_forgotten = event["n_messages"] - n_included
                    with self._changed:
                        for _ in range(n_forgotten):
                            self._messages.popleft()
                        self._n_sent -= n_forgotten
                        self._state = event
                        self._changed.notify_all()
                    n_included = event["n_messages"]
                elif "end" in event:
                    self._is_over = True
                elif "warning" in event:
                    if event["warning"] not in self._warnings:
                        self._on_event(event)
                    self._warnings.add(event["warning"])
                elif self._n_repeated:  # `on_event` has it
                    if "provisional" not in event:
                        self._n_repeated -= 1
                else:
                    if "provisional" not in event:
                        self._n_words += 1
                    self._on_event(event)
        if connection.close_code in _REFUSED:
            mistake = f"the service refused the stream: {connection.close_reason or 'it gives no reason'}"
            raise InputError(mistake, expected="words and options that it accepts", fix="check them")
        return has_events

    def _send(self, connection: ClientConnection) -> None:
        """Send messages on a connection, in order, as long as it is the stream's."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._n_sent < len(self._messages) or self._is_over, 1.0)
                if self._is_over or connection is not self._connection:
                    return
                if self._n_sent >= len(self._messages):
                    continue
                message = self._messages[self._n_sent]
                self._n_sent += 1
            try:
                connection.send(message)
            except ConnectionClosed:
                return

    def _connect(self, tries_s: float) -> ClientConnection:
        """Return a connection; try for so many seconds, at least once.  Raises InputError if there is none."""
        ends = time.monotonic() + tries_s
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else None
        while True:
            try:
                return connect(self._address, additional_headers=headers, subprotocols=[SUBPROTOCOL])  # type: ignore[list-item]
            except (OSError, InvalidHandshake, InvalidURI, ConnectionClosed, TimeoutError) as error:
                if time.monotonic() >= ends:
                    raise InputError(
                        f"no service at {self._address.partition('?')[0]} ({error})",
                        expected="one that was started by `t5punct serve`",
                        fix="check --server, and its token in T5PUNCT_TOKEN",
                    ) from None
            time.sleep(next(self._pauses, _PAUSES_S[-1]))
