"""How many steps of a run fit into some seconds."""

import json
from pathlib import Path

from steps_in import steps_in


def test_steps_go_by_the_median_rate_and_the_mean_step(tmp_path: Path) -> None:
    rates = {10: (900, 5.0), 20: (1900, 50.0), 30: (3000, 60.0)}
    lines = [{"step": step, "words": words, "words_per_second": rate} for step, (words, rate) in rates.items()]
    log = tmp_path / "run.log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert steps_in(log, 60) == 30
