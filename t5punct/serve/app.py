"""The addresses of the service, and the server, which is ready when the model is loaded, and ends in order.

In: how a punctuator is loaded, and what the service allows.  Out: an application, or nothing: `serve` runs until it is
told to end.  On SIGTERM or SIGINT new work is refused, texts under way are answered, and streams get their last words.
A second signal, or `ending_s` seconds, ends what is left.
"""

from __future__ import annotations

import asyncio
import math
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from itertools import chain
from types import FrameType
from typing import Any

import uvicorn
from fastapi import Depends, FastAPI, Request, WebSocket
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from pydantic import BaseModel
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

from .. import __version__
from ..errors import ConfigError, T5PunctError
from ..options import ServiceOptions
from ..punctuator import Punctuator
from .engine import Engine
from .guard import REFUSALS, SUBPROTOCOL, Access, Guard, refusal
from .live import BUSY, RESTARTING, LiveStream, Watchers, close, refuse
from .page import page, reference_page
from .requests import TEXT_FIELDS, FieldError, as_client_reads, stream_request, text_request
from .texts import FORMAT_OF_TYPE, WRITTEN_TYPES, Body, TooLongError, answer_of, with_json_texts

WARNING_HEADER = "T5punct-Warning"
_STATUSES: dict[type[T5PunctError], HTTPStatus] = {
    TooLongError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    FieldError: HTTPStatus.UNPROCESSABLE_ENTITY,
}
_URLENCODED = "application/x-www-form-urlencoded"
_MOST_FIELDS = 100  # of a form: more than there are
_WAITING_CONNECTIONS = 1024  # which the system holds until the server takes them
_IDLE_CONNECTION_S = 30
_STREAM_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_TEXT_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)


