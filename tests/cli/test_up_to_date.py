"""What makes outputs in a folder stale, and what does not: weights behind a name do, the number of threads does not."""

from pathlib import Path

import pytest
from command import Invoke

from t5punct import model
from t5punct.model import Model

_DONE = "1 of 1 files were up to date"


@pytest.fixture
def arguments(tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A command whose model is a bundled one, `large`, which is not named."""
    model.save(tiny_model, tmp_path / "models" / "large")
    monkeypatch.setattr(model, "bundled_root", lambda: tmp_path / "models")
    (tmp_path / "talk.txt").write_text("we know that\n", encoding="utf-8")
    return ("punctuate", str(tmp_path / "talk.txt"), "--output-dir", str(tmp_path / "out"))


def test_other_weights_under_the_same_name_are_noticed(
    invoke: Invoke, arguments: tuple[str, ...], lively_model: Model, tmp_path: Path
) -> None:
    for more in ((), ("--model", "large")):
        assert invoke(*arguments, *more)[::2] == (0, "")
        assert _DONE in invoke(*arguments, *more)[2]
    model.save(lively_model, tmp_path / "models" / "large")
    assert invoke(*arguments)[::2] == (0, "")
    assert _DONE in invoke(*arguments)[2]


def test_weights_that_a_hub_id_leads_to_are_noticed(
    invoke: Invoke, arguments: tuple[str, ...], lively_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = {"main": tmp_path / "models" / "large", "later": tmp_path / "models" / "later"}
    model.save(lively_model, snapshots["later"])
    branch = ["main"]
    monkeypatch.setattr("t5punct.t5.folder._snapshot", lambda hub_id, kind, revision, known: snapshots[branch[0]])
    named = (*arguments, "--model", "someone/punct")
    assert invoke(*named)[::2] == (0, "")
    assert _DONE in invoke(*named)[2]
    branch[0] = "later"
    assert invoke(*named)[::2] == (0, "")


def test_the_number_of_threads_changes_nothing(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    assert invoke(*arguments, "threads=1")[::2] == (0, "")
    for more in ((), ("threads=2",)):
        assert _DONE in invoke(*arguments, *more)[2]
    assert invoke(*arguments, "--no-case")[::2] == (0, "")
