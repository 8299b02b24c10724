"""How waiting slots get their votes: by writing the window (seq2seq), or by questions about single slots (classify).

In: `Look`s at streams.  Out: for each, the votes of its first waiting slots, in order.

If the words `how are you` wait and the lookahead is 2, one slot is asked for: that of `how`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..decoding.classify import Classifier, Question, SlotClassifier
from ..punctuator import Punctuator
from ..text.marks import Case
from ..text.words import Word
from ..windows.plan import View
from ..windows.votes import Distribution, Vote
from .state import StreamState


@dataclass(frozen=True, slots=True)
class Look:
    """A stream and the part of it that the model reads; asked for are the slots that the view's window may decide."""

    state: StreamState
    view: View[Word]

    @property
    def slots(self) -> range:
        """The places of these slots in the window."""
        window = self.view.window
        return range(window.keep_start - window.start, window.keep_stop - window.start)


class Decider(Protocol):
    """A way to get votes."""

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        """Return the votes of the slots asked for, of all looks at once."""


class Seq2Seq:
    """All slots of the window are written; those that wait are taken."""

    def __init__(self, punctuator: Punctuator) -> None:
        self._punctuator = punctuator

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        windows = self._punctuator.window_votes([look.view for look in looks])
        return [
            window_votes.votes[look.slots.start : look.slots.stop]
            for look, window_votes in zip(looks, windows, strict=True)
        ]


class Classify:
    """Each slot is asked about alone; answers have no case: only first words and known names get capitals."""

    def __init__(self, punctuator: Punctuator, classifier: Classifier | None = None) -> None:
        """Raises ConfigError for a model that does not know the task; `classifier`, if given, answers instead of it."""
        self._punctuator = punctuator
        self._classifier = classifier or SlotClassifier(punctuator.model, punctuator.decoding)

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        answers = iter(self._classifier.decode([question for look in looks for question in self._questions(look)]))
        return [tuple(self._votes_of(look, answers)) for look in looks]

    def _questions(self, look: Look) -> Iterator[Question]:
        window = self._punctuator.window_input(look.view.words)
        yield from (Question(window, slot) for slot in look.slots)

    def _votes_of(self, look: Look, answers: Iterator[Distribution]) -> Iterator[Vote]:
        n_words = look.view.n_words
        for place in look.slots:
            case = {Case.VERBATIM.value: 1.0}
            vote = Vote(next(answers), case, 1.0, place, n_words - place - 1)
            yield self._punctuator.apply_known(look.view, place, vote)


def make_decider(name: str, punctuator: Punctuator) -> Decider:
    """Return the decider that a config names, for the policies that look at windows."""
    return Classify(punctuator) if name == "classify" else Seq2Seq(punctuator)
