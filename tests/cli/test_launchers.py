"""What is run where `accelerate launch` was asked for several processes on a CPU and started one."""

from __future__ import annotations

import sys

import pytest
from torch import distributed

from t5punct.cli.launchers import leave_group, torchrun_instead
from t5punct.errors import ConfigError

LONE = {"ACCELERATE_USE_CPU": "True", "MASTER_ADDR": "127.0.0.1"}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node"]


@pytest.mark.parametrize(
    "launcher",
    [
        ["python3", "bin/accelerate", "launch"],
        ["bin/accelerate-launch"],
        ["python", "-m", "accelerate.commands.launch"],
    ],
)
def test_torchrun_is_run_with_what_accelerate_was_asked_for(launcher: list[str]) -> None:
    asked = [
        *launcher,
        "--num_processes",
        "3",
        "--cpu",
        "train.py",
        "--config",
        "a.yaml",
        "optim.lr=1",
        "--num_processes=9",
    ]
    assert torchrun_instead(LONE, asked) == [
        *TORCHRUN, "3", "train.py", "--config", "a.yaml", "optim.lr=1", "--num_processes=9",
    ]  # fmt: skip


def test_modules_and_commands_are_run_as_such() -> None:
    begun = ["accelerate", "launch", "--cpu", "--num_processes=2"]
    assert torchrun_instead(LONE, [*begun, "-m", "t5punct", "train"]) == [
        *TORCHRUN,
        "2",
        "--module",
        "t5punct",
        "train",
    ]
    assert torchrun_instead(LONE, [*begun, "--no_python", "t5punct", "train"]) == [
        *TORCHRUN, "2", "--no-python", "t5punct", "train",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"MASTER_ADDR": "127.0.0.1"},
        {"ACCELERATE_USE_CPU": "True"},  # one process was asked for
        {**LONE, "ACCELERATE_USE_CPU": "False"},
        {**LONE, "LOCAL_RANK": "0"},
        {**LONE, "OMPI_COMM_WORLD_SIZE": "2"},
    ],
)
def test_all_other_processes_are_left_as_they_are(environment: dict[str, str]) -> None:
    assert torchrun_instead(environment, ["accelerate", "launch", "--num_processes", "2", "--cpu", "train.py"]) is None


@pytest.mark.parametrize("parent", [[], ["bash"], ["accelerate", "launch", "--cpu", "--num_machines", "2", "train.py"]])
def test_where_it_cannot_be_told_the_command_to_run_is_named(parent: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"accelerate launch, which .*; expected torchrun; run torchrun --nproc_per_"):
        torchrun_instead(LONE, parent)


def test_a_training_that_has_ended_leaves_its_group() -> None:
    """In a group a process may be aborted as it ends; this was seen once, too seldom to be tested for."""
    leave_group()  # where there is none, nothing happens
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    assert distributed.is_initialized()
    leave_group()
    assert not distributed.is_initialized()
