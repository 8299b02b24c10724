"""How a command computes on a machine that it shares: threads as processors are given, which sleep while they wait."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from t5punct import model
from t5punct.cli import main, options, process
from t5punct.cli.options import ModelOptions, StreamOptions
from t5punct.model import Model
from t5punct.punctuator import Punctuator


def _groups(tmp_path: Path, groups: str, files: dict[str, str]) -> float:
    """The quota that these files of a system give."""
    (tmp_path / "cgroup").write_text(groups)
    for name, text in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return process.read_quota(tmp_path / "mount", tmp_path / "cgroup")


V1 = "4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/a/b\n", {"a/b/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "200000 100000\n"}, 2.0),
        ("0::/a/b\n", {"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "300000 100000\n"}, 3.0),
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 0.5),  # in a container
        ("0::/\n", {"other/cpu.max": "50000 100000\n"}, math.inf),
        ("0::/\n", {"cpu.max": "max 100000\n"}, math.inf),
        (V1, {"cpu,cpuacct/docker/x/cpu.cfs_quota_us": "50", "cpu,cpuacct/docker/x/cpu.cfs_period_us": "25"}, 2.0),
        (V1, {"cpu,cpuacct/cpu.cfs_quota_us": "100", "cpu,cpuacct/cpu.cfs_period_us": "25"}, 4.0),
        (V1, {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "25"}, math.inf),
        (V1, {"memory/docker/x/cpu.cfs_quota_us": "50", "memory/docker/x/cpu.cfs_period_us": "25"}, math.inf),
        ("", {}, math.inf),
    ],
)
def test_a_quota_is_read_from_the_groups_of_this_process(
    tmp_path: Path, groups: str, files: dict[str, str], expected: float
) -> None:
    assert _groups(tmp_path, groups, files) == expected


def test_without_groups_there_is_no_quota(tmp_path: Path) -> None:
    assert process.read_quota(tmp_path, tmp_path / "none") == math.inf


@pytest.mark.parametrize(
    ("bound", "quota", "expected"), [(8, math.inf, 8), (8, 2.5, 2), (8, 0.5, 1), (1, 4.0, 1), (3, 3.0, 3)]
)
def test_processors_are_those_of_affinity_and_quota(
    monkeypatch: pytest.MonkeyPatch, bound: int, quota: float, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(bound)), raising=False)
    monkeypatch.setattr(process, "read_quota", lambda: quota)
    assert process.available_processors() == expected


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of threads that torch is told; it would take eight."""
    taken: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(torch, "set_num_threads", taken.append)
    monkeypatch.setattr(process, "available_processors", lambda: 3)
    return taken


def test_a_command_takes_no_more_threads_than_it_is_given(taken: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Punctuator, "from_pretrained", lambda *_, **__: None)
    monkeypatch.setattr(options, "keep_objects", lambda: None)
    ModelOptions().punctuator()
    ModelOptions(threads=5).punctuator()
    StreamOptions().punctuator()
    StreamOptions(threads=2).punctuator()
    assert taken == [3, 5, 1, 2], "a stream takes one, and whoever names a number gets it"


def test_the_stream_command_takes_one_thread(
    tmp_path: Path, taken: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["stream", "--model", str(tmp_path)])  # which holds none
    assert taken == [1]
    assert "holds no config.json" in capsys.readouterr().err


@pytest.mark.parametrize("given", [{}, {"OMP_WAIT_POLICY": "active"}, {"GOMP_SPINCOUNT": "7"}])
def test_threads_sleep_while_they_wait_unless_the_user_says_otherwise(
    tiny_model: Model, tmp_path: Path, given: dict[str, str]
) -> None:
    model.save(tiny_model, tmp_path)
    expected = "passive" if not given else given.get("OMP_WAIT_POLICY")
    done = _policy_told(["punctuate", "--model", str(tmp_path)], given)
    assert (done.returncode, done.stderr) == (0, f"{expected}\n"), "when torch is loaded"


def test_training_threads_sleep_as_well(tmp_path: Path) -> None:
    done = _policy_told(["train", f"data.path={tmp_path}", "tokenizer=none", f"output={tmp_path / 'run'}"], {})
    assert done.returncode == 2, "it finds no data"
    assert done.stderr.startswith("passive\n")


def _policy_told(arguments: list[str], given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A command that says on standard error what OMP_WAIT_POLICY is when it loads torch."""
    code = (
        "import os, sys, importlib.abc\n"
        "class Watch(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch': print(os.environ.get('OMP_WAIT_POLICY'), file=sys.stderr)\n"
        "sys.meta_path.insert(0, Watch())\n"
        f"from t5punct.cli import main; main({arguments!r})"
    )
    clean = {name: value for name, value in os.environ.items() if name not in process._WAITING}
    return subprocess.run(
        [sys.executable, "-c", code], input="we know", capture_output=True, text=True, env=clean | given, check=False
    )


def test_nothing_is_set_where_torch_is_loaded_already(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in process._WAITING:
        monkeypatch.delenv(name, raising=False)
    assert not process.wait_asleep()
    assert "OMP_WAIT_POLICY" not in os.environ
