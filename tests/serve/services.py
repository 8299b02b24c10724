"""A service over a model, in this process: with a test client, or at an address of its own."""

import socket as sockets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

import uvicorn
from starlette.testclient import TestClient

from t5punct.decoding.inputs import DecodingConfig
from t5punct.options import ServiceOptions
from t5punct.punctuator import PunctuatorConfig
from t5punct.serve.app import Server, Service, listen, make_app
from t5punct.serve.engine import Engine
from t5punct.serve.guard import Access

FP32 = PunctuatorConfig(decoding=DecodingConfig(precision="fp32"))
WORDS = (Path(__file__).parents[1] / "data" / "lecture.txt").read_text(encoding="utf-8").split()[:45]


GERMAN = "wie geht es dir heute und was machst du"
GERMAN_WARNING = (
    "the text seems to be in German, which the model small does not know, so its marks will be poor; "
    "--model multi knows it"
)


def service_of(engine: Engine, access: Access | None = None, **limits: Any) -> Service:
    """A service of an engine, which decides in fp32."""
    return Service(engine, ServiceOptions(precision="fp32", **limits), access or Access())


@contextmanager
def client(engine: Engine, access: Access | None = None, **limits: Any) -> Iterator[TestClient]:
    """A client of a service in this process."""
    with TestClient(make_app(service_of(engine, access, **limits)), base_url="http://127.0.0.1:8008") as served:
        yield served


@contextmanager
def server(engine: Engine, port: int = 0, buffer_bytes: int = 0, **limits: Any) -> Iterator[tuple[str, Server]]:
    """The address of a service in a thread of its own, and its server; buffer_bytes: of its connections, if not 0."""
    service = service_of(engine, Access(port=port), ending_s=100, **limits)  # on a busy machine words take long
    listening = listen(service.access)
    if buffer_bytes:
        listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_SNDBUF, buffer_bytes)
        listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, buffer_bytes)
    max_bytes = service.options.max_message_bytes
    run = Server(uvicorn.Config(make_app(service), log_level="error", ws_max_size=max_bytes), service)
    thread = threading.Thread(target=run.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}", run
    finally:
        run.handle_exit(15, None)
        thread.join(120)
        assert not thread.is_alive()