class Metrics:
    """The counts and latencies of one service, for Prometheus; seconds are those of a wall clock."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("t5punct_requests", "Requests, by their status.", ["status"], registry=registry)
        self.text_words = Counter("t5punct_text_words", "Words of texts that were punctuated.", registry=registry)
        self.text_seconds = Histogram(
            "t5punct_text_seconds", "From a request to its last word.", buckets=_TEXT_SECONDS, registry=registry
        )
        self.waiting_words = Gauge("t5punct_waiting_words", "Words of texts not decided yet.", registry=registry)
        self.streams = Gauge("t5punct_streams", "Streams that are open.", registry=registry)
        self.streams_opened = Counter("t5punct_streams_opened", "Streams that were opened.", registry=registry)
        self.stream_words = Counter("t5punct_stream_words", "Words of streams.", registry=registry)
        self.stream_seconds = Histogram(
            "t5punct_stream_seconds",
            "From a message to the words that became final by it.",
            buckets=_STREAM_SECONDS,
            registry=registry,
        )

    def count_step(self, n_words: int, seconds: float) -> None:
        """Count a step of a stream, which brought some words and took so long."""
        self.stream_words.inc(n_words)
        self.stream_seconds.observe(seconds)


@dataclass
class Service:
    """What the addresses share: the model, limits, counts, and whether the service is ending."""

    engine: Engine
    options: ServiceOptions  # what a request cannot choose
    access: Access
    metrics: Metrics = field(default_factory=Metrics)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)  # set at the first signal
    watchers: Watchers = field(default_factory=Watchers)
    n_open: dict[str, int] = field(default_factory=lambda: {"streams": 0, "watchers": 0, "texts": 0})

    @contextmanager
    def count_one(self, kind: str) -> Iterator[None]:
        """Count one more of a kind in `n_open` while a block runs."""
        self.n_open[kind] += 1
        try:
            yield
        finally:
            self.n_open[kind] -= 1


def make_app(service: Service) -> FastAPI:
    """Return the application: its addresses, behind what refuses requests."""
    app = FastAPI(
        title="t5punct",
        version=__version__,
        description="Punctuation and capitals for speech transcripts; no word is changed.",
        docs_url=None,  # those pages load scripts of other sites; ours is `reference_page`
        redoc_url=None,
    )
    access = service.access
    max_body_bytes = service.options.max_body_bytes
    # the middleware that is added last sees a request first
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=max_body_bytes)
    app.add_middleware(Guard, access=access, max_body_bytes=max_body_bytes)
    if access.origins:  # lets the pages of these sites send a token, and read the answers
        app.add_middleware(
            CORSMiddleware,
            allow_origins=access.origins,
            allow_headers=["*"],
            allow_methods=["*"],
            expose_headers=[WARNING_HEADER],
        )
    app.add_exception_handler(HTTPException, _error_answer)

    async def count_text() -> AsyncIterator[None]:
        with service.count_one("texts"):  # FastAPI leaves it when the answer is sent, or the client has gone
            yield

    # with a slash, too: a redirect has no text, and curl does not follow it
    @app.post("/v1/punctuate/", dependencies=[Depends(count_text)], include_in_schema=False)
    @app.post(
        "/v1/punctuate",
        dependencies=[Depends(count_text)],
        openapi_extra=_punctuate_schema(),
        response_class=Response,
        responses={status: {"model": _Refused, "description": text} for status, text in _ERRORS.items()},
    )
    async def punctuate(request: Request) -> Response:
        """Put marks and capitals into a text or a file; the answer is what `t5punct punctuate` would write."""
        try:
            response = await _punctuate(request, service)
        except (T5PunctError, HTTPException, ClientDisconnect) as error:
            response = await _error_answer(request, error)
        service.metrics.requests.labels(str(response.status_code)).inc()
        return response

    _add_streams(app, service)
    _add_pages(app, service)
    return app


async def _punctuate(request: Request, service: Service) -> Response:
    """Return the answer to a text, once its first piece is decided; the others are sent as they are decided."""
    started = time.monotonic()
    if service.stopping.is_set() or service.engine.n_waiting_words >= service.options.max_waiting_words:
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE)
    body, values = await _read(request)
    text_settings = text_request(values, service.options)
    # in other threads, as both wait for the model
    answer = await run_in_threadpool(answer_of, body, text_settings, service.engine, service.options.max_words)
    first = await run_in_threadpool(next, answer.pieces, "")  # an error until here still sets the status
    service.metrics.text_words.inc(answer.n_words)

    def encoded() -> Iterator[bytes]:
        for piece in chain([first], answer.pieces):
            yield piece.encode(errors="backslashreplace")
        service.metrics.text_seconds.observe(time.monotonic() - started)

    headers = {WARNING_HEADER: "; ".join(answer.warnings)} if answer.warnings else None
    return StreamingResponse(iterate_in_threadpool(encoded()), headers=headers, media_type=answer.content_type)


async def _read(request: Request) -> tuple[Body, dict[str, Any]]:
    """Return the body and the fields of a request.  Raises FieldError for a form without a file or a text."""
    values: dict[str, Any] = dict(request.query_params)
    content_type = request.headers.get("content-type", "text/plain")
    # `curl -d` calls any text so: it is a form only if it begins as one
    is_form = content_type.startswith(_URLENCODED) and (await request.body()).startswith(b"text=")
    if not (is_form or content_type.startswith("multipart/form-data")):
        body = Body(await request.body(), content_type)
        if values.get("format") == "json":  # the body is a file, whatever fields it has
            return body, values
        body, fields = with_json_texts(body, TEXT_FIELDS)
        return body, {**values, **fields}
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as form:
        file = form.get("file")
        text = form.get("text")
        values.update((name, value) for name, value in form.multi_items() if name not in ("file", "text"))
        if isinstance(file, UploadFile):
            return Body(await file.read(), file.content_type or "", file.filename or ""), values
        if isinstance(text, str):
            return Body(text.encode(errors="surrogatepass")), values
    raise FieldError("a form without a file or a text", expected="one of them", fix="add file or text")


async def _error_answer(request: Request, error: Exception) -> Response:
    """Return the answer to a request that raised an error.  An unexpected error is raised again, for the log."""
    match error:
        case T5PunctError():
            status = _STATUSES.get(type(error), HTTPStatus.BAD_REQUEST)
            return refusal(status, **as_client_reads(error))
        case HTTPException(status_code=status) if status in REFUSALS:
            return refusal(status)
        case HTTPException():
            found_text = f"{request.method} {request.url.path}: {error.detail}"
            answer = refusal(error.status_code, found_text, "a request that /openapi.json describes", "see there")
            answer.headers.update(error.headers or {})
            return answer
        case ClientDisconnect():  # before its body was whole; nobody hears the answer
            return Response(status_code=HTTPStatus.BAD_REQUEST)
        case _:
            raise error


def _add_streams(app: FastAPI, service: Service) -> None:
    @app.websocket("/v1/stream")
    async def stream(connection: WebSocket) -> None:
        if not await _accept(connection, "streams", service):
            return
        service.metrics.streams_opened.inc()
        with service.count_one("streams"):
            try:
                settings, fields = stream_request(dict(connection.query_params), service.options)
                await run_in_threadpool(service.engine.streams, settings)  # raises for settings that cannot be
                on_event = partial(service.watchers.publish, fields.show) if fields.show else None
                idle_s = service.options.idle_s
                on_step = service.metrics.count_step
                live_stream = LiveStream(connection, service.engine, settings, fields, idle_s, on_step, on_event)
                await live_stream.run(service.stopping)
            except T5PunctError as error:
                await refuse(connection, error)

    @app.websocket("/v1/watch")
    async def watch(connection: WebSocket) -> None:
        """Send the events of the stream that `?show=NAME` names, until the watcher leaves or the service ends."""
        if not await _accept(connection, "watchers", service):
            return
        with service.count_one("watchers"):
            await service.watchers.watch(connection, connection.query_params.get("show", ""), service.stopping)
            await close(connection, RESTARTING, "the service is ending")


async def _accept(connection: WebSocket, kind: str, service: Service) -> bool:
    """Accept a connection; close it again and return False if those of its kind that are open leave no room."""
    n_open = service.n_open[kind]
    protocols = connection.headers.get("sec-websocket-protocol", "")
    await connection.accept(SUBPROTOCOL if SUBPROTOCOL in protocols.split(",")[0] else None)
    if service.stopping.is_set() or n_open >= service.options.max_streams:
        await close(connection, BUSY, f"{n_open} streams are open, or the service is ending")
        return False
    return True


def _add_pages(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", responses={503: {"description": "The service is ending, or its model's thread is dead."}})
    async def healthz() -> JSONResponse:
        """Return whether the service can work."""
        is_well = service.engine.is_alive and not service.stopping.is_set()
        status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"ok": is_well, "version": __version__, "model": service.engine.model.name}, status)

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Return counts and latencies in Prometheus' text format."""
        service.metrics.streams.set(service.n_open["streams"])
        service.metrics.waiting_words.set(service.engine.n_waiting_words)
        return Response(generate_latest(service.metrics.registry), media_type="text/plain; version=0.0.4")

    @app.get("/docs", response_class=HTMLResponse)
    async def docs() -> HTMLResponse:
        """Return the addresses of the service, in words."""
        return reference_page(app.openapi())

    @app.get("/", response_class=HTMLResponse)
    async def show() -> HTMLResponse:
        """Return the page: punctuate a text, or see live captions."""
        return page()


