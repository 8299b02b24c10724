"""The command line as scripts use it, and what people try first: names, exit codes, one-line errors."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command import ROOT, Invoke, pipe_of, sent_to_a_terminal

from t5punct import __version__
from t5punct import model as models
from t5punct.batch.work import punctuate_files
from t5punct.cli import main
from t5punct.cli.listings import WORDS_A_SECOND
from t5punct.model import bundled_names
from t5punct.punctuator import Punctuator
from t5punct.text.words import split


def test_standard_input_is_read_without_inputs(invoke: Invoke, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("We know 🙂\n".encode())))
        return invoke(*arguments, "--model", folder)

    code, out, _ = run("punctuate", "--no-case")
    assert code == 0
    assert run("punctuate", "-", "--no-case")[1] == out
    assert [word.text for word in split(out).words] == ["We", "know", "🙂"]
    assert json.loads(run("evaluate", "-", "--json")[1])["words"] == 3


def test_pipes_are_read_once_and_evaluate_prints_a_table_of_one_model_or_two(
    invoke: Invoke, folder: str, lively_folder: str
) -> None:
    for command in ("punctuate", "evaluate"):
        with pipe_of(b"we know, that.\n") as path:
            code, out, err = invoke(command, path, "--model", folder)
        assert (code, err) == (0, "")
    for part in ("COMMA", "QUESTION", "micro", "macro F1", "words changed", "decoder:slots"):
        assert part in out
    with pipe_of(b"We know. You?\n") as path:
        code, out, err = invoke("evaluate", path, "--compare", folder, lively_folder)
    assert (code, err) == (0, "")
    for part in ("micro", "boundary", "difference", "95 % interval", f"model:{lively_folder}"):
        assert part in out.replace("\n", "")


def test_json_gives_words_with_label_case_and_confidence(invoke: Invoke, folder: str, text: Path) -> None:
    code, out, _ = invoke("punctuate", text, "--model", folder, "--json")
    document = json.loads(out)
    words = document["words"]
    assert code == 0
    assert document["source"] == str(text)
    assert [word["word"] for word in words] == text.read_text().split()
    names = {"word", "text", "label", "case", "confidence", "case_confidence", "start_char", "end_char"}
    assert set(words[0]) == names
    plain = invoke("punctuate", text, "--model", folder)[1]
    assert [plain[word["start_char"] : word["end_char"]] for word in words] == [word["text"] for word in words]


def test_what_the_shell_hands_over_may_be_closed(
    invoke: Invoke, folder: str, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, given, told in (
        ("stdin", (), "standard input is closed; expected text on it; name a file"),
        ("stdout", (text,), "standard output is closed; expected an open one; name a file with -o"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(sys, name, None)  # as Python has it then
            assert invoke("punctuate", "--model", folder, *given)[::2] == (2, f"t5punct: {told}\n")


def test_a_full_disk_is_told_and_a_reader_that_goes_away_is_no_error(folder: str) -> None:
    """In processes of their own, which must not write once more when they end."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        for arguments, output, ended in (
            (["punctuate", "--model", folder], full, (2, b"t5punct: standard output: No space left on device\n")),
            (["presets"], write_end, (1, b"")),
        ):
            command = [sys.executable, "-m", "t5punct", *arguments]
            done = subprocess.run(
                command, input=b"we know", stdout=output, stderr=subprocess.PIPE, cwd=ROOT, check=False
            )
            assert (done.returncode, done.stderr) == ended
    os.close(write_end)


def test_version_and_help_which_is_shown_without_a_command_too(invoke: Invoke) -> None:
    assert invoke("train", "-h") == invoke("train", "--help") == invoke("help", "train")
    for command in ("--version", "-V", "version"):
        assert invoke(command)[1].strip() == f"t5punct {__version__}"
    shown = invoke("--help")[1]
    assert all(command in shown for command in ("punctuate", "evaluate", "prepare", "train"))
    assert invoke() == (2, shown, "")


