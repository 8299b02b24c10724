"""Pictures are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from t5punct.evaluation.plots import save


def test_a_picture_that_cannot_be_written_leaves_the_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(Figure(), tmp_path / "new" / "a.png")
    before = (tmp_path / "new" / "a.png").read_bytes()
    assert before.startswith(b"\x89PNG")

    def half(self: Figure, path: Path, **_: object) -> None:
        path.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(OSError, match="No space"):
        save(Figure(), tmp_path / "new" / "a.png")
    assert [path.read_bytes() for path in (tmp_path / "new").iterdir()] == [before]
