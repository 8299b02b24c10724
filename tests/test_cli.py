"""The command line as scripts use it: names, exit codes, one-line errors, files whole or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from t5punct import __version__, model
from t5punct.cli import main
from t5punct.model import Model
from t5punct.words import split

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tiny_model: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved model that knows nothing."""
    path = tmp_path_factory.mktemp("model")
    model.save(tiny_model, path)
    return str(path)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text("we know that right\nand you\n", encoding="utf-8")
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(stopped.value.code or 0), captured.out, captured.err


def _shell(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "t5punct", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=ROOT, check=False)


def test_a_file_is_punctuated_to_standard_output(capsys: pytest.CaptureFixture[str], folder: str, text: Path) -> None:
    code, out, _ = _run(capsys, "punctuate", text, "--model", folder)
    assert code == 0
    assert [word.text.lower() for word in split(out).words] == text.read_text().split()
    assert out.count("\n") == 2, "the line breaks of the input"


def test_standard_input_is_read_without_inputs_and_for_a_dash(folder: str) -> None:
    bare = _shell("punctuate", "--model", folder, "--no-case", stdin="we know 🙂\n".encode())
    dash = _shell("punctuate", "-", "--model", folder, "--no-case", stdin="we know 🙂\n".encode())
    assert bare.returncode == 0
    assert bare.stdout == dash.stdout
    assert [word.text for word in split(bare.stdout.decode()).words] == ["we", "know", "🙂"]


def test_a_file_or_a_folder_of_outputs_is_written(
    capsys: pytest.CaptureFixture[str], folder: str, text: Path, tmp_path: Path
) -> None:
    target, folder_out = tmp_path / "out.txt", tmp_path / "outs"
    folder_out.mkdir()
    assert _run(capsys, "punctuate", text, "-o", target, "--model", folder)[0] == 0
    assert _run(capsys, "punctuate", text, text, "--output-dir", folder_out, "--model", folder)[0] == 0
    assert (folder_out / "talk.txt").read_text() == target.read_text()


def test_json_gives_words_with_label_case_and_confidence(
    capsys: pytest.CaptureFixture[str], folder: str, text: Path
) -> None:
    code, out, _ = _run(capsys, "punctuate", text, "--model", folder, "--json")
    words = json.loads(out)["words"]
    assert code == 0
    assert [word["word"] for word in words] == text.read_text().split()
    assert set(words[0]) == {"word", "text", "label", "case", "confidence", "case_confidence"}


@pytest.mark.parametrize("decoder", ["slots", "generate"])
def test_evaluate_gives_the_promised_keys(
    capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path, decoder: str
) -> None:
    data = tmp_path / "test.tsv"
    data.write_text("do\tO\nn't\tCOMMA\ngo\tPERIOD\nwhy\tQUESTION\n", encoding="utf-8")
    code, out, _ = _run(capsys, "evaluate", data, "--model", folder, "--decoder", decoder, "--json")
    report = json.loads(out)
    assert code == 0
    promised = {"micro_f1", "macro_f1", "per_class", "slot_error_rate", "words_changed", "words", "seconds"}
    assert promised <= set(report)
    assert (report["words"], report["words_changed"]) == (4, 0)
    assert [found["reference"] for found in report["per_class"].values()] == [1, 1, 1]
    assert (report["generated_words"] is None) == (decoder == "slots")


def test_evaluate_prints_a_table(capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path) -> None:
    data = tmp_path / "text.txt"
    data.write_text("We know. Do you? Yes!\n", encoding="utf-8")
    code, out, _ = _run(capsys, "evaluate", data, "--model", folder)
    assert code == 0
    for part in ("COMMA", "QUESTION", "micro", "macro F1", "words changed", "decoder:slots"):
        assert part in out


def test_a_window_can_be_set_value_by_value(capsys: pytest.CaptureFixture[str], folder: str, text: Path) -> None:
    shape = ("--window", 4, "--stride", 1, "--mask-left", 1, "--mask-right", 1, "--combine", "vote")
    assert _run(capsys, "punctuate", text, "--model", folder, *shape)[0] == 0


