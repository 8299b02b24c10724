"""Print how many steps a run takes in some seconds, going by the log of a short try: the `max_steps` of the run itself.

The rate is the median of the log's lines: the first ones warm up, and the last one may wait for loaders that end.

python recipes/steps_in.py runs/try.log.jsonl 300
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median


def steps_in(log: Path, seconds: float) -> int:
    """Return the steps of `seconds`, at the median rate of a run's log."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    words_per_step = lines[-1]["words"] / lines[-1]["step"]
    return int(median(line["words_per_second"] for line in lines) * seconds / words_per_step)


def main() -> None:
    """Print the number of steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path, help="OUTPUT.log.jsonl of a try")
    parser.add_argument("seconds", type=float)
    arguments = parser.parse_args()
    print(steps_in(arguments.log, arguments.seconds))


if __name__ == "__main__":
    main()
