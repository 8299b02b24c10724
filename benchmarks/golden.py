"""Golden files: what the package writes for all fixtures of the tests, to compare before and after a change.

`python benchmarks/golden.py make FOLDER` writes them; `python benchmarks/golden.py compare BEFORE AFTER` names what
differs, and exits with 1 if something does.  Messages and exit codes are golden files, too (`NAME.log`).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_TIMES = re.compile(rb'(seconds +|"seconds": |"decision_ms": )[0-9.]+')
FIXTURES = ("tests/data", "tests/tools/layouts", "tests/fuzz/corpus")
BATCHES = {  # names of folders -> options of `punctuate`
    "plain": [],
    "json": ["--to", "json", "alternatives=2"],
    "removed": ["--decoder", "tagger", "--disfluencies", "remove"],
    "text": ["--to", "text", "--paragraphs", "3", "--keep-marks"],
    "pages": ["--to", "html", "--style", "chat", "--preset", "mask-combine-2"],
}
SINGLE = {  # names of files -> commands, which read the file (without one: nothing)
    "stdout.txt": ["punctuate", "tests/data/lecture.txt"],
    "lines.txt": ["punctuate", "--lines", "--style", "prose", "tests/data/lectures/leaves.txt"],
    "opening.txt": ["punctuate", "--model", "multi", "--preset", "multi-prediction-4", "tests/data/lecture.txt"],
    "generated.txt": ["punctuate", "--decoder", "generate", "fragment=true", "tests/data/hand-counted.txt"],
    "cues.srt": ["punctuate", "--to", "srt", "--resegment", "tests/tools/layouts/whisperx.json"],
    "cues.ass": ["punctuate", "--to", "ass", "tests/data/rolling.vtt"],
    "fixed.txt": ["stream", "--lookahead", "3"],
    "delay.jsonl": ["stream", "--policy", "delay", "--lookahead", "2", "--json"],
    "entropy.jsonl": ["stream", "--policy", "entropy", "--json", "--disfluencies", "mark"],
    "sentence.txt": ["stream", "--policy", "sentence", "--style", "chat"],
    "scores.txt": ["evaluate", "tests/data/hand-counted.tsv"],
    "majority.txt": ["evaluate", "tests/data/disfluencies.tsv", "--preset", "vote", "--max-words", "900"],
    "hamming.txt": [
        *("evaluate", "tests/data/disfluencies.tsv", "combine=hamming", "stride=40", "--style", "chat"),
        *("--max-words", "600", "--disfluencies", "mark"),
    ],
    "entropies.txt": [
        *("evaluate", "tests/data/disfluencies.tsv", "combine=entropy", "stride=40", "--style", "chat"),
        *("--max-words", "600", "--json"),
    ],
}


def run(command: list[str], log: Path, output: Path | None = None, words: Path | None = None) -> None:
    """Run a command of t5punct; its messages and exit code go into a log."""
    command = [sys.executable, "-m", "t5punct", *command]
    if "--model" not in command:
        command += ["--model", "small"]
    done = subprocess.run(  # noqa: S603
        command, stdin=words.open("rb") if words else None, capture_output=True, check=False
    )
    place = str(log.parent).encode()
    log.write_bytes(done.stderr.replace(place, b"GOLDEN") + f"exit code {done.returncode}\n".encode())
    if output is not None:
        output.write_bytes(done.stdout)


def make(folder: Path) -> None:
    """Write all golden files into a folder."""
    folder.mkdir(parents=True)
    files = sorted(str(path) for place in FIXTURES for path in Path(place).rglob("*.*") if path.suffix != ".py")
    for name, options in BATCHES.items():
        renamed = "text" in options or "html" in options  # then two would have one output
        chosen = [file for file in files if not (renamed and file.endswith(".tsv"))]
        run(["punctuate", *chosen, "--output-dir", str(folder / name), *options], folder / f"{name}.log")
        (folder / name / ".t5punct-settings").unlink(missing_ok=True)  # a fingerprint of settings, not an output
    for name, command in SINGLE.items():
        run(command, folder / f"{name}.log", folder / name, Path("tests/data/lecture.txt"))


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder by their names, without measured times."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): _TIMES.sub(b"", path.read_bytes()) for path in paths}


def compare(before: Path, after: Path) -> int:
    """Name the files that differ, or that only one folder has; return how many."""
    old, new = contents(before), contents(after)
    different = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    for name in different:
        print("missing" if name not in new else "new" if name not in old else "differs", name)
    print(f"{len(different)} of {len(old)} files differ")
    return len(different)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make(Path(folder))
        case ["compare", before, after]:
            sys.exit(compare(Path(before), Path(after)) > 0)
        case _:
            sys.exit(__doc__)
