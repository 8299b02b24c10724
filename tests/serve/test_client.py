"""`RemoteStream` tells each committed word once, over lost connections and restarted services."""

import socket as sockets
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

import pytest
from services import GERMAN, GERMAN_WARNING, WORDS, server

from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError, InputError
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.serve.client import RemoteStream, stream_address
from t5punct.serve.config import ServeConfig
from t5punct.serve.engine import Engine
from t5punct.serve.requests import FLUSH, words_message
from t5punct.streaming import StreamConfig, StreamingPunctuator, TimedWord

ASKED = "lookahead=2&decoder=tagger"  # the fastest: which words come back is what counts here
FP32_TAGGER = PunctuatorConfig(decoding=DecodingConfig("tagger", precision="fp32"))


def alone(engine: Engine) -> list[str]:
    """What an undisturbed stream gives; a silence follows the twentieth word."""
    live = StreamingPunctuator(Punctuator(engine.model, FP32_TAGGER), StreamConfig(lookahead=2))
    steps = (live.push(WORDS[:20]), live.flush(), live.push(WORDS[20:]), live.finish())
    return [word.text for step in steps for word in step]


def say_all(remote: RemoteStream, cut_after: Collection[int] = ()) -> None:
    for place, word in enumerate(WORDS):
        if place == 20:
            remote.say(FLUSH)
        remote.say(words_message([TimedWord(word)]))
        if place in cut_after:
            with suppress(OSError):  # it is cut already
                remote._connection.socket.shutdown(sockets.SHUT_RDWR)


class Texts(list[str]):
    """The texts of events, in order."""

    def __call__(self, event: Mapping[str, Any]) -> None:
        self.append(event["text"])


@pytest.mark.parametrize("cut_after", [(), (0,), (5, 6, 30), (19, 20, 21, 35, 40), (44,)])
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
        for word in WORDS[:20]:
            remote.say(words_message([TimedWord(word)]))
        remote.say(FLUSH)
    with server(engine, ServeConfig(port=port)):
        for word in WORDS[20:]:
            remote.say(words_message([TimedWord(word)]))
        remote.__exit__(None)
    assert texts == alone(engine)


def test_what_cannot_be_is_said_in_one_line(engine: Engine) -> None:
    with pytest.raises(ConfigError, match="server 'here'"):
        stream_address("here", {})
    assert stream_address("https://captions.example/v1/stream", {"lookahead": 2}).startswith(
        "wss://captions.example/v1/stream?"
    )
    with pytest.raises(InputError, match=r"no service at ws://127\.0\.0\.1:9/v1/stream \("):
        RemoteStream("ws://127.0.0.1:9/v1/stream?a=1", print).__enter__()
    with (
        server(engine) as (address, _),
        pytest.raises(InputError, match="dely"),
        RemoteStream(f"ws://{address}/v1/stream?policy=dely", print) as remote,
    ):
        say_all(remote)


def test_a_service_that_is_lost_for_good_is_said(engine: Engine) -> None:
    with server(engine) as (address, _):
        remote = RemoteStream(f"ws://{address}/v1/stream", print, patience_s=0.5).__enter__()  # it ends sooner
    with pytest.raises(InputError, match="no service"):
        remote.say(words_message([TimedWord("so")]))
        remote.__exit__(None)


def test_a_long_silence_is_no_lost_service(engine: Engine) -> None:
    """A service ends a stream in which nothing is said; the client goes on, however often, and loses no word."""
    live, texts = StreamingPunctuator(Punctuator(engine.model, FP32_TAGGER), StreamConfig(lookahead=2)), Texts()
    undisturbed = [word.text for step in (live.push(WORDS), live.finish()) for word in step]
    with server(engine, ServeConfig(port=0, idle_s=0.8)) as (address, _):
        remote = RemoteStream(f"ws://{address}/v1/stream?{ASKED}", texts, patience_s=0.2).__enter__()
        for part in (WORDS[:18], WORDS[18:]):  # the first 18 are all in a state, so nothing is said again
            for word in part:
                remote.say(words_message([TimedWord(word)]))
            time.sleep(2.0 * (part == WORDS[:18]))  # some connections long
        remote.__exit__(None)
    assert texts == undisturbed


def test_a_warning_is_told_once_over_lost_connections_and_is_no_word(english_engine: Engine) -> None:
    events = list[Mapping[str, Any]]()
    german = (GERMAN.split() * 8)[:60]
    with (
        server(english_engine) as (address, _),
        RemoteStream(f"ws://{address}/v1/stream?{ASKED}", events.append) as remote,
    ):
        for number, word in enumerate(german):
            remote.say(words_message([TimedWord(word)]))
            if number in (25, 40):
                with suppress(OSError):
                    remote._connection.socket.shutdown(sockets.SHUT_RDWR)
    assert [event for event in events if "warning" in event] == [{"warning": GERMAN_WARNING}]
    assert [event["word"] for event in events if "word" in event] == german
