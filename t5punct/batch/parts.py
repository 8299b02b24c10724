"""A batch in parts, for workers that may be ended at any moment.

In: jobs.  Out: parts of about equal size; of each, what a worker did.

A worker does the files of a part together.  If it is ended in the middle, another does the part again, this time file
by file, and a `Ledger` that outlives the workers has what became of each.  So a file that ends every worker, since it
needs too much memory, say, is given up alone.  Files are written whole or not at all, so nothing is done by halves.

>>> ledger = Ledger()
>>> ledger.begin("talk.txt").n_begun, ledger.begin("talk.txt").n_begun  # before each
(0, 1)
"""

from __future__ import annotations

import os
import pickle
import platform
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..errors import ConfigError, InputError, OutputError, T5PunctError
from ..text.io.files import remove_leftovers
from .jobs import SETTINGS_FILE, Failure, Job, Outcome

if TYPE_CHECKING:  # a worker may choose how torch waits before it is loaded
    from ..punctuator import Punctuator
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig

_SMALLEST, _LARGEST = 2**16, 2**19  # bytes of a part: enough for full batches; some minutes of work at most
_PARTS_PER_WORKER = 4  # so that all workers end at about the same time
_MOST_TRIES = 3  # of a file alone


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are done together."""

    number: int
    jobs: tuple[Job, ...]
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a part.  `error`: what concerns all files, as that there is no such model."""

    number: int
    outcome: Outcome = field(default_factory=Outcome)
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class BatchPlace:
    """Where a batch is run: what a worker must find on its machine, too."""

    cwd: str
    folder: Path  # of the outputs
    version: str = __version__

    def enter(self) -> None:
        """Go there, and remove what killed workers of this machine left.  Raises T5PunctError if it is not the same."""
        host = platform.node()
        if self.version != __version__:
            raise ConfigError(
                f"t5punct {__version__} on {host}, and {self.version} where the batch was started",
                expected="one version",
                fix="install the same on all machines",
            )
        try:
            os.chdir(self.cwd)
        except OSError as error:
            raise self._missing(self.cwd, host) from error
        if not (self.folder / SETTINGS_FILE).is_file():  # written before the workers are asked
            raise self._missing(str(self.folder), host)
        remove_leftovers(self.folder)

    def _missing(self, folder: str, host: str) -> OutputError:
        return OutputError(
            f"a worker on {host} does not see {folder}",
            expected="a file system that all machines share, at the same path",
            fix="run where all machines see the files",
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """What a ledger knows of a piece of work: how often it was begun, and how it ended."""

    n_begun: int = 0
    outcome: Outcome | None = None


class Ledger:
    """What was begun and what has ended, for workers that come and go."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def begin(self, key: str) -> Entry:
        """Note that some work begins; gives what was known before."""
        entry = self._entries.get(key, Entry())
        self._entries[key] = replace(entry, n_begun=entry.n_begun + 1)
        return entry

    def end(self, key: str, outcome: Outcome) -> None:
        self._entries[key] = replace(self._entries[key], outcome=outcome)


def divide_into_parts(jobs: Sequence[Job], n_workers: int) -> tuple[Part, ...]:
    """Divide jobs into parts that keep their order, the largest part first: at the end, others would wait for it."""
    sizes = [job.n_bytes for job in jobs]
    smallest = min(_SMALLEST, sum(sizes) / n_workers)
    wanted = min(max(sum(sizes) / (n_workers * _PARTS_PER_WORKER), smallest), _LARGEST)
    divided, first, size = list[Part](), 0, 0
    for stop, n_bytes in enumerate(sizes, start=1):
        size += n_bytes
        if size >= wanted or stop == len(jobs):
            divided.append(Part(len(divided), tuple(jobs[first:stop]), size))
            first, size = stop, 0
    return tuple(sorted(divided, key=lambda part: -part.n_bytes))


class PartWorker:
    """Does parts, with one punctuator, which it makes for the first of them."""

    def __init__(
        self,
        load: Callable[[], Punctuator],
        place: BatchPlace,
        ledger: Ledger,
        writer: WriterConfig | None = None,
        terms: Terms | None = None,
    ) -> None:
        self._load, self._place, self._ledger = load, place, ledger
        self._writer, self._terms = writer, terms
        self._punctuator: Punctuator | None = None

    def done(self, part: Part) -> Done:
        """Punctuate the files of a part; raises nothing."""
        try:
            was_begun = self._ledger.begin(f"{part.number}").n_begun > 0
            if self._punctuator is None:
                self._place.enter()
                self._punctuator = self._load()
            if not was_begun:
                return Done(part.number, self._run(self._punctuator, part.jobs))
            alone = [self._run_alone(self._punctuator, f"{part.number} {job.target}", job) for job in part.jobs]
            return Done(part.number, Outcome.join(alone))
        except Exception as error:
            return Done(part.number, error=make_portable(error))

    def _run_alone(self, punctuator: Punctuator, key: str, job: Job) -> Outcome:
        """A file of a part whose worker was ended.  `key`: what the ledger calls it."""
        entry = self._ledger.begin(key)
        if entry.outcome is not None:
            return entry.outcome
        if entry.n_begun >= _MOST_TRIES:
            error = InputError(
                f"{job.source}: its worker was ended {entry.n_begun} times",
                expected="a worker that can go on to the end",
                fix="see whether the machine has enough memory for the file",
            )
            return Outcome(failures=(Failure(job.source, error),))
        outcome = self._run(punctuator, [job])
        self._ledger.end(key, outcome)
        return outcome

    def _run(self, punctuator: Punctuator, jobs: Iterable[Job]) -> Outcome:
        from .work import Work

        outcome = Work(punctuator, self._writer, self._terms).run(jobs)
        failures = tuple(Failure(failure.source, make_portable(failure.error)) for failure in outcome.failures)
        return replace(outcome, failures=failures)


def make_portable(error: Exception) -> Exception:
    """Return an exception as another process can read it; one that is no user's mistake says where it was raised."""
    if not isinstance(error, T5PunctError | OSError):
        error.add_note(f"on {platform.node()}:\n{''.join(traceback.format_exception(error))}")
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    except Exception:  # whatever a library's exception does
        readable = RuntimeError(f"{type(error).__name__}: {error}")
        readable.__notes__ = getattr(error, "__notes__", [])
        return readable
    return error
