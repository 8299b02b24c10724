"""One run in a folder at a time.

In: the output folder of a run.  Out: a lock on it for as long as the process lives, or one line that names its owner.

`with alone(Path("runs/mine")): ...` holds `runs/mine.lock`, beside the folder, since checkpoints replace that.  The
system lets go of the lock when its owner ends, by `kill -9` too: a file that is left behind locks nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ...errors import ConfigError

_log = logging.getLogger(__name__)
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")  # as torchrun and MPI number processes


def is_first() -> bool:
    """Return whether this process is the first of a run, or all of it."""
    return next((os.environ[name] for name in _RANKS if name in os.environ), "0") == "0"


def check_own(folder: Path) -> None:
    """Raise ConfigError for the folder that the command is given in, or one above it: an output is moved as a whole."""
    if Path.cwd().is_relative_to(folder.resolve()):
        raise ConfigError(
            f"output {folder} is the folder that this command is given in, or holds it",
            expected="a folder of its own",
            fix="set output, to runs/NAME for example",
        )


@contextmanager
def lock_folder(folder: Path) -> Iterator[bool]:
    """Keep other runs out of a folder.  Raises ConfigError if one is in it.

    Of several processes of one run the first has the lock; gives whether this is that one.
    """
    if not is_first():
        yield False
        return
    path = folder.with_name(folder.name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _locked(path, folder)
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)  # while it is locked: afterwards it might be another run's
        handle.close()


def _locked(path: Path, folder: Path) -> IO[str]:
    """The lock's file, open, locked, with this process's number in it."""
    while True:
        handle = path.open("a+", encoding="utf-8")
        try:
            _lock(handle)
        except BlockingIOError as error:
            handle.seek(0)
            owner = handle.read().strip()
            raise ConfigError(
                f"output {folder} is in use by process {owner}",
                expected="one run in a folder at a time",
                fix=f"wait for it, or end it with kill {owner}",
            ) from error
        if _is_file_of(handle, path):
            break
        handle.close()  # its owner ended and removed it in between
    handle.truncate(0)
    handle.write(f"{os.getpid()}\n")
    handle.flush()
    return handle


def _is_file_of(handle: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle.fileno()))
    except FileNotFoundError:
        return False


def _lock(handle: IO[str]) -> None:
    """Lock a file for this process alone.  Raises BlockingIOError if another one has it."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError) as error:
        _log.warning("no locks here (%s): take care that no other run writes to the same folder", error)
        return
    # a process that loads data is a copy of this one, and would hold the lock a little longer than this one lives
    os.register_at_fork(after_in_child=handle.close)
