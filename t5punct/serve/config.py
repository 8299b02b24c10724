"""Where the service listens, and what it allows.

In: values of the command line.  Out: a `ServeConfig`, checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Annotated

from ..config import check, check_range

_LARGEST_PORT = 65_535
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # names of what a user may ask for


@dataclass(frozen=True)
class Limits:
    """How much of the service clients may take."""

    max_body_bytes: Annotated[int, "How many bytes a request may hold."] = 16_000_000
    max_words: Annotated[int, "How many words a request's text may hold."] = 200_000
    max_waiting_words: Annotated[
        int, "How many words of all requests may wait; while there are more, others are refused with status 503."
    ] = 400_000
    max_streams: Annotated[int, "How many streams may be open at the same time."] = 200
    max_message_bytes: Annotated[int, "How many bytes a message of a stream may hold."] = 64_000
    idle_s: Annotated[float, "End a stream after this many seconds without a word."] = 300.0
    ending_s: Annotated[
        float, "When the service is stopped: how many seconds requests that have begun may still take."
    ] = 20.0

    def __post_init__(self) -> None:
        check_range(self, "", 1, *(limit.name for limit in fields(Limits) if limit.name.startswith("max_")))
        for name, value in {"idle_s": self.idle_s, "ending_s": self.ending_s}.items():
            check(0 < value < math.inf, f"{name} {value}", expected="seconds, more than 0", fix=f"set {name}")


@dataclass(frozen=True)
class ServeConfig(Limits):
    """Where the service listens, who may use it, and how much of it."""

    host: str = "127.0.0.1"
    port: int = 8008  # 0: a free one, which the log names
    token: str | None = None  # requests must bring it, but for `/` and `/healthz`; None: none is asked for
    hosts: tuple[str, ...] = ()  # names by which it may be called, beside its own address
    origins: tuple[str, ...] = ()  # other sites whose pages may use it

    def __post_init__(self) -> None:
        super().__post_init__()
        is_port = 0 <= self.port <= _LARGEST_PORT
        check(is_port, f"port {self.port}", expected=f"0 to {_LARGEST_PORT}", fix="set --port")
        is_token = self.token is None or (self.token.isascii() and self.token.isprintable() and self.token.strip())
        check(is_token, "an empty token, or one with odd characters", expected="ascii", fix="choose another")

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The names by which a request may call the service, in small letters."""
        own = f"[{self.host}]" if ":" in self.host else self.host  # as a request writes it
        names = (*_LOCAL, *self.hosts) if self.host in _EVERYWHERE else (*_LOCAL, own, *self.hosts)
        return tuple(name.lower() for name in names)
