"""Memory and time of documents of growing length: `python benchmarks/long_document.py --words 100000 1000000`.

Prints, for each length, seconds, words per second and the most memory that the process held beyond the text itself.
The memory should not grow with the length: words, windows and votes are made and forgotten as the text goes by.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

LECTURE = Path(__file__).parents[1] / "tests" / "data" / "lecture.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--preset", default="double-overlap")
    parser.add_argument("--words", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--here", action="store_true", help="measure in this process, one length")
    options = parser.parse_args()
    if options.here:
        measure(options.model, options.preset, options.words[0])
        return
    for n_words in options.words:  # each length in a process of its own, whose peak is its own
        model = ["--model", options.model] if options.model else []
        command = [sys.executable, __file__, "--here", "--words", str(n_words), "--preset", options.preset, *model]
        subprocess.run(command, check=True)  # noqa: S603


def measure(model: str | None, preset: str, n_words: int) -> None:
    import resource

    from t5punct import Punctuator
    from t5punct.punctuator import PunctuatorConfig

    words = LECTURE.read_text(encoding="utf-8").split()
    text = " ".join((words * (n_words // len(words) + 1))[:n_words])
    punctuator = Punctuator.from_pretrained(model, PunctuatorConfig.of_preset(preset))
    punctuator.punctuate(text[:20_000])  # what a short document takes
    before = _peak_mib(resource)
    started = time.perf_counter()
    n_written = sum(len(piece) for piece in punctuator.pieces(text))
    seconds = time.perf_counter() - started
    grown = _peak_mib(resource) - before
    print(
        f"{n_words:>9} words ({len(text) / 2**20:.1f} MiB, {n_written} characters written) {seconds:8.1f} s "
        f"{n_words / seconds:8.0f} words/s {grown:8.1f} MiB more than a short document"
    )


def _peak_mib(resource: object) -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # type: ignore[attr-defined]
    return float(usage) / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main()
