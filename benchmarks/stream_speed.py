"""What a stream costs: the time of each push, over a long stream, and of many streams together.

Times are of one run on one machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from t5punct.punctuator import Punctuator
from t5punct.streaming import StreamConfig, StreamingPunctuator, Streams, StreamState


@dataclass(frozen=True)
class Pace:
    """The times of pushes of one word, in milliseconds, and the memory that the process held more at the end."""

    name: str
    p50_ms: float
    p95_ms: float
    mean_ms: float
    held_mib: float = 0.0

    @classmethod
    def of(cls, name: str, times_ms: Sequence[float], held_mib: float = 0.0) -> Pace:
        cuts = statistics.quantiles(times_ms, n=20)
        return cls(name, cuts[9], cuts[18], statistics.mean(times_ms), held_mib)


def pace(punctuator: Punctuator, config: StreamConfig, words: Sequence[str], name: str) -> Pace:
    """Word by word on one core."""
    return Pace.of(name, list(_times_ms(punctuator, config, words)))


def long_stream(punctuator: Punctuator, config: StreamConfig, words: Sequence[str]) -> list[Pace]:
    """One long stream; a `Pace` for each tenth."""
    times, tenth, before = _times_ms(punctuator, config, words), len(words) // 10, _held_mib()
    return [Pace.of(f"{part * tenth:,}", list(islice(times, tenth)), _held_mib() - before) for part in range(1, 11)]


def many_streams(
    punctuator: Punctuator, config: StreamConfig, words: Sequence[str], n_streams: int, n_rounds: int
) -> Pace:
    """A word for each of many streams at a time, on two cores; the times are of whole rounds."""
    torch.set_num_threads(2)
    streams, states, times_ms = Streams(punctuator, config), [StreamState()] * n_streams, []
    for number in range(n_rounds + config.window):  # the first ones fill the windows and are not counted
        spoken = [[words[(number + index * n_rounds) % len(words)]] for index in range(n_streams)]
        started = time.perf_counter()
        states = [step.state for step in streams.push(states, spoken)]
        times_ms.append(1000 * (time.perf_counter() - started))
    return Pace.of(f"{n_streams} streams", times_ms[config.window :])


def _times_ms(punctuator: Punctuator, config: StreamConfig, words: Sequence[str]) -> Iterator[float]:
    torch.set_num_threads(1)
    stream = StreamingPunctuator(punctuator, config)
    stream.push(words[: config.window])  # so that every window is full
    for word in words:
        started = time.perf_counter()
        stream.push([word])
        yield 1000 * (time.perf_counter() - started)


def _held_mib() -> float:
    """The memory that the process holds now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20
