"""The same work as `Work` does, shared out to Ray workers in parts.

In: jobs of files, a cluster, and a function by which a worker makes its punctuator.  Out: files, which the workers
write, whole or not at all; an `Outcome`.

All machines must see inputs and outputs at the same paths.  If a worker dies while it does a part, each file of the
part is done again as a part of its own.  So a file that kills every worker (by the memory it needs, say) fails alone.
"""

from __future__ import annotations

import logging
import math
import os
import platform
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import check_range
from ..errors import ConfigError, InputError, OutputError, T5PunctError, first_line
from ..text.io.files import remove_leftovers
from ..windows.plan import iter_pools
from .jobs import SETTINGS_FILE, Failure, Job, Outcome

if TYPE_CHECKING:  # a worker may choose how torch waits before it is loaded
    from ..punctuator import Punctuator
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig

LOCAL = "local"  # the address of a cluster of this machine, which is started and ended with the work
_STORE_BYTES = 2**27  # of shared memory: only names of files are shared, and Ray would take a third of all memory
_STATISTICS = "RAY_USAGE_STATS_ENABLED"
SMALLEST, LARGEST = 2**16, 2**19  # bytes of a part: enough for full batches; some minutes of work at most
_PARTS_PER_WORKER = 4  # so that all workers end at about the same time
MOST_TRIES = 3  # of a file alone


@dataclass(frozen=True)
class RayConfig:
    """Which cluster, how many workers, and how many processors and GPUs each worker has."""

    address: str = LOCAL
    n_workers: int | None = None  # None: as many as the cluster has processors for
    n_cpus: int = 1  # of a worker
    n_gpus: int = 0

    def __post_init__(self) -> None:
        check_range(self, "n_workers", "n_cpus", least=1)
        check_range(self, "n_gpus", least=0)


@dataclass(frozen=True, slots=True)
class Part:
    """Files that one worker does.

    first: the index of the first one among all jobs.  n_lost_workers: workers that died over a part of one file; 0 for
    a part of several, which is never tried again as it is.
    """

    first: int
    jobs: tuple[Job, ...]
    n_lost_workers: int = 0

    @property
    def n_bytes(self) -> int:
        return sum(job.n_bytes for job in self.jobs)

    def after_death(self) -> list[Part]:
        """Return the parts to do after this one's worker has died: each file alone, or none after `MOST_TRIES`."""
        was_alone = len(self.jobs) == 1  # of several files nobody knows which one did it
        n_lost_workers = self.n_lost_workers + was_alone
        if n_lost_workers == MOST_TRIES:
            return []
        return [Part(self.first + offset, (job,), n_lost_workers) for offset, job in enumerate(self.jobs)]


def divide_into_parts(jobs: Sequence[Job], n_workers: int) -> list[Part]:
    """Divide jobs into parts of consecutive files.

    The largest part comes first: as the last one, all other workers would wait for it.
    """
    share = sum(job.n_bytes for job in jobs) / n_workers  # bytes that a worker does
    smallest = min(SMALLEST, share)
    wanted = min(max(share / _PARTS_PER_WORKER, smallest), LARGEST)  # bytes of a part
    pools = iter_pools(enumerate(jobs), math.ceil(wanted), lambda item: item[1].n_bytes, is_growing=False)
    parts = [Part(pool[0][0], tuple(job for _, job in pool)) for pool in pools]
    return sorted(parts, key=lambda part: -part.n_bytes)


@dataclass
class PartWorker:
    """A Ray actor that does parts, with one punctuator, which it makes at the first of them.

    cwd: where the batch was started; folder: of the outputs.  A worker must see both on its machine.
    """

    load: Callable[[], Punctuator]
    folder: Path
    writer: WriterConfig | None = None
    terms: Terms | None = None
    cwd: str = field(default_factory=os.getcwd)
    punctuator: Punctuator | None = None

    def run(self, part: Part) -> Outcome | Exception:
        """Punctuate the files of a part; return the outcome, or an exception that concerns all files, not only these.

        That is one of the model, or of the machine.  It is returned, as Ray would wrap one that is raised.
        """
        try:
            if self.punctuator is None:
                if not Path(self.cwd, self.folder, SETTINGS_FILE).is_file():  # written before the workers are asked
                    raise OutputError(
                        f"a worker on {platform.node()} does not see {Path(self.cwd, self.folder)}",
                        expected="a file system that all machines share, at the same path",
                        fix="run where all machines see the files",
                    )
                os.chdir(self.cwd)  # paths of jobs may be relative
                remove_leftovers(self.folder)  # half-written files of killed workers
                self.punctuator = self.load()
            from .work import Work

            return Work(self.punctuator, self.writer, self.terms).run(part.jobs)
        except (T5PunctError, OSError) as error:
            return error
        except Exception:  # others may not be pickled
            return RuntimeError(f"on {platform.node()}:\n{traceback.format_exc()}")


