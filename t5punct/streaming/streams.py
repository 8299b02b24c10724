"""Streams: words go in as they arrive, and words with marks come out that never change again.

In: words, in chunks of any size, of one stream or of many.  Out: committed words, in order.

With a lookahead of 2, `push(["how", "are"])` commits nothing yet, `push(["you", "today"])` commits `how` and `are`, and
`finish()` the rest.  What the model reads depends only on a word's place in the stream, so any chunking of the same
words gives the same output (see `t5/precision.py`).  The windows of many streams are decoded together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..config import check
from ..errors import InputError
from ..punctuator import Punctuator, SentencePosition
from ..text.io.live import TimedWord, whole_ms
from ..text.marks import Case
from ..text.render import AnnotatedWord, Decision
from ..text.words import Word, checked_text, words_of
from ..transcripts.items import pause_of, seconds
from ..windows.plan import View, Window
from ..windows.votes import Vote
from .deciding import Classify, Decider, DelayDecider, Look, Seq2Seq
from .policies import StreamConfig, make_policy
from .state import StreamState, Times

Words = Iterable[str | TimedWord]
STREAM_MODEL = "base"  # the default of streams, which must be quick


@dataclass(frozen=True, slots=True)
class Committed:
    """A word whose slot is final, and how many words were heard after it by then.  One that was removed has no text."""

    annotated: AnnotatedWord
    delay_words: int
    start_ms: int | None = None  # when it was spoken, if the source said so
    end_ms: int | None = None

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
        """`decider` takes the place of the one that the config names.

        Raises ConfigError for a window that the model cannot read, and for a decoder that cannot do what is asked.
        """
        self._punctuator = punctuator
        self.config = config or StreamConfig()
        self._check()
        self._policy = make_policy(self.config)
        self._n_kept = self.config.window  # words that a state keeps, from which the model reads
        self._delay_decider: DelayDecider | None = None  # the decider, if it reads all words before it votes
        if decider is not None:
            self._decider = decider
        elif self.config.policy == "delay":
            self._delay_decider = DelayDecider(punctuator, self.config.lookahead)
            self._decider = self._delay_decider
            self._n_kept = self._delay_decider.n_remembered_words
        else:
            self._decider = Classify(punctuator) if self.config.decide == "classify" else Seq2Seq(punctuator)

    def push(self, states: Sequence[StreamState], words: Sequence[Words]) -> list[Step]:
        """Give each stream the words that arrived for it.  Raises InputError for a stream that is finished.

        Each stream hears words until one of them makes the model look, and the windows of all streams that came so far
        are decoded together; then they hear more.  So every window is read that would be if words came one by one.
        """
        if len(states) != len(words):
            mistake = f"words for {len(words)} of {len(states)} streams"
            raise InputError(mistake, expected="words for each", fix="give [] for none")
        if any(state.finished for state in states):
            raise InputError("words after the stream's end", expected="no push after finish", fix="open a new stream")
        steps = [Step(state) for state in states]
        queues = [deque(self._pieces(arrived)) for arrived in words]
        while True:
            # the streams whose windows are to be decoded: by index, whether everything that waits is final
            looks: dict[int, bool] = {}
            for index, queue in enumerate(queues):
                state, is_final = self._hear(steps[index].state, queue)
                steps[index] = replace(steps[index], state=state)
                if is_final is not None:
                    looks[index] = is_final
            if not looks:
                return steps
            self._decode(steps, looks)

    def flush(self, states: Sequence[StreamState]) -> list[Step]:
        """Commit everything that was heard, and end the sentence there, as a silence does; the streams go on."""
        steps = [Step(state) for state in states]
        self._decode(steps, _waiting(states), ends=True)
        return steps

    def finish(self, states: Sequence[StreamState]) -> list[Step]:
        """End the streams: the rest becomes final, and so does the text."""
        return [replace(step, state=replace(step.state, finished=True)) for step in self.flush(states)]

    def provisional(self, states: Sequence[StreamState]) -> list[tuple[AnnotatedWord, ...]]:
        """Return the words of each stream that are not final yet, as they look now."""
        steps = [Step(state) for state in states]
        self._decode(steps, _waiting(states), ends=False)
        return [tuple(committed.annotated for committed in step.committed) for step in steps]

    def _check(self) -> None:
        decoder = self._punctuator.config.decoding.decoder
        if self.config.policy == "delay":
            mistake = "policy delay with the decoder generate"
            check(decoder != "generate", mistake, expected="tagger", fix="drop --decoder")
            return
        is_sure = decoder != "generate" or self.config.policy != "entropy"  # whether it knows how sure it is, if asked
        answers = decoder in ("auto", "slots") or self.config.decide != "classify"  # likewise, single questions
        check(
            is_sure and answers, f"policy {self.config.policy}, decide {self.config.decide} with the decoder {decoder}",
            expected="the decoder slots, which knows how sure it is and answers questions", fix="drop --decoder",
        )  # fmt: skip
        self._punctuator.window_input([Word("a")] * self.config.window)  # raises ConfigError if it is too long

    def _pieces(self, words: Words) -> Iterator[TimedWord]:
        """Yield one item for each word, or mark that stands alone, whatever chunk it comes in."""
        if isinstance(words, bytes) or not isinstance(words, Iterable):
            raise InputError(f"words of type {type(words).__name__}", expected="a list of str", fix="give [] for none")
        arrived = [words] if isinstance(words, str) else words  # a str may hold several words, too
        for word in arrived:
            timed = word if isinstance(word, TimedWord) else TimedWord(word)
            times = whole_ms(timed.start_ms), whole_ms(timed.end_ms)
            for piece in checked_text(timed.word, may_hold_bytes=True).split():
                yield TimedWord(piece, *times)

    def _hear(self, state: StreamState, queue: deque[TimedWord]) -> tuple[StreamState, bool | None]:
        """Take words until a window must be decoded, or none are left.

        Gives the state, and whether everything that waits is final in that window: True behind a silence, False where
        the policy decides; None where no window must be decoded.
        """
        task = self._punctuator.model.task
        while queue:
            silence_ms = queue[0].silence_ms(state.end_ms)
            if state.words:
                state = state.paused(pause_of(silence_ms, task.pauses_ms))
            if state.n_waiting and silence_ms >= (self.config.max_delay_ms or math.inf):
                return state, True
            word = queue.popleft()
            [heard] = words_of(word.word, task.alphabet, opens_line=not state.n_seen)
            if not heard.has_slot:
                marked = self._add_marks(state, word.word)
                if marked is not None:  # else it is a word
                    state = marked
                    continue
            state = state.hear(heard, self._n_kept, Times(word.start_ms, word.end_ms))
            if self._policy.is_due(state):
                return state, False
        return state, None

    def _add_marks(self, state: StreamState, piece: str) -> StreamState | None:
        """Return the state after marks that stand alone; None: they are a word.

        As in a text, they are the last word's.  They are dropped, as every slot is decided anew.  Where marks are kept,
        the word gets them; if it is final already, or has as many as a slot may have, they stay as a word.
        """
        if not state.words:
            return None
        last = state.words[-1]
        reread = [*words_of(f"{last.raw} {piece}", self._punctuator.model.task.alphabet, opens_line=False)]
        if len(reread) > 1:
            return None
        if not self._punctuator.config.render.keep_marks:
            return state
        if not state.n_waiting or len(reread[0].marks) == len(last.marks):
            return None
        marked = replace(last, marks=reread[0].marks, raw=reread[0].raw, dotted=reread[0].dotted)
        return replace(state, words=(*state.words[:-1], marked))

    def _decode(self, steps: list[Step], looks: Mapping[int, bool], *, ends: bool = True) -> None:
        """Decode the newest windows of some streams, and commit what is final.

        `steps`: of all streams, those decoded are replaced; `looks`: by index in them, whether everything that waits is
        final, as a silence or the end of the stream follows; with `ends` the sentence ends there.
        """
        states = [steps[index].state for index in looks]
        if self._delay_decider is not None:
            states = self._delay_decider.read(states)
        wanted = list[Look]()
        for state, everything in zip(states, looks.values(), strict=True):
            start = min(self._policy.window_start(state), state.n_committed)
            n_asked = state.n_waiting if everything else self._policy.n_asked(state)
            window = Window(start, state.n_seen, state.n_committed, state.n_committed + n_asked)
            words = state.words[start - state.start :]
            wanted.append(Look(state, View(window, words, everything and ends, n_settled=state.n_committed)))
        for (index, everything), look, votes in zip(looks.items(), wanted, self._decider.votes(wanted), strict=True):
            n_ready = len(votes) if everything else self._policy.n_ready(look.state, votes)
            state, committed = self._commit(look.state, votes[:n_ready])
            steps[index] = Step(state, steps[index].committed + committed)

    def _commit(self, state: StreamState, votes: Sequence[Vote]) -> tuple[StreamState, tuple[Committed, ...]]:
        """Return the first waiting words, as these votes decide them, and the state once they are committed."""
        sentence = self._punctuator.first_sentence
        if state.n_committed:  # what the words before have left
            unsure_case = Case(state.unsure_case) if state.unsure_case else None
            sentence = SentencePosition(state.begins_sentence, state.opened, state.quoted, unsure_case)
        first = state.n_committed - state.start
        words = state.words[first : first + len(votes)]
        decisions = list[Decision]()
        sentence_start = state.sentence_start
        for following, (word, vote) in enumerate(zip(words, votes, strict=True), start=state.n_committed + 1):
            decided, sentence = self._punctuator.decide_words([word], [[vote]], sentence)
            decisions += decided
            if sentence.begins:  # with the word that follows
                sentence_start = following
        # what is out stays: the marks of a removed word can only go to a word that is committed together with it
        committed = list[Committed]()
        for index, written in enumerate(self._punctuator.write_words(words, decisions), start=state.n_committed):
            times = state.times_of(index)
            n_behind = state.n_seen - index - 1
            committed.append(Committed(written, n_behind, times.start_ms, times.end_ms))
        state = replace(
            state,
            n_committed=state.n_committed + len(committed),
            sentence_start=sentence_start,
            in_doubt=sentence.begins is None,
            opened=sentence.opened,
            quoted=sentence.quoted,
            unsure_case=sentence.unsure_case.value if sentence.unsure_case else "",
        )
        return state, tuple(committed)


class StreamingPunctuator:
    """One stream, which remembers where it is; `state` can be saved, and given to another one that resumes it."""

    def __init__(
        self,
        punctuator: Punctuator | str | Path | None = None,
        config: StreamConfig | None = None,
        state: StreamState | None = None,
        *,
        policy: str | None = None,
        lookahead: int | None = None,
    ) -> None:
        """Take a punctuator, or load a model by its name, `base` where none is given.

        `policy` and `lookahead` replace the config's.  Raises ConfigError as `Streams` does.
        """
        self._punctuator = punctuator if isinstance(punctuator, Punctuator) else Punctuator(punctuator or STREAM_MODEL)
        named = {"policy": policy, "lookahead": lookahead}
        chosen: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        self._streams = Streams(self._punctuator, replace(config or StreamConfig(), **chosen))
        self.state = state or StreamState()

    def __repr__(self) -> str:
        config = self._streams.config
        return f"{type(self).__name__}({self._punctuator!r}, {config.policy!r}, lookahead={config.lookahead})"

    def push(self, words: Words) -> tuple[Committed, ...]:
        """Take words that arrived; return those whose slots are now final.

        Raises InputError after `finish()`.
        """
        return self._step(self._streams.push([self.state], [words]))

    def flush(self) -> tuple[Committed, ...]:
        """Make everything final that was heard, and end the sentence, as after a silence; the stream goes on."""
        return self._step(self._streams.flush([self.state]))

    def provisional(self) -> tuple[AnnotatedWord, ...]:
        """Return the words that are not final yet, as they look now."""
        return self._streams.provisional([self.state])[0]

    def finish(self) -> tuple[Committed, ...]:
        """End the stream: the rest becomes final, with the context there is."""
        return self._step(self._streams.finish([self.state]))

    def _step(self, steps: Sequence[Step]) -> tuple[Committed, ...]:
        self.state = steps[0].state
        return steps[0].committed


def _waiting(states: Sequence[StreamState]) -> dict[int, bool]:
    """Return the streams that still have words to commit."""
    return {index: True for index, state in enumerate(states) if state.n_waiting}


def committed_events(words: Sequence[Committed], n_chars: int, decision_ms: float) -> tuple[list[dict[str, Any]], int]:
    """Return the events of words that became final, which json can hold, and how long the text is with them.

    >>> so = AnnotatedWord("so", "So,", ",", "capitalised", 0.62, 1)
    >>> events, n_chars = committed_events([Committed(so, 4, 100, 300)], 0, decision_ms=1.5)
    >>> events[0]["text"], events[0]["start"], events[0]["end_char"], n_chars
    ('So,', 0.1, 3, 3)

    n_chars: how long it was before, in characters; decision_ms: how long the model took to decide them.
    """
    events = list[dict[str, Any]]()
    for word in words:
        has_space = n_chars > 0 and not word.annotated.is_removed  # before it
        begin = n_chars + 1 if has_space else n_chars
        n_chars = begin + len(word.text)
        events.append(
            {
                **word.annotated.as_dict(),
                **seconds(word.start_ms, word.end_ms),
                "start_char": begin,  # in the text of all committed words
                "end_char": n_chars,
                "delay_words": word.delay_words,
                "decision_ms": decision_ms,
            }
        )
    return events, n_chars


def provisional_event(words: Sequence[AnnotatedWord]) -> dict[str, list[str]]:
    """Return the event of the words that are not final yet, as they look now."""
    return {"provisional": [word.text for word in words if not word.is_removed]}
