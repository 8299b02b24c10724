"""Files, folders and patterns -> jobs: each file to be punctuated, where its output goes, and if that is up to date.

`plan_jobs(["lectures"], OutputConfig(folder=Path("out")))` has a job for each transcript below `lectures`; the output
of `lectures/week1/talk.srt` is `out/week1/talk.srt`.

An output is up to date if it is no older than its input, and made with the same settings.  Its folder has a small file
with the fingerprint of the settings, which is written before any output, and again when the settings change; so an
output that is older than it has other settings.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import __version__
from ..errors import InputError
from ..text.io.files import (
    MARKDOWN,
    STANDARD,
    check_source,
    check_targets,
    count_endings,
    ending_of,
    find_files,
    no_file_error,
    remove_leftovers,
    unpacked_name,
    writing,
)
from ..transcripts.formats import FORMATS, SUFFIXES, format_of

SETTINGS_FILE = ".t5punct-settings"
_ENDINGS = SUFFIXES | dict.fromkeys(MARKDOWN, "text")  # of files that are read in a folder, and their formats
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OutputConfig:
    """Where outputs go, and in which format."""

    file: Path | None = None  # for all inputs; if this and `folder` are None: standard output
    folder: Path | None = None  # for a file of each input, in the same subfolders
    format: str | None = None  # a name of `transcripts.formats.OUTPUTS`; None: that of the input
    review: Path | None = None  # a page for review beside it
    reads: tuple[str, ...] = ()  # other files and folders that are read: no output may replace one


@dataclass(frozen=True, slots=True)
class Job:
    """One file to be punctuated.  target: None: standard output.  format: None: the one its name says."""

    source: str
    target: Path | None
    format: str | None = None
    review: Path | None = None

    @property
    def input_format(self) -> str:
        return self.format or format_of(self.source)

    @property
    def n_bytes(self) -> int:
        """The size of the file; 0 for standard input, a pipe, or a file that is gone."""
        path = Path(self.source)
        return path.stat().st_size if path.is_file() else 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be punctuated, and why."""

    source: str
    error: Exception

    def __str__(self) -> str:
        return str(self.error) if self.source in str(self.error) else f"{self.source}: {self.error}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of jobs.  n_written: inputs whose output is complete.  removed: how often each word was removed."""

    n_written: int = 0
    n_words: int = 0
    failures: tuple[Failure, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def join(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Return one outcome of all jobs."""
        return cls(
            sum(outcome.n_written for outcome in outcomes),
            sum(outcome.n_words for outcome in outcomes),
            tuple(failure for outcome in outcomes for failure in outcome.failures),
            sum((Counter(outcome.removed) for outcome in outcomes), Counter()),
        )


@dataclass(frozen=True, slots=True)
class Jobs:
    """The files to be punctuated, and the inputs that cannot be."""

    jobs: tuple[Job, ...]
    failures: tuple[Failure, ...] = ()


def plan_jobs(inputs: Sequence[str], output: OutputConfig, format: str | None = None) -> Jobs:
    """Return the jobs, in the order of the inputs; files in a folder are sorted.

    Raises InputError for outputs that cannot be written or would overwrite each other or an input, if all inputs fail,
    and if one fails of those that have a single output.
    """
    if output.file and output.folder:
        raise InputError("both -o and --output-dir", expected="one of them", fix="drop one")
    files = list[tuple[Job, Path]]()  # each with its path below the name that the user typed
    failures = list[Failure]()
    for name in inputs:
        try:
            paths = _inputs(name, output.folder)
        except InputError as error:
            failures.append(Failure(name, error))
            continue
        for path, below in paths:
            try:
                if not format:
                    format_of(path)  # raises for a format that is not read
                files.append((Job(path, None, format), below))
            except InputError as error:
                failures.append(Failure(name, error))
    if output.folder:  # a file named twice has one output there; in a single output its text comes twice, as from `cat`
        files = [*dict.fromkeys(files)]
    all_failed = len(inputs) > 1 and len(failures) == len(inputs)
    if all_failed and not any(Path(name).suffix or Path(name).exists() for name in inputs):
        raise no_file_error(" ".join(inputs), "existing files")  # the words of a text, not names
    if failures and (output.file or not files):  # a single output would lack a text
        raise failures[0].error
    jobs = [job for job, _ in files]
    targets = _targets(jobs, [below for _, below in files], output)
    review = output.review
    if review is not None:
        if len(jobs) > 1:
            fix = "write pages by --to html --output-dir DIR"
            raise InputError(f"--html for {len(jobs)} files", expected="one file", fix=fix)
        if any(target and _real(target) == _real(review) for target in targets):
            mistake = f"--html {review}, which is the output, too"
            raise InputError(mistake, expected="two files", fix="write only the page by --to html")
        check_targets([review], [*(job.source for job in jobs), *output.reads])
    planned = [replace(job, target=target, review=review) for job, target in zip(jobs, targets, strict=True)]
    return Jobs(tuple(planned), tuple(failures))


def _inputs(name: str, output: Path | None) -> list[tuple[str, Path]]:
    """Return the files of a name, which is that of a file or a folder, or a pattern; each with its path below it.

    Files in the output folder are left out, if that is below the name.  A warning counts the files of a folder that no
    format reads.  Raises InputError if there are no files.
    """
    if not name:  # an unset variable; as a path it would be this folder
        raise InputError("an input without a name", expected="a file, a folder or a pattern", fix="name one")
    path = Path(name)
    is_folder = path.is_dir()
    if name == STANDARD or path.is_file() or not (is_folder or glob.has_magic(name)):
        check_source(name)
        return [(name, Path("stdin.txt" if name == STANDARD else path.name))]
    base, all_files = find_files(name)
    outputs = None if output is None else _real(output)
    if outputs is not None and outputs != _real(base) and outputs.is_relative_to(_real(base)):
        all_files = [file for file in all_files if not _real(file).is_relative_to(outputs)]
    files = [file for file in all_files if not is_folder or ending_of(file) in _ENDINGS]
    if files:
        if left_out := count_endings({*all_files} - {*files}):
            _log.warning("%s: %s left out: no reader for it", name, ", ".join(left_out))
        return [(str(file), file.relative_to(base)) for file in files]
    if not is_folder:
        raise no_file_error(name, "existing files")
    for file in all_files:
        format_of(file)  # raises for a recording, and for what else its name says that it is
    endings = f"files that end in {', '.join(_ENDINGS)}"
    raise InputError(f"no transcript in {name}", expected=endings, fix="check the path")


def _real(path: Path) -> Path:
    """Return a path with its links followed.  `Path.resolve` would raise for a link to itself."""
    return Path(os.path.realpath(path))


def _targets(jobs: Sequence[Job], places: Sequence[Path], output: OutputConfig) -> list[Path | None]:
    """Return where the output of each job goes; `places`: the paths of their files below the names that users typed.

    Raises InputError for several files in one output whose format holds one, and for two with the same output.
    """
    names = [*(job.source for job in jobs), *output.reads]
    if output.folder is None:
        formats = {output.format or job.input_format for job in jobs}
        may_be_joined = output.format == "json" or formats <= {"text", "lines"}
        if len(jobs) > 1 and not may_be_joined:
            mistake = f"{len(jobs)} files in one output"
            raise InputError(mistake, expected="a file for each", fix="name a folder by --output-dir")
        if output.file is None or str(output.file) in (STANDARD, "/dev/stdout"):
            return [None] * len(jobs)
        check_targets([output.file], names)
        return [output.file] * len(jobs)
    below = [_rename(place, output.format) for place in places]
    if len(set(below)) < len(below):  # equal names in several inputs: use the paths below their common folder
        paths = [_real(Path(job.source).parent) / Path(job.source).name for job in jobs]
        common = os.path.commonpath([path.parent for path in paths])
        below = [_rename(path.relative_to(common), output.format) for path in paths]
    for path, n_inputs in Counter(below).items():
        if n_inputs > 1:
            mistake = f"two inputs for {output.folder / path}"
            fix = "rename one, or name files of one kind, such as 'talks/*.srt'"
            raise InputError(mistake, expected="inputs of different names", fix=fix)
    targets = [output.folder / path for path in below]
    check_targets(targets, names, make=True)
    return [*targets]


def _rename(below: Path, output_format: str | None) -> Path:
    """Return the path of an output: without .gz and .xz, and with the suffix of its format.

    `talk.vtt.gz` as srt is `talk.srt`, and as json `talk.vtt.json`; `talk.json` as json is `talk.json.json`, as json
    is of many kinds.
    """
    plain = below.with_name(unpacked_name(below))
    if output_format is None:
        return plain
    if output_format == "json":
        return plain.with_name(plain.name + ".json")
    if _ENDINGS.get(ending_of(plain)) == output_format:
        return plain
    return plain.with_suffix(FORMATS[output_format].suffixes[0])


def settings_fingerprint(settings: object) -> str:
    """Return a hash of settings and this version of t5punct; the `repr` of different settings must differ."""
    return hashlib.sha256(repr((__version__, settings)).encode()).hexdigest()[:16]


def model_state(folder: Path | None) -> tuple[tuple[str, int, int], ...]:
    """Return the state of a model folder: its files, their sizes, and when they were written, in ns.

    Empty for a model that was not loaded from a folder.
    """
    paths = [] if folder is None else sorted(folder.iterdir())
    return tuple((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths)


@dataclass(frozen=True, slots=True)
class Freshness:
    """Which outputs are up to date.  since_ns: from this time of the file system on they have the settings of now.

    None: no output has them.
    """

    since_ns: int | None

    @classmethod
    def read(cls, folder: Path, settings: str) -> Freshness:
        """Read the state of a folder, and write nothing: the settings may still turn out to be wrong."""
        marker = folder / SETTINGS_FILE
        is_same = marker.is_file() and marker.read_text(encoding="utf-8", errors="replace") == settings
        return cls(marker.stat().st_mtime_ns if is_same else None)

    @classmethod
    def start(cls, folder: Path, settings: str) -> Freshness:
        """Make an output folder, if need be, write its settings, and remove half-written files of killed runs."""
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        if cls.read(folder, settings).since_ns is None:
            with writing(folder / SETTINGS_FILE) as handle:
                handle.write(settings)
        return cls.read(folder, settings)

    def is_current(self, job: Job) -> bool:
        """Return whether a job's output is up to date."""
        if self.since_ns is None or job.target is None or job.source == STANDARD:
            return False
        outputs = [path for path in (job.target, job.review) if path is not None]
        if not all(path.is_file() for path in outputs):
            return False
        made_ns = min(path.stat().st_mtime_ns for path in outputs)
        return made_ns >= self.since_ns and made_ns >= Path(job.source).stat().st_mtime_ns
