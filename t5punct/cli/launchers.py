"""How a training lives with the launcher that started it: `torchrun` or `accelerate launch`.

In: this process's environment, and its parent's command.  Out: a process that ends with its launcher, and a command
that starts as many processes as the launcher was asked for.

`accelerate launch --num_processes 2 --cpu train.py` starts a single process: accelerate leaves processes on a CPU to
MPI.  `torchrun_instead()` is then `python -m torch.distributed.run --standalone --nproc_per_node 2 train.py`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from ..errors import ConfigError

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl.h
_LAUNCHED = ("TORCHELASTIC_RUN_ID", "ACCELERATE_MIXED_PRECISION")  # only launchers set them
_LAUNCH = ("accelerate-launch", "accelerate.commands.launch", "launch.py")
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


def start_all() -> None:
    """Become torchrun if `accelerate launch` was asked for several processes on a CPU and started one.

    Raises ConfigError, which names the command to run instead, where accelerate's own command cannot be read.
    """
    command = torchrun_instead(os.environ, _parent_command())
    if command is not None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MASTER_")}
        sys.stdout.flush()
        os.execve(command[0], command, environment)  # noqa: S606  (the same process: signals reach it as before)


def torchrun_instead(environment: Any, parent: Sequence[str]) -> list[str] | None:
    """The command that starts what accelerate's command, the parent's, asked for; None if this process is all of it."""
    # accelerate sets an address for processes to meet at when it is asked for more than one
    is_lone = environment.get("ACCELERATE_USE_CPU") == "True" and "MASTER_ADDR" in environment
    if not is_lone or any(name in environment for name in _RANKED):
        return None
    asked = _asked(parent)
    if asked is None or (asked.num_machines or 1) > 1:
        raise ConfigError(
            "accelerate launch, which starts one process on a CPU",
            expected="torchrun",
            fix="run torchrun --nproc_per_node N train.py with the same settings",
        )
    kind = ["--no-python"] * bool(asked.no_python) + ["--module"] * bool(asked.module)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", asked.num_processes]
    return [*map(str, command), *kind, asked.training_script, *asked.training_script_args]


def _asked(command: Sequence[str]) -> Any:
    """The arguments of a command that is `accelerate launch`, by accelerate's own parser; None of any other."""
    names = [PurePath(part).name for part in command]
    starts = [place + 2 for place in range(len(names) - 1) if names[place : place + 2] == ["accelerate", "launch"]]
    starts += [place + 1 for place, name in enumerate(names) if name in _LAUNCH]
    if not starts:
        return None
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser

    arguments = launch_command_parser().parse_args(command[min(starts) :])
    if arguments.num_processes is None:  # then its settings file has it
        try:
            arguments.num_processes = load_config_from_file(arguments.config_file).num_processes
        except OSError:
            return None
    return arguments


def _parent_command() -> list[str]:
    """The words of the command that started this process; none where the system does not tell."""
    import psutil

    try:
        return list(psutil.Process(os.getppid()).cmdline())
    except psutil.Error:
        return []
