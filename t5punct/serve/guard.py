"""Refuse requests before anything else sees them: foreign names and pages, missing tokens.

In: an ASGI application, and who may use it.  Out: an application that answers such requests itself.

- A request that calls the service by an unknown name comes from a page that was led here (DNS rebinding).
- A page of another site may not use the service unless it is named: browsers let any page open a WebSocket.
- A token is compared in constant time.  Browsers cannot send one with a WebSocket, so there it may be a subprotocol,
  `bearer.TOKEN`, beside `t5punct`.

Starlette's own middleware for names and long bodies answers in plain text, and clients are promised json; it counts the
bytes of bodies without a length.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from ..config import check

SUBPROTOCOL = "t5punct"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # where a user may let it listen; no request may call it so
_TOKEN_PROTOCOL = "bearer."  # noqa: S105  # what stands before a token
# need no token: health checks; the page, which asks the user for the token; the reference
_OPEN_PATHS = ("/healthz", "/", "/docs")
REFUSALS = {  # what was found, what was expected, and how to fix it
    HTTPStatus.UNAUTHORIZED: ("no token, or a wrong one", "Authorization: Bearer TOKEN", "send the service's token"),
    HTTPStatus.FORBIDDEN: (
        "a page of another site",
        "its own page, or a site that it knows",
        "start the service with --allow-origin ADDRESS",
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("a body that is too large", "at most max_body_bytes", "send it in parts"),
    HTTPStatus.MISDIRECTED_REQUEST: (
        "a name that the service does not have",
        "its own address or name",
        "start it with --allow-host NAME",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: ("a busy service, or one that is ending", "room for the work", "try again later"),
}
_HEADERS = {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "Bearer"},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "2"},
}


def refusal(status: int, found: str = "", expected: str = "", fix: str = "") -> JSONResponse:
    """Return an error as clients get it; without `found`, the words of `REFUSALS` for this status."""
    status = HTTPStatus(status)
    names = ("found", "expected", "fix")
    texts = (found, expected, fix) if found else REFUSALS[status]
    return JSONResponse({"error": dict(zip(names, texts, strict=True))}, status, _HEADERS.get(status))


@dataclass(frozen=True)
class Access:
    """Where the service listens, and who may use it."""

    host: str = "127.0.0.1"
    port: int = 8008  # 0: a free one, which the log names
    token: str | None = None  # requests must bring it, but for `/`, `/docs` and `/healthz`; None: none is asked for
    hosts: tuple[str, ...] = ()  # names by which it may be called, beside its own address
    origins: tuple[str, ...] = ()  # other sites whose pages may use it

    def __post_init__(self) -> None:
        is_token = self.token is None or (self.token.isascii() and self.token.isprintable() and self.token.strip())
        check(is_token, "an empty token, or one with odd characters", expected="ascii", fix="choose another")


class Guard:
    """Middleware that hands on to an application only the requests that it may serve."""

    def __init__(self, app: ASGIApp, access: Access, max_body_bytes: int) -> None:
        self._app = app
        self._access = access
        own_host = f"[{access.host}]" if ":" in access.host else access.host  # as a request writes it
        names = (*_LOCAL, *access.hosts) if access.host in _EVERYWHERE else (*_LOCAL, own_host, *access.hosts)
        self._hosts = {name.lower() for name in names}
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on."""
        status = self._refusal_status(scope) if scope["type"] in ("http", "websocket") else None
        if status is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":  # closed before it is accepted: the client gets a 403
            await WebSocketClose(1008, REFUSALS[status][0])(scope, receive, send)
        else:
            await refusal(status)(scope, receive, send)

    def _refusal_status(self, scope: Scope) -> HTTPStatus | None:
        """Return the status with which a request is refused; None if it may be served."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name, _, port = host.rpartition(":")
        name = name if port.isdecimal() else host  # `[::1]` has no port
        if name.lower() not in self._hosts:
            return HTTPStatus.MISDIRECTED_REQUEST
        origin = headers.get("origin")  # of the page that sends it; None: no page does
        if origin is not None and origin not in self._access.origins and urlsplit(origin).netloc != host:
            return HTTPStatus.FORBIDDEN
        length = headers.get("content-length", "0")
        # Python refuses to read numbers of thousands of digits; the first twenty are too large as well
        if length.isdecimal() and int(length[:20]) > self._max_body_bytes:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        if self._access.token is None or scope["path"] in _OPEN_PATHS:
            return None
        kind, _, token = headers.get("authorization", "").partition(" ")
        tokens = [token] if kind.lower() == "bearer" else []
        protocols = headers.get("sec-websocket-protocol", "").split(",")
        tokens += [name.strip().removeprefix(_TOKEN_PROTOCOL) for name in protocols if _TOKEN_PROTOCOL in name]
        wanted = self._access.token.encode()
        n_right = sum(hmac.compare_digest(token.encode(), wanted) for token in tokens)  # all, in constant time
        return None if n_right else HTTPStatus.UNAUTHORIZED
