"""How many threads a command computes with, and how they wait for each other.

In: the processors that this process may use, by affinity and cgroup.  Out: a process that shares a busy machine well.

A network of this size is many small products, each shared out and waited for.  Threads that spin while they wait take
the processor from those that they wait for, if there are fewer processors than threads: beside another process, or in a
container with a quota.  A library must not decide this for its user's process; a command may.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")  # OpenMP's, GNU's, Intel's and LLVM's


def wait_asleep() -> bool:
    """Let threads sleep, not spin, while they wait; False where it is too late, or where the user has chosen.

    OpenMP reads this when it is loaded, which torch does.
    """
    if "torch" in sys.modules or any(name in os.environ for name in _WAITING):
        return False
    os.environ["OMP_WAIT_POLICY"] = "passive"
    return True


def use_threads(wanted: int | None) -> None:
    """Compute with so many threads; None: as many as torch takes, and no more than there are processors for us."""
    import torch

    torch.set_num_threads(wanted or min(torch.get_num_threads(), available_processors()))


def available_processors() -> int:
    """Count the processors that this process may keep busy, by affinity and its cgroups' quota; at least one."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.floor(min(bound, read_quota())))


def read_quota(root: Path = Path("/sys/fs/cgroup"), groups: Path = Path("/proc/self/cgroup")) -> float:
    """Read how many processors this process's cgroups, and those around them, allow it (Linux); or infinity.

    `groups` holds lines such as `0::/user/talk` (version 2) and `4:cpu,cpuacct:/user/talk` (version 1).
    """
    try:
        lines = groups.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return math.inf
    smallest = math.inf
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            smallest = min([smallest, *_quotas(root / controllers, path)])
    return smallest


def _quotas(mount: Path, path: str) -> Iterator[float]:
    """What a group and all around it are given; inside a container the mount may show the group as its own root."""
    group = mount / path.strip("/")
    for folder in [folder for folder in (group, *group.parents) if folder.is_relative_to(mount)]:
        yield from _quota(folder, "cpu.max")
        yield from _quota(folder, "cpu.cfs_quota_us", "cpu.cfs_period_us")


def _quota(folder: Path, *names: str) -> Iterator[float]:
    """Microseconds of processor time in each period of so many; nothing where there is no limit."""
    try:
        text = " ".join((folder / name).read_text(encoding="ascii") for name in names)
        allowed, period = (int(number) for number in text.split())
    except (OSError, ValueError):  # no such file; `max`
        return
    if allowed > 0 < period:  # -1: no limit
        yield allowed / period
