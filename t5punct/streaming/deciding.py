"""How waiting slots get their votes.  A model writes the whole window (seq2seq), answers a question about each slot
(classify), or reads each new word once and tags it (policy `delay`).

In: `Look`s at streams.  Out: for each, the votes of its first waiting slots, in order.  If the words `how are you` wait
and the lookahead is 2, only the slot of `how` gets a vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..decoding.classify import Question, SlotClassifier
from ..decoding.tagging import TagDecoder
from ..punctuator import Punctuator
from ..text.marks import Case
from ..text.words import Word
from ..windows.plan import View
from ..windows.votes import Vote
from .kv_cache import Memory, StreamEncoder
from .state import StreamState


@dataclass(frozen=True, slots=True)
class Look:
    """A stream, and the part of it that the model reads.  The slots that the view's window keeps are to be decided."""

    state: StreamState
    view: View[Word]

    @property
    def slots(self) -> range:
        """The indices, in the window, of the slots to be decided."""
        window = self.view.window
        return range(window.keep_start - window.start, window.keep_stop - window.start)


@dataclass(frozen=True)
class Seq2Seq:
    """Lets the model write all slots of the window, and takes the votes on those to be decided."""

    punctuator: Punctuator

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        """Return, for each look, a vote on each slot to be decided."""
        votes_of_windows = self.punctuator.window_votes([look.view for look in looks])
        return [votes[look.slots.start : look.slots.stop] for look, votes in zip(looks, votes_of_windows, strict=True)]


class Classify:
    """Asks the model about each slot alone.  Answers have no case: only first words and known names get capitals."""

    def __init__(self, punctuator: Punctuator, classifier: SlotClassifier | None = None) -> None:
        """Raises ConfigError for a model that was not trained for such questions, unless `classifier` answers them."""
        self._punctuator = punctuator
        self._classifier = classifier or SlotClassifier(punctuator.model, punctuator.decoding)

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        questions = list[Question]()
        for look in looks:
            window = self._punctuator.window_input(look.view.words)
            questions += [Question(window, slot) for slot in look.slots]
        answers = iter(self._classifier.decode(questions))
        all_votes = list[tuple[Vote, ...]]()
        for look in looks:
            votes = list[Vote]()
            for slot in look.slots:
                vote = Vote(next(answers), {Case.VERBATIM.value: 1.0}, 1.0, slot, len(look.view.words) - slot - 1)
                votes.append(self._punctuator.apply_known(look.view, slot, vote))
            all_votes.append(tuple(votes))
        return all_votes


class DelayDecider:
    """Reads each new word of a stream once, and lets the model's tagger decide slots whose states are final."""

    def __init__(self, punctuator: Punctuator, lookahead: int) -> None:
        """Raises ConfigError for a model without a tagger."""
        model = punctuator.model
        decoding = replace(punctuator.decoding, decoder="tagger", delay_words=lookahead)
        self._punctuator = punctuator
        self._tagger = TagDecoder(model, decoding)
        assert self._tagger.delay is not None  # noqa: S101  (`decoding` has one)
        self._encoder = StreamEncoder(model, self._tagger.delay, decoding.style)
        # how many of a stream's last words its state must hold, for `read` to go on after the stream is resumed
        self.n_remembered_words = self._encoder.n_remembered_words

    def read(self, states: Sequence[StreamState]) -> list[StreamState]:
        """Return the states once the model has read all their words.  All streams are computed together."""
        memories = [self._memory_of(state) for state in states]
        unread = [self._tokens(state, memory.n_words) for state, memory in zip(states, memories, strict=True)]
        return [
            replace(state, memory=memory, n_read=state.n_seen, n_tokens=memory.n_tokens - self._encoder.n_prefix)
            for state, memory in zip(states, self._encoder.read(memories, unread), strict=True)
        ]

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        """Return, for each look, a vote on each slot to be decided.  `read` must have read the streams."""
        memories = [look.state.memory for look in looks if look.state.memory is not None]
        word_states = [memory.final for memory in memories]
        delay = self._encoder.delay.words
        # a silence, or the end of the text, lets a look decide slots whose states are not final
        ended = [index for index, look in enumerate(looks) if look.view.window.keep_stop > look.state.n_seen - delay]
        tails = self._encoder.tails([memories[index] for index in ended])
        for index, tail in zip(ended, tails, strict=True):
            word_states[index] = word_states[index].then(tail)
        all_votes = list[tuple[Vote, ...]]()
        for look, states in zip(looks, word_states, strict=True):
            words = look.view.words[: look.slots.stop]
            first = states.words.index(look.view.window.start) if words else 0  # states may begin before the words
            window = self._punctuator.window_input(words)
            tagged = self._tagger.tag(states.rows[None], [range(first, first + len(words))], [window])
            [votes] = self._tagger.votes_of([window], [len(words)], tagged)
            all_votes.append(tuple(self._punctuator.apply_known(look.view, slot, votes[slot]) for slot in look.slots))
        return all_votes

    def _memory_of(self, state: StreamState) -> Memory:
        """Return a stream's memory, or a new one that has heard none of the words that the state holds.

        It is new after a resume, and if the state's memory is of another lookahead, style, model or policy.
        """
        memory = state.memory
        if memory is not None and memory.n_words >= state.start and memory.owner == self._encoder.owner:
            return memory
        # The model will read the words of the state again.  `n_tokens` counts them as read: without them it is the
        # position of the first one.
        n_read_again = max(0, state.n_read - state.start)
        words_read = self._tokens(state, state.start)[:n_read_again]
        n_tokens_before = state.n_tokens - sum(map(len, words_read))
        return self._encoder.begin(state.start, max(0, n_tokens_before))

    def _tokens(self, state: StreamState, first: int) -> list[tuple[int, ...]]:
        """Return each word's tokens, from word `first` of the stream on.  A pause before a word is its first token."""
        tokenizer = self._punctuator.model.tokenizer
        tokens = list[tuple[int, ...]]()
        for index in range(first - state.start, len(state.words)):
            opens_input = state.start + index == 0 and not self._encoder.n_prefix  # no token stands before it
            [word] = self._punctuator.window_input(state.words[index : index + 1]).words
            ids = tuple(tokenizer.word_ids(word, first=opens_input))
            pause_before = state.words[index - 1].pause if index else 0  # 0: the stream's first word
            if pause_before and tokenizer.pause_ids:
                # a pause longer than the longest of the task counts as that
                longest_pause = len(tokenizer.pause_ids)
                ids = (tokenizer.pause_ids[min(pause_before, longest_pause) - 1], *ids)
            tokens.append(ids)
        return tokens
