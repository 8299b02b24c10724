"""`-o talk.srt`: the name of an output decides its format where it names one."""

import json
from pathlib import Path

import pytest
from command import Invoke

SRT = "1\n00:00:01,000 --> 00:00:02,000\nwe know that\n"
WORDS = {"segments": [{"start": 1.0, "end": 2.0, "text": " we know that"}], "language": "en"}


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "talk.json").write_text(json.dumps(WORDS), encoding="utf-8")
    (tmp_path / "talk.srt").write_text(SRT, encoding="utf-8")
    (tmp_path / "talk.txt").write_text("we know  that\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("words", "begins"), [
    ("talk.json -o out.srt", "1\n00:00:01,000 --> 00:00:02,000\nWe"),
    ("talk.json -o out.srt --resegment", "1\n00:00:01,000 --> 00:00:02,000\nWe"),
    ("talk.json -o out.VTT", "WEBVTT\n\n1\n00:00:01.000 -->"), ("talk.json -o out.ass", "[Script Info]"),
    ("talk.json -o out.txt", "We"), ("talk.json -o out.tsv", "word\tstart\tend\n"),
    ("talk.json -o out.json", '{"segments": [{"start": 1.0, "end": 2.0, "text": " We'),  # its own, kept as it is
    ("talk.json --to json -o out.json", '{"source": '), ("talk.json -o out", '{"segments"'),
    ("talk.srt -o out.txt", "We"),
    ("talk.srt -o out.srt", "1\n00:00:01,000 --> 00:00:02,000\nWe"),
    ("talk.srt -o out.html", "<!doctype html>"), ("talk.srt --json -o out.json", '{"source": '),
    ("talk.txt -o out.json", '{"source": '), ("talk.txt -o out.text", "We"), ("talk.txt --lines -o out.txt", "We"),
    ("talk.txt talk.srt -o out.txt", "We"), ("talk.json talk.json -o out.json", '{"source": '),
])  # fmt: skip
def test_the_name_of_the_output_decides_its_format(
    words: str, begins: str, invoke: Invoke, folder: str, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    before = {*inputs.iterdir()}
    code, _, err = invoke("punctuate", *words.split(), "--model", folder)
    assert (code, err) == (0, "")
    (written,) = {*inputs.iterdir()} - before
    text = written.read_text(encoding="utf-8")
    assert text.lower().startswith(begins.lower()), text
    if "-o out.text" in words or "--lines" in words:
        assert "  " in text, "plain text keeps its white space"
