"""Streams: words as they arrive in, words with marks that never change again out.

In: words, in chunks of any size, of one stream or of many.  Out: committed words, in order.

With a lookahead of 2, `push(["how", "are"])` commits nothing yet, `push(["you", "today"])` commits `how` and `are`, and
`finish()` the rest.  What the model reads depends on a word's place in the stream alone, so any chunking of the same
words gives the same output; and the windows of many streams are decoded together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..combine import decide
from ..errors import ConfigError, InputError
from ..formats.live import TimedWord
from ..marks import ends_sentence
from ..punctuator import AnnotatedWord, Punctuator
from ..votes import Vote
from ..windows import View, Window
from ..words import Word, split
from .deciding import Decider, Look, decider_of
from .policies import StreamConfig, policy_of
from .state import StreamState

Words = Iterable[str | TimedWord]


@dataclass(frozen=True, slots=True)
class Committed:
    """A word whose slot is final, and how many words had been heard after it by then."""

    annotated: AnnotatedWord
    delay_words: int

    @property
    def text(self) -> str:
        """The word as it is written, with case and marks."""
        return self.annotated.text


@dataclass(frozen=True, slots=True)
class Step:
    """A stream after some words, and what became final."""

    state: StreamState
    committed: tuple[Committed, ...] = ()


class Streams:
    """Any number of streams over one model.  Their states are values, kept by the caller."""

    def __init__(
        self, punctuator: Punctuator, config: StreamConfig | None = None, decider: Decider | None = None
    ) -> None:
        """`decider`: who says what the slots get, in place of the one that the config names.

        Raises ConfigError for a window that the model cannot read, and for a decoder that cannot do what is asked.
        """
        self._punctuator, self.config = punctuator, config or StreamConfig()
        self._check()
        self._policy, self._decider = policy_of(self.config), decider or decider_of(self.config.decide, punctuator)

    def push(self, states: Sequence[StreamState], words: Sequence[Words]) -> list[Step]:
        """Give each stream the words that arrived for it.  Raises InputError for a stream that is finished."""
        if len(states) != len(words):
            raise InputError(
                f"words for {len(words)} of {len(states)} streams", expected="words for each", fix="give [] for none"
            )
        if any(state.finished for state in states):
            raise InputError("words after the stream's end", expected="no push after finish", fix="open a new stream")
        steps, queues = [Step(state) for state in states], [deque(self._pieces(arrived)) for arrived in words]
        while True:
            looks: dict[int, bool] = {}  # the streams whose windows are to be decoded, and whether everything is final
            for index, queue in enumerate(queues):
                state, everything = self._hear(steps[index].state, queue)
                steps[index] = replace(steps[index], state=state)
                if everything is not None:
                    looks[index] = everything
            if not looks:
                return steps
            self._look(steps, looks)

    def flush(self, states: Sequence[StreamState]) -> list[Step]:
        """Commit everything that was heard, with the context there is; the streams go on."""
        steps = [Step(state) for state in states]
        self._look(steps, {index: True for index, state in enumerate(states) if state.n_waiting})
        return steps

    def finish(self, states: Sequence[StreamState]) -> list[Step]:
        """End the streams: the rest becomes final, and so does the text."""
        steps = [Step(state) for state in states]
        waiting = {index: True for index, state in enumerate(states) if state.n_waiting}
        self._look(steps, waiting, is_last=True)
        return [replace(step, state=replace(step.state, finished=True)) for step in steps]

    def provisional(self, states: Sequence[StreamState]) -> list[tuple[AnnotatedWord, ...]]:
        """The words of each stream that are not final yet, as they look now."""
        return [tuple(one.annotated for one in step.committed) for step in self.flush(states)]

    def _check(self) -> None:
        decoder = self._punctuator.config.decoding.decoder
        unsure = self.config.policy == "entropy" or self.config.decide == "classify"
        if decoder != "slots" and unsure:
            raise ConfigError(
                f"policy {self.config.policy}, decide {self.config.decide} with the decoder {decoder}",
                expected="the decoder slots, which knows how sure it is",
                fix="drop --decoder",
            )
        self._punctuator.window_input([Word("a")] * self.config.window)  # says that it is too long

    def _pieces(self, words: Words) -> Iterator[TimedWord]:
        """One item a word: a mark that stands alone is a word, in whatever chunk it comes."""
        for word in [words] if isinstance(words, str) else words:
            timed = TimedWord(word) if isinstance(word, str) else word
            for piece in timed.word.split():
                yield replace(timed, word=piece)

    def _hear(self, state: StreamState, queue: deque[TimedWord]) -> tuple[StreamState, bool | None]:
        """Hear words until a window is to be decoded: then whether everything is final, else None."""
        task = self._punctuator.model.task
        while queue:
            silence_ms = queue[0].silence_ms(state.end_ms)
            if state.words and silence_ms >= (task.pause_ms or math.inf):
                state = state.paused()
            if state.n_waiting and silence_ms >= (self.config.max_delay_ms or math.inf):
                return state, True
            word = queue.popleft()
            state = state.hear(split(word.word, task.alphabet).words[0], self.config.window, word.end_ms)
            if self._policy.is_due(state):
                return state, False
        return state, None

    def _look(self, steps: list[Step], looks: Mapping[int, bool], *, is_last: bool = False) -> None:
        """Decode the newest windows of some streams, and commit what is final."""
        wanted = [self._look_at(steps[index].state, everything, is_last) for index, everything in looks.items()]
        for (index, everything), look, votes in zip(looks.items(), wanted, self._decider.votes(wanted), strict=True):
            n_ready = len(votes) if everything else self._policy.n_ready(look.state, votes)
            committed = tuple(self._committed(look.state, votes[:n_ready]))
            steps[index] = Step(_after(look.state, committed), steps[index].committed + committed)

    def _look_at(self, state: StreamState, everything: bool, is_last: bool) -> Look:
        start = min(self._policy.window_start(state), state.n_committed)
        n_asked = state.n_waiting if everything else self._policy.n_asked(state)
        window = Window(start, state.n_seen, state.n_committed, state.n_committed + n_asked)
        view = View(window, state.words[start - state.start :], is_last, n_settled=state.n_committed)
        return Look(state, view)

    def _committed(self, state: StreamState, votes: Sequence[Vote]) -> Iterator[Committed]:
        """The first waiting words, as these votes decide them."""
        for number, vote in enumerate(votes):
            word = state.words[state.n_committed - state.start + number]
            decision = decide([vote], self._punctuator.config.combine)
            yield Committed(self._punctuator.annotate_word(word, decision), state.n_waiting - number - 1)


class StreamingPunctuator:
    """One stream, which remembers where it is; `state` can be saved, and given to another one that resumes it."""

    def __init__(
        self, punctuator: Punctuator, config: StreamConfig | None = None, state: StreamState | None = None
    ) -> None:
        self._streams, self.state = Streams(punctuator, config), state or StreamState()

    def push(self, words: Words) -> tuple[Committed, ...]:
        """Take words that arrived; return those whose slots are now final.

        Raises InputError after `finish()`.
        """
        return self._step(self._streams.push([self.state], [words]))

    def flush(self) -> tuple[Committed, ...]:
        """Make everything final that was heard, after a silence, say; the stream goes on."""
        return self._step(self._streams.flush([self.state]))

    def provisional(self) -> tuple[AnnotatedWord, ...]:
        """The words that are not final yet, as they look now."""
        return self._streams.provisional([self.state])[0]

    def finish(self) -> tuple[Committed, ...]:
        """End the stream: the rest becomes final, with the context there is."""
        return self._step(self._streams.finish([self.state]))

    def _step(self, steps: Sequence[Step]) -> tuple[Committed, ...]:
        self.state = steps[0].state
        return steps[0].committed


def _after(state: StreamState, committed: Sequence[Committed]) -> StreamState:
    """The state once these words are committed."""
    ends = [place for place, word in enumerate(committed, 1) if ends_sentence(word.annotated.label)]
    start = state.n_committed + ends[-1] if ends else state.sentence_start
    return replace(state, n_committed=state.n_committed + len(committed), sentence_start=start)
