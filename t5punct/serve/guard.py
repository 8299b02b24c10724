"""What is refused before anything else: foreign names and pages, missing tokens, bodies that are too large.

In: an ASGI application and the service's config.  Out: one that such requests do not reach.

- A request that calls the service by an unknown name comes from a page that was led here (DNS rebinding).
- A page of another site may not use the service unless it is named: browsers let any page open a WebSocket.
- A token is compared in constant time.  Browsers cannot send one with a WebSocket, so there it may be a subprotocol,
  `bearer.TOKEN`, beside `t5punct`.
- A body whose length is said is refused before it is sent; Starlette counts the bytes of others.
"""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from .config import ServeConfig

SUBPROTOCOL = "t5punct"
_TOKEN_PROTOCOL = "bearer."  # noqa: S105  # what stands before a token
# for those who only ask whether it lives; the page, which asks for the token; and what says how to ask
_OPEN_PATHS = ("/healthz", "/", "/docs")


class Guard:
    """An application that is asked only what it may be asked."""

    def __init__(self, app: ASGIApp, config: ServeConfig) -> None:
        self._app = app
        self._config = config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is refused; hand on another."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        status = self._refusal(scope, Headers(scope=scope))
        if status is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":  # which was not accepted: a 403 to the client
            await WebSocketClose(1008, _REFUSALS[status][0])(scope, receive, send)
        else:
            headers = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else None
            await JSONResponse(error_body(*_REFUSALS[status]), status, headers)(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> HTTPStatus | None:
        """Why a request is refused; None: it is not."""
        host = headers.get("host", "")
        name, _, port = host.rpartition(":")
        name = name if port.isdecimal() else host  # `[::1]` has no port
        if name.lower() not in self._config.allowed_hosts:
            return HTTPStatus.MISDIRECTED_REQUEST
        origin = headers.get("origin")  # None: of no page
        if origin is not None and origin not in self._config.origins and urlsplit(origin).netloc != host:
            return HTTPStatus.FORBIDDEN
        if scope["path"] not in _OPEN_PATHS and not self._has_token(headers):
            return HTTPStatus.UNAUTHORIZED
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self._config.max_body_bytes:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return None

    def _has_token(self, headers: Headers) -> bool:
        if self._config.token is None:
            return True
        kind, _, token = headers.get("authorization", "").partition(" ")
        tokens = [token] if kind.lower() == "bearer" else []
        protocols = headers.get("sec-websocket-protocol", "").split(",")
        tokens += [name.strip().removeprefix(_TOKEN_PROTOCOL) for name in protocols if _TOKEN_PROTOCOL in name]
        wanted = self._config.token.encode()
        return sum(hmac.compare_digest(token.encode(), wanted) for token in tokens) > 0  # all are compared


def error_body(found: str, expected: str, fix: str) -> dict[str, Any]:
    """Return an error as clients get it."""
    return {"error": {"found": found, "expected": expected, "fix": fix}}


TOO_LARGE = ("a body that is too large", "at most max_body_bytes", "send it in parts")
_REFUSALS = {
    HTTPStatus.MISDIRECTED_REQUEST: (
        "a name that the service does not have",
        "its own address or name",
        "start it with --allow-host NAME",
    ),
    HTTPStatus.FORBIDDEN: (
        "a page of another site",
        "its own page, or a site that it knows",
        "start the service with --allow-origin ADDRESS",
    ),
    HTTPStatus.UNAUTHORIZED: ("no token, or a wrong one", "Authorization: Bearer TOKEN", "send the service's token"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TOO_LARGE,
}
