"""Jobs: told beforehand, never two outputs in one place, never over an input."""

from __future__ import annotations

from pathlib import Path

import pytest

from t5punct.batch.current import Current
from t5punct.batch.jobs import Job, OutputConfig, jobs
from t5punct.errors import InputError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `in` of transcripts, and some other files."""
    for name in ("in/a.txt", "in/b/a.srt.gz", "in/b/c.JSON", "in/b/notes.md", "in/.hidden/a.txt", "other/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named(found: tuple[Job, ...]) -> list[tuple[str, str | None, str]]:
    return [(job.source, None if job.target is None else str(job.target), job.read_as) for job in found]


def test_a_folder_is_mirrored(tree: Path) -> None:
    found = jobs(["in"], OutputConfig(folder=Path("out"))).jobs
    assert named(found) == [
        ("in/a.txt", "out/a.txt", "text"),
        ("in/b/a.srt.gz", "out/b/a.srt", "srt"),
        ("in/b/c.JSON", "out/b/c.JSON", "json"),
    ]


def test_a_pattern_is_mirrored_below_its_first_magic_part(tree: Path) -> None:
    found = jobs(["in/*/*.srt.gz", "in/*.txt"], OutputConfig(folder=Path("out"))).jobs
    assert named(found) == [("in/b/a.srt.gz", "out/b/a.srt", "srt"), ("in/a.txt", "out/a.txt", "text")]
    assert [job.source for job in jobs(["in/**/*.JSON"], OutputConfig(folder=Path("out"))).jobs] == ["in/b/c.JSON"]


def test_files_of_one_name_from_several_folders_do_not_collide(tree: Path) -> None:
    found = jobs(["in/a.txt", "other/a.txt", "in/a.txt"], OutputConfig(folder=Path("out"))).jobs
    assert named(found) == [("in/a.txt", "out/in/a.txt", "text"), ("other/a.txt", "out/other/a.txt", "text")]


@pytest.mark.parametrize(
    ("output", "names"),
    [
        ("json", ["a.txt.json", "b/a.srt.json", "b/c.JSON.json"]),
        ("vtt", ["a.vtt", "b/a.vtt", "b/c.vtt"]),
        ("text", ["a.txt", "b/a.txt", "b/c.txt"]),
        ("srt", ["a.srt", "b/a.srt", "b/c.srt"]),
    ],
)
def test_an_output_has_the_suffix_of_its_format(tree: Path, output: str, names: list[str]) -> None:
    found = jobs(["in"], OutputConfig(folder=Path("out"), format=output)).jobs
    assert [str(job.target) for job in found] == [f"out/{name}" for name in names]


def test_texts_and_json_share_an_output_and_other_files_do_not(tree: Path) -> None:
    assert [job.target for job in jobs(["in/a.txt", "other/a.txt"], OutputConfig()).jobs] == [None, None]
    assert [job.target for job in jobs(["in/a.txt", "in/a.txt"], OutputConfig(Path("x"))).jobs] == [Path("x")] * 2
    assert len(jobs(["in"], OutputConfig(format="json")).jobs) == 3
    for kind in (OutputConfig(), OutputConfig(Path("x")), OutputConfig(format="vtt")):
        with pytest.raises(InputError, match="3 files in one output; expected a file for each; name a folder"):
            jobs(["in"], kind)


def test_what_cannot_be_done_is_said_beforehand(tree: Path) -> None:
    (tree / "empty").mkdir()
    for inputs, output, message in (
        (["none.txt"], OutputConfig(), "no file none.txt; expected an existing text file"),
        (["none*"], OutputConfig(), r"no file none\*; expected existing files"),
        (["empty"], OutputConfig(), "no transcript in empty; expected files that end in .txt"),
        (["in/a.txt"], OutputConfig(Path("x"), Path("out")), "both -o and --output-dir"),
        (["in/a.txt"], OutputConfig(Path("none/x")), "no folder .*none"),
        (["in/a.txt"], OutputConfig(Path("in/a.txt")), "is an input"),
        (["in/a.txt"], OutputConfig(folder=Path("in")), "is an input"),
        (["in/a.txt", "none.txt"], OutputConfig(Path("x")), "no file none.txt"),
    ):
        with pytest.raises(InputError, match=message):
            jobs(inputs, output)
    (tree / "in/a.txt.gz").touch()
    with pytest.raises(InputError, match=r"two inputs for out/in/a.txt; expected inputs of different names"):
        jobs(["in/a.txt", "in/a.txt.gz", "other/a.txt"], OutputConfig(folder=Path("out")))


def test_one_missing_file_leaves_the_others(tree: Path) -> None:
    found = jobs(["in/a.txt", "none.txt", "other"], OutputConfig(folder=Path("out")))
    assert [job.source for job in found.jobs] == ["in/a.txt", "other/a.txt"]
    assert [str(failure) for failure in found.failures] == [
        "no file none.txt; expected an existing text file; check the path"
    ]


def test_an_output_is_up_to_date_until_its_input_or_the_settings_change(tree: Path) -> None:
    job = jobs(["in/a.txt"], OutputConfig(folder=Path("out"))).jobs[0]
    assert not Current.of(Path("out"), "one").has(job)
    assert job.target is not None
    job.target.touch()
    assert Current.of(Path("out"), "one").has(job)
    later_ns = job.target.stat().st_mtime_ns + 10**9
    import os

    os.utime("in/a.txt", ns=(later_ns, later_ns))
    assert not Current.of(Path("out"), "one").has(job)
    os.utime(job.target, ns=(later_ns, later_ns))
    assert Current.of(Path("out"), "one").has(job)
    os.utime(job.target, ns=(0, 0))
    os.utime("in/a.txt", ns=(0, 0))
    assert not Current.of(Path("out"), "two").has(job), "made before the settings changed"


def test_outputs_below_the_inputs_are_no_inputs(tree: Path) -> None:
    output = OutputConfig(folder=Path("in/out"))
    before = [job.source for job in jobs(["in"], output).jobs]
    for name in ("in/out/a.txt", "in/out/new.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("done\n")
    assert [job.source for job in jobs(["in"], output).jobs] == before
    assert [job.source for job in jobs(["in/**/*.txt"], output).jobs] == [one for one in before if one.endswith(".txt")]
    assert "in/out/new.txt" in [job.source for job in jobs(["in"], OutputConfig(folder=Path("other"))).jobs]
    assert jobs(["in"], OutputConfig(folder=Path())).jobs, "an output folder above them hides none"


def test_a_pattern_takes_no_hidden_files_and_a_wrong_one_is_said(tree: Path) -> None:
    Path("in/.hidden.txt").write_text("so what\n")
    assert not any("hidden" in job.source for job in jobs(["in/*"], OutputConfig(folder=Path("out"))).jobs)
    with pytest.raises(InputError, match=r"pattern in/\*\*\.txt \(.*\); expected one like talks/\*\.txt"):
        jobs(["in/**.txt"], OutputConfig(folder=Path("out")))


def test_what_a_killed_run_left_goes_and_what_a_running_one_writes_stays(tree: Path) -> None:
    import os
    import platform

    (tree / "out").mkdir()
    dead = tree / "out" / f".t5punct-{platform.node()}-{2**22 + 1}-abc"
    alive = tree / "out" / f".t5punct-{platform.node()}-{os.getpid()}-abc"
    elsewhere = tree / "out" / ".t5punct-another-machine-1-abc"
    for path in (dead, alive, elsewhere):
        path.touch()
    Current.of(tree / "out", "one")
    assert [path.exists() for path in (dead, alive, elsewhere)] == [False, True, True]


def test_the_work_of_many_files_is_in_proportion_to_their_number(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all outputs are there already: the same command again must not take minutes to find nothing to do."""
    import os

    for folder in ("many", "out"):
        (tree / folder).mkdir()
        for number in range(200):
            (tree / folder / f"{number}.txt").touch()
    n_asked, stat = 0, os.stat

    def counted(*given: object, **named: object) -> os.stat_result:
        nonlocal n_asked
        n_asked += 1
        return stat(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", counted)
    assert len(jobs(["many"], OutputConfig(folder=Path("out"))).jobs) == 200
    assert n_asked < 20 * 200
