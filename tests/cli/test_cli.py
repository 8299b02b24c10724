"""The command line as scripts use it: names, exit codes, one-line errors, files whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from command import Invoke, pipe_of

from t5punct import __version__, model
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.text.marks import Case
from t5punct.text.render import Decision
from t5punct.text.words import split

ROOT = Path(__file__).parents[2]


def test_standard_input_is_read_without_inputs_and_for_a_dash(
    invoke: Invoke, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("We know 🙂\n".encode())))
        return invoke(*arguments, "--model", folder)

    code, out, _ = run("punctuate", "--no-case")
    assert code == 0
    assert run("punctuate", "-", "--no-case")[1] == out
    assert [word.text for word in split(out).words] == ["We", "know", "🙂"]
    assert json.loads(run("evaluate", "-", "--json")[1])["words"] == 3


def test_a_file_or_a_folder_of_outputs_is_written(invoke: Invoke, folder: str, text: Path, tmp_path: Path) -> None:
    target, folder_out, other = tmp_path / "out.txt", tmp_path / "outs", tmp_path / "other.txt.gz"
    folder_out.mkdir()
    other.write_bytes(gzip.compress(text.read_bytes()))
    assert invoke("punctuate", text, "-o", target, "--model", folder)[0] == 0
    assert invoke("punctuate", text, other, "--output-dir", folder_out, "--model", folder)[0] == 0
    outputs = sorted(path for path in folder_out.iterdir() if not path.name.startswith("."))
    assert [path.name for path in outputs] == ["other.txt", "talk.txt"]
    assert all(path.read_text() == target.read_text() for path in outputs)


def test_white_space_stays_as_it_was_up_to_the_last_line_end(
    invoke: Invoke, folder: str, text: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.txt"
    for content in ("", "\n", "we\tknow", "  we  know\u00a0that\r\n\r\nand \n\n", " \n"):
        text.write_text(content, newline="")
        arguments = ("punctuate", text, "--model", folder, "--no-case", "--keep-marks", "--marks", ",")
        assert invoke(*arguments, "-o", target)[0] == 0
        assert target.read_bytes().decode().replace(",", "") == content
        assert invoke(*arguments, "-o", "-")[1] == target.read_bytes().decode()


def test_a_pipe_is_read_and_evaluate_prints_a_table(invoke: Invoke, folder: str) -> None:
    for command in ("punctuate", "evaluate"):
        with pipe_of(b"we know, that.\n") as path:
            code, out, err = invoke(command, path, "--model", folder)
        assert (code, err) == (0, "")
    for part in ("COMMA", "QUESTION", "micro", "macro F1", "words changed", "decoder:slots"):
        assert part in out


def test_json_gives_words_with_label_case_and_confidence(invoke: Invoke, folder: str, text: Path) -> None:
    code, out, _ = invoke("punctuate", text, text, "--model", folder, "--json")
    document, again = (json.loads(line) for line in out.splitlines())
    words = document["words"]
    assert code == 0
    for word, other in zip(words, again["words"], strict=True):  # side by side in a batch: equal but for rounding
        assert word == other | {name: pytest.approx(other[name]) for name in ("confidence", "case_confidence")}
    assert document["source"] == str(text)
    assert [word["word"] for word in words] == text.read_text().split()
    names = {"word", "text", "label", "case", "confidence", "case_confidence", "start_char", "end_char"}
    assert set(words[0]) == names
    plain = invoke("punctuate", text, "--model", folder)[1]
    assert [plain[word["start_char"] : word["end_char"]] for word in words] == [word["text"] for word in words]


@pytest.mark.parametrize("decoder", ["slots", "generate"])
def test_evaluate_gives_the_promised_keys(invoke: Invoke, folder: str, tmp_path: Path, decoder: str) -> None:
    data = tmp_path / "test.tsv"
    data.write_text("do\tO\nn't\tCOMMA\ngo\tPERIOD\nwhy\tQUESTION\n", encoding="utf-8")
    code, out, _ = invoke("evaluate", data, "--model", folder, "--decoder", decoder, "--json")
    report = json.loads(out)
    assert code == 0
    promised = {"micro_f1", "macro_f1", "per_class", "slot_error_rate", "words_changed", "words", "seconds"}
    assert promised <= set(report)
    assert (report["words"], report["words_changed"]) == (4, 0)
    assert [scores["reference"] for scores in report["per_class"].values()] == [1, 1, 1]
    assert (report["generated_words"] is None) == (decoder == "slots")


def test_a_window_can_be_set_value_by_value(invoke: Invoke, folder: str, text: Path) -> None:
    shape = ("window=4", "stride=1", "mask_left=1", "mask_right=1", "combine=vote")
    assert invoke("punctuate", text, "--model", folder, *shape)[0] == 0


def test_what_the_shell_hands_over_may_be_closed_or_full(folder: str, text: Path) -> None:
    command = f"{sys.executable} -m t5punct punctuate --model {folder}"
    messages = {
        "<&-": b"t5punct: standard input is closed; expected text on it; name a file\n",
        f"{text} >&-": b"t5punct: standard output is closed; expected an open one; name a file with -o\n",
        f"{text} > /dev/full": b"t5punct: standard output: No space left on device\n",
    }
    running = [subprocess.Popen(f"{command} {rest}", shell=True, stderr=subprocess.PIPE, cwd=ROOT) for rest in messages]
    assert [process.communicate()[1] for process in running] == [*messages.values()]
    assert [process.returncode for process in running] == [2, 2, 2]


def test_version_and_help_which_is_shown_without_a_command_too(invoke: Invoke) -> None:
    assert invoke("--version")[1].strip() == f"t5punct {__version__}"
    shown = invoke("--help")[1]
    assert all(command in shown for command in ("punctuate", "evaluate", "prepare", "train"))
    assert invoke() == (2, shown, "")


@pytest.mark.parametrize("name", ["punctuate", "stream"])
def test_a_reader_that_goes_away_is_no_error(folder: str, name: str) -> None:
    command = [sys.executable, "-m", "t5punct", name, "--model", folder]
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


def test_a_fragment_may_begin_and_end_inside_a_sentence(invoke: Invoke, folder: str, text: Path) -> None:
    _, whole, _ = invoke("punctuate", text, "--model", folder)
    _, part, _ = invoke("punctuate", text, "--model", folder, "fragment=true")
    assert whole[0].isupper() and whole.rstrip()[-1] in ".?!"
    assert part != whole


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_a_lower_precision_changes_no_word(invoke: Invoke, folder: str, text: Path, precision: str) -> None:
    code, out, _ = invoke("punctuate", text, "--model", folder, "--precision", precision, "--no-case")
    assert code == 0
    assert [word.text for word in split(out).words] == [word.text for word in split(text.read_text()).words]


def test_marks_can_be_restricted(invoke: Invoke, folder: str, text: Path) -> None:
    _, out, _ = invoke("punctuate", text, "--model", folder, "--marks", ".", "max_marks=1", "--json")
    assert {word["label"] for word in json.loads(out)["words"]} <= {"", "."}


def test_marks_can_be_made_likelier(invoke: Invoke, folder: str, text: Path) -> None:
    def n_commas(odds: str) -> int:
        return invoke("punctuate", text, "--model", folder, "--mark-odds", odds)[1].count(",")

    n_words = len(text.read_text(encoding="utf-8").split())
    assert n_commas(",=1e-9") == 0 < n_words // 2 < n_commas(",=1e9 .=1")


def test_the_sign_of_disfluent_words_has_odds_where_it_is_asked_for(
    invoke: Invoke, signing_model: Model, text: Path, tmp_path: Path
) -> None:
    model.save(signing_model, tmp_path / "signing")
    options = ("punctuate", text, "--model", tmp_path / "signing", "--mark-odds", "~=1e9")
    code, out, _ = invoke(*options, "--disfluencies", "mark")
    assert (code, out.count("~")) == (0, 6)
    code, _, err = invoke(*options)
    assert code == 2
    assert "'~', the sign of disfluent words, among marks or their odds; expected it with --disfluencies" in err


def test_a_page_has_paragraphs_and_the_subtitles_beside_it_stay(invoke: Invoke, folder: str, tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nwe know. that is it. so\n", encoding="utf-8")
    paths = ("--html", tmp_path / "page.html", "-o", tmp_path / "b.srt", "--keep-marks", "--paragraphs", 1)
    code, _, err = invoke("punctuate", tmp_path / "a.srt", "--model", folder, *paths)
    assert (code, err) == (0, "")
    assert (tmp_path / "b.srt").read_text(encoding="utf-8").count("\n") == 3
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<p") > 2


def test_presets_are_listed_and_one_is_printed_to_be_copied(
    invoke: Invoke, folder: str, text: Path, tmp_path: Path
) -> None:
    code, out, _ = invoke("presets")
    assert code == 0
    assert all(name in out for name in ("side-by-side", "overlapped-chunk", "mask-combine-4", "realtime-4"))
    code, out, _ = invoke("presets", "mask-combine-3")
    copied = tmp_path / "mine.yaml"
    copied.write_text(out.replace("window: 64", "window: 16"), encoding="utf-8")
    assert "overlap: 3" in out
    code, _, err = invoke("punctuate", text, "--model", folder, "--preset", copied)
    assert (code, err) == (2, err)
    assert "masks of 12 and 8" in err, "a copy with values that do not fit is refused"
    copied.write_text(out, encoding="utf-8")
    by_name = invoke("punctuate", text, "--model", folder, "--preset", "mask-combine-3")
    assert invoke("punctuate", text, "--model", folder, "--preset", copied) == by_name
    into = ("punctuate", text, "--model", folder, "--preset", copied, "--output-dir", tmp_path / "out")
    assert invoke(*into)[2] == ""
    assert "1 of 1 files were up to date" in invoke(*into)[2]
    copied.write_text(out.replace("method: mean", "method: entropy"), encoding="utf-8")
    assert invoke(*into)[::2] == (0, ""), "the file has other values now, so the work is done again"


def test_tuning_writes_a_preset_that_punctuate_takes(invoke: Invoke, folder: str, text: Path, tmp_path: Path) -> None:
    data = ROOT / "tests" / "data" / "hand-counted.tsv"
    best, plot = tmp_path / "best.yaml", tmp_path / "tune.png"
    settings = ("windows=[4,8]", "grain=4", "budget=2")
    code, out, _ = invoke("tune", data, *settings, "--model", folder, "--json", "-o", best, "--plot", plot)
    assert code == 0
    report = json.loads(out)
    trials = report["frontier"]
    assert "style:talk" in report["signature"]
    assert [trial["reads"] for trial in trials] == sorted(trial["reads"] for trial in trials)
    assert all(trial["reads"] <= 2 for trial in trials)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert invoke("punctuate", text, "--model", folder, "--preset", best)[0] == 0
    code, out, err = invoke("tune", data, *settings, "--model", folder, "-o", "-")
    assert code == 0
    assert out.startswith("windows:"), "standard output holds the strategy alone"
    assert "micro F1" in err


def test_json_is_written_as_it_is_made(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    """A long text is held as values, not as json; its words are decided here without a model, to be quick."""
    n_words, target = 7_000, tmp_path / "out.json"
    (tmp_path / "long.txt").write_text("word " * n_words, encoding="utf-8")
    certain = Decision("", Case.LOWER, 1.0, 1.0)
    monkeypatch.setattr(
        Punctuator,
        "iter_parts",
        lambda self, texts: (
            (number, self.write_words([word], [certain])) for number, text in enumerate(texts) for word in text
        ),
    )
    invoke("punctuate", ROOT / "tests/data/lecture.txt", "--json", "-o", target, "--model", folder)  # loads all
    tracemalloc.start()
    try:
        arguments = ("punctuate", tmp_path / "long.txt", "--json", "-o", target, "--model", folder)
        assert invoke(*arguments)[0] == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    text = target.read_text(encoding="utf-8")
    assert len(json.loads(text)["words"]) == n_words
    assert text == json.dumps(json.loads(text)) + "\n"
    assert peak < 1_000 * n_words, "as the objects of json the words take a kilobyte each"
    assert invoke(*arguments[:3], "--model", folder)[1] == text
