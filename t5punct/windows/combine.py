"""Votes -> decisions: the votes of several windows on one slot become one decision.

In: the votes of a slot.  Out: a `Decision`.

>>> yes, no = Distribution.of({",": 0.8, "": 0.2}), Distribution.of({"": 0.6, ",": 0.4})
>>> lower = Distribution.certain("lower")
>>> decide([Vote(yes, lower), Vote(no, lower)], CombineConfig("mean")).label
','
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import ConfigError
from ..text.marks import NO_LABEL, Case
from ..text.render import Alternative, Decision
from ..text.words import Word
from .plan import View
from .votes import Distribution, Vote

METHODS = ("mean", "entropy", "hamming", "vote")


@dataclass(frozen=True)
class CombineConfig:
    """How votes are weighed."""

    method: str = "mean"
    threshold: float = 0.5  # `vote`: the share of votes that a label must exceed (Cho 2012)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(
                f"combination {self.method!r}", expected=f"one of {', '.join(METHODS)}", fix="check --combine"
            )
        if not 0.0 <= self.threshold < 1.0:
            raise ConfigError(f"threshold {self.threshold}", expected="0 <= threshold < 1", fix="use 0.5")


def decide(votes: Sequence[Vote], config: CombineConfig) -> Decision:
    """Combine all votes of one slot.

    `mean`, `entropy`, `hamming`: the weighted mean of the distributions, then its best label (Minixhofer 2021,
    section 3).  `vote`: the marks that most windows chose, if their share exceeds the threshold, else none (Cho 2012).
    Of equal marks, the one that an earlier window mentions first wins.
    """
    if len(votes) == 1:
        return _decide_alone(votes[0], config)
    weights, labels, cases = _weights(votes, config), _labels(votes, config), [vote.cases for vote in votes]
    if config.method == "vote":
        cases = [Distribution.certain(case.best) for case in cases]
    label, confidence = _label(labels, weights, config.threshold if config.method == "vote" else None)
    case = _mean(cases, weights)
    opening = _opening(votes, weights)
    return Decision(label, Case(case.best), confidence, case.probability(case.best), opening=opening)


def rank_runners_up(
    votes: Sequence[Vote], config: CombineConfig, decision: Decision, n_labels: int
) -> tuple[Alternative, ...]:
    """Return the next most probable labels of a decided slot, at most `n_labels`; they share what the best leaves.

    >>> vote = Vote(Distribution.of({",": 0.7, "": 0.2, ".": 0.1}), Distribution.certain("lower"))
    >>> ranked = rank_runners_up([vote], CombineConfig(), decide([vote], CombineConfig()), 2)
    >>> [alternative.label for alternative in ranked]
    ['', '.']
    """
    mean = _mean(_labels(votes, config), _weights(votes, config))
    left = 1.0 - mean.probability(decision.label)
    # of labels of several marks, the decision's own probability is that of its marks one by one
    scale = (1.0 - decision.label_confidence) / left if left > 0.0 else 0.0
    alternatives = [
        Alternative(label, scale * probability)
        for label, probability in zip(mean.outcomes, mean.probabilities, strict=True)
        if label != decision.label and scale * probability > 0.0
    ]
    return tuple(sorted(alternatives, key=lambda alternative: -alternative.probability)[:n_labels])


def _decide_alone(vote: Vote, config: CombineConfig) -> Decision:
    """The decision for a slot with a single vote, where weights do not matter."""
    (label, confidence), case = _sole_label(vote.labels), vote.cases.best
    if config.method == "vote":
        return Decision(label, Case(case), 1.0, 1.0, opening=_opening([vote], [1.0]))
    case_confidence = vote.cases.probability(case) / sum(vote.cases.probabilities)
    return Decision(label, Case(case), confidence, case_confidence, opening=_opening([vote], [1.0]))


def _opening(votes: Sequence[Vote], weights: Sequence[float]) -> str | None:
    """The opening mark before the word; None where the model knows none."""
    pairs = [(vote.openings, weight) for vote, weight in zip(votes, weights, strict=True) if vote.openings is not None]
    return _mean([said for said, _ in pairs], [weight for _, weight in pairs]).best if pairs else None


def _sole_label(labels: Distribution) -> tuple[str, float]:
    """`_label` of a single distribution, with a shortcut: mostly an empty slot is likelier than all labels together."""
    empty, total = labels.probability(NO_LABEL), sum(labels.probabilities)
    return (NO_LABEL, empty / total) if 2.0 * empty > total else _label([labels], [1.0], None)


def written_label(labels: Distribution) -> str:
    """Return the label that one window votes for: its marks chosen one by one, the best each time.

    Nearly always this is what its decoder wrote.  The difference: the decoder compares a mark with each form of the
    next word, a vote compares it with all forms together.
    """
    return _sole_label(labels)[0]


@dataclass(frozen=True, slots=True)
class WindowVotes:
    """A window and its votes, one a word; at least up to the last slot that the window may decide."""

    view: View[Word]
    votes: tuple[Vote, ...]


def votes_by_slot(windows: Iterable[WindowVotes]) -> Iterator[list[Vote]]:
    """Yield the windows' votes on each slot, of those that may decide it; memory is bounded by the windows' overlap."""
    votes_of, n_settled = defaultdict[int, list[Vote]](list), 0
    for window_votes in windows:
        window = window_votes.view.window
        for slot in range(window.keep_start, window.keep_stop):
            votes_of[slot].append(window_votes.votes[slot - window.start])
        yield from map(votes_of.pop, range(n_settled, window_votes.view.n_settled))
        n_settled = window_votes.view.n_settled


def _weights(votes: Sequence[Vote], config: CombineConfig) -> list[float]:
    """How much each vote counts; all the same where none is trusted."""
    weights = [_weight(vote, config.method) for vote in votes]
    return weights if sum(weights) > 0.0 else [1.0] * len(votes)


def _labels(votes: Sequence[Vote], config: CombineConfig) -> list[Distribution]:
    """What each vote says of the slot; in a majority, only what it chose."""
    if config.method == "vote":
        return [Distribution.certain(written_label(vote.labels)) for vote in votes]
    return [vote.labels for vote in votes]


def _weight(vote: Vote, method: str) -> float:
    if method == "entropy":
        # confidence falls with entropy (Tornetta 2021); normalised by the largest the outcomes allow
        most = math.log(max(2, len(vote.labels.outcomes)))
        return vote.weight * max(1e-6, 1.0 - vote.labels.entropy / most)
    if method == "hamming":
        # Hamming window over the words of the model's window (Harris 1978, equation 33)
        n_words = vote.left_words + vote.right_words + 1
        place = (vote.left_words + 0.5) / n_words
        return vote.weight * (0.54 - 0.46 * math.cos(2.0 * math.pi * place))
    return vote.weight


def _label(labels: Sequence[Distribution], weights: Sequence[float], threshold: float | None) -> tuple[str, float]:
    """A label and its probability, mark by mark: greedy decoding with the windows' mean, as an ensemble decodes.

    After `!`, only the windows that wrote `!` count: the others have one probability for all labels that begin with it.
    With a threshold, the best mark is taken if its share exceeds it, otherwise none.
    """
    voters, total = list(zip(labels, weights, strict=True)), sum(weights)
    label, confidence = NO_LABEL, 1.0
    while shares := _shares(voters, label):
        if threshold is None:
            best = max(shares, key=shares.__getitem__)
        else:
            best = max((mark for mark in shares if mark), key=shares.__getitem__, default=NO_LABEL)
            best = best if shares[best] > threshold * total else NO_LABEL
        confidence *= shares.get(best, 0.0) / sum(shares.values())
        if not best:
            break
        label += best
        if len(voters) > 1:  # a single window wrote its own best label
            voters = [(voter, weight) for voter, weight in voters if written_label(voter).startswith(label)]
    return label, confidence


def _shares(voters: Sequence[tuple[Distribution, float]], label: str) -> dict[str, float]:
    """The weight of each mark that may come next after `label`, and of no mark; empty if all weights are 0."""
    shares: dict[str, float] = {}
    for distribution, weight in voters:
        for outcome, probability in zip(distribution.outcomes, distribution.probabilities, strict=True):
            if outcome.startswith(label):
                mark = outcome[len(label) : len(label) + 1]
                shares[mark] = shares.get(mark, 0.0) + weight * probability
    return shares if any(shares.values()) else {}


def _mean(distributions: Sequence[Distribution], weights: Sequence[float]) -> Distribution:
    """The weighted mean."""
    sums: dict[str, float] = {}
    for distribution, weight in zip(distributions, weights, strict=True):
        for outcome, probability in zip(distribution.outcomes, distribution.probabilities, strict=True):
            sums[outcome] = sums.get(outcome, 0.0) + weight * probability
    return Distribution.of(sums)