class _Refused(BaseModel):
    """What a client gets where its request is not served: `found`, `expected` and `fix`."""

    error: dict[str, str]


_ERRORS = {
    400: "A body that cannot be read, or fields that do not agree.",
    401: "No token, or a wrong one.",
    403: "A page of another site.",
    413: "More bytes or words than the service takes.",
    421: "A name that the service does not have.",
    422: "A field that is unknown or has no such value.",
    503: "More work than the service takes; Retry-After says when to come again.",
}
_WARNING = (
    "That the model does not know the language of the text.  Answers to `text` and `texts` of json have `warnings`, "
    "too."
)
_STRING: dict[str, Any] = {"schema": {"type": "string"}}


def _punctuate_schema() -> dict[str, Any]:
    """Return the part of /openapi.json about texts, as raw bodies or forms."""
    form = {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "binary", "description": "A transcript; its name tells its format."},
            "text": {"type": "string", "description": "Or a text."},
            **TEXT_FIELDS,
        },
        "anyOf": [{"required": ["file"]}, {"required": ["text"]}],
    }
    bodies = {
        **dict.fromkeys(FORMAT_OF_TYPE, _STRING),
        "text/plain": {**_STRING, "example": "how are you today"},
        "application/json": {"schema": {}, "example": {"texts": ["how are you", "so what"], "style": "talk"}},
        "multipart/form-data": {"schema": form, "example": {"text": "how are you today", "to": "json"}},
    }
    answers = {
        **dict.fromkeys(sorted(WRITTEN_TYPES), _STRING),
        "text/plain": {**_STRING, "example": "How are you today?"},
        "application/json": {"schema": {}},
    }
    answer = {
        "description": "The same with marks and capitals, as `t5punct punctuate` writes it.",
        "content": answers,
        "headers": {WARNING_HEADER: {**_STRING, "description": _WARNING}},
    }
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "schema": schema, "description": schema["description"]}
            for name, schema in TEXT_FIELDS.items()
        ],
        "requestBody": {"required": True, "content": bodies},
        "responses": {"200": answer},
    }


