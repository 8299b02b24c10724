"""Streams: words go in as they arrive, and words with marks come out that never change again.

In: words, in chunks of any size, of one stream or of many.  Out: committed words, in order.

With a lookahead of 2, `push(["how", "are"])` commits nothing yet, `push(["you", "today"])` commits `how` and `are`, and
`finish()` commits the rest.  The output does not depend on how the words are cut into chunks (but see
`model.py`).
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
from ..model import language_warning, unknown_language
from ..punctuator import Punctuator, SentencePosition
from ..text.io.live import TimedWord, whole_ms
from ..text.languages import check_spaced
from ..text.marks import Case
from ..text.render import AnnotatedWord, Decision
from ..text.words import Word, checked_text, words_of
from ..transcripts.items import pause_of, seconds
from ..windows.plan import View, Window
from ..windows.votes import Vote
from .deciding import Classify, DelayDecider, Look, Seq2Seq
from .policies import StreamConfig, make_policy
from .state import StreamState, Times

Words = Iterable[str | TimedWord]
STREAM_MODEL = "base"  # streams must be quick: the default elsewhere is larger
_GUESS_EVERY = 20  # words, after which a stream's language is guessed again
_SPACED_AFTER = 4  # words; of fewer, a long one may be a name, not a text without spaces
_MOST_HEARD = 200  # words, after which no language is guessed any more


@dataclass(frozen=True, slots=True)
class Committed:
    """A word whose slot is final.  A removed word has no text."""

    annotated: AnnotatedWord
    delay_words: int  # how many words after it were heard before it was committed
    start_ms: int | None = None  # when it was spoken, if the source said so
    end_ms: int | None = None

    @property
    def text(self) -> str:
        """The word as it is written, with case and marks."""
        return self.annotated.text


@dataclass(frozen=True, slots=True)
class Step:
    """The state of a stream after a call, and the words that the call made final."""

    state: StreamState
    committed: tuple[Committed, ...] = ()


class Streams:
    """Any number of streams that share one model.  The caller keeps the streams' states, which are values."""

    def __init__(
        self, punctuator: Punctuator, config: StreamConfig | None = None, decider: Seq2Seq | Classify | None = None
    ) -> None:
        """decider: replaces the one that the config names.

        Raises ConfigError for a window that the model cannot read, and for a decoder that the policy cannot use.
        """
        self._punctuator = punctuator
        self.config = config or StreamConfig()
        decoder = punctuator.config.decoding.decoder
        if self.config.policy == "delay":
            mistake = "policy delay with the decoder generate"
            check(decoder != "generate", mistake, expected="tagger", fix="drop --decoder")
        else:
            lacks_entropies = self.config.policy == "entropy" and decoder == "generate"
            lacks_answers = self.config.decide == "classify" and decoder not in ("auto", "slots")
            check(
                not (lacks_entropies or lacks_answers),
                f"policy {self.config.policy}, decide {self.config.decide} with the decoder {decoder}",
                expected="the decoder slots, which knows how sure it is and answers questions", fix="drop --decoder",
            )  # fmt: skip
            punctuator.window_input([Word("a")] * self.config.window)  # raises ConfigError if it is too long
        self._policy = make_policy(self.config)
        self._n_kept = self.config.window  # words that a state holds, for the model to read
        self._decider: Seq2Seq | Classify | DelayDecider
        if decider is not None:
            self._decider = decider
        elif self.config.policy == "delay":
            self._decider = DelayDecider(punctuator, self.config.lookahead)
            self._n_kept = self._decider.n_remembered_words
        else:
            self._decider = Classify(punctuator) if self.config.decide == "classify" else Seq2Seq(punctuator)

    def push(self, states: Sequence[StreamState], words: Sequence[Words]) -> list[Step]:
        """Give each stream the words that arrived for it.  Raises InputError for a stream that is finished."""
        if len(states) != len(words):
            mistake = f"words for {len(words)} of {len(states)} streams"
            raise InputError(mistake, expected="words for each", fix="give [] for none")
        if any(state.finished for state in states):
            raise InputError("words after the stream's end", expected="no push after finish", fix="open a new stream")
        steps = [Step(state) for state in states]
        queues = [deque(self._pieces(arrived)) for arrived in words]
        # Each stream hears words up to one after which a window must be decoded, the windows of all are decoded
        # together, and the streams hear more.  So the windows are those of words that come one by one.
        while True:
            due: dict[int, bool] = {}  # by stream: whether all its waiting words become final
            for index, queue in enumerate(queues):
                state, commits_all = self._hear(steps[index].state, queue)
                steps[index] = replace(steps[index], state=state)
                if commits_all is not None:  # a window must be decoded before the stream hears more
                    due[index] = commits_all
            if not due:
                return steps
            steps = self._commit_due(steps, due)

    def flush(self, states: Sequence[StreamState], *, ends_sentence: bool = True) -> list[Step]:
        """Commit all words that were heard.  The streams go on.

        ends_sentence: whether a sentence ends there, as at a silence.
        """
        steps = [Step(state) for state in states]
        due = {index: True for index, state in enumerate(states) if state.n_waiting}
        return self._commit_due(steps, due, ends_sentence=ends_sentence)

    def finish(self, states: Sequence[StreamState]) -> list[Step]:
        """Commit all words that were heard, and end the streams."""
        return [replace(step, state=replace(step.state, finished=True)) for step in self.flush(states)]

    def provisional(self, states: Sequence[StreamState]) -> list[tuple[AnnotatedWord, ...]]:
        """Return the words of each stream that are not final yet, as they look now."""
        steps = self.flush(states, ends_sentence=False)
        return [tuple(committed.annotated for committed in step.committed) for step in steps]

    def _pieces(self, words: Words) -> Iterator[TimedWord]:
        """Yield each word, or mark that stands alone, as an item of its own: a str may hold several."""
        if isinstance(words, bytes) or not isinstance(words, Iterable):
            raise InputError(f"words of type {type(words).__name__}", expected="a list of str", fix="give [] for none")
        for word in [words] if isinstance(words, str) else words:
            timed = word if isinstance(word, TimedWord) else TimedWord(word)
            times = whole_ms(timed.start_ms), whole_ms(timed.end_ms)
            for piece in checked_text(timed.word, may_hold_bytes=True).split():
                yield TimedWord(piece, *times)

    def _hear(self, state: StreamState, queue: deque[TimedWord]) -> tuple[StreamState, bool | None]:
        """Take words from the queue until a window must be decoded, or no words are left.

        Returns the state, and what the window makes final: True, all words that wait, as a silence follows; False,
        what the policy says; None, no window must be decoded.
        """
        task = self._punctuator.model.task
        committing_silence_ms = self.config.max_delay_ms or math.inf
        while queue:
            silence_ms = queue[0].silence_ms(state.end_ms)  # between the last word and the next one
            if state.words:
                state = state.with_pause(pause_of(silence_ms, task.pauses_ms))
            if state.n_waiting and silence_ms >= committing_silence_ms:
                return state, True
            timed = queue.popleft()
            [word] = words_of(timed.word, task.alphabet, opens_line=not state.n_seen)
            marked_state = None if word.has_slot else self._add_marks(state, timed.word)
            if marked_state is not None:  # it was a mark of the last word
                state = marked_state
                continue
            state = state.hear(word, self._n_kept, Times(timed.start_ms, timed.end_ms))
            if self._policy.is_due(state):
                return state, False
        return state, None

    def _add_marks(self, state: StreamState, piece: str) -> StreamState | None:
        """Return the state after marks that stand alone; None if they cannot belong to the last word."""
        if not state.words:
            return None
        last = state.words[-1]
        [reread, *more_words] = words_of(f"{last.raw} {piece}", self._punctuator.model.task.alphabet, opens_line=False)
        if more_words:  # the piece is a word of its own
            return None
        if not self._punctuator.config.render.keep_marks:  # the model decides every slot, whatever marks it had
            return state
        is_slot_full = len(reread.marks) == len(last.marks)  # so the piece has added none
        is_committed = not state.n_waiting  # the last word and its marks are out
        if is_committed or is_slot_full:
            return None
        marked = replace(last, marks=reread.marks, raw=reread.raw, dotted=reread.dotted)
        return replace(state, words=(*state.words[:-1], marked))

    def _commit_due(self, steps: Sequence[Step], due: Mapping[int, bool], *, ends_sentence: bool = True) -> list[Step]:
        """Decode the newest windows of some streams, and commit what is final; return the steps of all streams.

        due: the streams to decode, by their indices; True if a silence or the end follows, which makes all waiting
        words final.  ends_sentence: whether such a silence or end also ends the sentence.
        """
        steps = [*steps]
        states = [steps[index].state for index in due]
        if isinstance(self._decider, DelayDecider):  # its encoder reads each word once, and remembers it in the state
            states = self._decider.read(states)
        looks = list[Look]()
        for state, commits_all in zip(states, due.values(), strict=True):
            start = min(self._policy.window_start(state), state.n_committed)
            n_candidates = state.n_waiting if commits_all else self._policy.n_candidates(state)
            window = Window(
                start, stop=state.n_seen, keep_start=state.n_committed, keep_stop=state.n_committed + n_candidates
            )
            view = View(
                window, state.words[start - state.start :],
                is_last=commits_all and ends_sentence, n_settled=state.n_committed,
            )  # fmt: skip
            looks.append(Look(state, view))
        for (index, commits_all), look, votes in zip(due.items(), looks, self._decider.votes(looks), strict=True):
            n_final = len(votes) if commits_all else self._policy.n_final(look.state, votes)
            state, committed = self._commit(look.state, votes[:n_final])
            steps[index] = Step(state, steps[index].committed + committed)
        return steps

    def _commit(self, state: StreamState, votes: Sequence[Vote]) -> tuple[StreamState, tuple[Committed, ...]]:
        """Commit the first waiting words, one for each vote.  Return the new state, and these words."""
        sentence = self._punctuator.first_sentence
        if state.n_committed:  # go on where the last committed word ended
            begins = None if state.in_doubt else state.n_committed == state.sentence_start
            unsure_case = Case(state.unsure_case) if state.unsure_case else None
            sentence = SentencePosition(begins, state.opened, state.quoted, unsure_case)
        first = state.n_committed - state.start
        words = state.words[first : first + len(votes)]
        decisions = list[Decision]()
        sentence_start = state.sentence_start
        for index, (word, vote) in enumerate(zip(words, votes, strict=True), start=state.n_committed):
            decided, sentence = self._punctuator.decide_words([word], [[vote]], sentence)
            decisions += decided
            if sentence.begins:  # with the next word
                sentence_start = index + 1
        # a committed word never changes: a removed word's marks can only go to a word that is committed with it
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
    """One stream.  Its `state` can be saved, and given to another `StreamingPunctuator`, which goes on from there."""

    def __init__(
        self,
        punctuator: Punctuator | str | Path | None = None,
        config: StreamConfig | None = None,
        state: StreamState | None = None,
        *,
        policy: str | None = None,
        lookahead: int | None = None,
    ) -> None:
        """Begin a stream, or resume one from a `state`.

        punctuator: or the name of a model to load; None: `base`.  policy, lookahead: replace the config's.
        Raises ConfigError as `Streams` does.
        """
        self._punctuator = punctuator if isinstance(punctuator, Punctuator) else Punctuator(punctuator or STREAM_MODEL)
        named: dict[str, Any] = {"policy": policy, "lookahead": lookahead}
        changes = {name: value for name, value in named.items() if value is not None}
        self._streams = Streams(self._punctuator, replace(config or StreamConfig(), **changes))
        self.state = state or StreamState()

    def __repr__(self) -> str:
        config = self._streams.config
        return f"{type(self).__name__}({self._punctuator!r}, {config.policy!r}, lookahead={config.lookahead})"

    def push(self, words: Words) -> tuple[Committed, ...]:
        """Take words that arrived, and return the words that became final.  Raises InputError after `finish()`."""
        return self._step(self._streams.push([self.state], [words]))

    def flush(self) -> tuple[Committed, ...]:
        """Make all words final that were heard, and end the sentence, as a silence does.  The stream goes on."""
        return self._step(self._streams.flush([self.state]))

    def provisional(self) -> tuple[AnnotatedWord, ...]:
        """Return the words that are not final yet, as they look now."""
        return self._streams.provisional([self.state])[0]

    def finish(self) -> tuple[Committed, ...]:
        """Make all words final that were heard, and end the stream."""
        return self._step(self._streams.finish([self.state]))

    def _step(self, steps: Sequence[Step]) -> tuple[Committed, ...]:
        self.state = steps[0].state
        return steps[0].committed


