"""`t5punct stream` in a pipe: words out as soon as they are final, whatever happens at the ends."""

import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import ROOT, pipe_of

from t5punct import model as models
from t5punct.cli import main
from t5punct.model import Model
from t5punct.options import StreamOptions
from t5punct.punctuator import Punctuator, PunctuatorConfig

Run = Callable[..., tuple[int, str, str]]


def _open(folder: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "t5punct", "stream", "--model", folder, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT, bufsize=0)


@pytest.fixture
def run(lively_folder: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command in this process, with a pipe that holds all of a text."""

    def run(text: str, *arguments: str) -> tuple[int, str, str]:
        with pipe_of(text.encode()) as path, Path(path).open() as pipe, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", pipe)
            with pytest.raises(SystemExit) as stopped:
                main(["stream", "--model", lively_folder, *arguments])
        sys.stdout.flush()
        captured = capfd.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


def test_a_delay_needs_a_model_with_a_tagger(run: Run, tagged_model: Model, tmp_path: Path) -> None:
    code, _, error = run("how are you", "--policy", "delay")
    assert code == 2 and "which has no tagger" in error and error.count("\n") == 1
    models.save(tagged_model.with_task(delay_left_words=4), tmp_path / "tagged")
    chosen = ("--policy", "delay", "--lookahead", "2", "--json", "--provisional")
    code, out, error = run("how are you today", "--model", str(tmp_path / "tagged"), *chosen)
    assert (code, error) == (0, "")
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["delay_words"] for event in events if "word" in event] == [2, 2, 1, 0]


@pytest.mark.parametrize(("text", "options", "n_warnings"), [
    ('{"text": "how"}\n{"text": "are"}\n', (), 1), ('{\n  "text": "how"\n}\n', (), 1), ('{"text": "how"}', ("-q",), 0),
    ('{laughs} how {"are": 1}\n', (), 0), ('{"text": "how"}\n', ("--timed",), 0),
])  # fmt: skip
def test_json_that_is_read_as_words_gives_one_warning(
    run: Run, text: str, options: tuple[str, ...], n_warnings: int
) -> None:
    code, _, error = run(text, *options)
    assert (code, error.count("warning: words that look like json"), error.count("\n")) == (0, n_warnings, n_warnings)


@pytest.mark.parametrize("policy", ["fixed", "sentence"])
def test_words_are_kept_the_line_is_ended_and_times_come_out(run: Run, policy: str) -> None:
    code, out, _ = run("how are you today my name is maria\n", "--policy", policy)
    assert code == 0
    kept = "".join(char for char in out.lower() if char.isalpha() or char == " ").split()
    assert kept == "how are you today my name is maria".split()
    assert out.endswith("\n")
    assert out.count("\n") == 1
    assert run("", "--policy", policy) == (0, "", "")
    events = [{"word": word, "start": n, "end": n + 0.5} for n, word in enumerate("how are you today".split())]
    events += [{"word": "my name", "start": 6.25, "end": 7.0}, {"word": "is"}, {"word": "maria", "start": 8.5}]
    lines = "".join(json.dumps(event) + "\n" for event in events)
    _, out, _ = run(lines, "--timed", "--json", "--policy", policy)
    words = [json.loads(line) for line in out.splitlines()]
    assert [(word["word"], word.get("start"), word.get("end")) for word in words] == [
        ("how", 0.0, 0.5), ("are", 1.0, 1.5), ("you", 2.0, 2.5), ("today", 3.0, 3.5),
        ("my", 6.25, 7.0), ("name", 6.25, 7.0), ("is", None, None), ("maria", 8.5, None),
    ]  # fmt: skip
    _, text, _ = run(lines, "--timed", "--policy", policy)
    assert [text[word["start_char"] : word["end_char"]] for word in words] == [word["text"] for word in words]


def test_the_provisional_tail_is_told_on_request(run: Run) -> None:
    _, out, _ = run("how are you", "--lookahead", "4", "--json", "--provisional")
    tails = [event["provisional"] for event in map(json.loads, out.splitlines()) if "provisional" in event]
    assert len(tails[0]) == 2, "the last word may go on"


def test_an_interrupt_commits_what_was_heard(lively_folder: str) -> None:
    process = _open(lively_folder, "--lookahead", "1", "--no-case", "--marks", "?")
    assert process.stdin and process.stdout
    process.stdin.write(b"how are you caf\xe9")
    heard = process.stdout.read(3)  # until the model is at work
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate()
    assert (process.returncode, err) == (128 + signal.SIGINT, b"")
    assert (heard + rest).replace(b"?", b"").split() == [b"how", b"are", b"you", b"caf\xe9"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_being_told_to_end_while_the_model_loads_loses_no_word(
    run: Run, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    stream = importlib.import_module("t5punct.cli.stream")  # its name in the package is the command's
    own, before = stream.load_punctuator, signal.signal(number, lambda *_: pytest.fail("it is not heeded"))

    def told(options: StreamOptions, config: PunctuatorConfig) -> Punctuator:
        os.kill(os.getpid(), number)
        return own(options, config)

    monkeypatch.setattr(stream, "load_punctuator", told)
    code, out, _ = run("how are you", "--no-case", "--marks", "?")
    signal.signal(number, before)
    assert code == 128 + number
    assert out.replace("?", "").split() == ["how", "are", "you"]


@pytest.mark.long
def test_a_second_interrupt_ends_everything(lively_folder: str) -> None:
    process = _open(lively_folder, "--lookahead", "1")
    assert process.stdin and process.stdout
    process.stdin.write(b"how are you today " * 2000)  # minutes of work
    process.stdout.read(3)
    for _ in range(60):  # signals that come at once are one
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            rest, err = process.communicate(timeout=1)
            break
    assert process.returncode in (130, -signal.SIGINT), "the latter where one comes while it ends"
    assert len(rest.split()) < 4000
    assert b"Traceback" not in err


def test_a_silence_in_a_pipe_of_events_commits_everything(lively_folder: str) -> None:
    process = _open(lively_folder, "--timed", "--max-delay-ms", "300", "--json")
    assert process.stdin and process.stdout
    process.stdin.write(b'{"word": "how", "start": 0, "end": 0.2}\n{"word": "are", "start": 0.2, "end": 0.4}\n')
    assert select.select([process.stdout], [], [], 120)[0], "words are out before the input ends"
    events = map(json.loads, process.communicate()[0].splitlines())
    assert [(event["word"], event["delay_words"]) for event in events] == [("how", 1), ("are", 0)]


def test_a_language_that_the_model_does_not_know_is_told_once(run: Run) -> None:
    german = "wie geht es dir heute und was machst du denn so wenn das wetter nicht gut ist und wir nicht gehen " * 3
    code, out, error = run(german, "--model", "small")
    assert (code, error.count("\n")) == (0, 1) and len(out.split()) == len(german.split())
    assert error.startswith("t5punct: the text seems to be in German, which the model small does not know")
    assert run("wie geht es dir und was", "--model", "small")[2] == error, "short as it may be"
    assert run("how are you today and what do you do", "--model", "small")[2] == ""


def test_a_text_without_spaces_is_refused_before_a_word_is_printed(run: Run) -> None:
    code, out, error = run("今天天气很好 " * 9)
    assert (code, out) == (2, "")
    assert "the text, whose words have no spaces between them; expected words with white space" in error


def test_a_bad_event_is_told_and_a_silence_in_the_times_commits_everything(run: Run) -> None:
    code, out, err = run('{"word": "how"}\n{"said": "are"}\n{"word": "you"}\n', "--timed", "--json")
    assert code == 0
    assert [json.loads(line)["word"] for line in out.splitlines()] == ["how", "you"]
    assert err.count("\n") == 1
    assert 't5punct: an event that reads \'{"said"' in err
    code, _, err = run("we know", "--timed")
    assert code == 2 and "an event that reads 'we know'" in err
    events = [("we", 0.0, 0.2), ("know", 0.2, 0.4), ("that", 2.0, 2.2)]
    lines = "".join(json.dumps({"word": word, "start": start, "end": end}) + "\n" for word, start, end in events)
    code, out, _ = run(lines, "--timed", "--max-delay-ms", "1000", "--json")
    assert code == 0
    assert [json.loads(line)["delay_words"] for line in out.splitlines()] == [1, 0, 0]
