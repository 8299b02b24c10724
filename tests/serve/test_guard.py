"""Who may not use the service does not reach it; bytes that are no request, or half of one, are no error of its own."""

import http.client
import logging
import socket
from collections.abc import Iterator

import pytest
from services import client, server
from starlette.websockets import WebSocketDisconnect

from t5punct.errors import ConfigError
from t5punct.options import ServiceOptions
from t5punct.serve.engine import Engine
from t5punct.serve.guard import Access

TOKEN = "correct-horse"  # noqa: S105  # of these tests
STREAM = "ws://127.0.0.1:8008/v1/stream"  # a test client has another name
SAID = {"found", "expected", "fix"}  # of every refusal


@pytest.mark.parametrize(("host", "status"), [
    ("127.0.0.1:8008", 200), ("localhost", 200), ("[::1]:8008", 200), ("evil.example", 421),
    ("127.0.0.1.evil.example", 421), ("", 421),
])  # fmt: skip
def test_only_known_names_call_it(engine: Engine, host: str, status: int) -> None:
    with client(engine) as served:
        answer = served.get("/healthz", headers={"host": host})
    assert answer.status_code == status
    assert status == 200 or answer.json()["error"].keys() == SAID


@pytest.mark.parametrize(("origin", "status"), [
    (None, 200), ("http://127.0.0.1:8008", 200), ("https://good.example", 200), ("https://evil.example", 403),
    ("null", 403),
])  # fmt: skip
def test_pages_of_other_sites_may_not_use_it(engine: Engine, origin: str | None, status: int) -> None:
    headers = {"origin": origin} if origin else {}
    with client(engine, Access(origins=("https://good.example",))) as served:
        answer = served.post("/v1/punctuate", content=b"so", headers=headers)
        assert answer.status_code == status
        assert status == 200 or answer.json()["error"].keys() == SAID
        if status == 200:
            with served.websocket_connect(STREAM, headers=headers) as socket:
                socket.send_text('{"end": true}')
                assert "end" in socket.receive_json()
        else:
            with pytest.raises(WebSocketDisconnect), served.websocket_connect(STREAM, headers=headers):
                pass


def test_a_token_is_asked_for_which_a_page_of_a_known_site_can_send(engine: Engine) -> None:
    with client(engine, Access(token=TOKEN)) as served:
        for path in ("/metrics", "/openapi.json", "/v1/punctuate", "/nothing"):
            assert served.get(path).status_code == 401
            assert served.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code != 401
        assert served.get("/healthz").status_code == served.get("/").status_code == 200
        for wrong in ("Bearer wrong", "Basic correct-horse", f"Bearer {TOKEN}x", "Bearer"):
            assert served.post("/v1/punctuate", content=b"so", headers={"authorization": wrong}).status_code == 401
        with pytest.raises(WebSocketDisconnect), served.websocket_connect(STREAM):
            pass
        with served.websocket_connect(STREAM, subprotocols=["t5punct", f"bearer.{TOKEN}"]) as socket:
            assert socket.accepted_subprotocol == "t5punct"
    origin = "https://good.example"
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    with client(engine, Access(origins=(origin,), token=TOKEN)) as served:
        preflight = served.options("/v1/punctuate", headers={"origin": origin, **asked})
        headers = {"origin": origin, "authorization": f"Bearer {TOKEN}"}
        answer = served.post("/v1/punctuate", content=b"so", headers=headers)
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    assert answer.headers["access-control-allow-origin"] == origin


def test_a_config_that_cannot_be_is_said() -> None:
    for values in ({"max_words": 0}, {"idle_s": 0.0}):
        with pytest.raises(ConfigError):
            ServiceOptions(**values)
    with pytest.raises(ConfigError):
        Access(token=" ")


POST = b"POST /v1/punctuate HTTP/1.1\r\nHost: 127.0.0.1\r\n"
ELSEWHERE = b"POST / HTTP/1.1\r\nHost: evil.example\r\n"
UPGRADE = b"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
BROKEN = {
    "another host, and a body that is no chunk": ELSEWHERE + b"Transfer-Encoding: chunked\r\n\r\nhow\r\nare\r\n",
    "a body that is no chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nhow\r\nare you\r\n",
    "less than its length": POST + b"Content-Length: 70\r\n\r\nhow are you",
    "a form without an end": POST
    + b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9\r\n\r\n--x\r\nhow",
    "a stream without a key": UPGRADE + b"Connection: Upgrade\r\n\r\n",
}


@pytest.fixture(scope="module")
def address(engine: Engine) -> Iterator[tuple[str, int]]:
    with server(engine) as (name, _):
        host, _, port = name.partition(":")
        yield host, int(port)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_request_is_no_error(address: tuple[str, int], name: str, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(caplog.handler)  # it does not hand its records on
    try:
        with socket.create_connection(address, timeout=120) as connection:
            connection.sendall(BROKEN[name])
            connection.shutdown(socket.SHUT_WR)
            status = connection.recv(64)[9:10]
        asked = http.client.HTTPConnection(*address, timeout=120)
        asked.request("POST", "/v1/punctuate", b"how are you")
        assert asked.getresponse().status == 200
    finally:
        logger.removeHandler(caplog.handler)
    assert status in (b"4", b"2", b""), "the server blames itself"
    assert not [record.exc_info for record in caplog.records if record.exc_info]