def committed_events(words: Sequence[Committed], n_chars: int, decision_ms: float) -> tuple[list[dict[str, Any]], int]:
    """Return the events of words that became final, as values for JSON, and the text's new length in characters.

    >>> so = AnnotatedWord("so", "So,", ",", "capitalised", 0.62, 1)
    >>> events, n_chars = committed_events([Committed(so, 4, 100, 300)], 0, decision_ms=1.5)
    >>> events[0]["text"], events[0]["start"], events[0]["end_char"], n_chars
    ('So,', 0.1, 3, 3)

    n_chars: the text's length before these words; decision_ms: how long the model took to decide them.
    """
    events = list[dict[str, Any]]()
    for word in words:
        has_space_before = n_chars > 0 and not word.annotated.is_removed
        begin = n_chars + 1 if has_space_before else n_chars
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
    """Return the event of words that are not final yet, as they look now."""
    return {"provisional": [word.text for word in words if not word.is_removed]}


class LanguageWatch:
    """Hears the first words of a stream, and warns once if they are in a language that the model does not know.

    >>> german = LanguageWatch("large")
    >>> german.hear("wie geht es dir") is None  # too little
    True
    >>> german.end()[:69]
    'the text seems to be in German, which the model large does not know, '
    """

    def __init__(self, model_name: str) -> None:
        self._model_name = model_name
        self._heard = list[str]()
        self._is_over = False

    def hear(self, text: str) -> str | None:
        """Take more words; return a warning if there is one by now.  Raises InputError for words without spaces."""
        if self._is_over:
            return None
        n_before = len(self._heard)
        self._heard += text.split()
        if n_before < _GUESS_EVERY and len(self._heard) >= _SPACED_AFTER:
            check_spaced(self._heard, "the text")
        is_time = len(self._heard) // _GUESS_EVERY > n_before // _GUESS_EVERY
        return self._guess() if is_time else None

    def end(self) -> str | None:
        """Return a warning about all words; None after 200 of them or an earlier one.  Raises InputError as `hear`."""
        check_spaced(self._heard, "the text")
        return None if self._is_over else self._guess()

    def _guess(self) -> str | None:
        language = unknown_language(self._model_name, self._heard)
        self._is_over = language is not None or len(self._heard) >= _MOST_HEARD
        return None if language is None else language_warning(self._model_name, language)
