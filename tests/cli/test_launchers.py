"""How a training lives with its launcher; one that started too few processes is named."""

from __future__ import annotations

import pytest
from torch import distributed

from t5punct.cli.launchers import check_launched, leave_group
from t5punct.errors import ConfigError

LONE = {"ACCELERATE_USE_CPU": "True", "MASTER_ADDR": "127.0.0.1"}


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
    check_launched(environment)


def test_one_process_in_the_place_of_several_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"accelerate launch, which .*; expected torchrun; run torchrun --nproc_per_"):
        check_launched(LONE)


def test_a_training_that_has_ended_leaves_its_group() -> None:
    """In a group a process may be aborted as it ends; this was seen once, too seldom to be tested for."""
    leave_group()  # where there is none, nothing happens
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    assert distributed.is_initialized()
    leave_group()
    assert not distributed.is_initialized()
