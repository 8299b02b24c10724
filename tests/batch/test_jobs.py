"""Jobs: told beforehand, never two outputs in one place, never over an input."""

import os
import platform
import re
from pathlib import Path

import pytest

from t5punct.batch.jobs import Freshness, Job, OutputConfig, plan_jobs
from t5punct.errors import InputError
from t5punct.text.io.files import open_writer
from t5punct.transcripts.formats import read_transcript


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `in` of transcripts, and some other files."""
    for name in ("in/a.txt", "in/b/a.srt.gz", "in/b/c.JSON", "in/b/notes.md", "in/.hidden/a.txt", "other/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def into_out(*inputs: str, format: str | None = None) -> tuple[Job, ...]:
    """The jobs of inputs whose outputs go to a folder."""
    return plan_jobs(inputs, OutputConfig(folder=Path("out"), format=format)).jobs


def named(jobs: tuple[Job, ...]) -> list[tuple[str, str | None, str]]:
    return [(job.source, None if job.target is None else str(job.target), job.input_format) for job in jobs]


def test_folders_and_patterns_are_mirrored_and_files_of_one_name_do_not_collide(tree: Path) -> None:
    jobs = into_out("in")
    assert named(jobs) == [
        ("in/a.txt", "out/a.txt", "text"),
        ("in/b/a.srt.gz", "out/b/a.srt", "srt"),
        ("in/b/c.JSON", "out/b/c.JSON", "json"),
        ("in/b/notes.md", "out/b/notes.md", "text"),
    ]
    jobs = into_out("in/*/*.srt.gz", "in/*.txt")
    assert named(jobs) == [("in/b/a.srt.gz", "out/b/a.srt", "srt"), ("in/a.txt", "out/a.txt", "text")]
    assert [job.source for job in into_out("in/**/*.JSON")] == ["in/b/c.JSON"]
    jobs = into_out("in/a.txt", "other/a.txt", "in/a.txt")
    assert named(jobs) == [("in/a.txt", "out/in/a.txt", "text"), ("other/a.txt", "out/other/a.txt", "text")]
    Path("in/.hidden.txt").write_text("so what\n")
    assert not any("hidden" in job.source for job in into_out("in/*"))
    with pytest.raises(InputError, match=r"pattern in/\*\*\.txt \(.*\); expected one like talks/\*\.txt"):
        plan_jobs(["in/**.txt"], OutputConfig(folder=Path("out")))


def test_files_of_a_folder_that_no_format_reads_are_counted(tree: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("in/z.docx", "in/b/y.DOCX", "in/README.md", "in/out/x.pdf"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).touch()
    plan_jobs(["in", "other", "in/*.txt"], OutputConfig(folder=Path("in/out")))
    assert caplog.messages == ["in: 2 x .docx, 1 x readme.md left out: no reader for it"], "what is written is no input"


@pytest.mark.parametrize(("output", "names"), [
    ("json", ["a.txt.json", "b/a.srt.json", "b/c.JSON.json", "b/notes.md.json"]),
    ("srt", ["a.srt", "b/a.srt", "b/c.srt", "b/notes.srt"]),
    ("text", ["a.txt", "b/a.txt", "b/c.txt", "b/notes.md"]),
])  # fmt: skip
def test_an_output_has_the_suffix_of_its_format(tree: Path, output: str, names: list[str]) -> None:
    jobs = into_out("in", format=output)
    assert [str(job.target) for job in jobs] == [f"out/{name}" for name in names]


def test_texts_and_json_share_an_output_and_other_files_do_not(tree: Path) -> None:
    assert [job.target for job in plan_jobs(["in/a.txt", "other/a.txt"], OutputConfig()).jobs] == [None, None]
    assert [job.target for job in plan_jobs(["in/a.txt", "in/a.txt"], OutputConfig(Path("x"))).jobs] == [Path("x")] * 2
    assert len(plan_jobs(["in"], OutputConfig(format="json")).jobs) == 4
    for kind in (OutputConfig(), OutputConfig(Path("x")), OutputConfig(format="vtt")):
        with pytest.raises(InputError, match="4 files in one output; expected a file for each; name a folder"):
            plan_jobs(["in"], kind)


def test_what_cannot_be_done_is_said_beforehand(tree: Path) -> None:
    (tree / "sound").mkdir()
    (tree / "sound/a.wav").touch()
    for inputs, output, message in (
        (["none*"], OutputConfig(), r"no file none\*; expected existing files"),
        (["sound"], OutputConfig(), "sound/a.wav, which is a recording; expected a transcript of it"),
        (["in/a.txt"], OutputConfig(Path("x"), Path("out")), "both -o and --output-dir"),
        (["in/a.txt"], OutputConfig(Path("none/x")), "no folder .*none"),
        (["in/a.txt"], OutputConfig(Path("x.gz")), "output x.gz; expected one that is not packed; drop .gz"),
        (["in/a.txt"], OutputConfig(folder=Path("in")), "is an input"),
        (["in/a.txt", "none.txt"], OutputConfig(Path("x")), "no file none.txt"),
    ):
        with pytest.raises(InputError, match=message):
            plan_jobs(inputs, output)


@pytest.mark.parametrize("suffix", "xlsx TextGrid cha ods.gz rttm lab pptx epub tex cap idx YML.gz".split())
def test_a_name_of_a_format_that_is_not_read_is_refused(tree: Path, suffix: str) -> None:
    name = f"other/b.{suffix}"
    (tree / name).write_text("we,know\n")
    told = rf"{re.escape(name)}, whose name says that it is .*; expected one of text, .*; save it(s text)? as "
    with pytest.raises(InputError, match=told):
        plan_jobs([name], OutputConfig())
    plan = plan_jobs(["other/*"], OutputConfig(folder=Path("out")))
    assert [job.source for job in plan.jobs] == ["other/a.txt"]
    assert [failure.source for failure in plan.failures] == ["other/*"]
    assert [job.input_format for job in plan_jobs([name], OutputConfig(), "text").jobs] == ["text"]
    assert plan_jobs(["other"], OutputConfig(folder=Path("out"))).failures == (), "a folder is for what is read"
    with pytest.raises(InputError, match=told):
        read_transcript(tree / name)


def test_an_output_is_up_to_date_until_its_input_or_the_settings_change(tree: Path) -> None:
    job = into_out("in/a.txt")[0]
    assert not Freshness.start(Path("out"), "one").is_current(job)
    job.target.touch()
    assert Freshness.start(Path("out"), "one").is_current(job)
    later_ns = job.target.stat().st_mtime_ns + 10**9
    os.utime("in/a.txt", ns=(later_ns, later_ns))
    assert not Freshness.start(Path("out"), "one").is_current(job)
    os.utime(job.target, ns=(later_ns, later_ns))
    assert Freshness.start(Path("out"), "one").is_current(job)
    os.utime(job.target, ns=(0, 0))
    os.utime("in/a.txt", ns=(0, 0))
    assert not Freshness.start(Path("out"), "two").is_current(job), "made before the settings changed"


def test_outputs_below_the_inputs_are_no_inputs_and_what_a_killed_run_left_goes(tree: Path) -> None:
    output = OutputConfig(folder=Path("in/out"))
    before = [job.source for job in plan_jobs(["in"], output).jobs]
    for name in ("in/out/a.txt", "in/out/new.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("done\n")
    assert [job.source for job in plan_jobs(["in"], output).jobs] == before
    texts = [source for source in before if source.endswith(".txt")]
    assert [job.source for job in plan_jobs(["in/**/*.txt"], output).jobs] == texts
    assert "in/out/new.txt" in [job.source for job in plan_jobs(["in"], OutputConfig(folder=Path("other"))).jobs]
    assert plan_jobs(["in"], OutputConfig(folder=Path())).jobs, "an output folder above them hides none"
    (tree / "out").mkdir()
    dead, giant, alive = (f"{platform.node()}-{number}" for number in (2**22 + 1, 10**30, os.getpid()))
    paths = [tree / "out" / f".t5punct-{process}-abc" for process in (dead, giant, alive, "another-machine-1")]
    for path in paths:
        path.touch()
    Freshness.start(tree / "out", "one")
    assert [path.exists() for path in paths] == [False, False, True, True]


@pytest.mark.parametrize("name", ["in", "in/*/*.txt", "in/**/*.txt", "*/b/*.txt"])
def test_a_closed_folder_is_told_and_others_are_done(name: str, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str | Path) -> object:
        if Path(path).name == "b":  # the tests may run as root, who may read anything
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", denied)
    jobs = plan_jobs([name, "other"], OutputConfig(folder=Path("out")))
    assert [str(failure.error).partition(";")[0] for failure in jobs.failures] == ["folder in/b may not be read"]
    assert [job.source for job in jobs.jobs] == ["other/a.txt"]


def test_an_output_folder_that_cannot_be_made_is_told_and_one_that_is_read_only_stays(tree: Path) -> None:
    (tree / "self").symlink_to("self")
    (tree / "lost").symlink_to("nowhere")
    for folder in ("self", "lost", "self/deep", "in/a.txt", "in/a.txt/deep"):
        with pytest.raises(InputError, match=r"(self|lost|a\.txt) is no folder; expected one"):
            plan_jobs(["other"], OutputConfig(folder=Path(folder)))
    with pytest.raises(InputError, match="self is a link to itself"):
        plan_jobs(["other"], OutputConfig(Path("self")))
    (tree / "out").mkdir()
    (tree / "out/a.txt").write_text("corrected by hand\n")
    (tree / "out/a.txt").chmod(0o444)
    with pytest.raises(InputError, match=r"out/a\.txt is read-only; expected a file that may be written"):
        plan_jobs(["other"], OutputConfig(Path("out/a.txt")))
    (job,) = into_out("other")  # it may be up to date
    with pytest.raises(InputError, match=r"out/a\.txt is read-only"), open_writer(job.target):
        pass
    assert [path.read_text() for path in (tree / "out").iterdir()] == ["corrected by hand\n"]
