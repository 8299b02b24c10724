"""Errors that a user can fix, each with a message of one line.

In: what is wrong, what was expected, what to do.  Out: an exception.

>>> str(T5PunctError("window of 8 words", expected="more than the masks' 12", fix="raise window"))
"window of 8 words; expected more than the masks' 12; raise window"
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial


class T5PunctError(Exception):
    """A mistake that the user can fix.  The command line prints its line and exits with 2."""

    def __init__(self, found: str, *, expected: str, fix: str) -> None:
        self.found, self.expected, self.fix = found, expected, fix
        super().__init__(" ".join(f"{found}; expected {expected}; {fix}".split()))

    def __reduce__(self) -> tuple[Callable[[str], T5PunctError], tuple[str]]:
        """Say how worker processes unpickle it: Python would call `__init__` with the message alone."""
        return partial(type(self), expected=self.expected, fix=self.fix), (self.found,)


class ConfigError(T5PunctError):
    """A setting that is unknown or impossible."""


class InputError(T5PunctError):
    """A file or text that cannot be read."""


class ModelError(T5PunctError):
    """A model folder that cannot be used."""


class OutputError(T5PunctError):
    """A place that cannot be written to."""


def first_line(error: Exception) -> str:
    """Return the first line of another library's exception, or the exception's class if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def refused_by_system(error: BaseException) -> bool:
    """Return whether the system refused something, e.g. on a full disk.  Libraries in Rust raise no OSError then."""
    return isinstance(error, OSError) or "(os error " in str(error)
