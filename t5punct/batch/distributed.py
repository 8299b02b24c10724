"""The same work as `Work` does, shared out to Ray workers: a Ray Data pipeline of parts.

In: jobs of files, a cluster, and how a worker makes its punctuator.  Out: files, which the workers write, whole or not
at all; an `Outcome`.

All machines must see inputs and outputs at the same paths.  A part whose worker is ended is done again by another.

`RayWork(Punctuator.from_pretrained, Path("out"), RayConfig("local", n_workers=2)).run(jobs)` has two workers, each with
a model of its own.
"""

from __future__ import annotations

import logging
import os
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import check_range
from ..errors import ConfigError, InputError, T5PunctError, first_line
from ..text.io.files import remove_leftovers
from .jobs import Job, Outcome
from .parts import BatchPlace, Done, Entry, Ledger, Part, PartWorker, divide_into_parts

if TYPE_CHECKING:  # a worker may choose how torch waits before it is loaded
    from ..punctuator import Punctuator
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig

LOCAL = "local"  # the address of a cluster of this machine, which is started and ended with the work
_STORE_BYTES = 2**27  # what is shared are names of files; Ray would take a third of the memory
_STATISTICS = "RAY_USAGE_STATS_ENABLED"


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
        self._load, self._folder, self._config = load, folder, config or RayConfig()
        self._writer, self._terms = writer, terms
        self.on_progress: Callable[[int, int], None] = lambda n_bytes, n_words: None

    def run(self, jobs: Iterable[Job]) -> Outcome:
        """Punctuate the files.

        What goes wrong with a file is in the outcome; what goes wrong with the model is raised.
        """
        jobs = tuple(jobs)
        for job in jobs:
            if not Path(job.source).is_file():
                raise InputError(
                    f"{job.source} is no file", expected="files, which workers can read", fix="save it first"
                )
        if not jobs:
            return Outcome()
        outcomes = dict[int, Outcome]()
        with _cluster(self._config) as n_workers:
            all_parts = divide_into_parts(jobs, n_workers)
            sizes = {part.number: part.n_bytes for part in all_parts}
            for done in self._dones(all_parts, min(n_workers, len(all_parts))):
                if done.error is not None:
                    raise done.error
                outcomes[done.number] = done.outcome
                n_words = sum(outcome.n_words for outcome in outcomes.values())
                self.on_progress(sum(sizes[number] for number in outcomes), n_words)
        remove_leftovers(self._folder)  # of workers that were killed
        if outcomes.keys() != sizes.keys():
            raise _stopped("some parts are missing")
        return Outcome.join([outcomes[number] for number in sorted(outcomes)])

    def _dones(self, all_parts: Iterable[Part], n_workers: int) -> Iterator[Done]:
        """What workers did, as it is done."""
        import ray
        from ray.data import ActorPoolStrategy, DataContext, from_items

        DataContext.get_current().enable_progress_bars = False  # there is one of our own
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        place = BatchPlace(str(Path.cwd()), self._folder)
        ledger = ray.remote(num_cpus=0)(Ledger).remote()
        rows = [{"part": pickle.dumps(part)} for part in all_parts]  # bytes: Arrow has no type for odd names of files
        pipeline = from_items(rows, override_num_blocks=len(rows)).map(
            _Worker,
            fn_constructor_args=(self._load, place, ledger, self._writer, self._terms),
            # a part waits for a worker that is free, and not behind another part
            compute=ActorPoolStrategy(size=n_workers, max_tasks_in_flight_per_actor=1),
            num_cpus=self._config.n_cpus,
            num_gpus=self._config.n_gpus or None,
        )
        try:
            for row in pipeline.iter_rows():
                yield pickle.loads(row["done"])  # noqa: S301  # our own bytes
        except ray.exceptions.RayError as error:
            raise _stopped(first_line(getattr(error, "cause", None) or error)) from error


class _Worker:
    """A `PartWorker` as Ray Data calls it, with rows of bytes."""

    def __init__(self, load: Any, place: BatchPlace, ledger: Any, writer: Any, terms: Any) -> None:
        self._worker = PartWorker(load, place, _FarLedger(ledger), writer, terms)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        part: Part = pickle.loads(row["part"])  # noqa: S301  # our own bytes
        return {"done": pickle.dumps(self._worker.done(part))}


class _FarLedger(Ledger):
    """A ledger in another process."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def begin(self, key: str) -> Entry:
        import ray

        entry: Entry = ray.get(self._handle.begin.remote(key))
        return entry

    def end(self, key: str, outcome: Outcome) -> None:
        import ray

        ray.get(self._handle.end.remote(key, outcome))


@contextmanager
def _cluster(config: RayConfig) -> Iterator[int]:
    """Connect to a cluster, or start one; gives the number of workers.  Raises ConfigError where that fails."""
    os.environ.setdefault(_STATISTICS, "0")  # nothing is sent anywhere
    import ray

    is_ours = not ray.is_initialized()  # else a cluster that the caller has connected to
    if is_ours:
        _connect(config)
    try:
        yield _n_workers(config, ray.cluster_resources())
    finally:
        if is_ours:
            ray.shutdown()


def _connect(config: RayConfig) -> None:
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


def _n_workers(config: RayConfig, resources: dict[str, float]) -> int:
    """How many workers there is room for.  Raises ConfigError where there is none for one: Ray would wait for ever."""
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
    return min([int(share) for share in shares] + ([config.n_workers] if config.n_workers else []))


def _stopped(why: str) -> T5PunctError:
    return ConfigError(
        f"Ray stopped ({why})",
        expected="a cluster that runs to the end, with t5punct on all machines",
        fix="give the same command again: it goes on where it was",
    )