class RayWork:
    """Punctuates files in Ray workers like `worker`, into its folder, which `Freshness.start` has made.

    on_progress: called after each part with the bytes and the words that are done; may be set.
    """

    def __init__(self, worker: PartWorker, config: RayConfig) -> None:
        self._worker = worker
        self._config = config
        self.on_progress: Callable[[int, int], None] = lambda n_bytes, n_words: None

    def run(self, jobs: Sequence[Job]) -> Outcome:
        """Punctuate the files.  A file's error is in the outcome; an error of the model or the cluster is raised."""
        for job in jobs:
            if not Path(job.source).is_file():
                mistake = f"{job.source} is no file"
                raise InputError(mistake, expected="files, which workers can read", fix="save it first")
        outcomes = dict[int, Outcome]()  # by the index of a part's first job
        n_bytes = 0
        with cluster(self._config) as n_workers:
            for part, outcome in self._outcomes(divide_into_parts(jobs, n_workers), n_workers):
                outcomes[part.first] = outcome
                n_bytes += part.n_bytes
                self.on_progress(n_bytes, sum(outcome.n_words for outcome in outcomes.values()))
        remove_leftovers(self._worker.folder)  # of workers that were killed
        return Outcome.join([outcomes[first] for first in sorted(outcomes)])

    def _outcomes(self, parts: Sequence[Part], n_workers: int) -> Iterator[tuple[Part, Outcome]]:
        """Yield parts and outcomes as they are ready; single files where a worker died."""
        import ray

        actor_class = ray.remote(num_cpus=self._config.n_cpus, num_gpus=self._config.n_gpus)(PartWorker)
        waiting = deque(parts)
        idle_actors = list[Any]()
        under_way = dict[Any, tuple[Any, Part]]()  # by Ray's reference to the outcome: the actor and its part
        while waiting or under_way:
            while waiting and len(under_way) < n_workers:
                part = waiting.popleft()
                actor = idle_actors.pop() if idle_actors else actor_class.remote(**vars(self._worker))
                under_way[actor.run.remote(part)] = (actor, part)
            [ready], _ = ray.wait([*under_way])  # waits for one
            actor, part = under_way.pop(ready)
            try:
                outcome = ray.get(ready)
            except (ray.exceptions.ActorDiedError, ray.exceptions.OutOfMemoryError):  # over a file of the part
                parts_again = part.after_death()
                waiting += parts_again
                if not parts_again:
                    source = part.jobs[0].source
                    error = InputError(
                        f"{source}: its worker was ended {MOST_TRIES} times",
                        expected="a worker that lives to the end",
                        fix="see whether the machine has enough memory for the file",
                    )
                    yield part, Outcome(failures=(Failure(source, error),))
                continue
            except ray.exceptions.RayError as stopped:
                raise ConfigError(
                    f"Ray stopped ({first_line(getattr(stopped, 'cause', None) or stopped)})",
                    expected="a cluster that runs to the end, with t5punct on all machines",
                    fix="give the same command again: it goes on where it was",
                ) from stopped
            if isinstance(outcome, Exception):  # one that concerns all files
                raise outcome
            idle_actors.append(actor)
            yield part, outcome


@contextmanager
def cluster(config: RayConfig) -> Iterator[int]:
    """Connect to a cluster, or start one; yield the number of workers.  Raises ConfigError if that fails."""
    os.environ.setdefault(_STATISTICS, "0")  # nothing is sent anywhere
    import ray

    if ray.is_initialized():  # a cluster that the caller has connected to
        yield n_workers_in(ray.cluster_resources(), config)
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if config.address == LOCAL:
        n_cpus = config.n_cpus * config.n_workers if config.n_workers else None  # None: all there are
        options |= {"include_dashboard": False, "num_cpus": n_cpus, "object_store_memory": _STORE_BYTES}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray announces its own changes
            ray.init(config.address, **options)
    except Exception as error:  # Ray has no class of its own for some, such as a slow start
        raise ConfigError(
            f"no Ray cluster at {config.address} ({first_line(error)})",
            expected=f"`{LOCAL}`, `auto` or the address of a running one",
            fix="start one with `ray start --head`, or free the machine",
        ) from error
    try:
        yield n_workers_in(ray.cluster_resources(), config)
    finally:
        ray.shutdown()


def n_workers_in(resources: dict[str, float], config: RayConfig) -> int:
    """Return how many workers a cluster has room for.  Raises ConfigError for none, as Ray would wait for ever."""
    n_cpus = resources.get("CPU", 0)
    n_gpus = resources.get("GPU", 0)
    has_room_for = int(min(n_cpus // config.n_cpus, n_gpus // config.n_gpus if config.n_gpus else math.inf))
    if has_room_for < 1:
        raise ConfigError(
            f"a Ray cluster of {n_cpus:g} processors and {n_gpus:g} GPUs",
            expected=f"room for a worker of {config.n_cpus} processors and {config.n_gpus} GPUs",
            fix="lower threads or change --device",
        )
    return min(has_room_for, config.n_workers or has_room_for)
