"""`t5punct evaluate --compare`: two models on one text, from the command line."""

import json
from pathlib import Path

import pytest
from command import Invoke, pipe_of


@pytest.fixture
def folders(folder: str, lively_folder: str) -> list[str]:
    return [folder, lively_folder]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text("We know. Do you?\nYes! So it goes, on and on.\n", encoding="utf-8")
    return path


def test_both_are_scored_as_they_are_alone(invoke: Invoke, folders: list[str], text: Path) -> None:
    code, out, err = invoke("evaluate", text, "--compare", *folders, "--json", "--preset", "side-by-side")
    assert (code, err) == (0, "")
    comparison = json.loads(out)
    for report, folder in zip(comparison["reports"], folders, strict=True):
        alone = json.loads(invoke("evaluate", text, "--model", folder, "--json", "--preset", "side-by-side")[1])
        assert report | {"seconds": 0} == alone | {"seconds": 0}
    scores = [report["micro_f1"] for report in comparison["reports"]]
    micro = comparison["differences"]["micro"]
    assert micro["scores"] == scores
    assert micro["gain"] == pytest.approx(scores[1] - scores[0])
    assert micro["gain_interval"][0] <= micro["gain"] <= micro["gain_interval"][1]
    assert 0 < micro["p_value"] <= 1


def test_a_table_is_printed_and_a_pipe_is_read_once(invoke: Invoke, folders: list[str]) -> None:
    with pipe_of(b"We know. You?\n") as path:
        code, out, err = invoke("evaluate", path, "--compare", *folders)
    assert (code, err) == (0, "")
    for part in ("micro", "boundary", "difference", "95 % interval", f"model:{folders[1]}"):
        assert part in out.replace("\n", "")
