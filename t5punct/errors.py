"""User mistakes, said in one line.

In: what was found, what was expected, what to do.  Out: an exception whose text is one line.

>>> str(T5PunctError("window of 8 words", expected="more than the masks' 12", fix="raise window"))
"window of 8 words; expected more than the masks' 12; raise window"
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial


class T5PunctError(Exception):
    """A mistake that the user can fix.  The command line prints it in one line and exits with 2."""

    def __init__(self, found: str, *, expected: str, fix: str) -> None:
        self.found, self.expected, self.fix = found, expected, fix
        super().__init__(" ".join(f"{found}; expected {expected}; {fix}".split()))

    def __reduce__(self) -> tuple[Callable[[str], T5PunctError], tuple[str]]:
        """How it is pickled, by worker processes: Python would give `__init__` the line alone."""
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
    """Return the first line of another library's exception; its name if it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def refused_by_system(error: BaseException) -> bool:
    """Return whether an exception is the system's refusal, such as a full disk, in Python's words or Rust's."""
    return isinstance(error, OSError) or "(os error " in str(error)
