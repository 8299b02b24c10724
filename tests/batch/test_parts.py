"""Parts of a batch: even, in order, and done to the end whatever becomes of workers.  No Ray is needed."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.batch.distributed import RayConfig, _n_workers
from t5punct.batch.jobs import Current, Job, Outcome
from t5punct.batch.parts import _LARGEST, BatchPlace, Done, Ledger, Part, PartWorker, divide_into_parts, make_portable
from t5punct.errors import ConfigError, InputError
from t5punct.model import Model
from t5punct.punctuator import Punctuator


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Job]:
    folder = tmp_path_factory.mktemp("files")
    sizes = [0, 1, 5_000, 70_000, 200_000, 900_000]
    for size in sizes:
        (folder / f"{size}.txt").write_bytes(b"x" * size)
    return [Job(str(folder / f"{size}.txt"), folder / "out" / f"{size}.txt", "text") for size in sizes]


@given(st.data(), st.integers(1, 9))
def test_parts_hold_every_job_once_in_order_and_none_is_much_too_large(
    files: list[Job], data: st.DataObject, n_workers: int
) -> None:
    jobs = data.draw(st.lists(st.sampled_from(files), max_size=30))
    parts = divide_into_parts(jobs, n_workers)
    assert [job for part in sorted(parts, key=lambda part: part.number) for job in part.jobs] == jobs
    assert [part.n_bytes for part in parts] == sorted((part.n_bytes for part in parts), reverse=True)
    for part in parts:
        before_the_last = sum(Path(job.source).stat().st_size for job in part.jobs[:-1])
        assert before_the_last < _LARGEST


def test_small_files_are_shared_out_to_all_workers(files: list[Job]) -> None:
    assert len(divide_into_parts([files[2]] * 10, 2)) == 2


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BatchPlace:
    monkeypatch.chdir(tmp_path)
    Current.of(Path("out"), "settings")
    for name in "abc":
        Path(f"{name}.txt").write_text(f"we know that {name}\n", encoding="utf-8")
    return BatchPlace(str(tmp_path), Path("out"))


PART = Part(3, tuple(Job(f"{name}.txt", Path("out") / f"{name}.txt", "text") for name in "abc"), 60)


class _Ended(BaseException):
    """What a kill looks like from inside: nothing after it is run."""


class _Fragile(PartWorker):
    """A worker that is ended by every file of some name."""

    deadly = "b.txt"

    def _run(self, punctuator, jobs):  # type: ignore[no-untyped-def]
        for job in jobs:
            if job.source == self.deadly:
                raise _Ended
            outcome = super()._run(punctuator, [job])
        return outcome


def _until_done(kind: type[PartWorker], place: BatchPlace, ledger: Ledger, model: Model) -> tuple[Done, int]:
    """A part, given to one new worker after the other until one lives."""
    for n_ended in range(20):
        try:
            return kind(partial(Punctuator, model), place, ledger).done(PART), n_ended
        except _Ended:
            pass
    raise AssertionError("it goes on for ever")


def test_a_file_that_ends_every_worker_is_given_up_alone(place: BatchPlace, lively_model: Model) -> None:
    done, n_ended = _until_done(_Fragile, place, Ledger(), lively_model)
    assert n_ended == 4, "once with the part, three times alone"
    assert (done.number, done.outcome.n_written, done.error) == (3, 2, None)
    (failure,) = done.outcome.failures
    assert str(failure).startswith("b.txt: its worker was ended 3 times; expected")
    assert sorted(path.name for path in Path("out").glob("*.txt")) == ["a.txt", "c.txt"]


def test_a_part_that_was_begun_before_has_the_same_outputs_and_counts(place: BatchPlace, lively_model: Model) -> None:
    worker = PartWorker(partial(Punctuator, lively_model), place, Ledger())
    first = worker.done(PART)
    written = [job.target.read_bytes() for job in PART.jobs if job.target]
    assert worker.done(PART) == first == Done(3, Outcome(3, 12))
    assert [job.target.read_bytes() for job in PART.jobs if job.target] == written


def test_what_is_done_alone_is_not_done_twice(place: BatchPlace, lively_model: Model) -> None:
    ledger = Ledger()
    ledger.begin("3")
    worker = PartWorker(partial(Punctuator, lively_model), place, ledger)
    worker.done(PART)
    Path("out/a.txt").unlink()
    worker.done(PART)
    assert not Path("out/a.txt").exists()


def test_one_model_is_loaded_for_all_parts(place: BatchPlace, lively_model: Model) -> None:
    loaded = []

    def load() -> Punctuator:
        loaded.append(1)
        return Punctuator(lively_model)

    worker = PartWorker(load, place, Ledger())
    for number in range(3):
        assert worker.done(Part(number, PART.jobs[:1], 20)).error is None
    assert loaded == [1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cwd": "nowhere"}, "does not see nowhere; expected a file system that all machines share"),
        ({"folder": Path("other")}, "does not see other; expected a file system that all machines share"),
        ({"version": "0.0.1"}, "and 0.0.1 where the batch was started; expected one version"),
    ],
)
def test_another_place_is_noticed_before_a_model_is_loaded(
    place: BatchPlace, changed: dict[str, object], message: str
) -> None:
    from dataclasses import replace

    def load() -> Punctuator:
        raise AssertionError

    done = PartWorker(load, replace(place, **changed), Ledger()).done(PART)  # type: ignore[arg-type]
    assert message in str(done.error)


def test_an_error_of_the_model_concerns_all_files_and_says_where_it_was(place: BatchPlace) -> None:
    def load() -> Punctuator:
        raise RuntimeError("no kernel")

    error = pickle.loads(pickle.dumps(PartWorker(load, place, Ledger()).done(PART).error))  # noqa: S301
    assert str(error) == "no kernel"
    assert "in load" in "".join(error.__notes__)


class _Sealed(Exception):
    def __init__(self, one: str, *, two: str) -> None:
        super().__init__(one + two)


def test_an_exception_that_cannot_be_sent_is_told() -> None:
    error = make_portable(_Sealed("a", two="b"))
    assert (type(error), str(error)) == (RuntimeError, "_Sealed: ab")
    kept = make_portable(InputError("a", expected="b", fix="c"))
    assert pickle.loads(pickle.dumps(kept)).fix == "c"  # noqa: S301


def test_workers_are_as_many_as_there_is_room_for() -> None:
    room = {"CPU": 8.0, "GPU": 3.0}
    assert _n_workers(RayConfig("auto"), room) == 8
    assert _n_workers(RayConfig("auto", n_cpus=3), room) == 2
    assert _n_workers(RayConfig("auto", n_workers=5), room) == 5
    assert _n_workers(RayConfig("auto", n_workers=50), room) == 8
    assert _n_workers(RayConfig("auto", n_gpus=1), room) == 3


@pytest.mark.parametrize("config", [RayConfig(n_cpus=9), RayConfig(n_gpus=1)])
def test_no_room_for_one_worker_is_said_since_ray_would_wait_for_ever(config: RayConfig) -> None:
    with pytest.raises(ConfigError, match="expected room for a worker"):
        _n_workers(config, {"CPU": 8.0})


def test_impossible_numbers_of_workers_are_refused() -> None:
    with pytest.raises(ConfigError, match="n_workers 0; expected 1 or more"):
        RayConfig(n_workers=0)
