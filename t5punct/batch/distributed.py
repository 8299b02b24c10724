"""The same work as `Work` does, shared out to Ray workers in parts.

In: jobs of files, a cluster, and how a worker makes its punctuator.  Out: files, which the workers write, whole or not
at all; an `Outcome`.

All machines must see inputs and outputs at the same paths.  Where a worker is ended in the middle of a part, the files
of the part are done again, each alone.  So a file that ends every worker, since it needs too much memory, say, is given
up alone.

`RayWork(Punctuator.from_pretrained, Path("out"), RayConfig("local", n_workers=2)).run(jobs)` has two workers, each with
a model of its own.
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..config import check_range
from ..errors import ConfigError, InputError, OutputError, T5PunctError, first_line
from ..text.io.files import remove_leftovers
from .jobs import SETTINGS_FILE, Failure, Job, Outcome

if TYPE_CHECKING:  # a worker may choose how torch waits before it is loaded
    from ..punctuator import Punctuator
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig

LOCAL = "local"  # the address of a cluster of this machine, which is started and ended with the work
_STORE_BYTES = 2**27  # what is shared are names of files; Ray would take a third of the memory
_STATISTICS = "RAY_USAGE_STATS_ENABLED"
SMALLEST, LARGEST = 2**16, 2**19  # bytes of a part: enough for full batches; some minutes of work at most
_PARTS_PER_WORKER = 4  # so that all workers end at about the same time
_MOST_TRIES = 3  # of a file alone


@dataclass(frozen=True)
class RayConfig:
    """Which cluster, how many workers, and what each has of it."""

    address: str = LOCAL
    n_workers: int | None = None  # None: as many as the cluster has processors for
    n_cpus: int = 1  # of a worker
    n_gpus: int = 0

    def __post_init__(self) -> None:
        check_range(self, "", 1, "n_workers", "n_cpus")
        check_range(self, "", 0, "n_gpus")


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are done together.  first: the place of the first among all; n_ended: workers that it has ended."""

    first: int
    jobs: tuple[Job, ...]
    n_ended: int = 0

    @property
    def n_bytes(self) -> int:
        return sum(job.n_bytes for job in self.jobs)

    def alone(self) -> list[Part]:
        """Return the part's files as parts of their own, for other workers."""
        n_ended = self.n_ended + 1 if len(self.jobs) == 1 else 0
        return [Part(self.first + number, (job,), n_ended) for number, job in enumerate(self.jobs)]

    @property
    def given_up(self) -> Outcome | None:
        """What becomes of a file that ends every worker; None: it is tried again."""
        if self.n_ended < _MOST_TRIES:
            return None
        error = InputError(
            f"{self.jobs[0].source}: its worker was ended {self.n_ended} times",
            expected="a worker that can go on to the end",
            fix="see whether the machine has enough memory for the file",
        )
        return Outcome(failures=(Failure(self.jobs[0].source, error),))


def divide_into_parts(jobs: Sequence[Job], n_workers: int) -> list[Part]:
    """Divide jobs into parts that keep their order, the largest part first: at the end, others would wait for it."""
    sizes = [job.n_bytes for job in jobs]
    share = sum(sizes) / n_workers  # bytes of a worker
    smallest = min(SMALLEST, share)
    wanted = min(max(share / _PARTS_PER_WORKER, smallest), LARGEST)  # bytes of a part
    divided = list[Part]()
    first = 0  # the number of the next part's first job
    size = 0
    for stop, n_bytes in enumerate(sizes, start=1):
        size += n_bytes
        if size >= wanted or stop == len(jobs):
            divided.append(Part(first, tuple(jobs[first:stop])))
            first = stop
            size = 0
    return sorted(divided, key=lambda part: -part.n_bytes)


@dataclass
class PartWorker:
    """Does parts, with one punctuator, which it makes for the first of them.

    cwd, folder, version: where the batch is run, and of the outputs: what a worker must find on its machine, too.
    """

    load: Callable[[], Punctuator]
    folder: Path
    writer: WriterConfig | None = None
    terms: Terms | None = None
    cwd: str = ""
    version: str = __version__
    punctuator: Punctuator | None = None

    def done(self, part: Part) -> Outcome | Exception:
        """Punctuate the files of a part; return an exception that concerns all files, as that there is no such model.

        It is returned and not raised, as Ray would wrap it.
        """
        try:
            if self.punctuator is None:
                self._enter()
                self.punctuator = self.load()
            from .work import Work

            outcome = Work(self.punctuator, self.writer, self.terms).run(part.jobs)
            failures = tuple(Failure(failure.source, make_portable(failure.error)) for failure in outcome.failures)
            return replace(outcome, failures=failures)
        except Exception as error:
            return make_portable(error)

    def _enter(self) -> None:
        """Go where the batch is run, and remove what killed workers of this machine left there."""
        host = platform.node()
        if self.version != __version__:
            raise ConfigError(
                f"t5punct {__version__} on {host}, and {self.version} where the batch was started",
                expected="one version",
                fix="install the same on all machines",
            )
        sees_cwd = Path(self.cwd).is_dir()
        if sees_cwd:
            os.chdir(self.cwd)  # paths of jobs may be relative
        if not sees_cwd or not (self.folder / SETTINGS_FILE).is_file():  # written before the workers are asked
            raise OutputError(
                f"a worker on {host} does not see {self.folder if sees_cwd else self.cwd}",
                expected="a file system that all machines share, at the same path",
                fix="run where all machines see the files",
            )
        remove_leftovers(self.folder)


