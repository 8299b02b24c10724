"""What a service stands, on this machine: streams at speaking speed, many texts, kills, and nonsense.

    python benchmarks/serve.py streams TEXT --streams 100 --seconds 60
    python benchmarks/serve.py texts TEXT --clients 16 --texts 1000
    python benchmarks/serve.py restarts TEXT --clients 20
    python benchmarks/serve.py nonsense --requests 10000

Each starts a service of its own (`t5punct serve --port 0`), uses it from this process, and prints a few lines.  TEXT is
words, a document a line; their marks are taken off.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from t5punct.options import ModelOptions
from t5punct.punctuator import Punctuator
from t5punct.serve.client import RemoteStream, stream_address
from t5punct.serve.requests import stream_request
from t5punct.streaming import StreamingPunctuator
from t5punct.text.words import words_of

_WORDS_A_SECOND = 2.5
_KILLED = 20  # streams whose clients vanish half-way
_TEXT_WORDS = 300
_STATUS = re.compile(r"^VmRSS:\s+(\d+) kB", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["streams", "texts", "restarts", "nonsense"])
    parser.add_argument("text", type=Path, nargs="?")
    parser.add_argument("--model", default="base")
    parser.add_argument("--policy", default="fixed")
    parser.add_argument("--lookahead", type=int, default=4)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60, help="how long each stream speaks")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=10_000)
    options = parser.parse_args()
    {"streams": serve_streams, "texts": serve_texts, "restarts": restart, "nonsense": talk_nonsense}[options.what](
        options
    )


@dataclass
class Service:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    port: int

    def memory_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = _STATUS.search(status)
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def service(options: argparse.Namespace, port: int = 0, log: Path | None = None) -> Iterator[Service]:
    """Start a service, wait until it serves, and end it."""
    command = [sys.executable, "-m", "t5punct", "serve", "--port", str(port), "--model", options.model]
    heard = (log or Path(tempfile.mkdtemp()) / "service.log").open("a+", encoding="utf-8")
    process = subprocess.Popen(command, stderr=heard, stdout=subprocess.DEVNULL, text=True)  # noqa: S603
    try:
        for _ in range(600):
            heard.seek(0)
            if address := re.search(r"serving at http://127\.0\.0\.1:(\d+)", heard.read()):
                break
            time.sleep(0.1)
        else:
            raise SystemExit("the service does not start")
        yield Service(process, int(address[1]))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def words_in(file: Path) -> list[str]:
    """Return the words of a text, in lower case, without marks."""
    with file.open(encoding="utf-8") as lines:
        return [word.core.lower() for line in lines for word in words_of(line) if word.has_slot]


@dataclass
class Spoken:
    """What a client of a stream said and heard."""

    words: Sequence[str]
    sent_at: list[float]
    texts: list[str]
    waits_ms: list[float]  # from the word that a committed word waited for to the event
    is_ended: bool = False


def serve_streams(options: argparse.Namespace) -> None:
    """Many streams at speaking speed; some clients vanish, and one never reads."""
    words, n_words = words_in(options.text), round(options.seconds * _WORDS_A_SECOND)
    stretches = [
        [words[(index * n_words + place) % len(words)] for place in range(n_words)] for index in range(options.streams)
    ]
    with service(options) as served:
        before = served.memory_mib()
        address = stream_address(
            f"ws://127.0.0.1:{served.port}", {"policy": options.policy, "lookahead": options.lookahead}
        )
        spoken, memory = asyncio.run(_speak(address, stretches, options, served))
    whole = [stream for index, stream in enumerate(spoken) if index > _KILLED]
    waits = sorted(itertools.chain.from_iterable(stream.waits_ms for stream in whole))
    cuts = statistics.quantiles(waits, n=100)
    lost = sum(not stream.is_ended or len(stream.texts) != len(stream.words) for stream in whole)
    changed = sum(
        _bare(text) != _bare(word) for stream in whole for text, word in zip(stream.texts, stream.words, strict=False)
    )
    asked = {"policy": options.policy, "lookahead": str(options.lookahead)}
    settings, _ = stream_request(asked, ModelOptions(model=options.model))
    punctuator = Punctuator.from_pretrained(options.model, settings.config)
    alone = [_alone(punctuator, settings.stream, stream.words) for stream in whole[:10]]
    n_other = sum(
        ours != theirs
        for stream, texts in zip(whole, alone, strict=False)
        for ours, theirs in zip(stream.texts, texts, strict=False)
    )
    print(f"{len(whole)} of {options.streams} streams to their end, {_KILLED} clients vanished, 1 never read")
    print(
        f"word to committed word beyond the lookahead, ms: p50 {cuts[49]:.0f}, p95 {cuts[94]:.0f}, p99 {cuts[98]:.0f}"
    )
    print(f"streams with lost or doubled words {lost}, words changed {changed}")
    print(f"words that are written otherwise than by a stream alone: {n_other} of {sum(map(len, alone))}")
    print(f"memory, MiB: {before:.0f} before, then {', '.join(f'{value:.0f}' for value in memory)}")


def _alone(punctuator: Punctuator, config: object, words: Sequence[str]) -> list[str]:
    stream = StreamingPunctuator(punctuator, config)  # type: ignore[arg-type]
    return [word.text for part in (*(stream.push([word]) for word in words), stream.finish()) for word in part]


def _bare(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


async def _speak(
    address: str, stretches: Sequence[Sequence[str]], options: argparse.Namespace, served: Service
) -> tuple[list[Spoken], list[float]]:
    rng, memory = random.Random(0), list[float]()
    spoken = [Spoken(words, [], [], []) for words in stretches]

    async def watch() -> None:
        while True:
            await asyncio.sleep(max(5.0, options.seconds / 10))
            memory.append(served.memory_mib())

    watching = asyncio.create_task(watch())
    kinds = ["never reads", *["vanishes"] * _KILLED]
    clients = [
        _client(address, stream, kinds[index] if index < len(kinds) else "stays", rng.random() / _WORDS_A_SECOND)
        for index, stream in enumerate(spoken)
    ]
    await asyncio.gather(*clients)
    watching.cancel()
    return spoken, memory


async def _client(address: str, stream: Spoken, kind: str, begins_s: float) -> None:
    await asyncio.sleep(begins_s)
    async with connect(address, max_queue=None if kind == "stays" else 1) as connection:
        hearing = asyncio.create_task(_hear(connection, stream)) if kind != "never reads" else None
        begin = time.perf_counter()
        for number, word in enumerate(stream.words):
            await asyncio.sleep(max(0.0, begin + number / _WORDS_A_SECOND - time.perf_counter()))
            if kind == "vanishes" and number > len(stream.words) // 2:
                connection.transport.abort()
                break
            stream.sent_at.append(time.perf_counter())
            with suppress(ConnectionClosed):
                await connection.send(word)
        else:
            with suppress(ConnectionClosed):
                await connection.send('{"end": true}')
        if hearing is not None:
            with suppress(ConnectionClosed, TimeoutError):
                await asyncio.wait_for(hearing, 30)


async def _hear(connection: object, stream: Spoken) -> None:
    async for text in connection:  # type: ignore[attr-defined]
        now, event = time.perf_counter(), json.loads(text)
        if "end" in event:
            stream.is_ended = True
            return
        waited_for = len(stream.texts) + event["delay_words"]
        stream.texts.append(event["text"])
        if waited_for < len(stream.words):  # the last words wait for the end, not for a word
            stream.waits_ms.append(1000 * (now - stream.sent_at[min(waited_for, len(stream.sent_at) - 1)]))


def serve_texts(options: argparse.Namespace) -> None:
    """Many texts by some clients, and the same files by the command."""
    words = words_in(options.text)
    texts = [
        " ".join(words[(number * _TEXT_WORDS + place) % len(words)] for place in range(_TEXT_WORDS))
        for number in range(options.texts)
    ]
    n_words = options.texts * _TEXT_WORDS
    with service(options) as served, ThreadPoolExecutor(options.clients) as clients:

        def ask(text: str) -> str:
            connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=600)
            connection.request("POST", "/v1/punctuate", text.encode(), {"Content-Type": "text/plain"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise SystemExit(f"status {answer.status}: {answer.read().decode()}")
            return answer.read().decode()

        ask(texts[0])
        started = time.perf_counter()
        answers = list(clients.map(ask, texts))
        by_service = n_words / (time.perf_counter() - started)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number, text in enumerate(texts):
            (root / f"{number:05d}.txt").write_text(text, encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "t5punct",
            "punctuate",
            folder,
            "--output-dir",
            f"{folder}-out",
            "--model",
            options.model,
        ]
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        by_command = n_words / (time.perf_counter() - started)
        same = sum(
            (Path(f"{folder}-out") / f"{number:05d}.txt").read_text(encoding="utf-8").strip() == answer.strip()
            for number, answer in enumerate(answers)
        )
    times = by_service / by_command
    print(f"words a second: service {by_service:.0f}, command {by_command:.0f} (its start included), {times:.2f} times")
    print(f"answers that are the command's: {same} of {len(answers)}")


def restart(options: argparse.Namespace) -> None:
    """Resuming clients, and a service that is killed and started again under them."""
    words = words_in(options.text)
    stretches = [words[index * 200 : index * 200 + 200] for index in range(options.clients)]
    heard: list[list[str]] = [[] for _ in stretches]

    def talk(address: str, number: int) -> None:
        with RemoteStream(address, lambda event: heard[number].append(str(event["text"])), patience_s=120) as remote:
            for word in stretches[number]:
                remote.say(word)
                time.sleep(0.05)

    with tempfile.TemporaryDirectory() as folder:
        with service(options, log=Path(folder) / "first") as first:
            address = stream_address(
                f"ws://127.0.0.1:{first.port}", {"policy": options.policy, "lookahead": options.lookahead}
            )
            talks = [threading.Thread(target=talk, args=(address, number)) for number in range(options.clients)]
            for thread in talks:
                thread.start()
            time.sleep(5)
            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait()
        with service(options, first.port, Path(folder) / "second"):
            for thread in talks:
                thread.join(300)
    asked = {"policy": options.policy, "lookahead": str(options.lookahead)}
    settings, _ = stream_request(asked, ModelOptions(model=options.model))
    punctuator = Punctuator.from_pretrained(options.model, settings.config)
    same = sum(_alone(punctuator, settings.stream, said) == texts for said, texts in zip(stretches, heard, strict=True))
    whole = sum(
        [_bare(text) for text in texts] == [_bare(word) for word in said]
        for said, texts in zip(stretches, heard, strict=True)
    )
    print(f"clients with every word once: {whole} of {options.clients}; with the text of an undisturbed run: {same}")


def talk_nonsense(options: argparse.Namespace) -> None:
    """Requests that no client should make: no 5xx, no traceback, no growth."""
    rng, statuses = random.Random(0), dict[str, int]()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with service(options, log=log) as served:
            before = served.memory_mib()
            for _ in range(options.requests):
                status = _send_nonsense(served.port, rng)
                statuses[status] = statuses.get(status, 0) + 1
            after = served.memory_mib()
            ok = _post(served.port, b"how are you today")
        written = log.read_text(encoding="utf-8")
        sys.stderr.write(written[-9000:] if "Traceback" in written else "")
    print("answers: " + ", ".join(f"{status} {count:,}" for status, count in sorted(statuses.items())))
    print(f"tracebacks {written.count('Traceback')}, memory {before:.0f} MiB before, {after:.0f} after; then {ok!r}")


def _post(port: int, body: bytes) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/punctuate", body)
    return connection.getresponse().read().decode()


def _send_nonsense(port: int, rng: random.Random) -> str:
    """Send bytes that are a request only in part, and return the status of the answer."""
    body = rng.randbytes(rng.choice([0, 1, 20, 2000, 70_000]))
    path = rng.choice(
        [
            "/v1/punctuate",
            "/v1/punctuate?to=%ff",
            "/v1/stream",
            "/",
            "/healthz",
            "/../etc/passwd",
            "/v1/punctuate?window=-1",
            "/v1/punctuate?json=true",
        ]
    )
    method = rng.choice(["POST", "GET", "PUT", "DELETE", "OPTIONS", "\x00"])
    kind = rng.choice(
        [
            "text/plain",
            "application/json",
            "text/vtt",
            "multipart/form-data",
            "multipart/form-data; boundary=x",
            "\u00e4",
        ]
    )
    length = rng.choice([len(body), len(body) + 7, 0, 10**12, -1])
    headers = [
        f"{method} {path} HTTP/1.1",
        f"Host: {rng.choice(['127.0.0.1', 'evil.example', ''])}",
        f"Content-Type: {kind}",
    ]
    headers += [f"Content-Length: {length}"] if rng.random() < 0.8 else ["Transfer-Encoding: chunked"]
    if rng.random() < 0.2:
        headers += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"]
    request = "\r\n".join(headers).encode("latin-1", "replace") + b"\r\n\r\n" + body
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.settimeout(2)
        connection.sendall(request[: rng.choice([len(request), len(request) // 2])])
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(64)
        return answer.split(b" ")[1].decode("latin-1") if answer.startswith(b"HTTP/") else "none"
    return "none"


if __name__ == "__main__":
    main()
