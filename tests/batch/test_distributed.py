"""A batch on a local Ray with two workers, one of which is killed: the same files as without Ray, and nothing else."""

import os
import platform
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs Ray, which is large: pip install 't5punct[ray]'", exc_type=ImportError)

import ray
import ray.data
from command import Invoke
from tiny import tiny_text

from t5punct import BatchPunctuator, model
from t5punct.batch import distributed
from t5punct.batch.distributed import LOCAL, RayConfig
from t5punct.errors import ConfigError
from t5punct.model import Model

pytestmark = pytest.mark.long
N_FILES, N_SENTENCES = 16, 60
BAD = {"bad.txt": b"not \xff\xfe text", "bad.json": b"no json\n"}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """One for all tests, since its start takes seconds; `ray=local` uses the one that there is."""
    with distributed.cluster(RayConfig(LOCAL, n_workers=2)) as n_workers:
        assert n_workers == 2
        yield
    assert not ray.is_initialized()


@pytest.fixture(scope="module")
def folder(tagged_model: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    model.save(tagged_model, path)
    return str(path)


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """Small files in two folders, two of which cannot be read."""
    for number in range(N_FILES):
        path = tmp_path / "talks" / f"day{number % 2}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(tiny_text(N_SENTENCES, seed=number)).lower(), encoding="utf-8")
    for name, text in BAD.items():
        (tmp_path / "talks" / name).write_bytes(text)
    return tmp_path / "talks"


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class _Killer(threading.Thread):
    """Kills a worker, once, while it writes a file: some outputs are there, and others have not been begun."""

    def __init__(self, output: Path) -> None:
        super().__init__(daemon=True)
        self.output, self.n_complete, self.left = output, 0, ""
        self.is_over = threading.Event()

    def run(self) -> None:
        prefix = f".t5punct-{platform.node()}-"
        while not self.is_over.is_set():
            names = [path.name for path in self.output.rglob("*")] if self.output.is_dir() else []
            complete = [name for name in names if name.endswith(".txt")]
            for name in names:
                process = int(name.removeprefix(prefix).partition("-")[0]) if name.startswith(prefix) else os.getpid()
                if len(complete) >= 3 and process != os.getpid():
                    os.kill(process, signal.SIGKILL)
                    self.n_complete, self.left = len(complete), name
                    return
            time.sleep(0.002)


def test_a_worker_is_killed_and_nothing_is_lost_and_nothing_is_twice(
    talks: Path, folder: str, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(talks.parent)
    monkeypatch.setattr("t5punct.batch.distributed.SMALLEST", 2**12)  # several parts for each worker
    command = ("punctuate", "talks", "--model", folder, "--decoder", "tagger", "--output-dir")  # the fastest
    told = invoke(*command, "alone")[::2]
    killer = _Killer(talks.parent / "shared")
    killer.start()
    told_shared = invoke(*command, "shared", "ray=local", "ray_workers=2")[::2]
    killer.is_over.set()
    killer.join()
    assert killer.left, "else nobody was killed"
    assert 3 <= killer.n_complete < N_FILES, "in the middle"
    assert _tree(Path("shared")) == _tree(Path("alone")), "all complete, no leftover of the killed worker"
    assert len(_tree(Path("shared"))) == N_FILES + 1, "and the file of settings"
    assert told_shared == told
    assert told_shared[0] == 1
    assert all(name in told_shared[1] for name in BAD)
    for name in BAD:
        (talks / name).unlink()
    again = invoke(*command, "shared", "ray=local")[::2]
    assert again == (0, f"t5punct: {N_FILES} of {N_FILES} files were up to date\n")


def test_a_wrong_model_is_said_as_without_ray(talks: Path, invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    command = ("punctuate", talks / "day0", "--model", str(tmp_path / "empty"), "--output-dir")
    told = invoke(*command, str(tmp_path / "alone"))[::2]
    assert invoke(*command, str(tmp_path / "shared"), "ray=local", "ray_workers=1")[::2] == told
    assert told[0] == 2


def test_map_batches_takes_the_class(folder: str) -> None:
    rows = [{"id": n, "text": text.lower()} for n, text in enumerate(tiny_text(6, seed=1))]
    table = ray.data.from_items(rows).map_batches(
        BatchPunctuator, fn_constructor_args=(folder,), batch_size=4, compute=ray.data.ActorPoolStrategy(size=1),
        num_cpus=1,
    )  # fmt: skip
    punctuated = sorted(table.take_all(), key=lambda row: row["id"])
    expected = BatchPunctuator(folder)({"text": [row["text"] for row in rows]})["punctuated"]
    assert [row["punctuated"] for row in punctuated] == expected
    assert [{"id": row["id"], "text": row["text"]} for row in punctuated] == rows


@pytest.mark.parametrize("kind", [ConnectionError, Exception])
def test_no_cluster_at_an_address_is_one_line(monkeypatch: pytest.MonkeyPatch, kind: type[Exception]) -> None:
    def refused(*arguments: object, **options: object) -> None:
        raise kind("Ray is trying to start at nowhere:1, but is not there\nmore")

    monkeypatch.setattr(ray, "init", refused)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    message = r"^no Ray cluster at nowhere:1 .* one with `ray start --head`, or free"
    with pytest.raises(ConfigError, match=message), distributed.cluster(RayConfig("nowhere:1")):
        pass
