"""What a stream costs: the time of each push, over a long stream, and of many streams together.

    python benchmarks/stream.py TEXT --words 1000 --long-words 100000 --precisions fp32 int8

Milliseconds of a push of one word on one core; of a long stream each tenth has a row, and the memory that the process
holds beyond what it held before.  Times are of one run on one machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import torch

from t5punct.decoding.inputs import DecodingConfig
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator, Streams, StreamState
from t5punct.text.words import words_of

_WINDOW = 32
_STREAMS = 16  # side by side, on two cores
_ROUNDS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--model", default=None)
    parser.add_argument("--precisions", nargs="+", default=["fp32", "int8"], help="the last one is of the long stream")
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--long-words", type=int, default=100_000)
    options = parser.parse_args()
    with options.text.open(encoding="utf-8") as lines:
        said = (word.core.lower() for line in lines for word in words_of(line) if word.has_slot)
        words = list(islice(said, options.long_words))
    punctuators = {
        precision: Punctuator.from_pretrained(
            options.model, PunctuatorConfig(decoding=DecodingConfig(precision=precision))
        )
        for precision in options.precisions
    }
    print("| stream | p50, ms | p95, ms | mean, ms | memory, MiB |\n| --- | --- | --- | --- | --- |")
    for pace in paces(punctuators, words, options):
        times = " | ".join(f"{value:.1f}" for value in (pace.p50_ms, pace.p95_ms, pace.mean_ms))
        print(f"| {pace.name} | {times} | {pace.held_mib:+.0f} |", flush=True)


def paces(punctuators: dict[str, Punctuator], words: Sequence[str], options: argparse.Namespace) -> Iterator[Pace]:
    """Yield each policy with each precision, many streams at once, and each tenth of a long stream."""
    task = next(iter(punctuators.values())).model.task
    ways = product(("fixed", "entropy"), ["seq2seq", *["classify"] * task.classifies])
    configs = {f"{policy}, {decide}": StreamConfig(policy, decide, _WINDOW) for policy, decide in ways}
    if task.delay_layers:
        configs["delay, tagger"] = StreamConfig("delay")
    configs["sentence, seq2seq"] = StreamConfig("sentence", window=2 * _WINDOW)
    for (name, config), precision in product(configs.items(), punctuators):
        times = list(_times_ms(punctuators[precision], config, words[: options.words]))
        yield Pace.of(f"{name}, {precision}", times)
    fixed = StreamConfig(window=_WINDOW)
    yield many_streams(punctuators[options.precisions[0]], fixed, words, _STREAMS, _ROUNDS)
    yield from long_stream(punctuators[options.precisions[-1]], fixed, words)


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


def long_stream(punctuator: Punctuator, config: StreamConfig, words: Sequence[str]) -> list[Pace]:
    """Return one long stream; a `Pace` for each tenth."""
    times, tenth, before = _times_ms(punctuator, config, words), len(words) // 10, _held_mib()
    return [Pace.of(f"{part * tenth:,}", list(islice(times, tenth)), _held_mib() - before) for part in range(1, 11)]


def many_streams(
    punctuator: Punctuator, config: StreamConfig, words: Sequence[str], n_streams: int, n_rounds: int
) -> Pace:
    """Return a word for each of many streams at a time, on two cores; the times are of whole rounds."""
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
    """Return the memory that the process holds now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


if __name__ == "__main__":
    main()
