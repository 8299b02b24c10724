"""Targets: told beforehand, never two texts in one file, never over an input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from t5punct.errors import InputError
from t5punct.text.formats.outputs import Target, targets, write


def test_every_input_has_a_target(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    assert targets(["a", "b"]) == (None, None)
    assert targets(["a", "b"], output=Path("-")) == targets(["a"], output=Path("/dev/stdout")) * 2 == (None, None)
    assert targets(["a", "b"], output=target) == (target, target)
    assert targets(["x/a.txt", "-"], output_dir=tmp_path) == (tmp_path / "a.txt", tmp_path / "stdin.txt")


def test_packed_input_is_written_plain_and_json_under_its_own_name(tmp_path: Path) -> None:
    places = targets(["a.txt.gz", "b.xz"], output_dir=tmp_path, suffix=".json")
    assert places == (tmp_path / "a.txt.json", tmp_path / "b.json")


@pytest.mark.parametrize("sources", [["a.txt", "x/a.txt"], ["a.txt", "b", "a.txt.gz"], ["-", "-"]])
def test_two_inputs_for_one_file_are_refused(tmp_path: Path, sources: list[str]) -> None:
    with pytest.raises(InputError, match=r"two inputs for .*\.txt; expected inputs of different names"):
        targets(sources, output_dir=tmp_path)


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    source, link = tmp_path / "a.txt", tmp_path / "link"
    source.touch()
    link.symlink_to(source)
    for places in ({"output_dir": tmp_path}, {"output": source}, {"output": link}):
        with pytest.raises(InputError, match="is an input; expected another place"):
            targets(["missing", str(source)], **places)
    targets([str(source)], output_dir=tmp_path, suffix=".json")


def test_impossible_places_are_refused_beforehand(tmp_path: Path) -> None:
    for wrong, message in (
        ({"output": tmp_path / "none" / "out.txt"}, "no folder .*none"),
        ({"output": tmp_path}, "is a folder; expected a file to write"),
        ({"output_dir": tmp_path / "none"}, "no folder .*none"),
        ({"output": tmp_path / "x", "output_dir": tmp_path}, "both -o and --output-dir"),
    ):
        with pytest.raises(InputError, match=message):
            targets(["a"], **wrong)


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["a\n"], "a\n"),
        (["a"], "a"),
        ([""], ""),
        (["a", "b"], "a\nb"),
        (["a\n", "", "\n", "b\n"], "a\n\nb\n"),
    ],
)
def test_texts_keep_their_ends_and_begin_on_lines_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], texts: list[str], written: str
) -> None:
    path = tmp_path / "out.txt"
    places: list[Target]
    for place in (path, None):
        places = [place] * len(texts)
        write(places, texts)
    assert path.read_text() == capsys.readouterr().out == written


def test_pieces_are_written_as_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure in the middle leaves nothing, of a file as of standard output."""
    path, shown = tmp_path / "out.txt", io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", shown)

    def pieces(n: int) -> Iterator[str]:
        for _ in range(n):
            yield "ä\r\n" * 1000
        raise InputError("something", expected="nothing", fix="stop")

    for place in (path, None):
        with pytest.raises(InputError, match="something"):
            write([place, place], [["one"], pieces(2000)])
    assert not path.exists()
    assert not shown.buffer.getvalue()
    write([None], [["ä\r\n"] * 3])
    assert shown.buffer.getvalue().decode() == "ä\r\n" * 3


def test_a_full_disk_is_named() -> None:
    with pytest.raises(OSError, match="No space") as caught:
        write([Path("/dev/full")], ["a"])
    assert caught.value.filename == "/dev/full"
