"""What a stream scores, how long its words wait, and how often what it shows provisionally changes.

The product's own `Streams` decide; but what the model says of a window or a question is asked once, in batches, and
remembered, so that a hundred policies cost little more than one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from t5punct.decoding.classify import Question, SlotClassifier
from t5punct.errors import InputError
from t5punct.evaluation.counts import Counts
from t5punct.evaluation.references import Reference, read_references
from t5punct.punctuator import Punctuator
from t5punct.streaming import StreamConfig, Streams, StreamState
from t5punct.streaming.deciding import Classify
from t5punct.text.words import Word
from t5punct.windows.combine import choose_marks
from t5punct.windows.plan import View, Window
from t5punct.windows.votes import Distribution, Vote


@dataclass(frozen=True)
class Listened:
    """A stream that was heard to its end."""

    counts: tuple[Counts, ...]  # one for each stretch
    delays: Counter[int]  # how many words waited for so many more

    @property
    def mean_delay(self) -> float:
        return sum(delay * n for delay, n in self.delays.items()) / self.delays.total()


class Listener:
    """Hears one file with one policy after the other."""

    def __init__(self, punctuator: Punctuator, path: Path, max_words: int | None) -> None:
        alphabet = punctuator.model.task.alphabet
        documents = read_references(path, alphabet, max_words=max_words)
        self._document: Reference = next(documents)
        if next(documents, None) is not None:
            raise InputError(f"{path}: several documents", expected="IWSLT rows or one line", fix="join its lines")
        self._words = tuple(self._document.words)
        self._plain = punctuator
        self._seen = _Remembered(punctuator)

    @cached_property
    def _classifier(self) -> _RememberedAnswers:
        """A classifier of the same model.  Raises ConfigError for a model that was not trained to answer questions."""
        return _RememberedAnswers(self._plain)

    def whole(self) -> Listened:
        """Return the text at once, by the punctuator's own strategy."""
        counts = self._document.counts(*self._plain.annotate_texts([self._words]))
        return Listened(tuple(counts), Counter())

    def hear(self, config: StreamConfig) -> Listened:
        """Return the words one by one."""
        classify = Classify(self._seen, self._classifier) if config.decide == "classify" else None
        # a sentence's buffer begins anywhere and all its slots are asked for: nothing of that is remembered
        punctuator = self._plain if config.policy == "sentence" else self._seen
        streams, texts = Streams(punctuator, config, classify), [word.text for word in self._words]
        (step,) = streams.push([StreamState()], [texts])
        (last,) = streams.finish([step.state])
        committed = (*step.committed, *last.committed)
        counts = self._document.counts([word.annotated for word in committed])
        return Listened(tuple(counts), Counter(word.delay_words for word in committed))

    def read(self, window: int, largest_lookahead: int) -> Counter[int]:
        """Decode every window that a stream meets, and remember what it says of its newest slots.

        Returns how often a new word changed marks so many words from the end (Chen 2020, figure 2; -1: none), the
        older half of the window being left out: its slots lose their left context.
        """
        return self._seen.read(self._views(window), largest_lookahead + 1)

    def ask(self, window: int, lookaheads: Iterable[int]) -> None:
        """Ask every question that streams with these lookaheads meet."""
        inputs = [self._plain.window_input(view.words) for view in self._views(window)]
        self._classifier.decode(
            [
                Question(heard, slot)
                for heard in inputs
                for lookahead in lookaheads
                if (slot := len(heard.words) - 1 - lookahead) >= 0
            ]
        )

    def _views(self, window: int) -> list[View[Word]]:
        """Return the model's inputs after each word of a stream; the last one is not yet known to be the last."""
        return [
            View(Window(start, stop, start, stop), self._words[start:stop], is_last=False, n_settled=stop)
            for stop in range(1, len(self._words) + 1)
            for start in [max(0, stop - window)]
        ]


class _Remembered(Punctuator):
    """A punctuator that decodes no window twice."""

    def __init__(self, punctuator: Punctuator) -> None:
        super().__init__(punctuator.model, punctuator.config)
        self._windows: dict[tuple[int, int, bool], tuple[Vote, ...]] = {}

    def window_votes(self, views: Sequence[View[Word]]) -> list[tuple[Vote, ...]]:
        remembered = list[tuple[Vote, ...]]()
        for view in views:
            key = (view.window.start, view.window.stop, view.is_last)
            if key not in self._windows:
                whole = replace(view, window=replace(view.window, keep_stop=view.window.stop))
                (self._windows[key],) = super().window_votes([whole])
            remembered.append(self._windows[key])
        return remembered

    def read(self, views: Sequence[View[Word]], n_newest: int) -> Counter[int]:
        """Remember the newest votes of each window; the others' places are filled with a blank, to save memory."""
        changes: Counter[int] = Counter()
        blank = Vote({"": 1.0}, {"verbatim": 1.0})
        shown: dict[int, str] = {}
        for view in views:
            (votes,) = super().window_votes([view])
            window = view.window
            kept = max(0, len(votes) - n_newest)
            self._windows[window.start, window.stop, False] = (blank,) * kept + votes[kept:]
            shows = {window.start + place: choose_marks([vote.marks], [1.0])[0] for place, vote in enumerate(votes)}
            inner = window.start + (len(votes) // 2 if window.start else 0)
            changed = [place for place, label in shows.items() if place >= inner and shown.get(place, label) != label]
            changes[window.stop - 1 - min(changed) if changed else -1] += 1
            shown = shows
        return changes


class _RememberedAnswers(SlotClassifier):
    """A classifier that answers no question twice."""

    def __init__(self, punctuator: Punctuator) -> None:
        super().__init__(punctuator.model, punctuator.config.decoding)
        self._known = dict[Question, Distribution]()

    def decode(self, questions: Sequence[Question]) -> list[Distribution]:
        missing = [question for question in dict.fromkeys(questions) if question not in self._known]
        if missing:
            self._known |= zip(missing, super().decode(missing), strict=True)
        return [self._known[question] for question in questions]
