"""Parts of a batch: even, in order, and done to the end whatever becomes of workers.  No Ray is needed."""

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.batch.distributed import LARGEST, MOST_TRIES, Part, PartWorker, RayConfig, divide_into_parts, n_workers_in
from t5punct.batch.jobs import Freshness, Job, Outcome
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.punctuator import Punctuator

PART = Part(3, tuple(Job(f"{name}.txt", Path("out") / f"{name}.txt", "text") for name in "abc"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Job]:
    folder = tmp_path_factory.mktemp("files")
    sizes = [0, 1, 5_000, 70_000, 200_000, 900_000]
    for size in sizes:
        (folder / f"{size}.txt").write_bytes(b"x" * size)
    return [Job(str(folder / f"{size}.txt"), folder / "out" / f"{size}.txt", "text") for size in sizes]


@given(st.data(), st.integers(1, 9))
def test_parts__every_job_once_in_order_none_too_large(files: list[Job], data: st.DataObject, n_workers: int) -> None:
    jobs = data.draw(st.lists(st.sampled_from(files), max_size=30))
    parts = divide_into_parts(jobs, n_workers)
    assert [job for part in sorted(parts, key=lambda part: part.first) for job in part.jobs] == jobs
    assert [part.n_bytes for part in parts] == sorted((part.n_bytes for part in parts), reverse=True)
    assert all(sum(job.n_bytes for job in part.jobs[:-1]) < LARGEST for part in parts)
    assert len(divide_into_parts([files[2]] * 10, 2)) == 2, "small files are shared out to all workers"


def test_parts__a_file_that_ends_every_worker_is_given_up_alone() -> None:
    alone = PART.after_death()
    assert [(part.first, part.jobs) for part in alone] == [(3 + number, (job,)) for number, job in enumerate(PART.jobs)]
    n_tries = 0
    parts = [alone[1]]
    while parts:
        (part,) = parts
        assert part.jobs == alone[1].jobs
        n_tries += 1
        parts = part.after_death()
    assert n_tries == MOST_TRIES


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lively_model: Model) -> PartWorker:
    monkeypatch.chdir(tmp_path)
    Freshness.start(Path("out"), "settings")
    for name in "abc":
        Path(f"{name}.txt").write_text(f"we know that {name}\n", encoding="utf-8")
    return PartWorker(partial(Punctuator, lively_model), Path("out"), cwd=str(tmp_path))


def test_worker__a_part_done_again_has_the_same_outputs_and_the_model_is_loaded_once(worker: PartWorker) -> None:
    load, loaded = worker.load, list[int]()
    worker.load = lambda: loaded.append(1) or load()  # type: ignore[func-returns-value]
    first = worker.run(PART)
    written = [job.target.read_bytes() for job in PART.jobs if job.target]
    assert worker.run(PART) == first == Outcome(3, 12)
    assert [job.target.read_bytes() for job in PART.jobs if job.target] == written
    assert loaded == [1]


def never() -> Punctuator:
    raise RuntimeError("no kernel")


@pytest.mark.parametrize(("changed", "message"), [
    ({"cwd": "nowhere"}, "does not see nowhere/out; expected a file system that all machines share"),
    ({"folder": Path("other")}, "/other; expected a file system that all machines share"),
    ({}, "RuntimeError: no kernel"),
])  # fmt: skip
def test_worker__what_concerns_all_files_is_told(worker: PartWorker, changed: dict[str, object], message: str) -> None:
    error = pickle.loads(pickle.dumps(replace(worker, load=never, **changed).run(PART)))  # type: ignore[arg-type]  # noqa: S301
    assert message in str(error)


@pytest.mark.parametrize(("config", "n_workers"), [
    (RayConfig("auto"), 8), (RayConfig("auto", n_cpus=3), 2), (RayConfig("auto", n_workers=5), 5),
    (RayConfig("auto", n_workers=50), 8), (RayConfig("auto", n_gpus=1), 3), (RayConfig(n_cpus=9), None),
    (RayConfig(n_gpus=4), None),
])  # fmt: skip
def test_cluster__workers_are_as_many_as_there_is_room_for(config: RayConfig, n_workers: int | None) -> None:
    room = {"CPU": 8.0, "GPU": 3.0}
    if n_workers is None:  # Ray would wait for ever
        with pytest.raises(ConfigError, match="expected room for a worker"):
            n_workers_in(room, config)
    else:
        assert n_workers_in(room, config) == n_workers
    with pytest.raises(ConfigError, match="n_workers 0; expected 1 or more"):
        RayConfig(n_workers=0)
