"""`t5punct tune`: window, stride, masks and combination, chosen on a development file.

In: a file of punctuated text, a punctuator, a grid.  Out: `Trial`s, and the frontier of F1 against cost.

Decoding is expensive, but a window's votes do not depend on the strategy.  So each window is decoded once, and all
strategies that have this window are scored from the same votes.

A grid with windows of 64 words and grain 8 has strides and masks of 8, 16, 24 ... words.  A budget of 4 leaves strides
of 16 words and more, so that no word is read more than four times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from ..config import check, check_range
from ..punctuator import Punctuator
from ..text.render import AnnotatedWord
from ..text.words import Word
from ..windows.combine import CombineConfig, add_votes
from ..windows.plan import View, Window, WindowConfig, iter_pools, views_of
from ..windows.presets import Preset
from ..windows.votes import Vote
from .counts import Counts
from .evaluate import OnProgress, ignore, references_for
from .references import Reference
from .scores import scores_of
from .significance import Interval, interval

_POOL_WORDS = 4096  # the words of windows that are decoded together
_Span = tuple[int, int]  # the first word of a window, and the one behind its last: its votes depend on no more


@dataclass(frozen=True)
class TuneConfig:
    """The grid of strategies, and the budget."""

    budget: float = 4.0  # how often a word may be read: w / s
    windows: list[int] = field(default_factory=lambda: [32, 64, 96])  # w, words
    grain: int = 8  # strides and masks are multiples of w / grain
    largest_mask: float = 0.25  # of a window, on either side
    methods: list[str] = field(default_factory=lambda: ["mean", "entropy", "hamming"])
    max_words: int | None = None  # of the development file

    def __post_init__(self) -> None:
        for method in self.methods:
            CombineConfig(method)  # raises ConfigError for an unknown method
        grid = self.windows and self.methods
        check(grid, "an empty grid", expected="a window and a method", fix="set windows and methods")
        check(self.budget >= 1.0, f"a budget of {self.budget}", expected="1 or more", fix="set budget")
        check_range(self, "", 1, "max_words")
        check_range(self, "", 0, "largest_mask", below=1)
        for window in self.windows:
            check(
                self.grain >= 1 and window >= 1 and window % self.grain == 0,
                f"windows of {window} words with grain {self.grain}",
                expected="windows that the grain divides",
                fix="set windows or grain",
            )
            WindowConfig(window)  # raises ConfigError for a window that is too large

    def strategies(self, window: int) -> Iterator[Preset]:
        """Yield all strategies with a window of so many words within the budget."""
        unit = window // self.grain
        masks = range(0, int(self.largest_mask * window) + 1, unit)
        for left, right, stride in product(masks, masks, range(unit, window + 1, unit)):
            n_kept = window - left - right  # slots of a window, without those under masks
            if stride > n_kept or window / stride > self.budget:
                continue
            windows = WindowConfig(window, stride, left, right)
            methods = self.methods if stride < n_kept else self.methods[:1]  # one vote a slot: nothing to combine
            yield from (Preset(windows, CombineConfig(method)) for method in methods)


@dataclass(frozen=True)
class Trial:
    """One strategy and its score."""

    strategy: Preset
    counts: tuple[Counts, ...]  # one for each document or stretch
    units: str = "text"  # what was scored, for signatures

    @property
    def reads(self) -> float:
        """How often a word is read, which is the cost."""
        return self.strategy.windows.window / self.strategy.windows.stride_words

    @property
    def micro_f1(self) -> float:
        return scores_of(sum(self.counts, Counts())).micro.f1 or 0.0

    def spread(self) -> Interval | None:  # of micro F1
        return interval(self.counts)


class Trials:
    """Documents on which strategies are tried one after the other.  Each window is decoded once for all of them.

    on_progress: called with the number of words that were read or decided since the last call.
    """

    def __init__(self, punctuator: Punctuator, documents: Iterable[Reference], on_progress: OnProgress = ignore):
        self._punctuator = punctuator
        self._on_progress = on_progress
        self._documents = list(documents)
        self._votes_of_spans = [dict[_Span, tuple[Vote, ...]]() for _ in self._documents]

    def trial(self, strategy: Preset) -> Trial:
        """Punctuate the documents with a strategy, and score it."""
        counts = list[Counts]()
        for document, annotated in zip(self._documents, self.annotate(strategy), strict=True):
            counts += document.counts(annotated)
            self._on_progress(len(annotated))
        return Trial(strategy, tuple(counts), self._documents[0].units)

    def annotate(self, strategy: Preset) -> Iterator[list[AnnotatedWord]]:
        """Yield each document as the punctuator annotates it with a strategy."""
        for document, votes_of_spans in zip(self._documents, self._votes_of_spans, strict=True):
            views = views_of(document.words, strategy.windows)
            self._decode([view for view in views if _span(view.window) not in votes_of_spans], votes_of_spans)
            waiting = dict[int, list[Vote]]()  # by slot, votes on slots that later windows vote on, too
            votes_of_slots = list[list[Vote]]()
            for view in views:
                complete = add_votes(waiting, view, votes_of_spans[_span(view.window)])  # slots with all their votes
                votes_of_slots += complete.values()
            first = self._punctuator.first_sentence
            decisions, _ = self._punctuator.decide_words(document.words, votes_of_slots, first, strategy.combine)
            yield self._punctuator.write_words(document.words, decisions)

    def _decode(self, views: Sequence[View[Word]], votes_of_spans: dict[_Span, tuple[Vote, ...]]) -> None:
        """Add the votes of windows that no earlier strategy had."""
        for pool in iter_pools(views, _POOL_WORDS, lambda view: len(view.words)):
            for view, votes in zip(pool, self._punctuator.window_votes(pool, whole=True), strict=True):
                votes_of_spans[_span(view.window)] = votes
            self._on_progress(sum(len(view.words) for view in pool))


def tune(
    path: str | Path, punctuator: Punctuator, config: TuneConfig, on_progress: Callable[[int, int], None] | None = None
) -> Iterator[Trial]:
    """Yield a trial of every strategy.  on_progress: called with the words read or decided so far, and of how many."""
    documents = list(references_for(punctuator, path, config.max_words))
    n_all = sum(_count_work(documents, list(config.strategies(window))) for window in config.windows)
    n_done = 0

    def add_progress(n_words: int) -> None:
        nonlocal n_done
        n_done += n_words
        if on_progress is not None:
            on_progress(n_done, n_all)

    for window in config.windows:
        trials = Trials(punctuator, documents, add_progress)  # new: no votes are kept of windows of other sizes
        for strategy in config.strategies(window):
            yield trials.trial(strategy)


def _count_work(documents: Sequence[Reference], strategies: Sequence[Preset]) -> int:
    """Count the words of all windows, a shared window once, and the words that each strategy decides."""
    n_read = n_words = 0
    for document in documents:
        spans = set[_Span]()
        for strategy in strategies:
            spans.update(_span(view.window) for view in views_of(document.words, strategy.windows))
        n_read += sum(stop - start for start, stop in spans)
        n_words += len(document.words)
    return n_read + n_words * len(strategies)


def _span(window: Window) -> _Span:
    return window.start, window.stop


def find_frontier(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that no other beats at the same cost or less, the cheapest first; of equal ones, the first."""
    best: list[Trial] = []
    for trial in sorted(trials, key=lambda trial: (trial.reads, -trial.micro_f1)):
        if not best or trial.micro_f1 > best[-1].micro_f1:
            best.append(trial)
    return best
