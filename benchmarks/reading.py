"""What reading and writing a file costs beside deciding its marks: words a second of processor time, and memory a word.

`python benchmarks/reading.py srt 50000`: a made-up file of so many words (txt, srt, or json as Whisper writes it) goes
through `Work` with a comma behind each word in place of a model.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from t5punct.batch.jobs import Job
from t5punct.batch.work import Work
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.marks import Alphabet
from t5punct.text.render import AnnotatedWord
from t5punct.text.words import Word

_LINE = 10  # words


class Commas:
    """Puts a comma behind each word."""

    config = PunctuatorConfig()
    model = SimpleNamespace(task=SimpleNamespace(alphabet=Alphabet(), pauses_ms=()))

    def annotate_texts(self, texts: Iterable[Iterable[Word]]) -> Iterator[AnnotatedWord]:
        return (AnnotatedWord(word.text, word.text + ",", ",", "lower", 0.9, 0.8) for text in texts for word in text)


def made_up(format: str, n_words: int) -> str:
    """A file of words by chance."""
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


def main(format: str, n_words: int) -> None:
    """Write, read, punctuate and measure."""
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


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
