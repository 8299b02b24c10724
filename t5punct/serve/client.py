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
_MOST_WAITING = 400  # messages that wait for a state that includes them; then `say` blocks.  A service takes so many
_PAUSE_S = 0.2  # before each try to connect again
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
        self._room = threading.Semaphore(_MOST_WAITING)  # for more of them
        self._sending = threading.Lock()  # so that a new connection gets all messages, in order
        self._n_words = 0  # committed words that `on_event` got
        self._n_repeated = 0  # words that come again on this connection; they are dropped, as `on_event` got them
        self._state: Event | None = None  # the last one that the service has sent
        self._warnings = set[str]()  # `on_event` gets each once, however many connections send it
        self._worked_at = time.monotonic()  # when a connection worked for the last time
        self._is_over = False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="t5punct-server", daemon=True)

    def __enter__(self) -> RemoteStream:
        """Connect.  Raises InputError if there is no service at the address."""
        try:
            self._connection = self._connect()
        except (OSError, InvalidHandshake, InvalidURI, ConnectionClosed) as error:
            raise InputError(
                f"no service at {self._address.partition('?')[0]} ({error})",
                expected="one that was started by `t5punct serve`",
                fix="check --server, and its token in T5PUNCT_TOKEN",
            ) from None
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        """End the stream, and wait for its last words.  Raises InputError if the service was lost for good."""
        if kind is None:
            self.say(END)
            self._thread.join()
        self._is_over = True
        self._connection.close()
        if kind is None and self._error is not None:
            raise self._error

    def say(self, message: str) -> None:
        """Send a message; wait while too many are in no state.  Raises InputError once the service is lost for good."""
        self._room.acquire()
        with self._sending:
            if self._error is not None:
                raise self._error
            self._messages.append(message)
            with suppress(ConnectionClosed):  # the next connection gets it
                self._connection.send(message)

    def _run(self) -> None:
        """Receive events, over one connection after the other, until the stream ends or the patience does."""
        try:
            while True:
                self._receive()
                if self._is_over:
                    return
                self._connect_again()
        except Exception as error:
            self._error = error
        finally:
            self._room.release()  # `say`, which may wait, raises the error

    def _receive(self) -> None:
        """Receive events until the stream or the connection ends.  Raises InputError if the service refuses it."""
        began_at = time.monotonic()
        has_events = False
        # how many messages of this connection the last state includes; a state that was sent first counts as one
        n_included = int(self._state is not None)
        with suppress(ConnectionClosed):
            for text in self._connection:
                event = json.loads(text)
                has_events = True
                if "state" in event:
                    self._state = event
                    for _ in range(event["n_messages"] - n_included):  # these need never be sent again
                        self._messages.popleft()
                        self._room.release()
                    n_included = event["n_messages"]
                elif "end" in event:
                    self._is_over = True
                elif "error" in event:
                    refused = event["error"]
                    mistake = f"the service refused the stream: {refused['found']}"
                    raise InputError(mistake, expected=refused["expected"], fix=refused["fix"])
                elif "warning" in event:
                    if event["warning"] not in self._warnings:
                        self._on_event(event)
                    self._warnings.add(event["warning"])
                else:  # a committed word, or words as they look now
                    n_words = 0 if "provisional" in event else 1
                    if self._n_repeated:  # `on_event` got it over an earlier connection
                        self._n_repeated -= n_words
                    else:
                        self._n_words += n_words
                        self._on_event(event)
        lasted_s = time.monotonic() - began_at
        if has_events or lasted_s > self._patience_s:  # over a connection that works, a silence has no events
            self._worked_at = time.monotonic()
        if self._connection.close_code in _REFUSED:
            mistake = f"the service refused the stream: {self._connection.close_reason or 'it gives no reason'}"
            raise InputError(mistake, expected="words and options that it accepts", fix="check them")

    def _connect_again(self) -> None:
        """Connect anew, and send the last state and the messages since.  Raises InputError if the patience ends."""
        while True:
            if time.monotonic() - self._worked_at > self._patience_s:
                mistake = f"no answer from the service for {self._patience_s:g} s"
                raise InputError(mistake, expected="a running service", fix="start it again, or try later")
            time.sleep(_PAUSE_S)
            with suppress(OSError, InvalidHandshake, ConnectionClosed):
                connection = self._connect()
                break
        self._n_repeated = self._n_words
        with self._sending, suppress(ConnectionClosed):  # `_receive` notices it
            self._connection = connection
            if self._state is not None:
                self._n_repeated -= self._state["state"]["n_committed"]  # words before the state come no more
                connection.send(json.dumps({name: self._state[name] for name in ("state", "n_chars")}))
            for message in self._messages:
                connection.send(message)

    def _connect(self) -> ClientConnection:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else None
        return connect(self._address, additional_headers=headers, subprotocols=[SUBPROTOCOL])  # type: ignore[list-item]