@pytest.mark.parametrize("script", ["infer.py", "train.py"])
def test_the_doors_lead_to_the_command_line(script: str) -> None:
    done = subprocess.run([sys.executable, script, "--nonsense"], capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("t5punct: ")


def test_presets_are_listed_and_printed_to_be_copied(invoke: Invoke, folder: str, text: Path, tmp_path: Path) -> None:
    code, out, _ = invoke("presets")
    assert code == 0
    assert all(name in out for name in ("side-by-side", "overlapped-chunk", "mask-combine-4", "realtime-4"))
    code, out, _ = invoke("presets", "mask-combine-3")
    copied = tmp_path / "mine.yaml"
    copied.write_text(out, encoding="utf-8")
    by_name = invoke("punctuate", text, "--model", folder, "--preset", "mask-combine-3")
    assert invoke("punctuate", text, "--model", folder, "--preset", copied) == by_name
    into = ("punctuate", text, "--model", folder, "--preset", copied, "--output-dir", tmp_path / "out")
    assert invoke(*into)[2] == ""
    assert "1 of 1 files were up to date" in invoke(*into)[2]
    copied.write_text(out.replace("method: mean", "method: entropy"), encoding="utf-8")
    assert invoke(*into)[::2] == (0, ""), "the file has other values now, so the work is done again"


# -- what people try first


GERMAN = "guten tag wie geht es dir heute und was machst du mit dem kind\n"
RUSSIAN = "добрый день как у вас дела сегодня\n"


def test_a_text_without_marks_is_told_to_be_no_reference(invoke: Invoke, tmp_path: Path) -> None:
    talk = tmp_path / "talk.txt"
    for text, is_told in (("we know that\n", True), ("We know that.\n", False)):
        talk.write_text(text)
        code, _, err = invoke("evaluate", str(talk), "--model", "small", "--json")
        assert code == 0 and (f"{talk} has no marks to compare with" in err) == is_told


def test_the_shell_completes_commands_and_options() -> None:
    def completed(words: str) -> list[str]:
        settings = {"_T5PUNCT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        code = "import sys; sys.argv = ['t5punct']; from t5punct.__main__ import main; main()"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, check=True, text=True, cwd=ROOT)
        return done.stdout.split()

    assert completed("t5punct pun") == ["punctuate"]
    assert completed("t5punct punctuate --lang") == ["--language"]


def test_models_are_listed_as_readme_has_them(invoke: Invoke) -> None:
    code, out, err = invoke("models")
    assert (code, err) == (0, "")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in bundled_names():
        (line,) = [line for line in out.splitlines() if line.split()[0] == name]
        (row,) = re.findall(rf"^\| `{name}` \|.*\| ([\d,]+) \| (\d+) MB \|$", readme, flags=re.MULTILINE)
        assert row == (f"{WORDS_A_SECOND[name]:,}", re.findall(r" (\d+) +en", line)[0])
        assert row[0] in line
    assert "pl hu" in out


def test_a_language_chooses_and_loads_its_model(invoke: Invoke, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [models.model_for(name) for name in ("de", "German", "en-GB", "hu")] == ["multi", "multi", "large", "multi"]
    loaded = list[object]()
    monkeypatch.setattr(models, "find", lambda source, *_, **__: loaded.append(source) or Path("/nowhere"))
    for command in (("punctuate", text), ("evaluate", text)):
        for language in ("de", "en"):
            assert invoke(*command, "--language", language)[0] == 2
    assert loaded == ["multi", None] * 2


def test_without_marks_only_capitals_are_written(invoke: Invoke, lively_folder: str, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("we know. that is it\nand you\n", encoding="utf-8")
    code, out, err = invoke("punctuate", tmp_path / "talk.txt", "--marks", "", "--model", lively_folder)
    assert (code, err) == (0, "")
    assert out.lower() == "we know that is it\nand you\n" and out.startswith("We")
    with_marks = invoke("punctuate", tmp_path / "talk.txt", "--model", lively_folder)[1]
    cores = [word.text for word in split(with_marks).words]
    assert out.split() == cores, "the capitals are those that belong to the marks"


UNKNOWN = "does not know, so its marks will be poor; "


@pytest.mark.parametrize(("name", "text", "warning"), [
    ("large", GERMAN, f"in German, which the model large {UNKNOWN}--model multi knows"),
    ("multi", RUSSIAN, f"in Cyrillic letters, which the model multi {UNKNOWN}no bund"),
    ("multi", GERMAN, ""), ("runs/mine", GERMAN, ""),
])  # fmt: skip
def test_a_language_that_the_model_does_not_know_is_said_once(
    name: str, text: str, warning: str, tagged_model: models.Model, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    punctuate_files(Punctuator(replace(tagged_model, name=name)), sorted(tmp_path.glob("*.txt")), tmp_path / "out")
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == bool(warning)
    assert all(warning in message for message in messages)


def test_quiet_says_errors_alone(invoke: Invoke, folder: str, tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text("nothing\n", encoding="utf-8")
    command = ("punctuate", tmp_path / "talk.srt", "--model", folder)
    assert "no words were found" in invoke(*command)[2]
    assert invoke(*command, "-q")[::2] == (0, "")
    assert "no words were found" in invoke(*command)[2], "only that command is quiet"
    assert invoke("punctuate", "nowhere.txt", "-q")[2].startswith("t5punct: no file nowhere.txt")


def test_waiting_for_a_person_says_so_without_a_bar(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    person, terminal = pty.openpty()
    os.write(person, b"we know\n\x04")

    def run() -> None:
        with open(terminal) as keyboard, pytest.raises(SystemExit):  # noqa: PTH123
            monkeypatch.setattr(sys, "stdin", keyboard)
            main(["punctuate", "--no-case", "--model", folder])

    note, _, written = sent_to_a_terminal(run).partition("\n")
    os.close(person)
    assert note == "t5punct: reading what you type; end it by Ctrl-D on a line of its own"
    assert [word.text for word in split(written).words] == ["we", "know"]
