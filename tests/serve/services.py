"""A service over a model, in this process: with a test client, or at an address of its own."""

from __future__ import annotations

import socket as sockets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

import uvicorn
from starlette.testclient import TestClient

from t5punct.cli.fields import OptionFields
from t5punct.cli.options import ModelOptions
from t5punct.serve.app import Service, make_app
from t5punct.serve.config import ServeConfig
from t5punct.serve.engine import Engine
from t5punct.serve.run import Server, listen


@contextmanager
def client(engine: Engine, config: ServeConfig | None = None) -> Iterator[TestClient]:
    """A client of a service in this process."""
    service = Service(engine, OptionFields(ModelOptions(precision="fp32")), config or ServeConfig())
    with TestClient(make_app(service), base_url="http://127.0.0.1:8008") as served:
        yield served


@contextmanager
def server(engine: Engine, config: ServeConfig | None = None, buffer_bytes: int = 0) -> Iterator[tuple[str, Server]]:
    """The address of a service in a thread of its own, and its server; buffer_bytes: of its connections, if not 0."""
    config = config or ServeConfig(port=0, ending_s=10)
    listening = listen(config)
    if buffer_bytes:
        listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_SNDBUF, buffer_bytes)
        listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, buffer_bytes)
    service = Service(engine, OptionFields(ModelOptions(precision="fp32")), config)
    run = Server(uvicorn.Config(make_app(service), log_level="error", ws_max_size=config.max_message_bytes), service)
    thread = threading.Thread(target=run.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}", run
    finally:
        run.handle_exit(15, None)
        thread.join(20)
        assert not thread.is_alive()
