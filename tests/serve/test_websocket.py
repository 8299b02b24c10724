"""`WS /v1/stream`: events are those of `t5punct stream --json`; a stream ends in order, and goes on elsewhere."""

import json
import socket as sockets
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command import pipe_of
from services import FP32, GERMAN, GERMAN_WARNING, client, server
from services import WORDS as LECTURE
from starlette.testclient import TestClient, WebSocketTestSession
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from t5punct.cli import main
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError, InputError
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.serve.client import RemoteStream, stream_address
from t5punct.serve.engine import Engine, one_thread
from t5punct.serve.requests import FLUSH, words_message
from t5punct.streaming import StreamConfig, StreamingPunctuator, Streams, TimedWord
from t5punct.streaming.streams import committed_events

END, WORDS = '{"end": true}', LECTURE[:12]
PATIENCE_S = 120  # an answer takes milliseconds, and on a machine under load much longer


def opened(served: TestClient, query: str = "") -> WebSocketTestSession:
    return served.websocket_connect(f"ws://127.0.0.1:8008/v1/stream{query}")


def events_of(socket: WebSocketTestSession, *messages: str) -> list[dict[str, Any]]:
    """The events of a stream in which some messages are said, to its end."""
    for message in (*messages, END):
        socket.send_text(message)
    return events_to_end(socket)


def events_to_end(socket: WebSocketTestSession) -> list[dict[str, Any]]:
    events = [socket.receive_json()]
    while "end" not in events[-1]:
        events.append(socket.receive_json())
    return events


def events_alone(engine: Engine, config: StreamConfig) -> list[dict[str, Any]]:
    """What `t5punct stream --json` prints of the words; it computes with one thread."""
    live = StreamingPunctuator(Punctuator(engine.model, FP32), config)
    with one_thread():
        return without_times(committed_events([*live.push(WORDS), *live.finish()], 0, 0.0)[0])


def without_times(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "decision_ms": 0.0} for event in events if "text" in event]


@pytest.mark.parametrize(("query", "config"), [
    ("", StreamConfig()), ("?policy=fixed&lookahead=1", StreamConfig(lookahead=1)),
    ("?policy=entropy&threshold=0.2", StreamConfig("entropy", thresholds=[0.2])),
    ("?policy=sentence&after=2", StreamConfig("sentence", after=2)),
])  # fmt: skip
def test_events_are_those_of_the_command(engine: Engine, query: str, config: StreamConfig) -> None:
    with client(engine) as served, opened(served, query) as socket:
        events = events_of(socket, *WORDS)
    assert without_times(events) == events_alone(engine, config)
    assert events[-1] == {"end": {"n_words": len(WORDS), "n_chars": events[-2]["end_char"]}}


def test_times_silences_and_provisional_words(engine: Engine) -> None:
    with client(engine) as served, opened(served, "?lookahead=4&provisional=true") as socket:
        socket.send_text('{"words": [{"word": "so", "start": 0.1, "end": 0.4}, {"word": "we", "start": 0.5}]}')
        assert len(socket.receive_json()["provisional"]) == 2
        socket.send_text('{"flush": true}')
        first, second = socket.receive_json(), socket.receive_json()
        assert (first["start"], first["end"], second["start"]) == (0.1, 0.4, 0.5)
        assert socket.receive_json() == {"provisional": []}


def test_a_stream_goes_on_where_another_was(engine: Engine) -> None:
    with client(engine) as served:
        with opened(served, "?state_every=3") as socket:
            socket.send_text(" ".join(WORDS[:8]))
            events = [socket.receive_json()]
            while "state" not in events[-1]:
                events.append(socket.receive_json())
        saved = events.pop()
        assert saved["n_messages"] == 1
        with opened(served) as socket:
            known = json.dumps({name: saved[name] for name in ("state", "n_chars")})
            events += events_of(socket, known, " ".join(WORDS[8:]))
    assert without_times(events) == events_alone(engine, StreamConfig())


def closed_with(address: str, query: str, *messages: str) -> tuple[int, str]:
    """The code and the reason with which a stream is closed."""
    with connect(f"ws://{address}/v1/stream{query}") as socket, pytest.raises(ConnectionClosed) as closed:
        for message in messages:
            socket.send(message)
        for _ in range(2):
            socket.recv(timeout=PATIENCE_S)
    return closed.value.rcvd.code, closed.value.rcvd.reason


@pytest.mark.parametrize(("query", "message", "says"), [
    ("?policy=dely", "so", "dely"), ("?lookahed=3", "so", "lookahed"), ("", '{"words": [{"start": 1}]}', "message"),
    ("", '{"state": {"words": "x"}}', "message"), ("", "今天天气很好 " * 9, "no spaces between"),
])  # fmt: skip
def test_what_is_wrong_ends_the_stream_with_a_reason(engine: Engine, query: str, message: str, says: str) -> None:
    with server(engine) as (address, _):
        code, reason = closed_with(address, query, message)
    assert code == 1008 and says in reason


