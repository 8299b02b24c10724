"""How many steps of a run fit into some seconds."""

import json
from pathlib import Path

from steps_in import steps_in


def test_steps_go_by_the_last_rate_and_the_mean_step(tmp_path: Path) -> None:
    lines = [{"step": 10, "words": 900, "words_per_second": 5.0}, {"step": 20, "words": 2000, "words_per_second": 50.0}]
    log = tmp_path / "run.log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert steps_in(log, 60) == 30