class Server(uvicorn.Server):
    """uvicorn's server.  At a signal it refuses new work, and ends once the service has finished what was begun."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service
        self._n_signals = 0
        self._ends_at = math.inf

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Count a signal, for `on_tick`; end at once at the second one, of whatever kind."""
        self._n_signals += 1
        if self._n_signals > 1:
            self.force_exit = self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Return whether the server ends now; uvicorn calls this ten times a second."""
        if self._n_signals:
            now = time.monotonic()
            is_idle = not self.service.n_open["streams"] and not self.service.n_open["texts"]
            if not self.service.stopping.is_set():  # the first call after the signal
                self.service.stopping.set()
                self._ends_at = now + self.service.options.ending_s
            elif is_idle or now >= self._ends_at:
                self.should_exit = True
        return await super().on_tick(counter)


def listen(access: Access) -> socket.socket:
    """Return a socket that listens.  Raises ConfigError if the address cannot be used: call this before loading."""
    family = socket.AF_INET6 if ":" in access.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((access.host, access.port))
        listening.listen(_WAITING_CONNECTIONS)
    except (OSError, UnicodeError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        mistake = f"{access.host}:{access.port}: {reason}"
        raise ConfigError(mistake, expected="an address that is free", fix="set --port or --host") from None
    return listening


def serve(
    listening: socket.socket,
    access: Access,
    options: ServiceOptions,
    load: Callable[[], Punctuator],
    on_ready: Callable[[str], None],
) -> None:
    """Load the model and serve until a signal comes.  on_ready: called with the address when the model is loaded."""
    service = Service(Engine(load()), options, access)
    host, port = listening.getsockname()[:2]
    server_config = uvicorn.Config(
        make_app(service),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws_max_size=options.max_message_bytes,
        timeout_keep_alive=_IDLE_CONNECTION_S,
        timeout_graceful_shutdown=max(1, round(options.ending_s)),
    )
    name = f"[{host}]" if ":" in host else host  # as IPv6 is written in addresses
    on_ready(f"http://{name}:{port}")
    try:
        Server(server_config, service).run(sockets=[listening])
    finally:
        service.engine.close()
        listening.close()
