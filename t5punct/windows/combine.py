"""The votes of several windows on a slot become one decision.

In: the votes of a slot.  Out: a `Decision`.

>>> yes, no, lower = {",": 0.8, "": 0.2}, {"": 0.6, ",": 0.4}, {"lower": 1.0}
>>> decide([Vote(yes, lower), Vote(no, lower)], CombineConfig("mean")).marks
','
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..config import check, check_range
from ..text.marks import NO_MARKS, Case
from ..text.render import Alternative, Decision
from ..text.words import Word
from .plan import View
from .votes import Distribution, Vote, entropy, most_probable, normalise

_LEAST_CERTAINTY = 1e-6  # so that votes that are all unsure count the same
METHODS = ("mean", "entropy", "hamming", "vote")


@dataclass(frozen=True)
class CombineConfig:
    """How votes are weighed."""

    method: str = "mean"
    threshold: float = 0.5  # `vote`: the share of votes that a mark must exceed (Cho 2012)

    def __post_init__(self) -> None:
        methods = f"one of {', '.join(METHODS)}"
        check(self.method in METHODS, f"combine {self.method!r}", expected=methods, fix="check combine")
        check_range(self, "threshold", least=0, most=1)


def decide(votes: Sequence[Vote], config: CombineConfig, n_alternatives: int = 0) -> Decision:
    """Combine all votes of one slot.

    `mean`: the mean of the distributions, then its best marks (Minixhofer 2021, section 3).  `entropy`: each vote
    counts by its certainty, 1 - entropy / the highest that is possible (Tornetta 2021).  `hamming`: by a Hamming window
    over the window's words (Harris 1978, equation 33).  `vote`: the marks that most windows chose, if their share
    exceeds the threshold, else none (Cho 2012).

    Of equally probable marks, those that an earlier window mentions first win.  The decision names the next most
    probable marks, at most `n_alternatives`; their probabilities and the confidence sum to 1 at most.

    >>> vote = Vote({",": 0.7, "": 0.2, ".": 0.1}, {"lower": 1.0})
    >>> [alternative.marks for alternative in decide([vote], CombineConfig(), 2).alternatives]
    ['', '.']
    """
    weights = [vote.weight for vote in votes]
    if config.method == "entropy":
        for index, vote in enumerate(votes):
            certainty = 1.0 - entropy(vote.marks) / math.log(max(2, len(vote.marks)))
            weights[index] *= max(_LEAST_CERTAINTY, certainty)
    elif config.method == "hamming":
        for index, vote in enumerate(votes):
            place = (vote.left_words + 0.5) / (vote.left_words + vote.right_words + 1)
            weights[index] *= 0.54 - 0.46 * math.cos(2.0 * math.pi * place)
    if sum(weights) <= 0.0:  # where none is trusted, all count the same
        weights = [1.0] * len(votes)
    marks_of_votes: list[Distribution] = [vote.marks for vote in votes]
    cases_of_votes: list[Distribution] = [vote.cases for vote in votes]
    threshold = None
    if config.method == "vote":  # each window has one vote, for what it would choose
        threshold = config.threshold
        marks_of_votes = [{choose_marks([marks], [1.0])[0]: 1.0} for marks in marks_of_votes]
        cases_of_votes = [{most_probable(cases): 1.0} for cases in cases_of_votes]
    marks, confidence = choose_marks(marks_of_votes, weights, threshold)
    cases = mean(cases_of_votes, weights)
    case = most_probable(cases)
    opening = None  # the model knows no opening marks
    openings_of_votes = [vote.openings for vote in votes if vote.openings is not None]
    if openings_of_votes:
        weights_of_openings = [weight for vote, weight in zip(votes, weights, strict=True) if vote.openings is not None]
        opening = most_probable(mean(openings_of_votes, weights_of_openings))
    decision = Decision(marks, Case(case), confidence, cases[case], opening=opening)
    if not n_alternatives:
        return decision
    shares = mean(marks_of_votes, weights)
    share_of_others = 1.0 - shares.get(marks, 0.0)
    # `choose_marks` takes those of `?!` one after the other, so the confidence is not their share; the rivals are
    # scaled to what it leaves
    scale = (1.0 - confidence) / share_of_others if share_of_others > 0.0 else 0.0
    rivals = [Alternative(rival, scale * p) for rival, p in shares.items() if rival != marks and scale * p > 0.0]
    rivals.sort(key=lambda rival: -rival.probability)
    return replace(decision, alternatives=tuple(rivals[:n_alternatives]))


def mean(distributions: Sequence[Distribution], weights: Sequence[float]) -> Distribution:
    """Return the weighted mean of distributions."""
    if len(distributions) == 1:  # nearly always
        return normalise(distributions[0])
    sums: dict[str, float] = {}
    for distribution, weight in zip(distributions, weights, strict=True):
        for outcome, probability in distribution.items():
            sums[outcome] = sums.get(outcome, 0.0) + weight * probability
    return normalise(sums)


def choose_marks(
    voted: Sequence[Distribution], weights: Sequence[float], threshold: float | None = None
) -> tuple[str, float]:
    """Return the marks of a slot and their probability, chosen one by one: of `!?` first `!`, then `?`, then no more.

    voted, weights: each window's distribution over marks, and its weight.  This is greedy decoding with the windows'
    mean, as an ensemble decodes.  After `!`, only the windows that wrote `!` count: the others have one probability for
    all marks that begin with it.  With a threshold, the best mark is taken only if its share exceeds it.
    """
    if len(voted) == 1 and threshold is None:
        empty = voted[0].get(NO_MARKS, 0.0)
        total = sum(voted[0].values())
        if 2.0 * empty > total:  # nearly always: no mark at all is likelier than all marks together
            return NO_MARKS, empty / total
    voters = list(zip(voted, weights, strict=True))
    total = sum(weights)
    marks = NO_MARKS
    confidence = 1.0
    while True:
        shares: dict[str, float] = {}  # the weight of each mark that may come next, and of no mark
        for distribution, weight in voters:
            for outcome, probability in distribution.items():
                if outcome.startswith(marks):
                    mark = outcome[len(marks) : len(marks) + 1]  # the next one; empty where the outcome ends
                    shares[mark] = shares.get(mark, 0.0) + weight * probability
        if not any(shares.values()):
            return marks, confidence
        if threshold is None:
            best = most_probable(shares)
        else:
            best = max((mark for mark in shares if mark), key=shares.__getitem__, default=NO_MARKS)
            if shares[best] <= threshold * total:
                best = NO_MARKS
        confidence *= shares.get(best, 0.0) / sum(shares.values())
        if not best:
            return marks, confidence
        marks += best
        if len(voters) > 1:  # a single window wrote its own best marks
            voters = [(voter, weight) for voter, weight in voters if choose_marks([voter], [1.0])[0].startswith(marks)]


def add_votes(waiting: dict[int, list[Vote]], view: View[Word], votes: Sequence[Vote]) -> dict[int, list[Vote]]:
    """Add a window's votes to those that wait, by slot; take the slots out that have all their votes, and return them.

    votes: one for each word, at least up to the last slot that the window may decide.
    """
    window = view.window
    for slot in range(window.keep_start, window.keep_stop):
        waiting.setdefault(slot, []).append(votes[slot - window.start])
    complete = [slot for slot in waiting if slot < view.n_settled]
    return {slot: waiting.pop(slot) for slot in complete}
