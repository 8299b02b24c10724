"""A user's mistake: one clear line, exit code 2, and no half of an output."""

from __future__ import annotations

import gzip
import logging
import shutil
from pathlib import Path

import pytest
from command import Invoke

MISTAKES = {
    "missing file": (["punctuate", "nowhere.txt"], "no file nowhere.txt; expected an existing text file"),
    "binary file": (["punctuate", "{binary}"], "expected a text file"),
    "bad encoding": (["punctuate", "{latin}"], "is not UTF-8"),
    "a folder without transcripts": (["punctuate", "{tmp}/bare"], "no transcript in {tmp}/bare; expected files that"),
    "unknown preset": (["punctuate", "{text}", "--preset", "best"], "preset 'best'; expected one of side-by-side"),
    "unknown decoder": (["punctuate", "{text}", "--decoder", "magic"], "expected one of slots, generate"),
    "unknown combination": (["punctuate", "{text}", "--combine", "sum"], "expected one of mean"),
    "unknown style": (["punctuate", "{text}", "--style", "poem", "--model", "{model}"], "expected one of talk"),
    "window below masks": (["punctuate", "{text}", "--window", "9"], "a window of 9 words with masks of 12 and 8"),
    "more votes than words": (
        ["punctuate", "{text}", "--window", "3", "--preset", "vote"],
        "4 votes a slot; expected 1 to 3, the unmasked words; raise --window, set --stride or take another --preset",
    ),
    "two inputs of one name": (
        ["punctuate", "{text}", "{tmp}/talk.txt.gz", "--output-dir", "{tmp}/out"],
        "two inputs for {tmp}/out/talk.txt; expected inputs of different names",
    ),
    "unknown format": (["punctuate", "{text}", "--format", "doc"], "format 'doc'; expected one of text, lines, srt"),
    "unknown output": (["punctuate", "{text}", "--to", "doc"], "format 'doc'; expected one of text, srt, vtt"),
    "text as subtitles": (["punctuate", "{text}", "--to", "srt", "--model", "{model}"], "words without a cue"),
    "cues of what": (
        ["punctuate", "{text}", "--resegment"],
        "--resegment, which does nothing here; expected --to srt, vtt or ass with it",
    ),
    "terms that do not fit": (["punctuate", "{text}", "--terms", "{terms}"], "terms line 2: 'a b=c'"),
    "no json": (["punctuate", "{tmp}/broken.json", "--model", "{model}"], "broken.json is no json"),
    "over an input": (["punctuate", "{text}", "--output-dir", "{tmp}"], "talk.txt is an input"),
    "no folder for -o": (["punctuate", "{text}", "-o", "{tmp}/none/x", "--model", "nowhere"], "no folder {tmp}/none"),
    "a folder for -o": (["punctuate", "{text}", "-o", "{tmp}", "--model", "nowhere"], "{tmp} is a folder"),
    "a name too long": (["punctuate", "x" * 300], "xxx: File name too long"),
    "a full disk": (["punctuate", "{text}", "-o", "/dev/full", "--model", "{model}"], "/dev/full: No space left"),
    "no threads": (["punctuate", "{text}", "--threads", "0"], "Invalid value for '--threads'"),
    "no beams": (["punctuate", "{text}", "--beams", "0"], "Invalid value for '--beams'"),
    "no batch": (["punctuate", "{text}", "--batch-tokens", "0"], "Invalid value for '--batch-tokens'"),
    "no window": (["punctuate", "{text}", "--window", "0"], "Invalid value for '--window'"),
    "no stride": (["punctuate", "{text}", "--stride", "0"], "Invalid value for '--stride'"),
    "no marks in a slot": (["punctuate", "{text}", "--max-marks", "0"], "Invalid value for '--max-marks'"),
    "no words to score": (["evaluate", "{text}", "--max-words", "0"], "Invalid value for '--max-words'"),
    "nothing to score": (["evaluate", "nowhere.txt", "--model", "{tmp}/none"], "no file nowhere.txt; expected an"),
    "nothing to tune on": (["tune", "nowhere.txt", "--model", "{tmp}/none"], "no file nowhere.txt; expected an"),
    "a folder to score": (["evaluate", "{tmp}", "--model", "{tmp}/none"], "{tmp} is a folder; expected a text file"),
    "header of a tsv": (["evaluate", "{tmp}/header.tsv", "--model", "{model}"], "header.tsv line 1: 'Word\\tLabel'"),
    "wrong model folder": (["punctuate", "{text}", "--model", "{tmp}"], "holds no config.json"),
    "no model folder": (["punctuate", "{text}", "--model", "{tmp}/none"], "no model folder"),
    "two outputs": (["punctuate", "{text}", "-o", "x", "--output-dir", "{tmp}"], "both -o and --output-dir"),
    "unknown option": (["punctuate", "{text}", "--loud"], "--loud"),
    "unknown config key": (["train", "optim.lrr=1"], "unknown setting 'optim.lrr'; expected one of output"),
    "no config file": (["train", "--config", "none.yaml"], "no config file none.yaml"),
    "nothing to train on": (["train", "init_from=x"], "no training data; expected data.path=FOLDER"),
    "nothing to prepare": (["prepare"], "no corpora; expected corpora: [{{path: FILE, style: talk}}]"),
    "nothing to evaluate": (["evaluate", "{empty}", "--model", "{model}"], "holds no words"),
    "not an iwslt line": (["evaluate", "{broken}", "--model", "{model}"], "line 2"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_clear_line_and_exit_code_2(
    name: str, invoke: Invoke, folder: str, text: Path, tmp_path: Path
) -> None:
    places = {"text": text, "tmp": tmp_path, "model": folder}
    for key, content in {
        "binary": b"\x7fELF\0\0\1", "latin": "caf\xe9".encode("latin1"), "empty": b"\n", "broken": b"a\tO\nb\tDOT\n",
        "header.tsv": b"Word\tLabel\na\tO\n", "terms": b"PyTorch\na b=c\n", "broken.json": b'{"text": "so',
        "talk.txt.gz": gzip.compress(b"so"),
    }.items():  # fmt: skip
        places[key] = tmp_path / key
        (tmp_path / key).write_bytes(content)
    (tmp_path / "bare").mkdir()
    arguments, message = MISTAKES[name]
    code, out, err = invoke(*(argument.format_map(places) for argument in arguments))
    assert code == 2
    assert out == ""
    assert message.format_map(places) in err
    assert err.count("\n") == 1
    assert err.startswith("t5punct: ")


def test_a_failure_leaves_no_output_file(invoke: Invoke, folder: str, text: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    before = sorted(tmp_path.iterdir())
    assert invoke("punctuate", text, "nowhere.txt", "-o", target, "--model", folder)[0] == 2
    assert sorted(tmp_path.iterdir()) == before


def test_several_files_one_bad(invoke: Invoke, folder: str, text: Path, tmp_path: Path) -> None:
    """The good one is written, the bad ones are listed; the next time there is nothing left to do."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nwe know that\n", encoding="utf-8")
    (tmp_path / "in/b.txt").write_bytes(b"caf\xe9")
    arguments = (
        "punctuate", tmp_path / "in", tmp_path / "none.txt", "--output-dir", tmp_path / "out", "--model", folder,
    )  # fmt: skip
    code, out, err = invoke(*arguments)
    assert (code, out) == (1, "")
    assert [line.split(";")[0] for line in err.splitlines()] == [
        f"t5punct: no file {tmp_path}/none.txt",
        f"t5punct: {tmp_path}/in/b.txt line 1 is not UTF-8 (unexpected end of data)",
        "t5punct: 2 of 3 files failed",
    ]
    written = (tmp_path / "out/a.srt").read_text(encoding="utf-8")
    assert written.lower().startswith("1\n00:00:01,000 --> 00:00:02,000\nwe know that")
    (tmp_path / "in/b.txt").unlink()
    assert invoke(*arguments[:2], *arguments[3:])[::2] == (0, "t5punct: 1 of 1 files were up to date\n")
    assert invoke(*arguments[:2], *arguments[3:], "--style", "nope")[0] == 2
    (tmp_path / "out/a.srt").write_text("old")
    assert invoke(*arguments[:2], *arguments[3:])[2].startswith("t5punct: 1 of 1"), "a mistake undoes nothing"
    assert invoke(*arguments[:2], *arguments[3:], "--overwrite")[::2] == (0, "")
    assert (tmp_path / "out/a.srt").read_text(encoding="utf-8") == written


def test_names_that_promise_something_else_are_refused(invoke: Invoke, text: Path) -> None:
    assert "an input without a name" in invoke("punctuate", "", "--model", "no/where")[2]
    told = invoke("punctuate", text, "-o", text.parent / "out.txt.gz", "--model", "no/where")[2]
    assert "expected one that is not packed; drop .gz" in told


def test_a_warning_is_one_line_that_says_who_warns(
    folder: str, text: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])  # pytest's own would be told as well
    model = shutil.copytree(folder, tmp_path / "plain")
    (model / "t5punct.yaml").unlink()
    for _ in range(2):  # a process that runs several commands is told once by each
        code, _, err = invoke("punctuate", text, "--model", model)
        assert code == 0
        assert err.startswith(f"t5punct: {model} has no t5punct.yaml;") and err.count("\n") == 1
    assert logging.getLogger("t5punct").handlers == []
