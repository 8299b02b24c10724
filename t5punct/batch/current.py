"""Which outputs need not be made again: those that are newer than their input, and made with the same settings.

In: a folder of outputs and a fingerprint of the settings.  Out: for each job, whether its output is up to date.

The folder holds a small file with the fingerprint.  It is written before any output, and written anew when the settings
change, so an output counts only if it is no older than that file.  Outputs appear whole, so a run that was killed goes
on where it was.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..text.io.files import STANDARD, remove_leftovers, writing
from .jobs import Job

SETTINGS_FILE = ".t5punct-settings"


def fingerprint(settings: object) -> str:
    """Return a short name for settings and this version of t5punct; their `repr` must tell them apart."""
    return hashlib.sha256(repr((__version__, settings)).encode()).hexdigest()[:16]


def model_state(folder: Path | None) -> tuple[tuple[str, int, int], ...]:
    """Return the state of a model folder: its files, their sizes, and when they were written, in ns.

    Empty for a model that was not loaded from a folder.
    """
    paths = [] if folder is None else sorted(folder.iterdir())
    return tuple((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths)


@dataclass(frozen=True, slots=True)
class Current:
    """Outputs made since `since_ns`, in nanoseconds of the file system's clock, have today's settings; None: none."""

    since_ns: int | None

    @classmethod
    def read(cls, folder: Path, settings: str) -> Current:
        """Read the state of a folder as it is: nothing is written, so that settings that cannot work leave it alone."""
        marker = folder / SETTINGS_FILE
        is_same = marker.is_file() and marker.read_text(encoding="utf-8", errors="replace") == settings
        return cls(marker.stat().st_mtime_ns if is_same else None)

    @classmethod
    def of(cls, folder: Path, settings: str) -> Current:
        """Begin work in a folder, which is made if need be; what killed runs left there goes."""
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        if cls.read(folder, settings).since_ns is None:
            with writing(folder / SETTINGS_FILE) as handle:
                handle.write(settings)
        return cls.read(folder, settings)

    def has(self, job: Job) -> bool:
        """Return whether a job's output is up to date."""
        outputs = [path for path in (job.target, job.review) if path is not None]
        if (
            self.since_ns is None
            or job.target is None
            or job.source == STANDARD
            or not all(path.is_file() for path in outputs)
        ):
            return False
        made_ns = min(path.stat().st_mtime_ns for path in outputs)
        return made_ns >= self.since_ns and made_ns >= Path(job.source).stat().st_mtime_ns