def test_a_mistake_is_told_whole_before_the_stream_is_closed(engine: Engine) -> None:
    with client(engine) as served, opened(served) as socket:
        socket.send_text("{laughs} so")  # words
        socket.send_text('{"words": [{"word": 5}]}')
        error = socket.receive_json()["error"]
    assert error["found"].startswith("a message that reads") and error["fix"] == "correct the client"


def test_limits_close_a_stream_with_their_codes(engine: Engine) -> None:
    with server(engine, max_streams=1) as (address, _), connect(f"ws://{address}/v1/stream"):
        assert closed_with(address, "")[0] == 1013, "busy"
    with server(engine, max_message_bytes=1_000, idle_s=0.5) as (address, _):
        assert closed_with(address, "", "s" * 1_001)[0] == 1009, "too large"
        assert closed_with(address, "")[0] == 1001, "idle"


def test_a_service_that_ends_tells_the_last_words(engine: Engine) -> None:
    with server(engine) as (address, run), connect(f"ws://{address}/v1/stream") as socket:
        socket.send(" ".join(WORDS))
        events = [json.loads(socket.recv(timeout=PATIENCE_S))]
        run.handle_exit(15, None)
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                events.append(json.loads(socket.recv(timeout=PATIENCE_S)))
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1012
    assert without_times(events) == events_alone(engine, StreamConfig())
    assert "end" in events[-1]


def test_a_client_that_never_reads_is_held_back_and_keeps_no_other_waiting(engine: Engine) -> None:
    said, is_over, text = threading.Event(), threading.Event(), " ".join(WORDS)
    with server(engine, buffer_bytes=4_096) as (address, _):
        small = sockets.create_connection(address.split(":"))  # type: ignore[arg-type]
        for buffer in (sockets.SO_RCVBUF, sockets.SO_SNDBUF):
            small.setsockopt(sockets.SOL_SOCKET, buffer, 4_096)
        query = "?state_every=1&decoder=tagger"  # states are long
        deaf = connect(f"ws://{address}/v1/stream{query}", max_queue=1, sock=small)

        def say() -> None:
            with suppress(ConnectionClosed):
                while not is_over.is_set():
                    deaf.send(text)
                    said.set()

        threading.Thread(target=say, daemon=True).start()
        try:
            while said.wait(3.0):  # until nothing more can be said
                said.clear()
            with connect(f"ws://{address}/v1/stream") as other:
                other.send(" ".join(WORDS))
                assert "text" in json.loads(other.recv(timeout=PATIENCE_S))
        finally:
            is_over.set()
            with suppress(OSError):  # who answers no ping is closed
                deaf.socket.shutdown(sockets.SHUT_RDWR)


@pytest.mark.parametrize("as_one_message", [True, False])
def test_a_client_that_goes_is_let_go(engine: Engine, monkeypatch: pytest.MonkeyPatch, as_one_message: bool) -> None:
    """The model decides a word when it is told to; the client has gone before the second one."""
    begun, may_go_on, n_steps = threading.Event(), threading.Event(), 0
    push = Streams.push

    def slow(*arguments: Any) -> Any:
        nonlocal n_steps
        n_steps += 1
        begun.set()
        assert may_go_on.wait(20)
        return push(*arguments)

    monkeypatch.setattr(Streams, "push", slow)
    with server(engine) as (address, run):
        socket = connect(f"ws://{address}/v1/stream", close_timeout=20)
        for text in [" ".join(WORDS * 9)] if as_one_message else WORDS * 9:
            socket.send(text)
        assert begun.wait(20)
        socket.close()  # waits for the answer to its close frame
        assert socket.close_code == 1000
        while run.service.n_open["streams"]:
            pass
        assert n_steps == 1, "it is let go while the model is at its first words"
        may_go_on.set()
    assert n_steps == 1, "and no others are decided"


def test_a_stream_with_a_name_can_be_watched(engine: Engine) -> None:
    with client(engine) as served:
        watch = "ws://127.0.0.1:8008/v1/watch?show="
        with served.websocket_connect(f"{watch}talk") as watching, opened(served, "?show=talk") as socket:
            events = events_of(socket, *WORDS[:8])
            assert events_to_end(watching) == events
            with opened(served, "?show=other") as other:
                events_of(other, "so")
            with opened(served, "?show=talk") as again:
                events_of(again)
                assert events_to_end(watching) == [{"end": {"n_words": 0, "n_chars": 0}}], "no event of another name"
            with opened(served, "?show=talk") as cleared:
                cleared.send_text('{"clear": true}')
                assert cleared.receive_json() == watching.receive_json() == {"clear": True}


@pytest.mark.parametrize(("said", "n_warnings"), [(GERMAN, 1), ("how are you and what do you do", 0)])
def test_a_language_that_the_model_does_not_know_is_told(english_engine: Engine, said: str, n_warnings: int) -> None:
    with client(english_engine) as served, opened(served, "?policy=delay") as socket:
        events = events_of(socket, said)
    assert [event for event in events if "warning" in event] == [{"warning": GERMAN_WARNING}] * n_warnings
    assert len(without_times(events)) == len(said.split()) and "end" in events[-1]