class RayWork:
    """Punctuates files, each with an output of its own below `folder`, which `Current.of` has made.

    `on_progress`, which may be set, is called after each part, as that of `Work` is from time to time.
    """

    def __init__(
        self,
        load: Callable[[], Punctuator],
        folder: Path,
        config: RayConfig | None = None,
        writer: WriterConfig | None = None,
        terms: Terms | None = None,
    ) -> None:
        self._worker = PartWorker(load, folder, writer, terms)
        self._config = config or RayConfig()
        self.on_progress: Callable[[int, int], None] = lambda n_bytes, n_words: None

    def run(self, jobs: Sequence[Job]) -> Outcome:
        """Punctuate the files.

        What goes wrong with a file is in the outcome; what goes wrong with the model is raised.
        """
        for job in jobs:
            if not Path(job.source).is_file():
                raise InputError(
                    f"{job.source} is no file", expected="files, which workers can read", fix="save it first"
                )
        if not jobs:
            return Outcome()
        outcomes = dict[int, Outcome]()  # by the number of a part's first job
        n_bytes = 0
        with cluster(self._config) as n_workers:
            worker = replace(self._worker, cwd=str(Path.cwd()))
            for part, outcome in self._outcomes(worker, divide_into_parts(jobs, n_workers), n_workers):
                outcomes[part.first] = outcome
                n_bytes += part.n_bytes
                self.on_progress(n_bytes, sum(outcome.n_words for outcome in outcomes.values()))
        remove_leftovers(worker.folder)  # of workers that were killed
        return Outcome.join([outcomes[first] for first in sorted(outcomes)])

    def _outcomes(self, worker: PartWorker, parts: Sequence[Part], n_workers: int) -> Iterator[tuple[Part, Outcome]]:
        """Yield parts with their outcomes, each as soon as it is ready."""
        import ray

        actor_class = ray.remote(num_cpus=self._config.n_cpus, num_gpus=self._config.n_gpus)(PartWorker)
        waiting = deque(parts)
        idle = list[Any]()  # actors
        under_way = dict[Any, tuple[Any, Part]]()  # by Ray's reference to the outcome: an actor, and what it does
        while waiting or under_way:
            while waiting and len(under_way) < n_workers:
                part = waiting.popleft()
                actor = idle.pop() if idle else actor_class.remote(**vars(worker))
                under_way[actor.done.remote(part)] = (actor, part)
            [done], _ = ray.wait([*under_way])  # the first that is ready
            actor, part = under_way.pop(done)
            try:
                outcome = ray.get(done)
            except (ray.exceptions.ActorDiedError, ray.exceptions.OutOfMemoryError):  # one file of the part ended it
                for again in part.alone():
                    if again.given_up is None:
                        waiting.append(again)
                    else:
                        yield again, again.given_up
                continue
            except ray.exceptions.RayError as error:
                raise ConfigError(
                    f"Ray stopped ({first_line(getattr(error, 'cause', None) or error)})",
                    expected="a cluster that runs to the end, with t5punct on all machines",
                    fix="give the same command again: it goes on where it was",
                ) from error
            if isinstance(outcome, Exception):
                raise outcome
            idle.append(actor)
            yield part, outcome


@contextmanager
def cluster(config: RayConfig) -> Iterator[int]:
    """Connect to a cluster, or start one; gives the number of workers.  Raises ConfigError where that fails."""
    os.environ.setdefault(_STATISTICS, "0")  # nothing is sent anywhere
    import ray

    is_ours = not ray.is_initialized()  # else a cluster that the caller has connected to
    if is_ours:
        connect(config)
    try:
        yield n_workers_in(ray.cluster_resources(), config)
    finally:
        if is_ours:
            ray.shutdown()


def connect(config: RayConfig) -> None:
    """Connect to a cluster, or start one.  Raises ConfigError where that fails."""
    import ray

    started: dict[str, Any] = {}
    if config.address == LOCAL:
        n_cpus = config.n_cpus * config.n_workers if config.n_workers else None  # None: all there are
        started = {"include_dashboard": False, "num_cpus": n_cpus, "object_store_memory": _STORE_BYTES}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Ray will change some day
            ray.init(config.address, log_to_driver=False, logging_level=logging.ERROR, **started)
    except Exception as error:  # a slow start, for one, has no class of its own
        raise ConfigError(
            f"no Ray cluster at {config.address} ({first_line(error)})",
            expected=f"`{LOCAL}`, `auto` or the address of a running one",
            fix="start one with `ray start --head`, or free the machine",
        ) from error


def n_workers_in(resources: dict[str, float], config: RayConfig) -> int:
    """Return how many workers there is room for.

    Raises ConfigError where there is none for one: Ray would wait for ever.
    """
    shares = [resources.get("CPU", 0) // config.n_cpus]
    if config.n_gpus:
        shares.append(resources.get("GPU", 0) // config.n_gpus)
    if min(shares) < 1:
        gpus = f" and {config.n_gpus} GPU" if config.n_gpus else ""
        raise ConfigError(
            f"a Ray cluster of {resources.get('CPU', 0):g} processors and {resources.get('GPU', 0):g} GPUs",
            expected=f"room for a worker of {config.n_cpus} processors{gpus}",
            fix="lower threads or change --device",
        )
    n_workers = int(min(shares))
    return n_workers if config.n_workers is None else min(n_workers, config.n_workers)


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
