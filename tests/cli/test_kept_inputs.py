"""What a command reads it never writes over: inputs, terms, presets, configs, models; an empty name is no place."""

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
        "terms.txt": "asr=ASR\n", "mine.yaml": "windows: {window: 32}\n", "tune.yaml": "budget: 2\n",
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "link").symlink_to("model", target_is_directory=True)
    (tmp_path / "list").symlink_to("terms.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("command", "told"), [
    ("punctuate talk.txt --terms terms.txt -o terms.txt", "terms.txt is an input"),
    ("punctuate talk.txt --terms terms.txt --html terms.txt", "terms.txt is an input"),
    ("punctuate talk.txt --preset mine.yaml -o mine.yaml", "mine.yaml is an input"),
    ("punctuate talk.txt --preset mine.yaml -o ./model/../mine.yaml", "is an input"),
    ("punctuate terms.txt --terms other.txt --output-dir .", "terms.txt is an input"),
    ("punctuate talk.txt -o model/config.json", "model/config.json is in model, which is read"),
    ("punctuate talk.txt -o model/new.txt", "model/new.txt is in model, which is read"),
    ("punctuate talk.txt --html model/config.json", "is in model, which is read"),
    ("punctuate talk.txt --output-dir model", "is in model, which is read"),
    ("punctuate talk.txt --output-dir model/new/deep", "is in model, which is read"),
    ("punctuate talk.txt -o link/config.json", "is in model, which is read"),
    ("punctuate talk.txt --terms terms.txt -o list", "list is an input"),
    ("tune talk.txt --config tune.yaml -o tune.yaml", "tune.yaml is an input"),
    ("tune talk.txt -o model/config.json", "is in model, which is read"),
    ("punctuate talk.txt --output-dir=", "an output without a name; expected a file or a folder"),
    ("punctuate talk.txt -o=", "an output without a name"),
    ("punctuate talk.txt --html=", "an output without a name"),
])  # fmt: skip
def test_no_output_takes_the_place_of_what_is_read(invoke: Invoke, place: Path, command: str, told: str) -> None:
    before = contents(place)
    arguments = [argument.removesuffix("=") if argument == "-o=" else argument for argument in command.split()]
    arguments += [""] * command.endswith("-o=")
    code, out, err = invoke(*arguments, "--model", "model")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert contents(place) == before


def test_outputs_beside_a_model_and_onto_unread_files_are_written(invoke: Invoke, place: Path) -> None:
    for target in ("out.txt", "mine.yaml"):
        assert invoke("punctuate", "talk.txt", "--model", "model", "-o", target)[0] == 0
        assert len(Path(target).read_text(encoding="utf-8").split()) == 3


def test_an_export_takes_the_place_of_nothing_that_it_reads(invoke: Invoke, place: Path) -> None:
    model.save(model.load("model"), place / "old")
    before = contents(place)
    code, _, err = invoke("export", "model", "-o", "old", "--task", "old/t5punct.yaml")
    assert (code, "is --task as well" in err) == (2, True)
    assert contents(place) == before


def test_from_python_it_is_the_same(place: Path) -> None:
    punctuator = Punctuator(model.load("model"))
    before = contents(place)
    for folder, told in (("", "an output without a name"), ("model", "is in model, which is read")):
        with pytest.raises(InputError, match=told):
            punctuate_files(punctuator, ["talk.txt"], folder)
    assert contents(place) == before
