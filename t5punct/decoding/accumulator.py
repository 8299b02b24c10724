"""Choices taken, one after the other -> the votes of a window.

In: for each choice, the masses of its options and the option taken.  Out: one `Vote` for each word.

A slot's distribution over labels is made of chain-rule products: if `!` was taken first (0.6) and then no further mark
(0.9), `!` has 0.54, and labels that go on (`!!`, `!?`) share 0.06.  For a mark that was not taken, all labels that
begin with it are one outcome: what would follow it was never computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..text.marks import NO_LABEL, ends_sentence
from ..windows.votes import Distribution, Vote
from .candidates import Choice, Path


class ChoiceAccumulator:
    """Collects one window's choices, in order."""

    def __init__(self, n_words: int) -> None:
        self._n_words = n_words
        self._slots: list[Distribution] = []
        self._cases: list[Distribution] = []
        self._insides: list[Distribution | None] = []
        self._inside: Distribution | None  # the next word's case if the slot were empty
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
        """Count a path; `masses` are those of all options of its choice."""
        choice = path.choice
        forms, marks = masses[: len(choice.forms)], masses[len(choice.forms) :]
        stop = sum(forms)  # the label stays as it is
        if path.option.mark is None and not self._labels:  # nearly always: a slot in which nothing is written
            labels = Distribution(choice.labels, (stop, *marks))
        else:
            if path.option.mark is not None:  # mentioned first, so that it wins a tie: it is the one that was taken
                if not self._label and None not in choice.forms:
                    self._inside = _cases(choice, forms, stop)
                self._labels.setdefault(self._label + path.option.mark, 0.0)
            for mark, mass in zip(choice.marks, marks, strict=True):
                if mark != path.option.mark:
                    self._labels[self._label + mark] = self._mass * mass
            self._labels[self._label] = self._mass * stop
            if path.option.mark is not None:
                self._label += path.option.mark
                self._mass *= masses[path.index]
                return
            labels = Distribution.of(self._labels)
        if self.place:
            self._slots.append(labels)
        if path.option.case is not None:
            self._cases.append(_cases(choice, forms, stop))
            self._insides.append(self._inside if ends_sentence(self._label) else None)
            self._open()

    def votes(self) -> tuple[Vote, ...]:
        """Return one vote for each slot that was decided; of the word after the last one, only the case is known."""
        return tuple(
            Vote(labels, cases, left_words=index, right_words=self._n_words - index - 1, inside=inside)
            for index, (labels, cases, inside) in enumerate(zip(self._slots, self._cases, self._insides, strict=False))
        )

    def _open(self) -> None:
        """Begin the slot after the word just written."""
        self._label, self._mass = NO_LABEL, 1.0
        self._labels: dict[str, float] = {}
        self._inside = None


def _cases(choice: Choice, masses: Sequence[float], total: float) -> Distribution:
    """The case of the word, given that it is written: the masses of its forms, and their sum."""
    if total <= 0.0:  # the network is sure of a mark, and the longest label is written
        return Distribution.of(dict.fromkeys(choice.cases, 0.0))
    return Distribution(choice.cases, tuple([mass / total for mass in masses]))
