"""Live words -> committed marks: each slot is decided when exactly `lookahead` words after it have arrived.

In: words as a recogniser gives them, in chunks of any size.  Out: the same words with marks that never change again.

With a lookahead of 2, `push(["how", "are"])` commits nothing yet, `push(["you", "today"])` commits `how` and `are`, and
`finish()` the rest.  A slot's window is planned from its place in the stream alone, so any chunking of the same words
gives the same output (Minixhofer 2021, section 4: s = 1, m_r = l).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .errors import ConfigError, InputError
from .punctuator import AnnotatedWord, Punctuator
from .windows import View, Window
from .words import Word, split


@dataclass(frozen=True)
class StreamConfig:
    """The fixed policy: how many words are seen at once, and how many of them must follow a slot."""

    window: int = 32  # w, words
    lookahead: int = 4  # l, words of right context

    def __post_init__(self) -> None:
        if not 0 <= self.lookahead < self.window:
            raise ConfigError(
                f"a lookahead of {self.lookahead} words in a window of {self.window}",
                expected="0 or more, and less than the window",
                fix="lower the lookahead or raise the window",
            )


class StreamingPunctuator:
    """One stream.  Its state is the last `window` words and two numbers, however long the stream."""

    def __init__(self, punctuator: Punctuator, config: StreamConfig | None = None) -> None:
        self._punctuator, self.config = punctuator, config or StreamConfig()
        self._seen: list[Word] = []  # the last words that arrived, at most `window`
        self._n_seen = self._n_committed = 0
        self._finished = False

    def push(self, words: Iterable[str]) -> tuple[AnnotatedWord, ...]:
        """Take words that arrived; return those whose slots are now final.

        Raises InputError after `finish()`.
        """
        if self._finished:
            raise InputError("words after the stream's end", expected="no push after finish", fix="open a new stream")
        committed: list[AnnotatedWord] = []
        for spelling in words:
            for piece in spelling.split():  # a mark that stands alone is a word, in whatever chunk it comes
                committed += self._take(split(piece, self._punctuator.model.task.alphabet).words[0])
        return tuple(committed)

    def provisional(self) -> tuple[AnnotatedWord, ...]:
        """The words that are not final yet, as they look now."""
        return tuple(self._decide(self._n_seen))

    def finish(self) -> tuple[AnnotatedWord, ...]:
        """End the stream: the rest becomes final, with the context there is."""
        rest = self._decide(self._n_seen, is_last=True)
        self._n_committed, self._finished = self._n_seen, True
        return tuple(rest)

    def _take(self, word: Word) -> Sequence[AnnotatedWord]:
        self._seen = [*self._seen[1 - self.config.window :], replace(word, space=" ")]
        self._n_seen += 1
        if self._n_seen <= self._n_committed + self.config.lookahead:
            return ()
        committed = self._decide(self._n_committed + 1)
        self._n_committed += 1
        return committed

    def _decide(self, stop: int, *, is_last: bool = False) -> Sequence[AnnotatedWord]:
        """Slots from the first uncommitted one up to `stop`, by the window of the words seen last."""
        window = Window(self._n_seen - len(self._seen), self._n_seen, self._n_committed, stop)
        return self._punctuator.annotate_view(View(window, tuple(self._seen), is_last, n_settled=stop))