MISTAKES = {
    "missing file": (["punctuate", "nowhere.txt"], "no file nowhere.txt; expected an existing text file"),
    "binary file": (["punctuate", "{binary}"], "expected a text file"),
    "bad encoding": (["punctuate", "{latin}"], "is not UTF-8"),
    "a folder": (["punctuate", "{tmp}"], "is a folder"),
    "unknown preset": (["punctuate", "{text}", "--preset", "best"], "preset 'best'; expected one of none"),
    "unknown decoder": (["punctuate", "{text}", "--decoder", "magic"], "expected one of slots, generate"),
    "unknown combination": (["punctuate", "{text}", "--combine", "sum"], "expected one of mean"),
    "unknown style": (["punctuate", "{text}", "--style", "poem", "--model", "{model}"], "expected one of talk"),
    "window below masks": (["punctuate", "{text}", "--window", "9"], "a window of 9 words with masks of 12 and 8"),
    "wrong model folder": (["punctuate", "{text}", "--model", "{tmp}"], "holds no config.json"),
    "no model folder": (["punctuate", "{text}", "--model", "{tmp}/none"], "no model folder"),
    "two outputs": (["punctuate", "{text}", "-o", "x", "--output-dir", "{tmp}"], "both -o and --output-dir"),
    "no output folder": (["punctuate", "{text}", "--output-dir", "{tmp}/none"], "expected an existing folder"),
    "unknown option": (["punctuate", "{text}", "--loud"], "--loud"),
    "unknown config key": (["train", "optim.lrr=1"], "unknown setting 'optim.lrr'; expected one of output"),
    "no config file": (["train", "--config", "none.yaml"], "no config file none.yaml"),
    "nothing to train on": (["train", "init_from=x"], "no training data; expected data.path=FOLDER"),
    "nothing to prepare": (["prepare"], "no corpora"),
    "nothing to evaluate": (["evaluate", "{empty}", "--model", "{model}"], "holds no words"),
    "not an iwslt line": (["evaluate", "{broken}", "--model", "{model}"], "line 2"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_clear_line_and_exit_code_2(
    name: str, capsys: pytest.CaptureFixture[str], folder: str, text: Path, tmp_path: Path
) -> None:
    places = {"text": text, "tmp": tmp_path, "model": folder}
    for key, content in {
        "binary": b"\x7fELF\0\0\1", "latin": "caf\xe9".encode("latin1"), "empty": b"\n", "broken": b"a\tO\nb\tDOT\n"
    }.items():  # fmt: skip
        places[key] = tmp_path / key
        (tmp_path / key).write_bytes(content)
    arguments, message = MISTAKES[name]
    code, out, err = _run(capsys, *(argument.format(**places) for argument in arguments))
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("t5punct: ")


def test_a_failure_leaves_no_output_file(
    capsys: pytest.CaptureFixture[str], folder: str, text: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.txt"
    before = sorted(tmp_path.iterdir())
    assert _run(capsys, "punctuate", text, "nowhere.txt", "-o", target, "--model", folder)[0] == 2
    assert sorted(tmp_path.iterdir()) == before


def test_version_and_help() -> None:
    assert _shell("--version").stdout.decode().strip() == f"t5punct {__version__}"
    shown = _shell("--help").stdout.decode()
    assert all(command in shown for command in ("punctuate", "evaluate", "prepare", "train"))


def test_help_imports_nothing_heavy() -> None:
    """The start is instant because of this; the time itself is measured by `make bench`, not by a test."""
    code = (
        "import sys\nfrom t5punct.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'datasets', 'numpy', 'accelerate'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_a_reader_that_goes_away_is_no_error(folder: str) -> None:
    command = [sys.executable, "-m", "t5punct", "punctuate", "--model", folder]
    read_end, write_end = os.pipe()
    os.close(read_end)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=write_end, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        os.close(write_end)
        _, err = process.communicate(b"we know that")
    assert b"Traceback" not in err
    assert process.returncode == 1


@pytest.mark.parametrize("script", ["infer.py", "train.py"])
def test_the_doors_lead_to_the_command_line(script: str) -> None:
    done = subprocess.run([sys.executable, script, "--nonsense"], capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("t5punct: ")
