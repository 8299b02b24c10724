"""Many files: small ones against one large, the first output, kills, memory; what reading costs beside deciding.

    python benchmarks/batch.py files TEXT --files 1000 --kills 50 --decoder tagger
    python benchmarks/batch.py memory TEXT --model small
    python benchmarks/batch.py reading srt 50000

Tables in Markdown; ratios are within one run.  `memory` says, every 10,000 words of a long text (a paragraph a line),
the resident memory, what C code has in use (tensors, kernels), and what the allocator keeps for the next ones, in MiB;
for Linux with glibc 2.33 or later.  `reading`: a made-up file of so many words (txt, srt, or json as Whisper writes it)
goes through `Work` with a comma behind each word in place of a model: words a second of processor time, memory a word.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil

from t5punct import Punctuator, punctuate_files
from t5punct.batch.jobs import Job
from t5punct.batch.work import Work
from t5punct.decoding.inputs import DecodingConfig
from t5punct.punctuator import PunctuatorConfig
from t5punct.text.marks import Alphabet
from t5punct.text.render import AnnotatedWord
from t5punct.text.words import Word

WORDS_A_FILE = 300
KILLED_FILES = 200  # of the batch that is killed
LARGE_WORDS = 1_000_000  # of the largest text for memory
EVERY_WORDS = 10_000  # from one line about memory to the next


def words_of(source: Path) -> Iterator[str]:
    """Yield the words of a text in lower case, without marks, again and again."""
    while True:
        with source.open(encoding="utf-8") as lines:
            for line in lines:
                yield from (word.strip(",.?!:;-\"'()").lower() or "a" for word in line.split())


def files_of(folder: Path, words: Iterator[str], n_files: int, n_words: int) -> str:
    """Return a folder of texts of so many words each."""
    folder.mkdir()
    for number in range(n_files):
        (folder / f"{number:04}.txt").write_text(" ".join(islice(words, n_words)) + "\n", encoding="utf-8")
    return str(folder)


def recording_of(folder: Path, words: Iterator[str], n_words: int) -> str:
    """Return a folder with json as Whisper writes it: all words in one text, in segments of ten, and one by one with
    times.
    """
    folder.mkdir()
    said = list(islice(words, n_words))  # here, not in the process that is measured
    with (folder / "talk.json").open("w", encoding="utf-8") as handle:
        handle.write(f'{{"text": {json.dumps(" ".join(said))}, "segments": [')
        for first in range(0, n_words, 10):
            times = [(word, 0.5 * number) for number, word in enumerate(said[first : first + 10], start=first)]
            segment = {
                "start": times[0][1],
                "end": times[-1][1] + 0.4,
                "text": " ".join(word for word, _ in times),
                "words": [{"word": word, "start": start, "end": start + 0.4} for word, start in times],
            }
            handle.write(", " * bool(first) + json.dumps(segment))
        handle.write("]}")
    return str(folder)


class Runner:
    """Runs `t5punct punctuate` with the same options."""

    def __init__(self, folder: Path, options: list[str]) -> None:
        self._folder, self._command = folder, [sys.executable, "-m", "t5punct", "punctuate", *options]
        self._n_runs = 0

    def into_folder(self, source: str, *more: str) -> tuple[float, float]:
        """Return the seconds of a run into an empty folder, and the most memory that it had, in MiB."""
        self._n_runs += 1
        began, target = time.perf_counter(), str(self._folder / f"out{self._n_runs}")
        arguments = [*self._command, source, "--output-dir", target, *more]
        usage = os.wait4(os.posix_spawn(sys.executable, arguments, dict(os.environ)), 0)[2]
        return time.perf_counter() - began, usage.ru_maxrss / 1024

    def first_and_last(self, path: str) -> tuple[float, float]:
        """Seconds to the first byte on standard output, and to the last."""
        began = time.perf_counter()
        with subprocess.Popen([*self._command, path], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            assert process.stdout is not None  # noqa: S101
            process.stdout.read(1)
            first = time.perf_counter() - began
            process.stdout.read()
        return first, time.perf_counter() - began


def killed(punctuator: Punctuator, source: str, out: Path, n_kills: int) -> int:
    """Kill the work at random moments, again and again, then let it end; how many kills it took."""
    began = time.perf_counter()
    punctuate_files(punctuator, [source], out / "whole")
    seconds, rng, n_killed = time.perf_counter() - began, random.Random(1), 0
    while n_killed < n_kills:
        overwrite = rng.random() < 0.5  # before the fork: after it, both processes would draw the same
        child = os.fork()
        if not child:
            punctuate_files(punctuator, [source], out / "killed", overwrite=overwrite)
            os._exit(0)
        time.sleep(rng.uniform(0.0, seconds))
        os.kill(child, signal.SIGKILL)
        n_killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    punctuate_files(punctuator, [source], out / "killed")
    same = contents(out / "whole") == contents(out / "killed")
    what = f"{len(contents(out / 'whole'))} files, {n_killed} times killed, then run to the end"
    print(f"| {what}: outputs as of an undisturbed run | {same} |")
    return n_killed


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".t5punct-settings")}


def speed(run: Runner, small: str, large: str, text: str, none: str) -> None:
    start, _ = run.into_folder(none)
    one_file, many_files = run.into_folder(large)[0], run.into_folder(small)[0]
    print(f"| the files against one text of as many words: words a second | {one_file / many_files:.2f} |", flush=True)
    first, last = run.first_and_last(text)
    print(f"| first output of 12,000 words, as a part of the whole run | {first / last:.2f} |")
    print(f"| the same without the start of the program ({start:.1f} s) | {(first - start) / (last - start):.2f} |")


def memory(run: Runner, few: str, many: str, texts: list[str], recordings: list[str]) -> None:
    peaks = [run.into_folder(source)[1] for source in (few, many)]
    print(f"| peak memory of 10 files and of all | {peaks[0]:.0f} and {peaks[1]:.0f} MiB |", flush=True)
    for extra in ([], ["--json"]):
        peaks = [run.into_folder(source, *extra)[1] for source in texts]
        name = " ".join(["peak memory of 10,000 words and of the large text", *extra])
        print(f"| {name} | {peaks[0]:.0f} and {peaks[1]:.0f} MiB |", flush=True)
    peaks = [run.into_folder(source)[1] for source in recordings]
    print(f"| the same of a recogniser's json | {peaks[0]:.0f} and {peaks[1]:.0f} MiB |", flush=True)


def measure_files(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("text", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=50)
    options, more = parser.parse_known_args(arguments)
    words = words_of(options.text)
    print(f"{options.files} files of {WORDS_A_FILE} words; a large text of {LARGE_WORDS:,}.\n")
    print("| what | measured |\n| --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = files_of(folder / "small", words, options.files, WORDS_A_FILE)
        large = files_of(folder / "large", words_of(options.text), 1, options.files * WORDS_A_FILE)
        first = files_of(folder / "first", words, 1, 12_000)
        run = Runner(folder, more)
        speed(run, small, large, f"{first}/0000.txt", files_of(folder / "none", words, 1, 1))
        punctuator = Punctuator.from_pretrained()
        punctuator = punctuator.with_config(decoding=replace(punctuator.config.decoding, decoder="tagger"))
        killed(punctuator, files_of(folder / "batch", words, KILLED_FILES, 60), folder, options.kills)
        sizes = (10_000, LARGE_WORDS)
        texts = [files_of(folder / f"text{n}", words, 1, n) for n in sizes]
        recordings = [recording_of(folder / f"json{n}", words, n) for n in sizes]
        memory(run, files_of(folder / "few", words, 10, WORDS_A_FILE), small, texts, recordings)


_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"  # of glibc's mallinfo2


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def measure_memory(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("text", type=Path, help="a text of a paragraph a line")
    parser.add_argument("--model", default="small")
    parser.add_argument("--decoder", default="tagger")
    options = parser.parse_args(arguments)
    allocator = ctypes.CDLL(None).mallinfo2
    allocator.restype = _Mallinfo2
    config = PunctuatorConfig(decoding=DecodingConfig(options.decoder))
    punctuator = Punctuator.from_pretrained(options.model, config, precision="fp32")
    n_words, said = 0, 0
    print("| words | resident, MiB | in use by C code, MiB | kept for the next, MiB |\n| --- | --- | --- | --- |")
    with options.text.open(encoding="utf-8") as lines:
        for text in punctuator.iter_punctuate(lines):
            n_words += len(text.split())
            if n_words < said + EVERY_WORDS:
                continue
            said = n_words
            gc.collect()
            in_allocator, resident = allocator(), psutil.Process().memory_info().rss
            sizes = (
                size / 2**20 for size in (resident, in_allocator.uordblks + in_allocator.hblkhd, in_allocator.fordblks)
            )
            print(f"| {n_words:,} | {' | '.join(f'{size:.0f}' for size in sizes)} |")


_LINE = 10  # words


class Commas(Punctuator):
    """Puts a comma behind each word."""

    def __init__(self) -> None:
        self.config = PunctuatorConfig()
        task = SimpleNamespace(alphabet=Alphabet(), pauses_ms=())
        self.model = SimpleNamespace(name="commas", task=task)  # type: ignore[assignment]

    def iter_parts(
        self, texts: Iterable[Sequence[Word]], *, is_hurried: bool = True
    ) -> Iterator[tuple[int, list[AnnotatedWord]]]:
        for number, text in enumerate(texts):
            for start in range(0, len(text), _LINE):
                words = text[start : start + _LINE]
                yield number, [AnnotatedWord(word.text, word.text + ",", ",", "lower", 0.9, 0.8) for word in words]


def made_up(format: str, n_words: int) -> str:
    """Return a file of words by chance."""
    rng = random.Random(1)
    words = [f"w{rng.randrange(3000)}x" for _ in range(n_words)]
    lines = [" ".join(words[first : first + _LINE]) for first in range(0, n_words, _LINE)]
    if format == "txt":
        return "\n".join(lines)
    if format == "srt":
        clocks = [f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" for second in range(len(lines))]
        cues = enumerate(zip(clocks, lines, strict=True), start=1)
        return "".join(f"{number}\n{clock},000 --> {clock},900\n{line}\n\n" for number, (clock, line) in cues)
    segments: list[dict[str, Any]] = [
        {"id": number, "start": number, "end": number + 1, "text": f" {line}", "words": _timed(line, number)}
        for number, line in enumerate(lines)
    ]
    return json.dumps({"text": "".join(segment["text"] for segment in segments), "segments": segments})


def _timed(line: str, second: int) -> list[dict[str, Any]]:
    return [
        {"word": f" {word}", "start": second + 0.1 * n, "end": second + 0.1 * n + 0.09, "probability": 0.5}
        for n, word in enumerate(line.split())
    ]


def measure_reading(arguments: list[str]) -> None:
    format, n_words = arguments[0], int(arguments[1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"talk.{format}"
        path.write_text(made_up(format, n_words), encoding="utf-8")
        before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        outcome = Work(cast(Punctuator, Commas())).run([Job(str(path), path.with_stem("out"))])
        seconds = time.process_time() - started
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"{outcome.n_words} words, {n_words / seconds:,.0f} a second of processor time, {grown / n_words:.2f} kB a word"
    )


STUDIES = {"files": measure_files, "memory": measure_memory, "reading": measure_reading}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in STUDIES:
        sys.exit(__doc__)
    STUDIES[sys.argv[1]](sys.argv[2:])
