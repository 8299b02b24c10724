"""The work on many files: each output is that of the file alone, whole or not at all, whatever befalls the others."""

import gzip
import io
import os
import random
import re
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from proportion import peak_bytes

from t5punct.batch import work
from t5punct.batch.jobs import Freshness, Job, OutputConfig, plan_jobs
from t5punct.batch.work import Work
from t5punct.errors import ModelError
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import AnnotatedWord, Decision
from t5punct.text.words import Word
from t5punct.transcripts.formats import Transcript, transcript_of
from t5punct.transcripts.writers import WriterConfig

WORDS = "we know that this is right what how are you today well i think it's time to go".split()


@pytest.fixture
def punctuator(lively_model: Model) -> Punctuator:
    return Punctuator(lively_model)


def write_texts(folder: Path, n: int, seed: int = 1) -> None:
    rng = random.Random(seed)
    folder.mkdir(exist_ok=True)
    for number in range(n):
        words = rng.choices(WORDS, k=rng.randint(0, 30))
        (folder / f"{number:03}.txt").write_text(" ".join(words) + "\n", encoding="utf-8")


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}


def planned(folder: Path, to: str | None = None) -> tuple[Job, ...]:
    """All files of `in`, to be written to `out`."""
    return plan_jobs([str(folder / "in")], OutputConfig(folder=folder / "out", format=to)).jobs


def test_each_file_comes_out_as_alone_and_a_bad_one_stops_no_other(punctuator: Punctuator, tmp_path: Path) -> None:
    write_texts(tmp_path / "in", 6)
    good = contents(tmp_path / "in")
    (tmp_path / "in/001.txt").write_bytes(b"we know\nthat caf\xe9 " + b"is right " * 200)
    (tmp_path / "in/003.json").write_text('{"text": "so what')
    (tmp_path / "in/004.ctm").write_text("a 1 0.0 0.5 how\n")
    jobs = planned(tmp_path)
    (tmp_path / "in/005.txt").unlink()  # after it was found
    outcome = Work(punctuator).run(jobs)
    assert [Path(failure.source).name for failure in outcome.failures] == ["001.txt", "003.json", "005.txt"]
    assert sorted(contents(tmp_path / "out")) == ["000.txt", "002.txt", "003.txt", "004.txt"]
    assert all(text == punctuator.punctuate(good[name]) for name, text in contents(tmp_path / "out").items())
    assert outcome.n_written == 5
    assert outcome.n_words == sum(len(good[name].split()) for name in contents(tmp_path / "out")) + len(["how"])
    assert not list((tmp_path / "out").glob(".t5punct*"))


