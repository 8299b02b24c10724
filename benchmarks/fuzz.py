"""Fuzz every reader and `annotate` for as long as you say: the tests of tests/fuzz, with other files each round.

What it counts is kept by the revision of what is fuzzed, so that the next run goes on where this one ends, also after a
kill.  It prints the counts and writes them as a page; of each room that fails, it writes the shortest file, with the
seed of its decisions in its name.

    nice -n 19 python benchmarks/fuzz.py --minutes 30 --page docs/results/fuzz.md
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/fuzz")]

from fuzzing import ROOMS, Fuzzed, fuzz  # noqa: E402

ROUND = 200  # files of a room at a time
FUZZED = (
    "t5punct/text",
    "t5punct/transcripts",
    "t5punct/windows",
    "t5punct/punctuator.py",
    "tests/fuzz",
    "tests/promises.py",
)
COUNTED = ("n_files", "n_refused", "n_words", "n_changed", "n_tracebacks", "seconds")
BARS = (("files", "n_files", 1_000_000), ("words", "n_words", 10_000_000))
PAGE = """# Files by chance

`{command}`: every reader and `annotate`, on files by
chance (`tests/fuzz/`), with marks and capitals by chance in place of a model's. Of each file only marks and capitals
may change, what is written is read again with the same words, and the same decisions give it again. One process;
the seconds are of its processor. Counted is revision {revision} of what is fuzzed, rounds {first} to {last}; the same
command goes on from there.

| | counted | bar |
| --- | --- | --- |
{bars}

`refused`: in one line, as a table of which it is not clear which column holds the words. `changed`: files of which more
than marks and capitals has changed.

| what is read | files | refused | words | changed | tracebacks | seconds |
| --- | --- | --- | --- | --- | --- | --- |
{rooms}

Revisions before, whose failures are mended in the next or in `tests/fuzz/corpus/`:

| revision | files | words | changed | tracebacks |
| --- | --- | --- | --- | --- |
{before}
"""


@dataclass(slots=True)
class Counts:
    """What was counted of one revision, in which rounds; a round's number is its seed."""

    path: Path  # in a folder with the name of the revision
    first: int
    next: int
    rooms: dict[str, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path, seed: int) -> Counts:
        """Return the counts of this revision so far."""
        revision = _git("log", "-1", "--format=%h", "--", *FUZZED)
        if _git("status", "--porcelain", "--", *FUZZED):
            revision += "-changed"
        path = folder / revision / "counts.json"
        return cls.stored(path) if path.exists() else cls(path, seed, seed)

    @classmethod
    def stored(cls, path: Path) -> Counts:
        """Return the counts that a run has written."""
        counts = json.loads(path.read_text(encoding="utf-8"))
        return cls(path, counts["first"], counts["next"], counts["rooms"])

    def run_round(self) -> None:
        """Fuzz every room once, and write what is counted, and files that fail."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for room in ROOMS:
            fuzzed = fuzz(room, ROUND, self.next)
            counts = self.rooms.setdefault(room, dict.fromkeys(COUNTED, 0))
            for name in COUNTED:
                counts[name] += getattr(fuzzed, name)
            if fuzzed.failed:
                self._keep(room, fuzzed)
        self.next += 1
        stored = {"first": self.first, "next": self.next, "rooms": self.rooms}
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(stored), encoding="utf-8")
        part.replace(self.path)

    def _keep(self, room: str, fuzzed: Fuzzed) -> None:
        file, by_chance = fuzzed.failed or ("", 0)
        text = file if isinstance(file, str) else repr(file)
        path = self.path.with_name(f"{room.replace(' ', '-')}-{len(text):04}-{by_chance}.txt")
        path.write_text(text, encoding="utf-8", newline="")
        print(f"{room}, round {self.next}: {path}: {fuzzed.error!r}", flush=True)

    def total(self, name: str) -> float:
        return sum(counts[name] for counts in self.rooms.values())

    def row_of_all(self) -> str:
        names = ("n_files", "n_words", "n_changed", "n_tracebacks")
        return f"| {self.path.parent.name} | " + " | ".join(f"{self.total(name):,.0f}" for name in names) + " |"

    def page(self, command: str) -> str:
        """Return the counts as a page."""
        bars = [
            f"| {title} | {self.total(name):,.0f} | {bar:,}{': **missed**' * (self.total(name) < bar)} |"
            for title, name, bar in BARS
        ]
        for title, name in (("files that changed", "n_changed"), ("tracebacks", "n_tracebacks")):
            bars.append(f"| {title} | {self.total(name):,.0f} | 0{': **missed**' * (self.total(name) > 0)} |")
        rows = [
            f"| {room} | " + " | ".join(f"{counts[name]:,.0f}" for name in COUNTED) + " |"
            for room, counts in {**self.rooms, "all": {name: self.total(name) for name in COUNTED}}.items()
        ]
        paths = sorted(self.path.parent.parent.glob("*/counts.json"), key=lambda path: path.stat().st_mtime)
        before = [Counts.stored(path).row_of_all() for path in paths if path != self.path]
        return PAGE.format(
            command=command, revision=self.path.parent.name, first=self.first, last=self.next - 1, bars="\n".join(bars),
            rooms="\n".join(rows), before="\n".join(before),
        )  # fmt: skip


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603, S607


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first round of a revision; the next has the next")
    parser.add_argument("--output", type=Path, default=ROOT / "runs/fuzz", help="folder of counts and failing files")
    parser.add_argument("--page", type=Path, help="write the counts as a page, too")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # files without words are many
    counts, ends = Counts.read(options.output, options.seed), time.monotonic() + 60 * options.minutes
    while time.monotonic() < ends:
        counts.run_round()
    page = counts.page(f"nice -n 19 python benchmarks/fuzz.py --minutes {options.minutes:g}")
    print(page)
    if options.page:
        options.page.write_text(page, encoding="utf-8")
    return int(counts.total("n_changed") + counts.total("n_tracebacks") > 0)


if __name__ == "__main__":
    sys.exit(main())
