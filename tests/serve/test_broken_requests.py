"""Bytes that are no request, or half of one: no traceback in the log, and the service goes on."""

import http.client
import logging
import socket
from collections.abc import Iterator

import pytest
from services import server

from t5punct.serve.engine import Engine

POST = b"POST /v1/punctuate HTTP/1.1\r\nHost: 127.0.0.1\r\n"
ELSEWHERE = b"POST / HTTP/1.1\r\nHost: evil.example\r\n"
FORM = POST + b"Content-Type: multipart/form-data; boundary=x\r\n"
STREAM = b"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
BROKEN = {
    "no http": b"\x00\xff\r\n\r\n",
    "another host, and a body that is no chunk": ELSEWHERE + b"Transfer-Encoding: chunked\r\n\r\nhow\r\nare\r\n",
    "a body that is no chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nhow\r\nare you\r\n",
    "more than its length": POST + b"Content-Length: 3\r\n\r\nhow are you",
    "less than its length": POST + b"Content-Length: 70\r\n\r\nhow are you",
    "a negative length": POST + b"Content-Length: -1\r\n\r\nhow",
    "a form without an end": POST
    + b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9\r\n\r\n--x\r\nhow",
    "a stream without a key": STREAM + b"Connection: Upgrade\r\n\r\n",
    "half a header": b"POST /v1/punctuate HTTP/1.1\r\nHo",
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
