"""Votes -> decisions: the votes of several windows on one slot become one decision.

In: the votes of a slot.  Out: a `Decision`.

>>> yes, no = Distribution.of({",": 0.8, "": 0.2}), Distribution.of({"": 0.6, ",": 0.4})
>>> lower = Distribution.certain("lower")
>>> decide([Vote(yes, lower), Vote(no, lower)], CombineConfig("mean")).label
','
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
                f"combination {self.method!r}", expected=f"one of {', '.join(METHODS)}", fix="check combine"
            )
        if not 0.0 <= self.threshold < 1.0:
            raise ConfigError(f"threshold {self.threshold}", expected="0 <= threshold < 1", fix="use 0.5")


def decide(votes: Sequence[Vote], config: CombineConfig) -> Decision:
    """Combine all votes of one slot.

    `mean`, `entropy`, `hamming`: the weighted mean of the distributions, then its best label (Minixhofer 2021,
    section 3).  `vote`: the marks that most windows chose, if their share exceeds the threshold, else none (Cho 2012).
    Of equal marks, the one that an earlier window mentions first wins.
    """
    labels, weights = _labels_and_weights(votes, config)
    is_majority = config.method == "vote"
    label, confidence = choose_label(labels, weights, config.threshold if is_majority else None)
    cases = mean([Distribution.certain(vote.cases.best) if is_majority else vote.cases for vote in votes], weights)
    openings = [vote.openings for vote in votes if vote.openings is not None]
    trusted = [weight for vote, weight in zip(votes, weights, strict=True) if vote.openings is not None]
    opening = mean(openings, trusted).best if openings else None
    return Decision(label, Case(cases.best), confidence, cases.probability(cases.best), opening=opening)


def rank_runners_up(
    votes: Sequence[Vote], config: CombineConfig, decision: Decision, n_labels: int
) -> tuple[Alternative, ...]:
    """Return the next most probable labels of a decided slot, at most `n_labels`; they share what the best leaves.

    >>> vote = Vote(Distribution.of({",": 0.7, "": 0.2, ".": 0.1}), Distribution.certain("lower"))
    >>> ranked = rank_runners_up([vote], CombineConfig(), decide([vote], CombineConfig()), 2)
    >>> [alternative.label for alternative in ranked]
    ['', '.']
    """
    labels = mean(*_labels_and_weights(votes, config))
    left = 1.0 - labels.probability(decision.label)
    # of labels of several marks, the decision's own probability is that of its marks one by one
    scale = (1.0 - decision.label_confidence) / left if left > 0.0 else 0.0
    alternatives = [
        Alternative(label, scale * probability)
        for label, probability in zip(labels.outcomes, labels.probabilities, strict=True)
        if label != decision.label and scale * probability > 0.0
    ]
    return tuple(sorted(alternatives, key=lambda alternative: -alternative.probability)[:n_labels])


def _labels_and_weights(votes: Sequence[Vote], config: CombineConfig) -> tuple[list[Distribution], list[float]]:
    """What each vote says of the slot, in a majority only what it chose; and how much it counts."""
    weights = [WEIGHTS[config.method](vote) for vote in votes]
    weights = weights if sum(weights) > 0.0 else [1.0] * len(votes)  # where none is trusted, all count the same
    if config.method == "vote":
        return [Distribution.certain(written_label(vote.labels)) for vote in votes], weights
    return [vote.labels for vote in votes], weights


def weight_alone(vote: Vote) -> float:
    """Return a vote's own weight."""
    return vote.weight


def weight_by_entropy(vote: Vote) -> float:
    """Return a weight that falls with entropy (Tornetta 2021), measured against the most that its outcomes allow."""
    most = math.log(max(2, len(vote.labels.outcomes)))
    return vote.weight * max(1e-6, 1.0 - vote.labels.entropy / most)


def weight_by_hamming(vote: Vote) -> float:
    """Return the weight of a Hamming window over the words of the model's window (Harris 1978, equation 33)."""
    place = (vote.left_words + 0.5) / (vote.left_words + vote.right_words + 1)
    return vote.weight * (0.54 - 0.46 * math.cos(2.0 * math.pi * place))


WEIGHTS: Mapping[str, Callable[[Vote], float]] = {
    "mean": weight_alone,
    "entropy": weight_by_entropy,
    "hamming": weight_by_hamming,
    "vote": weight_alone,
}


def mean(distributions: Sequence[Distribution], weights: Sequence[float]) -> Distribution:
    """Return the weighted mean of distributions."""
    if len(distributions) == 1:  # nearly always
        outcomes = distributions[0].outcomes
        total = sum(distributions[0].probabilities)
        return Distribution(outcomes, tuple(share / total for share in distributions[0].probabilities))
    sums: dict[str, float] = {}
    for distribution, weight in zip(distributions, weights, strict=True):
        for outcome, probability in zip(distribution.outcomes, distribution.probabilities, strict=True):
            sums[outcome] = sums.get(outcome, 0.0) + weight * probability
    return Distribution.of(sums)


def written_label(labels: Distribution) -> str:
    """Return the label that one window votes for: its marks chosen one by one, the best each time.

    Nearly always this is what its decoder wrote.  The difference: the decoder compares a mark with each form of the
    next word, a vote compares it with all forms together.
    """
    return choose_label([labels], [1.0])[0]


def choose_label(
    labels: Sequence[Distribution], weights: Sequence[float], threshold: float | None = None
) -> tuple[str, float]:
    """Return a label and its probability, mark by mark: greedy decoding with the windows' mean, as an ensemble decodes.

    After `!`, only the windows that wrote `!` count: the others have one probability for all labels that begin with it.
    With a threshold, the best mark is taken if its share exceeds it, otherwise none.
    """
    if len(labels) == 1 and threshold is None:  # nearly always no mark is likelier than all marks together
        empty = labels[0].probability(NO_LABEL)
        total = sum(labels[0].probabilities)
        if 2.0 * empty > total:
            return NO_LABEL, empty / total
    voters = list(zip(labels, weights, strict=True))
    total = sum(weights)
    label = NO_LABEL
    confidence = 1.0
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


@dataclass(frozen=True, slots=True)
class WindowVotes:
    """A window and its votes, one a word; at least up to the last slot that the window may decide."""

    view: View[Word]
    votes: tuple[Vote, ...]


def add_votes(waiting: dict[int, list[Vote]], window_votes: WindowVotes) -> dict[int, list[Vote]]:
    """Add a window's votes to those that wait, by slot; take out and return those that no later window decides."""
    window = window_votes.view.window
    for slot in range(window.keep_start, window.keep_stop):
        waiting.setdefault(slot, []).append(window_votes.votes[slot - window.start])
    return {slot: waiting.pop(slot) for slot in [*waiting] if slot < window_votes.view.n_settled}
