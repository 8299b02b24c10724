"""Policy `delay`: a stream's new words are read once, and the slots that this makes final are decided by the tagger.

In: streams with new words.  Out: the same with the model's memory of them; and votes on waiting slots.

With a delay of 2 words, `read` of a stream that has heard `how are you` computes one column for `you`, after which the
state of `how` is final.  `votes` also decides slots that are not final yet, where a silence or the end of the text
follows: from what is remembered, as if no more words came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..decoding.tagging import TagDecoder
from ..punctuator import Punctuator
from ..windows.votes import Vote
from .deciding import Look
from .kv_cache import Memory, StreamEncoder, Tokens
from .state import StreamState


@dataclass(frozen=True, slots=True)
class _Unread:
    """A stream's memory, and the tokens of the words that it does not know yet."""

    memory: Memory
    words: list[tuple[int, ...]]


class DelayDecider:
    """A model that reads streams word by word, and its tagger."""

    def __init__(self, punctuator: Punctuator, lookahead: int) -> None:
        """Raises ConfigError for a model without a tagger."""
        model = punctuator.model
        decoding = replace(punctuator.decoding, decoder="tagger", delay_words=lookahead)
        self._punctuator = punctuator
        self._tagger = TagDecoder(model, decoding)
        assert self._tagger.delay is not None  # noqa: S101  (the config has one)
        self._encoder = StreamEncoder(model, self._tagger.delay, decoding.style)

    @property
    def n_remembered_words(self) -> int:
        """The last words of a stream that its state must hold."""
        return self._encoder.n_remembered_words

    def read(self, states: Sequence[StreamState]) -> list[StreamState]:
        """Return the states once the model has read all their words; several streams are computed together."""
        unread = [self._unread(state) for state in states]
        memories = self._encoder.read([part.memory for part in unread], [part.words for part in unread])
        return [
            replace(state, memory=memory, n_read=state.n_seen, n_tokens=memory.n_tokens - self._encoder.n_prefix)
            for state, memory in zip(states, memories, strict=True)
        ]

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        """Return the votes of the slots asked for, of streams that were `read`."""
        memories = [look.state.memory for look in looks if look.state.memory is not None]
        delay = self._encoder.delay.words
        open_ended = [
            place for place, look in enumerate(looks) if look.view.window.keep_stop > look.state.n_seen - delay
        ]
        tails = dict(zip(open_ended, self._encoder.tails([memories[place] for place in open_ended]), strict=True))
        return [
            self._votes_of(look, memories[place].final.then(tails[place]) if place in tails else memories[place].final)
            for place, look in enumerate(looks)
        ]

    def _votes_of(self, look: Look, known: Tokens) -> tuple[Vote, ...]:
        """The votes of one stream; known: the states of words, those of the look among them."""
        words = look.view.words[: look.slots.stop]
        first = known.words.index(look.view.window.start) if words else 0
        window = self._punctuator.window_input(words)
        tagged = self._tagger.tag(known.rows[first : first + len(words)], [window])
        (votes,) = self._tagger.votes_of([window], [len(words)], tagged)
        return tuple(self._punctuator.apply_known(look.view, place, votes[place]) for place in look.slots)

    def _unread(self, state: StreamState) -> _Unread:
        """The words that a stream's memory lacks; all that the state holds if it has none, after a resume.

        So it is with a memory of another lookahead, style or model, and with one that other policies left behind.
        """
        memory = state.memory
        if memory is not None and memory.n_words >= state.start and self._encoder.owns(memory):
            return _Unread(memory, self._tokens(state, memory.n_words))
        tokens = self._tokens(state, state.start)
        # so many tokens stood before the words that the state holds, when it was saved
        n_dropped = state.n_tokens - sum(map(len, tokens[: max(0, state.n_read - state.start)]))
        return _Unread(self._encoder.begin(state.start, max(0, n_dropped)), tokens)

    def _tokens(self, state: StreamState, first: int) -> list[tuple[int, ...]]:
        """The tokens of a stream's words from the `first` on, each behind the silence before it."""
        tokenizer = self._punctuator.model.tokenizer
        held = state.words
        tokens = []
        for place in range(first - state.start, len(held)):
            opens = not (state.start + place or self._encoder.n_prefix)
            (word,) = self._punctuator.window_input(held[place : place + 1]).words
            silence = tokenizer.silence_ids(held[place - 1].pause if place else 0)
            tokens.append((*silence, *tokenizer.word_ids(word, first=opens)))
        return tokens
