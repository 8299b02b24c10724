"""The server: it is ready when the model is loaded, and ends in order.

In: how a punctuator is loaded, the options of the service, and where to listen.  Out: nothing; it runs until it is told
to end.

On SIGTERM or SIGINT new work is refused, texts under way are answered, and streams get their last words.  The same
signal once more, or `ending_s` seconds, ends what is left.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from types import FrameType

import uvicorn

from ..errors import ConfigError
from ..options import ModelOptions
from ..punctuator import Punctuator
from .app import Service, make_app
from .config import ServeConfig
from .engine import Engine


class Server(uvicorn.Server):
    """uvicorn's server, which first lets the service end what is under way."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._n_signals = 0
        self._ends_at = math.inf

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal; at the second one, end at once."""
        self._n_signals += 1
        if self._n_signals > 1:
            self.force_exit = self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Return whether the server ends now, ten times a second."""
        now = time.monotonic()
        if self._n_signals and not self._service.stopping.is_set():
            self._service.stopping.set()
            self._ends_at = now + self._service.config.ending_s
        elif self._n_signals and (self._service.is_idle or now >= self._ends_at):
            self.should_exit = True
        return await super().on_tick(counter)


def listen(config: ServeConfig) -> socket.socket:
    """Return a socket that listens; to be called before a model is loaded.  Raises ConfigError if it cannot."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.port))
        listening.listen(1024)
    except (OSError, UnicodeError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"{config.host}:{config.port}: {reason}", expected="an address that is free", fix="set --port or --host"
        ) from None
    return listening


def serve(
    listening: socket.socket,
    config: ServeConfig,
    load: Callable[[], Punctuator],
    options: ModelOptions,
    on_ready: Callable[[str], None],
) -> None:
    """Load the model and serve until a signal comes; `on_ready` is told the address."""
    service = Service(Engine(load()), options, config)
    host, port = listening.getsockname()[:2]
    own = uvicorn.Config(
        make_app(service),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws_max_size=config.max_message_bytes,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=max(1, round(config.ending_s)),
    )
    on_ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    try:
        Server(own, service).run(sockets=[listening])
    finally:
        service.engine.close()
        listening.close()