def test_what_nobody_foresaw_in_a_file(punctuator: Punctuator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_texts(tmp_path / "in", 3)
    (tmp_path / "in/2-deep.json").write_text("[" * 520 + '{"text": "so"}' + "]" * 520)
    (tmp_path / "in/4.txt").write_text("we know")

    def read(lines: Iterable[str], format: str | None, alphabet: Alphabet, name: str) -> Transcript:
        if name.endswith("4.txt"):
            raise KeyError("seven\nlines")
        return transcript_of(lines, format, alphabet, name)

    monkeypatch.setattr("t5punct.punctuator.transcript_of", read)
    outcome = Work(punctuator).run(planned(tmp_path))
    names = {Path(failure.source).name: str(failure) for failure in outcome.failures}
    assert {*names} == {"2-deep.json", "4.txt"}
    assert outcome.n_written == len(planned(tmp_path)) - 2
    assert re.fullmatch(r".*4.txt: KeyError: 'seven.nlines'; expected a file .*; report this line, .*", names["4.txt"])


def test_a_file_in_which_nothing_was_said_is_no_empty_file(punctuator: Punctuator, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    words = '"words": [{"word": "so", "start": 0, "end": 1}]'
    for name, text in {
        "good": f'{{"segments": [{{"text": "so", "start": 0, "end": 2, {words}}}]}}',
        "music": '{"text": "[Music]", "segments": [{"text": "[Music]", "start": 0, "end": 2}]}',
        "silent": '{"text": "", "segments": []}',
    }.items():
        (tmp_path / f"in/{name}.json").write_text(text)
    outcome = Work(punctuator, WriterConfig("srt")).run(planned(tmp_path, "srt"))
    (failure,) = outcome.failures
    assert "silent.json, in which nothing was said; expected words to write as srt; " in str(failure)
    assert sorted(path.name for path in (tmp_path / "out").glob("[a-z]*")) == ["good.srt", "music.srt"]
    assert "[Music]" in (tmp_path / "out/music.srt").read_text()
    alone = plan_jobs([str(tmp_path / "in/silent.json")], OutputConfig(file=tmp_path / "silent"))
    assert Work(punctuator).run(alone.jobs).n_written == 1, "in its own format it comes out as it is"


@pytest.mark.parametrize("to", [None, "json"])
def test_one_that_cannot_be_written_leaves_the_others(punctuator: Punctuator, tmp_path: Path, to: str | None) -> None:
    """In a group, each file has the words that follow those of the file before it."""
    write_texts(tmp_path / "in", 5)
    jobs = planned(tmp_path, to)
    whole = Work(punctuator, WriterConfig(to)).run(jobs)
    expected = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    blocked = jobs[2].target
    blocked.unlink()
    blocked.mkdir()
    outcome = Work(punctuator, WriterConfig(to)).run(jobs)
    assert (whole.n_written, outcome.n_written, len(outcome.failures)) == (5, 4, 1)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()} == {
        name: data for name, data in expected.items() if name != blocked.name
    }


def test_a_shared_file_is_whole_or_not_there(punctuator: Punctuator, tmp_path: Path) -> None:
    write_texts(tmp_path / "in", 3)
    plan = plan_jobs([str(tmp_path / "in")], OutputConfig(file=tmp_path / "out.txt"))
    assert Work(punctuator).run(plan.jobs).n_written == 3
    texts = [punctuator.punctuate(text) for text in contents(tmp_path / "in").values()]
    assert (tmp_path / "out.txt").read_text() == "".join(texts)
    (tmp_path / "out.txt").unlink()
    (tmp_path / "in/001.txt").write_bytes(b"caf\xe9")
    outcome = Work(punctuator).run(plan.jobs)
    assert (outcome.n_written, len(outcome.failures)) == (0, 1)
    assert not (tmp_path / "out.txt").exists()


def test_stdout_has_what_is_good(punctuator: Punctuator, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in {"a.txt": b"we know", "b.txt": b"caf\xe9", "c.txt": b"how are you\n", "d.txt": b""}.items():
        (tmp_path / name).write_bytes(data)
    names = [str(tmp_path / f"{name}.txt") for name in "abcd"]
    outcome = Work(punctuator).run(plan_jobs(names, OutputConfig()).jobs)
    assert capsys.readouterr().out == punctuator.punctuate("we know") + "\n" + punctuator.punctuate("how are you\n")
    assert (outcome.n_written, len(outcome.failures)) == (3, 1)


def test_standard_output_streams(punctuator: Punctuator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first words of a long text are out before its middle is decided."""
    small = replace(punctuator.config.decoding, batch_tokens=64)
    punctuator = punctuator.with_config(decoding=small)
    (tmp_path / "long.txt").write_text(" ".join(WORDS * 15), encoding="utf-8")
    shown, sizes = io.BytesIO(), list[int]()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="utf-8"))
    votes = Punctuator.window_votes

    def counted(self: Punctuator, *given: object) -> object:
        sizes.append(len(shown.getvalue()))
        return votes(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Punctuator, "window_votes", counted)
    Work(punctuator).run(plan_jobs([str(tmp_path / "long.txt")], OutputConfig()).jobs)
    assert sizes[0] == 0 < sizes[len(sizes) // 2]
    assert sizes == sorted(sizes)


def test_model_errors_stop_everything(punctuator: Punctuator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Punctuator, *given: object) -> object:
        raise ModelError("broken", expected="whole", fix="mend it")

    monkeypatch.setattr(Punctuator, "window_votes", broken)
    write_texts(tmp_path / "in", 3)
    with pytest.raises(ModelError, match="broken"):
        Work(punctuator).run(planned(tmp_path))
    assert not contents(tmp_path / "out")


@pytest.mark.long
def test_a_killed_batch_goes_on_where_it_was(punctuator: Punctuator, tmp_path: Path) -> None:
    """Killed at random moments again and again, then left alone: all outputs as if nothing had happened."""
    write_texts(tmp_path / "in", 60)
    jobs = planned(tmp_path)
    small = replace(punctuator.config.decoding, batch_tokens=64)
    punctuator, rng, n_killed = punctuator.with_config(decoding=small), random.Random(1), 0

    def waiting() -> list[Job]:
        current = Freshness.start(tmp_path / "out", "settings")
        return [job for job in jobs if not current.is_current(job)]

    for _ in range(8):
        child = os.fork()
        if not child:
            Work(punctuator).run(waiting())
            os._exit(0)
        time.sleep(rng.uniform(0.0, 0.4))
        os.kill(child, signal.SIGKILL)
        n_killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert n_killed > 0
    Work(punctuator).run(waiting())
    sources = contents(tmp_path / "in")
    assert contents(tmp_path / "out") == {name: punctuator.punctuate(said) for name, said in sources.items()}
    assert not list((tmp_path / "out").glob(".t5punct-*-*"))
    assert not waiting()


@pytest.mark.parametrize("to", [None, "json"])
def test_memory_grows_with_the_largest_file_and_not_with_their_number(
    punctuator: Punctuator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str | None
) -> None:
    """Words are decided without a model here, to be quick."""
    certain = Decision("", Case.LOWER, 1.0, 1.0)

    def annotated(self: Punctuator, texts: Iterable[Sequence[Word]]) -> Iterator[tuple[int, list[AnnotatedWord]]]:
        for number, text in enumerate(texts):
            for part in (text[start : start + 70] for start in range(0, len(text), 70)):
                yield number, self.write_words(part, [certain] * len(part))

    monkeypatch.setattr(Punctuator, "iter_parts", annotated)
    monkeypatch.setattr(work, "_GROUP_WORDS", 400)

    def peak(n_files: int, n_words: int) -> int:
        folder = tmp_path / f"{n_files}-{n_words}"
        folder.mkdir(exist_ok=True)
        for number in range(n_files):
            (folder / f"{number}.txt").write_text("we know that\n" * (n_words // 3), encoding="utf-8")
        plan = plan_jobs([str(folder)], OutputConfig(folder=tmp_path / "out", format=to))
        return peak_bytes(lambda: Work(punctuator, WriterConfig(to)).run(plan.jobs))

    peak(1, 300)
    # so many words that what other threads of the process allocate meanwhile (200 KB were seen) decides nothing
    assert peak(1, 1_500) - peak(1, 500) < 1_000 * 1_000, "a thousand bytes a word"
    assert peak(60, 60) - peak(20, 60) < 400_000, "a file's name and place are kept, not its words"


def test_progress_counts_bytes_as_the_whole_does_and_ends_with_all(punctuator: Punctuator, tmp_path: Path) -> None:
    """Also of files that are packed, not in ASCII, or of which most is not words."""
    write_texts(tmp_path / "in", 3)
    (tmp_path / "in/greek.txt").write_text("και τι λέει " * 40, encoding="utf-8")
    (tmp_path / "in/packed.txt.gz").write_bytes(gzip.compress(b"we know " * 100))
    (tmp_path / "in/a.json").write_text(f'{{"text": "how are you", "noise": "{"x" * 500}"}}', encoding="utf-8")
    (tmp_path / "in/bad.txt").write_bytes(b"we know\ncaf\xe9\n" + b"so " * 90)
    jobs = planned(tmp_path)
    work, told = Work(punctuator), list[int]()
    work.on_progress = lambda n_bytes, n_words: told.append(n_bytes)
    assert len(work.run(jobs).failures) == 1
    assert told == sorted(told)
    assert told[-1] == sum(job.n_bytes for job in jobs)
    assert len(set(told)) > len(jobs), "it is told within files, too"
