"""A folder made beside its place."""

from pathlib import Path

import pytest

from t5punct.text.io.files import move, partial_folder


def _written(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name, encoding="utf-8")


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    with partial_folder(tmp_path / "mine") as beside:
        _written(beside, "a", "b")
        assert not (tmp_path / "mine").exists()
        move(beside, tmp_path / "mine")
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["a", "b"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_last_file_is_the_last_to_come_to_a_folder_that_is_there(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    _written(tmp_path / "mine", "a", "other")
    moved, replace = [], Path.replace

    def noted(path: Path, target: Path) -> Path:
        moved.append(path.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", noted)
    with partial_folder(tmp_path / "mine") as beside:
        _written(beside, "a", "b", "c")
        move(beside, tmp_path / "mine", last="b")
    assert moved[-1] == "b"
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["a", "b", "c", "other"]


def test_nothing_appears_after_an_error_and_leftovers_of_a_killed_run_go(tmp_path: Path) -> None:
    _written(tmp_path / "mine.partial", "old")
    with pytest.raises(ValueError, match="no"), partial_folder(tmp_path / "mine") as beside:
        assert not beside.exists()
        _written(beside, "a")
        raise ValueError("no")
    assert list(tmp_path.iterdir()) == []
