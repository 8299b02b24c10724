"""How a training lives with the launcher that started it: `torchrun` or `accelerate launch`.

In: this process's environment.  Out: a process that ends with its launcher, or an error that names another launcher.

`end_with_launcher()` at the start of a training, `leave_group()` at its end.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Mapping

from ..errors import ConfigError

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl.h
_LAUNCHED = ("TORCHELASTIC_RUN_ID", "ACCELERATE_MIXED_PRECISION")  # only launchers set them
# what torchrun, MPI and their like tell each of the processes that they start
_RANKED = ("LOCAL_RANK", "WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")


def end_with_launcher() -> bool:
    """Ask Linux to end this process when its launcher is gone, however it went; False where it is not asked.

    A launcher that is killed -9 cannot end what it started, which would train on, unseen.  Without a launcher nothing
    is asked: a training that was sent to the background outlives its shell.
    """
    if not sys.platform.startswith("linux") or not any(name in os.environ for name in _LAUNCHED):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, int(signal.SIGTERM), 0, 0, 0) == 0)
    except (AttributeError, OSError, TypeError):
        return False


def leave_group() -> None:
    """Part from the other processes of a training that has ended well; does nothing where there are none.

    The threads of a group's connections may abort a process that ends while it is in the group, now and then
    (https://github.com/pytorch/pytorch/pull/179291); the launcher then calls a finished training failed.
    """
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()


def check_launched(environment: Mapping[str, str]) -> None:
    """Raise ConfigError if `accelerate launch` was asked for several processes on a CPU: it starts a single one.

    accelerate leaves processes on a CPU to MPI, and sets an address for them to meet at.
    """
    is_lone = environment.get("ACCELERATE_USE_CPU") == "True" and "MASTER_ADDR" in environment
    if is_lone and not any(name in environment for name in _RANKED):
        raise ConfigError(
            "accelerate launch, which starts one process on a CPU",
            expected="torchrun",
            fix="run torchrun --nproc_per_node N train.py with the same settings",
        )
