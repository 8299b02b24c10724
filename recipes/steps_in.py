"""Print how many steps a run takes in some seconds, going by the log of a short try: the `max_steps` of the run itself.

python recipes/steps_in.py runs/try.log.jsonl 300
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def steps_in(log: Path, seconds: float) -> int:
    """Return the steps of `seconds`, at the rate of the last line of a run's log."""
    line = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    steps_per_second = line["words_per_second"] * line["step"] / line["words"]
    return int(steps_per_second * seconds)


def main() -> None:
    """Print the number of steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path, help="OUTPUT.log.jsonl of a try")
    parser.add_argument("seconds", type=float)
    arguments = parser.parse_args()
    print(steps_in(arguments.log, arguments.seconds))


if __name__ == "__main__":
    main()
