"""Values beyond all measure, devices that are not there: one line before any work, no traceback, no full memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Invoke

GIANT = 10**19


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (f"punctuate TEXT --window {GIANT}", f"a window of {GIANT} words; expected at most 100000"),
        (f"punctuate TEXT --window {2**63 - 1}", "expected at most 100000"),
        (f"punctuate TEXT --decoder tagger --delay-words {GIANT}", "expected 0 to 100000, and the decoder tagger"),
        (f"stream --window {GIANT}", "expected at most 100000"),
        (f"stream --lookahead {GIANT}", "less than the window"),
        (f"stream --policy delay --lookahead {GIANT}", "expected 0 to 100000, and no --decide"),
        (f"tune TEXT windows=[{GIANT}] grain=1", "expected at most 100000"),
        ("punctuate TEXT --decoder generate --beams 100000", "100000 beams; expected 1 to 64: each holds"),
        (f"punctuate TEXT --decoder generate --beams {GIANT}", "expected 1 to 64"),
        (f"punctuate TEXT --threads {GIANT}", "--threads"),
        (f"stream --threads {GIANT}", "--threads"),
        ("punctuate TEXT --device hpu", "device 'hpu'; expected cpu, or a GPU that torch sees; check --device"),
        ("punctuate TEXT --device privateuseone", "device 'privateuseone'; expected cpu"),
    ],
)
def test_a_value_beyond_all_measure_is_refused_in_one_line(
    invoke: Invoke, folder: str, tmp_path: Path, command: str, told: str
) -> None:
    (tmp_path / "talk.txt").write_text("we know that\n", encoding="utf-8")
    arguments = [str(tmp_path / "talk.txt") if part == "TEXT" else part for part in command.split()]
    code, out, err = invoke(*arguments, "--model", folder)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


@pytest.mark.parametrize("option", ["--batch-tokens", "--alternatives", "--paragraphs", "--paragraph-pause-ms"])
def test_one_that_is_only_more_than_there_can_be_does_no_harm(
    invoke: Invoke, folder: str, tmp_path: Path, option: str
) -> None:
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nwe know\n", encoding="utf-8")
    code, _, err = invoke("punctuate", tmp_path / "a.srt", "--to", "html", option, GIANT, "--model", folder)
    assert (code, err) == (0, "")
