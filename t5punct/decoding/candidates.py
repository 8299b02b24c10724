"""What may be written next: the rule of constrained greedy decoding, without a network.

In: the words of a window.  Out: for each place, a `Choice`: a trie of the tokens that may be written there.

The words are known.  So behind a word three things can be written: a mark; the next word in one of its cases, with an
opening mark before it or without; after the last word, the end.  Each is a sequence of tokens (an `Option`).  Options
that begin with the same tokens share a path through the trie.  At a node (`TrieNode`) the network's probabilities of
the tokens that go on are normalised, and the best token is taken (greedy).

A slot's first mark may have odds: factors of its probability against the next word's (Lipton 2014).  They are applied
at the nodes where marks part from words, and from each other.

>>> choice = Choice.of([Option((5, 1)), Option((5, 2)), Option((7,), mark=",")])
>>> choice.root.tokens, [branch.node.tokens for branch in choice.paths[1].branches]
((5, 7), [(5, 7), (1, 2)])
>>> [round(share, 3) for share in choice.paths[1].option_probabilities([[0.8, 0.2], [0.25, 0.75]])]
[0.2, 0.6, 0.2]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..t5.tokenization import TaskTokenizer
from ..text.marks import DISFLUENT, NO_MARKS, OPENING, Alphabet, Case, case_forms
from .inputs import WindowInput

Tokens = tuple[int, ...]
_KEPT_CHOICES = 4_000  # bounds memory, at about 5 kB each; enough for nearly all choices of an ordinary text


@dataclass(frozen=True, slots=True)
class Option:
    """What may be written: a mark, or the next word in a case, or the end (neither mark nor case)."""

    tokens: Tokens
    mark: str | None = None
    case: Case | None = None
    opening: str = NO_MARKS  # the mark before the word
    odds: float = 1.0  # a factor of its probability


@dataclass(frozen=True, slots=True, eq=False)
class TrieNode:
    """A node of the trie.  Each token leads to a child: another node, or the index of an option that it completes."""

    tokens: Tokens
    children: tuple[TrieNode | int, ...]
    first_options: tuple[int, ...]  # for each token, the first option that goes on with it
    log_odds: tuple[float, ...] = ()  # for each token, what is added to its logit; empty: nothing


@dataclass(frozen=True, slots=True)
class Branch:
    """A step of a path where there was a choice: `offset` tokens from its start, at `node`, to its child `taken`."""

    offset: int
    node: TrieNode
    taken: int


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The way to one option of a choice."""

    choice: Choice
    index: int
    option: Option
    branches: tuple[Branch, ...]

    def option_probabilities(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return the probability of each option of the choice; they sum to 1.

        rows: for each branch of this path, the probabilities of the tokens at its node; zeros may follow them.
        These are multiplied along the path (chain rule).  What follows a token that was not taken is not known, so all
        of its probability goes to the first option that goes on with it.
        """
        n_options = len(self.choice.options)
        if len(self.branches) == 1 and len(self.choice.root.tokens) == n_options:
            return list(rows[0][:n_options])  # each option has a first token of its own, in the order of the options
        probabilities = [0.0] * n_options
        of_path = 1.0  # the probability of the path as far as the branch
        for branch, row in zip(self.branches, rows, strict=True):
            for child, first_option in enumerate(branch.node.first_options):
                if child != branch.taken:
                    probabilities[first_option] = of_path * row[child]
            of_path *= row[branch.taken]
        probabilities[self.index] = of_path
        return probabilities


@dataclass(frozen=True, eq=False)
class Choice:
    """All options at one place: forms of the next word (or the end), then marks."""

    options: tuple[Option, ...]
    root: TrieNode

    @classmethod
    def of(cls, options: Sequence[Option]) -> Choice:
        """Return a choice among options, in which forms of the word stand before marks.

        If one option's tokens are the beginning of another option's, only the first of the two options is kept.
        """
        distinct: list[Option] = []
        rivals: dict[int, list[Option]] = {}  # by their first token: only these can begin one another
        for option in options:
            rivals_of_token = rivals.setdefault(option.tokens[0], [])
            if not any(_begin_alike(option.tokens, rival.tokens) for rival in rivals_of_token):
                rivals_of_token.append(option)
                distinct.append(option)
        return cls(tuple(distinct), _node(distinct, range(len(distinct)), 0))

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """One for each option."""
        paths = list[Path]()
        for index, option in enumerate(self.options):
            branches = list[Branch]()
            node: TrieNode | int = self.root
            for offset, token in enumerate(option.tokens):
                assert isinstance(node, TrieNode)  # noqa: S101  (a path ends where its tokens do)
                child = node.tokens.index(token)
                if len(node.tokens) > 1:
                    branches.append(Branch(offset, node, child))
                node = node.children[child]
            paths.append(Path(self, index, option, tuple(branches)))
        return tuple(paths)

    @cached_property
    def marks(self) -> dict[str, Path]:
        """The paths that write a mark."""
        return {path.option.mark: path for path in self.paths if path.option.mark is not None}

    @cached_property
    def forms(self) -> dict[tuple[Case | None, str], Path]:
        """The paths that write the next word, by its case and the opening mark before it; case None is the end."""
        return {(path.option.case, path.option.opening): path for path in self.paths if path.option.mark is None}

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """The cases in which the next word may be written, each once; empty at the end of the text."""
        return tuple(dict.fromkeys(case.value for case, _ in self.forms if case is not None))

    @cached_property
    def openings(self) -> tuple[str, ...]:
        """What may stand before the next word: nothing, or an opening mark."""
        return tuple(dict.fromkeys(opening for _, opening in self.forms))

    def form(self, case: Case | None, opening: str = NO_MARKS) -> Path:
        """Return the path of the next word in a case behind an opening mark.

        If there is none, that without the opening mark; if the word has no such case, its first form, or the end.
        """
        return self.forms.get((case, opening)) or self.forms.get((case, NO_MARKS)) or self.paths[0]


class Candidates:
    """The choices of a task, made once for each word and kept."""

    def __init__(
        self, tokenizer: TaskTokenizer, alphabet: Alphabet | None = None, mark_odds: Mapping[str, float] | None = None
    ) -> None:
        """Take marks, which may be fewer than the task's (None: all of these), and odds; 1 for marks without odds."""
        self._tokenizer = tokenizer
        self._alphabet = alphabet or tokenizer.task.alphabet
        self._mark_odds = mark_odds or {}
        # a slot's first mark alone has odds, or is the sign of disfluent words
        self._first_mark_differs = bool(self._mark_odds) or DISFLUENT in self._alphabet.marks
        # an opening mark is written only where its closing one may be
        self._openings = tuple(mark for mark in tokenizer.opening_ids if OPENING[mark] in self._alphabet.marks)
        self._choices: dict[tuple[str | None, bool, bool, bool, str, bool], Choice] = {}

    def choice(self, window: WindowInput, index: int, n_marks: int) -> Choice:
        """Return what may be written behind `index` words, the last of which has `n_marks` marks in its slot so far."""
        word = None
        if index < len(window.words):
            word = (window.spellings if self._tokenizer.task.cased else window.words)[index]
        opens_text = index == 0
        kept_marks = NO_MARKS if opens_text or not window.given else window.given[index - 1]
        is_free_slot = not opens_text and window.has_slot[index - 1] and not kept_marks
        takes_mark = is_free_slot and n_marks < self._alphabet.max_marks
        may_open = word is not None and window.has_slot[index]
        key = (word, opens_text, takes_mark, self._first_mark_differs and n_marks == 0, kept_marks, may_open)
        choice = self._choices.get(key)
        if choice is not None:
            return choice
        if len(self._choices) >= _KEPT_CHOICES:
            self._choices.clear()  # one step, as several threads may decode
        choice = self._choices[key] = Choice.of(self._options(*key))
        return choice

    def _options(
        self, word: str | None, opens_text: bool, takes_mark: bool, begins_slot: bool, kept_marks: str, may_open: bool
    ) -> list[Option]:
        """Return the options, forms of the word first; None: the text ends.

        begins_slot: whether a mark here would be the slot's first.  Only the first has odds, or is the sign of
        disfluent words.  kept_marks: of the input, which all options begin with.
        """
        tokenizer = self._tokenizer
        options = [Option((tokenizer.eos_id,))] if word is None else self._forms(word, opens_text)
        if may_open:
            options += [
                replace(option, tokens=(tokenizer.opening_ids[mark], *option.tokens), opening=mark)
                for mark in self._openings
                for option in options
            ]
        if kept_marks:
            marks = tuple(token for mark in kept_marks for token in tokenizer.mark_ids[mark])
            return [replace(option, tokens=marks + option.tokens) for option in options]
        if takes_mark:
            odds = self._mark_odds if begins_slot else {}
            options += [
                Option(tokenizer.mark_ids[mark], mark=mark, odds=odds.get(mark, 1.0))
                for mark in self._alphabet.marks
                if begins_slot or mark != DISFLUENT
            ]
        return options

    def _forms(self, word: str, first: bool) -> list[Option]:
        """Return a word in its cases, lower case first."""
        task = self._tokenizer.task
        if task.cased and task.inline_case:  # the tokens are in lower case; `iPhone` gets its spelling back in `render`
            word = word.lower()
        forms = case_forms(word) if task.cased else {Case.LOWER: word}
        return [Option(self._tokenizer.form_ids(form, first=first), case=case) for case, form in forms.items()]


def _begin_alike(tokens: Tokens, others: Tokens) -> bool:
    return all(token == other for token, other in zip(tokens, others, strict=False))


def _node(options: Sequence[Option], members: Sequence[int], depth: int) -> TrieNode:
    """Return the node behind the first `depth` tokens, which some options have in common.  members: their indices."""
    groups: dict[int, list[int]] = {}  # by the next token
    for index in members:
        groups.setdefault(options[index].tokens[depth], []).append(index)
    children: list[TrieNode | int] = []
    first_options = []
    for going_on in groups.values():
        first_options.append(going_on[0])
        is_complete = len(options[going_on[0]].tokens) == depth + 1  # then it is the only one: none begins another
        children.append(going_on[0] if is_complete else _node(options, going_on, depth + 1))
    # odds against the first option: that is a form of the word, with odds of 1, if there is one among them
    shares = [options[index].odds / options[members[0]].odds for index in first_options]
    log_odds = () if set(shares) == {1.0} else tuple(math.log(share) for share in shares)
    return TrieNode(tuple(groups), tuple(children), tuple(first_options), log_odds)
