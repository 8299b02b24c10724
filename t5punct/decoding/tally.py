"""Choices taken, one after the other -> the votes of a window.

In: for each choice, the masses of its options and the option taken.  Out: one `Vote` a word.

A slot's distribution over labels is made of chain-rule products: with `!` taken at first (0.6) and no further mark
after it (0.9), `!` has 0.54, and labels that go on (`!!`, `!?`) share 0.06.  Labels that begin with a mark not taken
are one outcome, that mark: what would follow it was never asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..marks import NO_LABEL
from ..votes import Distribution, Vote
from .candidates import Choice, Path


class Tally:
    """Collects one window's choices, in order."""

    def __init__(self, n_words: int) -> None:
        self._n_words = n_words
        self._slots: list[Distribution] = []
        self._cases: list[Distribution] = []
        self._open()

    @property
    def place(self) -> int:
        """How many words have been written."""
        return len(self._cases)

    @property
    def n_marks(self) -> int:
        """How many marks stand in the open slot."""
        return len(self._label)

    @property
    def done(self) -> bool:
        return len(self._slots) == self._n_words

    def count(self, path: Path, masses: Sequence[float]) -> None:
        """Take a path; `masses` are those of all options of its choice."""
        stop = sum(masses[other.index] for other in path.choice.forms.values())  # the label stays as it is
        for mark, other in path.choice.marks.items():
            if other is not path:
                self._labels[self._label + mark] = self._mass * masses[other.index]
        self._labels[self._label] = self._mass * stop
        if path.option.mark is not None:
            self._label += path.option.mark
            self._mass *= masses[path.index]
            return
        if self.place:
            self._slots.append(Distribution.of(self._labels))
        if path.option.case is not None:
            self._cases.append(_cases(path.choice, masses))
            self._open()

    def votes(self) -> tuple[Vote, ...]:
        """One vote a word, when done."""
        return tuple(
            Vote(labels, cases, left_words=index, right_words=self._n_words - index - 1)
            for index, (labels, cases) in enumerate(zip(self._slots, self._cases, strict=True))
        )

    def _open(self) -> None:
        """Begin the slot after the word just written."""
        self._label, self._mass = NO_LABEL, 1.0
        self._labels: dict[str, float] = {}


def _cases(choice: Choice, masses: Sequence[float]) -> Distribution:
    return Distribution.of({case.value: masses[path.index] for case, path in choice.forms.items() if case is not None})
