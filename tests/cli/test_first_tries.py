"""What people try first works."""

import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command import ROOT, Invoke

from t5punct import model as models
from t5punct.batch.work import punctuate_files
from t5punct.cli.listings import WORDS_A_SECOND
from t5punct.model import bundled_names
from t5punct.punctuator import Punctuator
from t5punct.text.words import split

GERMAN = "guten tag wie geht es dir heute und was machst du mit dem kind\n"
RUSSIAN = "добрый день как у вас дела сегодня\n"


def test_a_text_without_marks_is_told_to_be_no_reference(invoke: Invoke, tmp_path: Path) -> None:
    talk = tmp_path / "talk.txt"
    for text, is_told in (("we know that\n", True), ("We know that.\n", False)):
        talk.write_text(text)
        code, _, err = invoke("evaluate", str(talk), "--model", "small", "--json")
        assert code == 0 and (f"{talk} has no marks to compare with" in err) == is_told


@pytest.mark.parametrize("command", [(), ("punctuate",), ("train",)])
def test_h_is_help(command: tuple[str, ...], invoke: Invoke) -> None:
    assert invoke(*command, "-h") == invoke(*command, "--help")


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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_and_written_as_utf_8(invoke: Invoke, folder: str, tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    (tmp_path / "talk.txt").write_bytes(f"{mark}we know\r\nthat café\r\n".encode(encoding))
    settings = ("--no-case", "--marks", ",", "--mark-odds", ",=1e-9", "--model", folder)
    code, _, err = invoke("punctuate", tmp_path / "talk.txt", "-o", tmp_path / "out.txt", *settings)
    assert (code, err) == (0, "")
    assert (tmp_path / "out.txt").read_bytes().decode().replace(",", "") == "we know\r\nthat café\r\n"
    (tmp_path / "talk.txt").write_bytes(b"\xff\xfea\0b")
    assert "talk.txt is no whole UTF-16 text" in invoke("punctuate", tmp_path / "talk.txt", "--model", folder)[2]


UNKNOWN = "does not know, so its marks will be poor; "


@pytest.mark.parametrize(("name", "text", "warning"), [
    ("large", GERMAN, f"in German, which the model large {UNKNOWN}--model multi knows"),
    ("multi", RUSSIAN, f"in Cyrillic letters, which the model multi {UNKNOWN}no bund"),
    ("multi", GERMAN, ""),
    ("large", "how are you today and what do you think of it\n", ""),
    ("runs/mine", GERMAN, ""), ("large", "hola maria\n", ""),
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
    (tmp_path / "talk.json").write_text('{"text": "", "segments": []}', encoding="utf-8")
    (tmp_path / "talk.srt").write_text("nothing\n", encoding="utf-8")
    command = ("punctuate", tmp_path / "talk.srt", "--model", folder)
    assert "no words were found" in invoke(*command)[2]
    assert invoke(*command, "-q")[::2] == (0, "")
    assert "no words were found" in invoke(*command)[2], "only that command is quiet"
    assert invoke("punctuate", "nowhere.txt", "-q")[2].startswith("t5punct: no file nowhere.txt")


def test_waiting_for_a_person_says_so_without_a_bar(folder: str) -> None:
    own, terminal = pty.openpty()
    command = [sys.executable, "-m", "t5punct", "punctuate", "--no-case", "--model", folder]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, cwd=ROOT) as process:
        os.close(terminal)
        sent = b""
        while b"Ctrl-D" not in sent:
            sent += os.read(own, 4096)
        os.write(own, b"we know\n\x04")
        out, _ = process.communicate()
    os.close(own)
    assert sent.decode() == "t5punct: reading what you type; end it by Ctrl-D on a line of its own\r\n"[: len(sent)]
    assert [word.text for word in split(out.decode()).words] == ["we", "know"]