# -- `RemoteStream` tells each committed word once, over lost connections and restarted services


ASKED = "lookahead=2&decoder=tagger"  # the fastest: which words come back is what counts here
FP32_TAGGER = PunctuatorConfig(decoding=DecodingConfig("tagger", precision="fp32"))


def alone(engine: Engine) -> list[str]:
    """What an undisturbed stream gives; a silence follows the twentieth word."""
    live = StreamingPunctuator(Punctuator(engine.model, FP32_TAGGER), StreamConfig(lookahead=2))
    steps = (live.push(LECTURE[:20]), live.flush(), live.push(LECTURE[20:]), live.finish())
    return [word.text for step in steps for word in step]


def say(remote: RemoteStream, words: Sequence[str]) -> None:
    for word in words:
        remote.say(words_message([TimedWord(word)]))


def say_all(remote: RemoteStream, cut_after: Collection[int] = ()) -> None:
    for place, word in enumerate(LECTURE):
        if place == 20:
            remote.say(FLUSH)
        say(remote, [word])
        if place in cut_after:
            with suppress(OSError):  # it is cut already
                remote._connection.socket.shutdown(sockets.SHUT_RDWR)


class Texts(list[str]):
    """The texts of events, in order."""

    def __call__(self, event: Mapping[str, Any]) -> None:
        self.append(event["text"])


@pytest.mark.parametrize("cut_after", [(0,), (19, 20, 21, 35, 44)])
def test_a_remote_stream_is_what_one_here_is_over_lost_connections(engine: Engine, cut_after: tuple[int, ...]) -> None:
    texts = Texts()
    with server(engine) as (address, _), RemoteStream(f"ws://{address}/v1/stream?{ASKED}", texts) as remote:
        say_all(remote, cut_after)
    assert texts == alone(engine)


def test_a_service_that_is_started_again_goes_on(engine: Engine) -> None:
    texts = Texts()
    with server(engine) as (address, _):
        port = int(address.rpartition(":")[2])
        remote = RemoteStream(f"ws://{address}/v1/stream?{ASKED}", texts).__enter__()
        say(remote, LECTURE[:20])
        remote.say(FLUSH)
    with server(engine, port):
        say(remote, LECTURE[20:])
        remote.__exit__(None)
    assert texts == alone(engine)


def test_what_cannot_be_is_said_in_one_line(engine: Engine) -> None:
    with pytest.raises(ConfigError, match="server 'here'"):
        stream_address("here", {})
    assert stream_address("https://a.example/v1/stream", {"lookahead": 2}).startswith("wss://a.example/v1/stream?")
    with pytest.raises(InputError, match=r"no service at ws://127\.0\.0\.1:9/v1/stream \("):
        RemoteStream("ws://127.0.0.1:9/v1/stream?a=1", print).__enter__()
    with (
        server(engine) as (address, _),
        pytest.raises(InputError, match=r"refused the stream: .*dely"),
        RemoteStream(f"ws://{address}/v1/stream?policy=dely", print) as remote,
    ):
        say_all(remote)


def test_a_service_that_is_lost_for_good_is_said(engine: Engine) -> None:
    with server(engine) as (address, _):
        remote = RemoteStream(f"ws://{address}/v1/stream", print, patience_s=0.5).__enter__()  # it ends sooner
    with pytest.raises(InputError, match="no answer from the service"):
        say(remote, ["so"])
        remote.__exit__(None)


def test_a_long_silence_is_no_lost_service(engine: Engine) -> None:
    """A service ends a stream in which nothing is said; the client goes on, however often, and loses no word."""
    live, texts = StreamingPunctuator(Punctuator(engine.model, FP32_TAGGER), StreamConfig(lookahead=2)), Texts()
    undisturbed = [word.text for step in (live.push(LECTURE), live.finish()) for word in step]
    with server(engine, idle_s=0.8) as (address, _):
        remote = RemoteStream(f"ws://{address}/v1/stream?{ASKED}", texts, patience_s=0.2).__enter__()
        say(remote, LECTURE[:18])  # they are all in a state, so nothing is said again
        time.sleep(2.0)  # some connections long
        say(remote, LECTURE[18:])
        remote.__exit__(None)
    assert texts == undisturbed


def test_a_long_text_in_a_pipe_goes_in_messages_that_a_service_takes(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words = LECTURE * 6
    with (
        server(engine, max_message_bytes=2_000) as (address, _),
        pipe_of(" ".join(words).encode()) as path,
        Path(path).open() as pipe,
        pytest.raises(SystemExit) as stopped,
    ):
        monkeypatch.setattr(sys, "stdin", pipe)
        main(["stream", "--server", f"ws://{address}", "--decoder", "tagger", "--no-case", "--marks", "?"])
    assert not stopped.value.code
    assert capfd.readouterr().out.replace("?", "").lower().split() == [word.lower() for word in words]
