"""How waiting slots get their votes: by writing the window (seq2seq), by questions about single slots (classify), or by
the tagger of a model that reads each new word once (policy `delay`).

In: `Look`s at streams.  Out: for each, the votes of its first waiting slots, in order.

If the words `how are you` wait and the lookahead is 2, one slot is asked for: that of `how`.  With a delay of 2 words,
`read` of a stream that has heard `how are you` computes one column for `you`, after which the state of `how` is final.
`votes` also decides slots that are not final yet, where a silence or the end of the text follows: from what is
remembered, as if no more words came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..decoding.classify import Classifier, Question, SlotClassifier
from ..decoding.tagging import TagDecoder
from ..punctuator import Punctuator
from ..text.marks import Case
from ..text.words import Word
from ..windows.plan import View
from ..windows.votes import Distribution, Vote
from .kv_cache import Memory, StreamEncoder, Tokens
from .state import StreamState


@dataclass(frozen=True, slots=True)
class Look:
    """A stream and the part of it that the model reads; asked for are the slots that the view's window may decide."""

    state: StreamState
    view: View[Word]

    @property
    def slots(self) -> range:
        """The places of these slots in the window."""
        window = self.view.window
        return range(window.keep_start - window.start, window.keep_stop - window.start)


class Decider(Protocol):
    """A way to get votes."""

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        """Return, for each look, a vote on each slot that its window may decide; all are decoded in one batch."""


class Seq2Seq:
    """All slots of the window are written; those that wait are taken."""

    def __init__(self, punctuator: Punctuator) -> None:
        self._punctuator = punctuator

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        votes_of_windows = self._punctuator.window_votes([look.view for look in looks])
        pairs = zip(looks, votes_of_windows, strict=True)
        return [votes[look.slots.start : look.slots.stop] for look, votes in pairs]


class Classify:
    """Each slot is asked about alone; answers have no case: only first words and known names get capitals."""

    def __init__(self, punctuator: Punctuator, classifier: Classifier | None = None) -> None:
        """Raises ConfigError for a model that does not know the task; `classifier`, if given, answers instead of it."""
        self._punctuator = punctuator
        self._classifier = classifier or SlotClassifier(punctuator.model, punctuator.decoding)

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        questions = list[Question]()
        for look in looks:
            window = self._punctuator.window_input(look.view.words)
            questions += [Question(window, slot) for slot in look.slots]
        answers = iter(self._classifier.decode(questions))
        return [tuple(self._vote(look, slot, next(answers)) for slot in look.slots) for look in looks]

    def _vote(self, look: Look, slot: int, answer: Distribution) -> Vote:
        vote = Vote(answer, {Case.VERBATIM.value: 1.0}, 1.0, slot, len(look.view.words) - slot - 1)
        return self._punctuator.apply_known(look.view, slot, vote)


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
        memories = [self._memory_of(state) for state in states]
        unread = [self._tokens(state, memory.n_words) for state, memory in zip(states, memories, strict=True)]
        return [
            replace(state, memory=memory, n_read=state.n_seen, n_tokens=memory.n_tokens - self._encoder.n_prefix)
            for state, memory in zip(states, self._encoder.read(memories, unread), strict=True)
        ]

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        """Return the votes of the slots asked for, of streams that were `read`."""
        memories = [look.state.memory for look in looks if look.state.memory is not None]
        known = [memory.final for memory in memories]  # the tokens whose states are final
        delay = self._encoder.delay.words
        # looks that ask for slots whose states are not: the text ends there
        ended = [index for index, look in enumerate(looks) if look.view.window.keep_stop > look.state.n_seen - delay]
        tails = self._encoder.tails([memories[index] for index in ended])
        for index, tail in zip(ended, tails, strict=True):
            known[index] = known[index].then(tail)
        return [self._votes_of(look, tokens) for look, tokens in zip(looks, known, strict=True)]

    def _votes_of(self, look: Look, known: Tokens) -> tuple[Vote, ...]:
        """Return the votes of one stream; known: the states of words, those of the look among them."""
        words = look.view.words[: look.slots.stop]
        first = known.words.index(look.view.window.start) if words else 0  # of `known`, which may begin before them
        window = self._punctuator.window_input(words)
        tagged = self._tagger.tag(known.rows[first : first + len(words)], [window])
        (votes,) = self._tagger.votes_of([window], [len(words)], tagged)
        return tuple(self._punctuator.apply_known(look.view, place, votes[place]) for place in look.slots)

    def _memory_of(self, state: StreamState) -> Memory:
        """Return a stream's memory; after a resume, one that has heard nothing of the words that the state holds.

        So it is with a memory of another lookahead, style or model, and with one that other policies left behind.
        """
        memory = state.memory
        if memory is not None and memory.n_words >= state.start and self._encoder.owns(memory):
            return memory
        # the words that the state holds are read again; positions are counted from the tokens that stood before them
        n_read_again = max(0, state.n_read - state.start)
        words_read = self._tokens(state, state.start)[:n_read_again]
        n_tokens_before = state.n_tokens - sum(map(len, words_read))
        return self._encoder.begin(state.start, max(0, n_tokens_before))

    def _tokens(self, state: StreamState, first: int) -> list[tuple[int, ...]]:
        """Return the tokens of a stream's words from the `first` on, each behind the silence before it."""
        tokenizer = self._punctuator.model.tokenizer
        held = state.words
        tokens = list[tuple[int, ...]]()
        for index in range(first - state.start, len(held)):
            opens_input = state.start + index == 0 and not self._encoder.n_prefix  # no token stands before it
            [word] = self._punctuator.window_input(held[index : index + 1]).words
            ids = tuple(tokenizer.word_ids(word, first=opens_input))
            if index and held[index - 1].pause and tokenizer.pause_ids:
                # a longer silence than the task knows is its longest
                n_reached = min(held[index - 1].pause, len(tokenizer.pause_ids))
                ids = (tokenizer.pause_ids[n_reached - 1], *ids)
            tokens.append(ids)
        return tokens
