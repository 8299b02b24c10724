"""One run in a folder at a time: `with lock_folder(Path("runs/mine")): ...` holds the lock `runs/mine.lock`.

The lock is beside the folder, which checkpoints replace.  The system releases it when its owner ends, by `kill -9` too,
so a lock file that is left behind locks nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..config import check
from ..errors import ConfigError
from ..text.io.files import writable

_log = logging.getLogger(__name__)
# what torchrun and MPI call the number of a process
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")


def is_first() -> bool:
    """Return whether this is the first of a run's processes, or the only one."""
    ranks = [os.environ[name] for name in _RANKS if name in os.environ]
    return not ranks or ranks[0] == "0"


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder.  Of several processes of one run, only the first takes the lock.

    Raises ConfigError if another run is in it, or if the working directory is, as an output is moved as a whole, and
    InputError if its place cannot be written.
    """
    is_here = Path.cwd().is_relative_to(folder.resolve())
    mistake = f"output {folder} is the folder that this command is given in, or holds it"
    check(not is_here, mistake, expected="a folder of its own", fix="set output, to runs/NAME for example")
    if not is_first():
        yield
        return
    path = writable(folder.with_name(folder.name + ".lock"), make=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=0.2, fallback_to_soft=False)
    try:
        lock.acquire()
        path.write_text(f"{os.getpid()}\n", encoding="utf-8")
    except Timeout as error:
        owner = path.read_text(encoding="utf-8").strip()
        mistake, fix = f"output {folder} is in use by process {owner}", f"wait for it, or end it with kill {owner}"
        raise ConfigError(mistake, expected="one run in a folder at a time", fix=fix) from error
    except OSError as error:
        _log.warning("no locks here (%s): take care that no other run writes to the same folder", error)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # before the release: after it the file may be another run's
        lock.release()
