"""Outputs of a command: never over what it reads, in the format of their names, done again when they are stale."""

import json
from pathlib import Path

import pytest
from command import Invoke

from t5punct import model
from t5punct.batch.work import punctuate_files
from t5punct.errors import InputError
from t5punct.model import Model
from t5punct.punctuator import Punctuator


@pytest.fixture
def place(tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a model and all that may be read beside it."""
    model.save(tiny_model, tmp_path / "model")
    files = {
        "talk.txt": "we know that\n", "other.txt": "do you\n", "model/talk.yaml": "we know\n",
        "terms.txt": "asr=ASR\n", "mine.yaml": "windows: {window: 32}\n",
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "link").symlink_to("model", target_is_directory=True)
    (tmp_path / "list").symlink_to("terms.txt")
    model.save(tiny_model, tmp_path / "old")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("command", "told"), [
    ("punctuate talk.txt --terms terms.txt --html terms.txt", "terms.txt is an input"),
    ("punctuate talk.txt --preset mine.yaml -o mine.yaml", "mine.yaml is an input"),
    ("punctuate terms.txt --terms other.txt --output-dir .", "terms.txt is an input"),
    ("punctuate talk.txt --output-dir model/new/deep", "is in model, which is read"),
    ("punctuate talk.txt --terms terms.txt -o list", "list is an input"),
    ("punctuate talk.txt --output-dir=", "an output without a name; expected a file or a folder"),
    ("export model -o old --task old/t5punct.yaml", "is --task as well"),
])  # fmt: skip
def test_no_output_takes_the_place_of_what_is_read(invoke: Invoke, place: Path, command: str, told: str) -> None:
    before = contents(place)
    model_option = [] if command.startswith("export") else ["--model", "model"]
    code, out, err = invoke(*command.split(), *model_option)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert contents(place) == before


def test_what_is_not_read_is_written_over_also_from_python(invoke: Invoke, place: Path) -> None:
    for target in ("out.txt", "mine.yaml"):
        assert invoke("punctuate", "talk.txt", "--model", "model", "-o", target)[0] == 0
        assert len(Path(target).read_text(encoding="utf-8").split()) == 3
    punctuator = Punctuator(model.load("model"))
    before = contents(place)
    for folder, told in (("", "an output without a name"), ("model", "is in model, which is read")):
        with pytest.raises(InputError, match=told):
            punctuate_files(punctuator, ["talk.txt"], folder)
    assert contents(place) == before


# -- formats

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
    ("talk.json -o out.VTT", "WEBVTT\n\n1\n00:00:01.000 -->"),
    ("talk.json -o out.json", '{"segments": [{"start": 1.0, "end": 2.0, "text": " We'),  # its own, kept as it is
    ("talk.json --to json -o out.json", '{"source": '), ("talk.json -o out", '{"segments"'),
    ("talk.srt -o out.html", "<!doctype html>"), ("talk.txt --lines -o out.txt", "We"),
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
    if "--lines" in words:
        assert "  " in text, "plain text keeps its white space"


# -- what makes outputs in a folder stale: weights behind a name do, the number of threads does not

_DONE = "1 of 1 files were up to date"


@pytest.fixture
def arguments(tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A command whose model is a bundled one, `large`, which is not named."""
    model.save(tiny_model, tmp_path / "models" / "large")
    monkeypatch.setattr(model, "BUNDLED_MODELS", tmp_path / "models")
    (tmp_path / "talk.txt").write_text("we know that\n", encoding="utf-8")
    return ("punctuate", str(tmp_path / "talk.txt"), "--output-dir", str(tmp_path / "out"))


def test_other_weights_under_the_same_name_are_noticed(
    invoke: Invoke, arguments: tuple[str, ...], lively_model: Model, tmp_path: Path
) -> None:
    for weights in (None, lively_model):
        if weights is not None:
            model.save(weights, tmp_path / "models" / "large")
        assert invoke(*arguments)[::2] == (0, "")
        assert _DONE in invoke(*arguments, "threads=2")[2], "threads change nothing"
