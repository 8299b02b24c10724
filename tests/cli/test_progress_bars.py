"""What a terminal shows while `punctuate`, `evaluate` and `prepare` work; nothing is shown elsewhere."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Invoke, pipe_of, sent_to_a_terminal
from tiny import tiny_text

from t5punct.cli import main
from t5punct.cli.progress import progress_bar


@pytest.fixture(autouse=True)
def _usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def commands(folder: str, tmp_path: Path) -> dict[str, list[str]]:
    """A command line of each, on a few lines of text."""
    text = tmp_path / "talks.txt"
    text.write_text("\n".join(" ".join(tiny_text(4, seed)) for seed in range(4)), encoding="utf-8")
    model = ["--model", folder]
    corpora = ["corpora=[{path: talks.txt}]", "chunks={min_words: 4, max_words: 12}", f"root={tmp_path}"]
    return {
        "punctuating": ["punctuate", str(text), "-o", str(tmp_path / "out.txt"), *model],
        "evaluating": ["evaluate", str(text), *model],
        "preparing": ["prepare", f"output={tmp_path}/made", *corpora],
    }


def run(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0


def shown_by(work: Callable[[], None]) -> str:
    """What a terminal shows, without the codes that move and colour."""
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", sent_to_a_terminal(work))


@pytest.mark.parametrize(("what", "pattern"), [
    ("preparing", r"Generating train split: \d+ examples"),
    *((name, rf"{name} ━.* [\d,]+ words, [\d,]+/s .*[-\d]:[-\d]{{2}}") for name in ("punctuating", "evaluating")),
])  # fmt: skip
def test_a_terminal_sees_how_far_it_is_at_what_speed(what: str, pattern: str, commands: dict[str, list[str]]) -> None:
    shown = shown_by(lambda: run(commands[what]))
    assert re.search(pattern, shown), shown


@pytest.mark.parametrize("what", ["evaluating", "preparing"])
def test_nothing_is_shown_where_standard_error_is_no_terminal(
    what: str, commands: dict[str, list[str]], invoke: Invoke
) -> None:
    assert invoke(*commands[what])[::2] == (0, "")


@pytest.mark.parametrize("command", ["punctuate", "punctuate talk.srt", "stream"])
def test_text_goes_to_a_terminal_as_to_a_file(
    command: str, lively_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nwe know\nthat is it\n", encoding="utf-8")
    words = [*command.replace("talk.srt", str(tmp_path / "talk.srt")).split(), "--model", lively_folder]

    def run_it() -> None:
        with pipe_of(b"how are you today\n") as path, Path(path).open() as pipe:
            monkeypatch.setattr(sys, "stdin", pipe)
            run(words)

    run_it()
    written = capfd.readouterr().out
    assert sent_to_a_terminal(run_it) == written != ""


def test_the_whole_may_be_known_later_and_is_never_passed() -> None:
    def count() -> None:
        with progress_bar("counting", None) as advance:
            advance(10, 10)
            advance(50, 100)
            advance(200, 100)

    shown = shown_by(count)
    assert "100%" not in shown
    assert "200 words" in shown
