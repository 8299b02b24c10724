"""What may be written next: the rule of constrained greedy decoding, without a network.

In: the words of a window, and scores of a few tokens at each step.  Out: the tokens to write, and votes.

Between two known words only three things can be written: a mark, the next word in one of its case forms, or, after
the last word, the end.  Each is a sequence of tokens (an `Option`); options that share their first tokens share the
step.  At a step the probabilities of the allowed tokens are renormalised among themselves, and the best is taken
(greedy).  The masses that this gives the options are chain-rule products along the path that was taken; a token not
taken leaves its mass with the first option that begins so.

>>> walk = Walk([(7,), (5, 1), (5, 2)])
>>> walk.allowed()
[7, 5]
>>> walk.take({7: 0.2, 5: 0.8}, 5); walk.take({1: 0.25, 2: 0.75}, 2)
>>> walk.finished, [round(mass, 3) for mass in walk.masses]
(2, [0.2, 0.2, 0.6])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..marks import NO_LABEL, Case, case_forms
from ..tokenization import TaskTokenizer
from ..votes import Distribution, Vote
from .inputs import WindowInput

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that may be written: a mark, or a form of the next word, or (neither) the end."""

    tokens: Tokens
    mark: str | None = None
    case: Case | None = None


class Walk:
    """A way through the trie of options, one token at a time."""

    def __init__(self, options: Sequence[Tokens]) -> None:
        self.options = options
        self.masses = [0.0] * len(options)
        self.finished: int | None = None
        self._live = list(range(len(options)))
        self._depth, self._mass = 0, 1.0

    def allowed(self) -> list[int]:
        """The tokens that go on with a live option, in the options' order."""
        return list(dict.fromkeys(self.options[index][self._depth] for index in self._live))

    def take(self, probabilities: Mapping[int, float], token: int) -> None:
        """Go on with `token`; the probabilities are those of `allowed()` and sum to 1."""
        first: dict[int, int] = {}
        for index in self._live:
            first.setdefault(self.options[index][self._depth], index)
        for other, index in first.items():
            if other != token:
                self.masses[index] += self._mass * probabilities[other]
        self._mass *= probabilities[token]
        self._live = [index for index in self._live if self.options[index][self._depth] == token]
        self._depth += 1
        if len(self.options[self._live[0]]) == self._depth:
            self.finished = self._live[0]
            self.masses[self.finished] += self._mass


def options_of(window: WindowInput, index: int, label: str, tokenizer: TaskTokenizer, marks: str) -> tuple[Option, ...]:
    """What may follow when `index` words and, in the last one's slot, `label` have been written.

    No option's tokens begin another's: of two such, the word forms come before marks, so that the next word can
    always be written, and lower case before others.
    """
    if index == len(window.words):
        found = [Option((tokenizer.eos_id,))]
    else:
        forms = case_forms(window.spellings[index]) if tokenizer.task.cased else _uncased(window.words[index])
        found = [Option(tokenizer.word_ids(form, first=index == 0), case=case) for case, form in forms.items()]
    if index and window.has_slot[index - 1] and len(label) < tokenizer.task.max_marks:
        found += [Option(tokenizer.mark_ids[mark], mark=mark) for mark in marks]
    distinct: list[Option] = []
    for option in found:
        if not any(_begins(option.tokens, other.tokens) for other in distinct):
            distinct.append(option)
    return tuple(distinct)


def _uncased(word: str) -> dict[Case, str]:
    return {Case.LOWER: word}


def _begins(one: Tokens, other: Tokens) -> bool:
    """Whether one token sequence begins with the other, or the other way round."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


class SlotWriter:
    """One window being written: offers tokens, takes the chosen one, collects the votes."""

    def __init__(self, window: WindowInput, tokenizer: TaskTokenizer, marks: str | None = None) -> None:
        self._window, self._tokenizer = window, tokenizer
        self._marks = tokenizer.task.marks if marks is None else marks
        self._index, self._label = 0, NO_LABEL
        self._labels: dict[str, float] = {}  # of the open slot
        self._label_mass = 1.0
        self._slots: list[Distribution] = []
        self._cases: list[Distribution] = []
        self.done = not window.words
        if not self.done:
            self._offer()

    def allowed(self) -> list[int]:
        """The tokens that may be written now; a single one is forced."""
        return self._walk.allowed()

    def take(self, probabilities: Mapping[int, float], token: int) -> None:
        """Write a token; `probabilities` are those of `allowed()`, renormalised."""
        self._walk.take(probabilities, token)
        if self._walk.finished is None:
            return
        chosen = self._options[self._walk.finished]
        self._count_labels(chosen)
        if chosen.mark is not None:
            self._label += chosen.mark
            self._offer()
            return
        if self._index:
            self._slots.append(Distribution.of(self._labels))
        if chosen.case is None:
            self.done = True
            return
        self._cases.append(self._case_distribution())
        self._index, self._label, self._labels, self._label_mass = self._index + 1, NO_LABEL, {}, 1.0
        self._offer()

    def votes(self) -> tuple[Vote, ...]:
        """One vote a word, when done."""
        n_words = len(self._window.words)
        return tuple(
            Vote(labels, cases, left_words=index, right_words=n_words - index - 1)
            for index, (labels, cases) in enumerate(zip(self._slots, self._cases, strict=True))
        )

    def _offer(self) -> None:
        self._options = options_of(self._window, self._index, self._label, self._tokenizer, self._marks)
        self._walk = Walk([option.tokens for option in self._options])

    def _count_labels(self, chosen: Option) -> None:
        """Add the walk's masses to the open slot's labels: stopping keeps the label, a mark makes it longer."""
        stop = 0.0
        for option, mass in zip(self._options, self._walk.masses, strict=True):
            if option.mark is None:
                stop += mass
            elif option is not chosen:
                self._labels[self._label + option.mark] = self._label_mass * mass
        self._labels[self._label] = self._label_mass * stop
        if chosen.mark is not None:
            self._label_mass *= self._walk.masses[self._options.index(chosen)]

    def _case_distribution(self) -> Distribution:
        return Distribution.of(
            {
                option.case.value: mass
                for option, mass in zip(self._options, self._walk.masses, strict=True)
                if option.case is not None
            }
        )
