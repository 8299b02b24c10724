"""What a command makes of its process: memory, threads, a training's launcher; and what inference imports."""

import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import distributed

from t5punct.cli import parameters, process
from t5punct.cli.train import leave_group, train
from t5punct.errors import ConfigError
from t5punct.options import ModelOptions, StreamOptions


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MALLOC_")]:
        monkeypatch.delenv(name)


def test_glibc_takes_every_setting_and_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert platform.libc_ver()[0] != "glibc" or process.keep_freed_memory()

    def no_name(_: None) -> Any:
        raise TypeError("a name is needed")  # as Windows says

    for load in (lambda _: SimpleNamespace(), no_name):
        monkeypatch.setattr(ctypes, "CDLL", load)
        assert not process.keep_freed_memory()


def test_a_training_that_has_ended_leaves_its_group_and_ends_without_a_teardown() -> None:
    """In both a process may be aborted; this was seen too seldom to be tested for."""
    assert not leave_group()
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    assert leave_group() and not distributed.is_initialized()
    code = (
        "import atexit; from t5punct.cli.process import end_at_once; atexit.register(print, 'teardown'); "
        "print('trained', end=''); end_at_once()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "trained")


@pytest.mark.parametrize(("groups", "files", "expected"), [
    ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "250000 100000\n"}, 2),
    ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),  # in a container
    ("0::/\n", {"other/cpu.max": "50000 100000\n"}, 64), ("", {}, 64),
])  # fmt: skip
def test_a_quota_is_read_from_the_groups_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: str, files: dict[str, str], expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    (tmp_path / "cgroup").write_text(groups)
    for name, text in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert process.available_processors(tmp_path / "mount", tmp_path / "cgroup") == expected
    assert process.available_processors(tmp_path, tmp_path / "none") == 64


def test_a_command_takes_the_threads_it_has_and_a_loaded_one_collects_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = list[int]()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(torch, "set_num_threads", taken.append)
    monkeypatch.setattr(process, "available_processors", lambda: 3)
    monkeypatch.setattr("t5punct.punctuator.Punctuator", lambda *_, **__: None)
    usual = gc.get_threshold()
    n_kept = gc.get_freeze_count()
    gc.set_threshold(50_000)
    try:
        for options in (ModelOptions(), ModelOptions(threads=5), StreamOptions()):
            parameters.load_punctuator(options, options.config())
        assert gc.get_threshold() == usual, "or what is dropped stays"
        assert gc.get_freeze_count() > n_kept
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)
    assert taken == [3, 5, 1], "a stream takes one, and whoever names a number gets it"


@pytest.mark.parametrize("command", ["punctuate --model {tmp}", "train data.path={tmp} tokenizer=none output={tmp}/x"])
def test_threads_sleep_while_they_wait(tmp_path: Path, command: str) -> None:
    """What OMP_WAIT_POLICY is when a command loads torch, at which it ends."""
    code = (
        "import os, sys, importlib.abc\n"
        "class Watch(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch':\n"
        "            print(os.environ.get('OMP_WAIT_POLICY'), flush=True)\n"
        "            os._exit(0)\n"
        "sys.meta_path.insert(0, Watch())\n"
        f"from t5punct.cli import main; main({command.format(tmp=tmp_path).split()!r})"
    )
    clean = {name: value for name, value in os.environ.items() if name not in process.WAITING}
    run = [sys.executable, "-c", code]
    ended = subprocess.run(run, input="we know", capture_output=True, text=True, env=clean, check=True)
    assert ended.stdout == "passive\n"


@pytest.mark.parametrize("name", ["torch", *process.WAITING])
def test_nothing_is_set_where_the_user_chose_or_torch_is_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in process.WAITING:
        monkeypatch.delenv(variable, raising=False)
    if name != "torch":
        monkeypatch.delitem(sys.modules, "torch")
        monkeypatch.setenv(name, "7")
    before = {**os.environ}
    assert not process.let_threads_sleep()
    assert os.environ == before


# -- what inference imports: no command that only reads a model loads transformers, which takes longer than the rest


HEAVY = {"transformers", "huggingface_hub", "datasets", "accelerate", "sympy", "torch._dynamo", "scipy", "pandas"}
CODE = """
import json, sys
from t5punct.cli import main
for command in json.loads(sys.argv[1]):
    try:
        main(command)
    except SystemExit as stopped:
        assert not stopped.code, (command, stopped.code)
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def imported(*commands: list[str]) -> list[set[str]]:
    """The modules of a process that runs some commands, behind each of them."""
    ended = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(commands)],
        input="how are you today", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return [set(json.loads(line)) for line in ended.stderr.splitlines() if line.startswith('["')]


def test_help_imports_nothing_heavy() -> None:
    """The start is instant because of this; the time itself is measured by `make bench`, not by a test."""
    (modules,) = imported(["--help"])
    assert not modules & (HEAVY | {"torch", "numpy"})


def test_no_command_that_infers_imports_transformers_but_free_generation(tmp_path: Path) -> None:
    """The last command shows that the test can fail."""
    talk = tmp_path / "talk.txt"
    talk.write_text("How are you today? I am fine, thank you.\n")
    read = [str(talk), "--model", "small"]
    *_, modules, generating = imported(
        ["punctuate", *read, "--json", "--html", str(talk.with_suffix(".html"))],
        ["evaluate", *read],
        ["stream", "--model", "small", "--policy", "delay"],
        ["punctuate", *read, "--decoder", "generate"],
    )
    assert "torch" in modules and "tokenizers" in modules
    assert not HEAVY & modules
    assert "transformers" in generating


def test_one_process_in_the_place_of_several_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `accelerate launch` sets where it was to start several processes on a CPU: it starts one."""
    overrides = ["data.path=nowhere", "init_from=small", "output=run"]
    for name, value in {"ACCELERATE_USE_CPU": "True", "MASTER_ADDR": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=r"accelerate launch, which .*; expected torchrun; run torchrun --nproc_per_"):
        train(overrides=overrides)
