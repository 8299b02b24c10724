"""Fuzz every reader and `annotate` for as long as you say: the tests of tests/fuzz, with other files each time.

Prints files, words, words changed, tracebacks; for each room that fails, writes the smallest file and its seed.

    python benchmarks/fuzz.py --minutes 30 --seed 1
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from itertools import count
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "fuzz")]

from fuzzing import ROOMS, Fuzzed, fuzz  # noqa: E402
from promises import BrokenPromise  # noqa: E402

ROUND = 200  # files of a room at a time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first round; the next has the next")
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), choices=list(ROOMS))
    parser.add_argument("--output", type=Path, default=Path("runs/fuzz"))
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # files without words are many
    totals = {room: Fuzzed() for room in options.rooms}
    ends = time.monotonic() + 60 * options.minutes
    for seed in count(options.seed):
        for room in [room for room, total in totals.items() if total.error is None]:
            add(totals[room], fuzz(room, ROUND, seed))
            if totals[room].error:
                print(f"{room}, seed {seed}: {written(room, totals[room], options.output)}: {totals[room].error}")
            if time.monotonic() > ends:
                return summed_up(totals, f"seeds {options.seed} to {seed}")
    return 1


def add(total: Fuzzed, fuzzed: Fuzzed) -> None:
    total.n_files, total.n_words = total.n_files + fuzzed.n_files, total.n_words + fuzzed.n_words
    total.n_refused += fuzzed.n_refused
    total.failed, total.error = fuzzed.failed, fuzzed.error


def written(room: str, fuzzed: Fuzzed, folder: Path) -> Path:
    """The smallest file that fails, on the disk; the seed of its decisions is in its name."""
    file, seed = fuzzed.failed or ("", 0)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{room.replace(' ', '-')}-{seed}.txt"
    path.write_text(file if isinstance(file, str) else repr(file), encoding="utf-8", newline="")
    return path


def summed_up(totals: dict[str, Fuzzed], seeds: str) -> int:
    errors = [total.error for total in totals.values() if total.error]
    n_changed = sum(isinstance(error, BrokenPromise) for error in errors)
    print(f"{'room':20} {'files':>9} {'refused':>9} {'words':>10}")
    for room, total in totals.items():
        print(f"{room:20} {total.n_files:9} {total.n_refused:9} {total.n_words:10}")
    print(
        f"{seeds}: {sum(total.n_files for total in totals.values())} files, "
        f"{sum(total.n_words for total in totals.values())} words, {n_changed} rooms with changed words, "
        f"{len(errors) - n_changed} with tracebacks, {time.process_time():.0f} s of processor time"
    )
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main())
