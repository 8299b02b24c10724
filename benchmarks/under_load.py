"""What a busy machine does to a command: `python benchmarks/under_load.py --cores 2 --busy 0 1`.

Makes the load itself: so many processes that compute without end, on the same processors as the command.  Prints, for
each load and each way to compute, the seconds that the text takes and how they compare with one thread under the same
load, and writes the same as json.  Every text is paired with one word, whose seconds are the start and are taken off:
they are alike in all ways, and would make the ways look alike.  The ways take turns, so that noise hits all alike;
compare within one run only.

`asleep` is what commands do: threads sleep while they wait for each other.  `spinning` is what OpenMP does by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

LECTURE = Path(__file__).parents[1] / "tests" / "data" / "lecture.txt"
_BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**5))"  # ends when we do
_SPINNING = {"GOMP_SPINCOUNT": "300000"}  # libgomp's own number, where nothing is set
_CHOSEN = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


@dataclass(frozen=True)
class Way:
    """A way to compute: options of the command, and variables of its environment."""

    name: str
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Row:
    """One way under one load; `seconds` without those of the start; `to_one_thread`: how many times as long as one
    thread takes.
    """

    command: str
    busy: int
    way: str
    start: float
    seconds: float
    words_per_second: float
    to_one_thread: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--words", type=int, default=9000, help="of the text; a stream gets a tenth of them")
    parser.add_argument("--commands", nargs="+", default=["punctuate", "stream"])
    parser.add_argument("--cores", type=int, default=2, help="processors that the command and the load share")
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 1], help="processes that compute beside the command")
    parser.add_argument("--repeats", type=int, default=3, help="the median of so many times counts")
    parser.add_argument("--output", type=Path, default=Path("build/under_load.json"))
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)  # which all processes that are started from here on have as well
    rows = [
        row
        for command in options.commands
        for busy in options.busy
        for row in _measured(command, options.model, options.words, len(cores), busy, options.repeats)
    ]
    _show(rows)
    options.output.parent.mkdir(exist_ok=True)
    report = {"cores": len(cores), "rows": [asdict(row) for row in rows]}
    options.output.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _ways(n_cores: int) -> list[Way]:
    several = ("--threads", str(n_cores))
    return [
        Way("default"),
        Way("1 thread", ("--threads", "1")),
        Way(f"{n_cores} threads, asleep", several),
        Way(f"{n_cores} threads, spinning", several, tuple(_SPINNING.items())),
    ]


def _measured(command: str, model: str | None, n_words: int, n_cores: int, busy: int, repeats: int) -> Iterator[Row]:
    """Every way under one load."""
    n_words = n_words if command == "punctuate" else max(1, n_words // 10)
    words = LECTURE.read_text(encoding="utf-8").split()
    text = " ".join((words * (n_words // len(words) + 1))[:n_words])
    ways = _ways(n_cores)
    starts: dict[str, list[float]] = {way.name: [] for way in ways}
    works: dict[str, list[float]] = {way.name: [] for way in ways}
    with _load(busy):
        for _ in range(repeats):
            for way in ways:
                start = _seconds(command, model, way, words[0])
                starts[way.name].append(start)
                works[way.name].append(_seconds(command, model, way, text) - start)
    typical = {name: max(0.01, statistics.median(seconds)) for name, seconds in works.items()}
    for name, seconds in typical.items():
        start, ratio = statistics.median(starts[name]), seconds / typical["1 thread"]
        yield Row(command, busy, name, round(start, 2), round(seconds, 2), round(n_words / seconds, 1), round(ratio, 2))


@contextmanager
def _load(n_processes: int) -> Iterator[None]:
    """Processes that compute without end, for as long as the block takes."""
    with ExitStack() as stack:
        for _ in range(n_processes):
            process = subprocess.Popen([sys.executable, "-c", _BUSY])  # noqa: S603
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def _seconds(command: str, model: str | None, way: Way, text: str) -> float:
    """How long one call of the command takes, from its start to its end."""
    named = ["--model", model] if model else []
    variables = {name: value for name, value in os.environ.items() if name not in _CHOSEN} | dict(way.variables)
    started = time.perf_counter()
    subprocess.run(  # noqa: S603
        [sys.executable, "-m", "t5punct", command, *named, *way.options],
        input=text.encode(),
        stdout=subprocess.DEVNULL,
        env=variables,
        check=True,
    )
    return time.perf_counter() - started


def _show(rows: Sequence[Row]) -> None:
    table = Table("command", "busy beside", "way", "start, s", "seconds", "words/s", "x one thread")
    for row in rows:
        table.add_row(*(str(value) for value in asdict(row).values()))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
