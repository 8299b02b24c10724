"""The delayed encoder, word by word: a new word costs one column, and no state is computed twice (`t5/delay.py`).

In: what is remembered of some streams, and the tokens of the words that came.  Out: what is remembered now, with the
states of the words that became final.

In each layer a word's key and value are computed when the layer below is done with it, and its state once the words
that the layer looks ahead to have come.  With look-aheads of 0, 1 and 1 words, the fifth word of a text moves:

    layer 3  w w W - -        final is the third word
    layer 2  w w w W -        its own words, and those that wait below
    layer 1  w w w w W        W is computed now, w is remembered, - has to wait

Keys and values are kept as far as the layer sees to the left, those of the prefix always.  What looks at one token
alone, most of the work, runs on the columns of all streams end to end; attention runs on words that see as many keys.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from ..model import Model
from ..t5.delay import PREFIX, Delay
from ..t5.encoder import Encoder, EncoderLayer

Word = Sequence[int]  # the tokens of one word

_SPARE_ROWS = 32  # of keys that are copied: about twenty words, after which they are copied again


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one stream.

    rows: (n_tokens, n_channels), states or keys; words, positions: of each token its word and its place, ascending.
    """

    rows: torch.Tensor
    words: tuple[int, ...]
    positions: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    def part(self, chosen: slice) -> Tokens:
        return Tokens(self.rows[chosen], self.words[chosen], self.positions[chosen])

    def then(self, more: Tokens) -> Tokens:
        return Tokens(torch.cat([self.rows, more.rows]), self.words + more.words, self.positions + more.positions)

    def with_rows(self, rows: torch.Tensor) -> Tokens:
        """Return other rows of the same tokens."""
        return Tokens(rows, self.words, self.positions)


class _Room:
    """Rows of keys, with room for more behind them, which the `Keys` of one history share.

    A stream's next `Keys` write behind those before, which stay valid: rows that were written are never changed.
    """

    def __init__(self, rows: torch.Tensor, n_spare: int = _SPARE_ROWS) -> None:
        self.rows = rows.new_empty(len(rows) + n_spare, rows.shape[1])
        self.rows[: len(rows)] = rows
        self.n_taken = len(rows)  # how many are written


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys and values of tokens of one stream in one layer: a value, which grows without being copied each time.

    start: of its first row in the room; rows: (n_keys, 2 * n_heads * d_kv); words, positions: as `Tokens` has them.
    """

    room: _Room
    start: int
    words: tuple[int, ...]
    positions: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def rows(self) -> torch.Tensor:
        return self.room.rows[self.start : self.start + len(self)]

    def part(self, start: int, stop: int | None = None) -> Keys:
        return Keys(self.room, self.start + start, self.words[start:stop], self.positions[start:stop])

    def then(self, tokens: Tokens, rows: torch.Tensor) -> Keys:
        """Return these, and behind them the keys and values of more tokens."""
        words = self.words + tokens.words
        positions = self.positions + tokens.positions
        stop = self.start + len(self)
        room = self.room
        is_taken = room.n_taken != stop  # another stream went on from the same state, or this one from an older state
        if is_taken or stop + len(rows) > len(room.rows):
            return Keys(_Room(torch.cat([self.rows, rows])), 0, words, positions)
        room.rows[stop : stop + len(rows)] = rows
        room.n_taken += len(rows)
        return Keys(room, self.start, words, positions)


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """One layer of one stream: keys and values, but for those of the prefix, and inputs that wait for words."""

    keys: Keys
    waiting: Tokens


@dataclass(frozen=True, slots=True)
class _Sight:
    """Tokens of one word, which are ready, and what they see beside the prefix.

    rows: their places among all that are ready; positions: their own.
    """

    rows: range
    positions: tuple[int, ...]
    keys: Keys


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of a stream; a value, its size is bounded.

    n_words, n_tokens: heard so far, the tokens with those of the prefix; final: the states of the last tokens of words,
    those that became final with the newest words, and the one before them; owner: what tells encoders apart whose
    memories are not the same.
    """

    layers: tuple[LayerMemory, ...]
    n_words: int
    n_tokens: int
    final: Tokens
    owner: tuple[object, ...]


class StreamEncoder:
    """A model's encoder with a delay, ready to read streams."""

    def __init__(self, model: Model, delay: Delay, style: str | None = None) -> None:
        network: Any = model.network
        encoder = network.encoder
        self._stack = Encoder(encoder)
        self._stack.check_delay()
        self.delay = delay
        self._look_aheads = delay.look_aheads(len(self._stack.layers))
        self._words_waited = [0, *accumulate(self._look_aheads)]  # the words that each layer's input has waited for
        source = model.tokenizer.source([], style)
        self._prefix = source.ids[: source.n_prefix]
        self._farthest = self._stack.farthest  # tokens; from there on all are equally far
        self._owner = (encoder, delay, self._prefix)
        with torch.inference_mode():
            self._biases = self._stack.position_biases()
            self._start = self._blank()
            # of each layer the prefix' keys and values, which all words see; none while the prefix itself is read
            self._prefix_keys = [layer.keys.rows for layer in self._start.layers]
            if self._prefix:
                prefix = self._tokens(self._prefix, [PREFIX] * self.n_prefix, range(self.n_prefix))
                (prefix_memory,) = self._read_columns([self._start], [prefix], whole=False)
                self._prefix_keys = [layer.keys.rows for layer in prefix_memory.layers]

    @property
    def n_prefix(self) -> int:
        return len(self._prefix)

    def owns(self, memory: Memory) -> bool:
        """Return whether it goes on with this memory: that of the same network, delay and style."""
        return memory.owner == self._owner

    @property
    def n_remembered_words(self) -> int:
        """The last words of a stream, from which all that is remembered can be computed again.

        The newest words that are not final, all that their states depend on, the word before them, of whose slot the
        next capital asks, and one more, which says whether a silence stood before that.
        """
        return self.delay.reach_words(len(self._look_aheads)) + self.delay.words + 3

    def begin(self, n_words: int = 0, n_tokens: int = 0) -> Memory:
        """Return the memory of a stream that has heard so many words, of so many tokens, and remembers none of them."""
        return replace(self._start, n_words=n_words, n_tokens=self.n_prefix + n_tokens)

    @torch.inference_mode()
    def read(self, memories: Sequence[Memory], words: Sequence[Sequence[Word]]) -> list[Memory]:
        """Return the streams' memories once each has heard these words."""
        heard = list[Memory]()
        incoming = list[Tokens]()
        for memory, new_words in zip(memories, words, strict=True):
            ids = list[int]()
            owners = list[int]()
            for index, word in enumerate(new_words, start=memory.n_words):
                ids += word
                owners += [index] * len(word)
            n_tokens = memory.n_tokens + len(ids)
            incoming.append(self._tokens(ids, owners, range(memory.n_tokens, n_tokens)))
            heard.append(replace(memory, n_words=memory.n_words + len(new_words), n_tokens=n_tokens))
        return self._read_columns(heard, incoming, whole=False)

    @torch.inference_mode()
    def tails(self, memories: Sequence[Memory]) -> list[Tokens]:
        """Return the states of words that are not final yet, as if the streams ended here; what is remembered stays."""
        nothing = self._tokens([], [], [])
        tails = list[Tokens]()
        for ended in self._read_columns(memories, [nothing] * len(memories), whole=True):
            last_final_word = ended.n_words - 1 - self.delay.words
            n_final = _count(ended.final.words, last_final_word)
            tails.append(ended.final.part(slice(n_final, None)))
        return tails

    def _blank(self) -> Memory:
        """Return a memory of no tokens."""
        nothing = self._tokens([], [], [])
        first = self._stack.layers[0]
        # no spare rows: all streams begin with this room, and the first to write into it would take it from the others
        no_room = _Room(_keys_and_values(first, first.read(nothing.rows)), n_spare=0)
        layer = LayerMemory(Keys(no_room, 0, (), ()), nothing)
        return Memory((layer,) * len(self._look_aheads), 0, 0, nothing, self._owner)

    def _read_columns(self, memories: Sequence[Memory], incoming: Sequence[Tokens], *, whole: bool) -> list[Memory]:
        """Run new tokens, those of each stream, up through the layers; return what is remembered of the streams then.

        A token passes a layer once all words that the layer may look ahead to were heard; else it waits there.
        `whole`: the text ends, so no token waits.
        """
        if not memories:
            return []
        new_layers: list[list[LayerMemory]] = [[] for _ in memories]  # of each stream
        for index, layer in enumerate(self._stack.layers):
            keyed = self._add_inputs(layer, [memory.layers[index] for memory in memories], incoming)
            ready = list[Tokens]()
            for memory, own, new in zip(memories, keyed, new_layers, strict=True):
                last_word = memory.n_words - 1 - self._words_waited[index + 1]
                n_ready = len(own.waiting) if whole else _count(own.waiting.words, last_word)
                ready.append(own.waiting.part(slice(n_ready)))
                new.append(LayerMemory(own.keys, own.waiting.part(slice(n_ready, None))))
            incoming = self._states(index, keyed, ready)  # of the next layer
        heard = list[Memory]()
        for memory, new, outputs in zip(memories, new_layers, incoming, strict=True):
            ends = _word_ends(outputs)
            final = ends.with_rows(self._stack.finish(ends.rows))
            last_before = memory.final.part(slice(-1, None))  # the state of the word before those
            heard.append(replace(memory, layers=tuple(new), final=last_before.then(final)))
        return heard

    def _add_inputs(
        self, layer: EncoderLayer, known: Sequence[LayerMemory], incoming: Sequence[Tokens]
    ) -> list[LayerMemory]:
        """Return what a layer remembers of streams once it has new inputs: their keys and values.

        The inputs themselves wait, behind those that do.  Keys that no word will see any more are dropped.
        """
        rows = torch.cat([tokens.rows for tokens in incoming])
        if not len(rows):
            return list(known)
        keys = _keys_and_values(layer, layer.read(rows)).split_with_sizes([len(tokens) for tokens in incoming])
        layers = list[LayerMemory]()
        for memory, inputs, key in zip(known, incoming, keys, strict=True):
            if len(inputs):
                waiting = memory.waiting.then(inputs)
                last_unseen_word = (
                    waiting.words[0] - self.delay.left_words - 1
                )  # by those that wait, and all later ones
                n_unseen = _count(memory.keys.words, last_unseen_word)
                layers.append(LayerMemory(memory.keys.part(n_unseen).then(inputs, key), waiting))
            else:
                layers.append(memory)
        return layers

    def _states(self, index: int, memories: Sequence[LayerMemory], ready: Sequence[Tokens]) -> list[Tokens]:
        """Return a layer's outputs for the inputs whose delay is over."""
        rows = torch.cat([tokens.rows for tokens in ready])
        layer = self._stack.layers[index]
        if not len(rows):
            return list(ready)
        attended = self._attend(index, layer.queries(layer.read(rows)), self._sights(index, memories, ready))
        states = layer.finish(rows, attended).split_with_sizes([len(tokens) for tokens in ready])
        return [tokens.with_rows(part) for tokens, part in zip(ready, states, strict=True)]

    def _sights(self, index: int, memories: Sequence[LayerMemory], ready: Sequence[Tokens]) -> list[_Sight]:
        """Return what each ready word sees in layer `index`, stream by stream.

        memories, ready: of each stream, what the layer remembers, and the tokens that may be computed now.
        """
        sights = list[_Sight]()
        n_rows = 0
        for memory, tokens in zip(memories, ready, strict=True):
            start = 0
            for word, tokens_of_word in groupby(tokens.words):
                stop = start + len(list(tokens_of_word))
                rows = range(n_rows + start, n_rows + stop)  # the tokens of all streams stand end to end
                seen = keys_in_sight(memory.keys.words, word, self._look_aheads[index], self.delay.left_words)
                sights.append(_Sight(rows, tokens.positions[start:stop], memory.keys.part(seen.start, seen.stop)))
                start = stop
            n_rows += start
        return sights

    def _attend(self, index: int, queries: torch.Tensor, sights: Sequence[_Sight]) -> torch.Tensor:
        """Attention of all inputs that are ready: (n_tokens, n_heads * d_kv) -> the same shape.

        A word meets the keys in its sight and no others, and what is computed in one call has the same shape, so its
        sums are the same whatever is read with it.  Hidden keys would change the order of a sum, and rounding to int8
        makes much of a last digit.
        """
        attended = torch.empty_like(queries)
        for _, alike in groupby(sorted(sights, key=_shape), key=_shape):
            words = list(alike)
            rows = torch.tensor([word.rows for word in words], device=queries.device)
            attended[rows] = self._attend_words(index, queries[rows], words)
        return attended

    def _attend_words(self, index: int, queries: torch.Tensor, words: Sequence[_Sight]) -> torch.Tensor:
        """Attention of words of one shape: (n_words, n_tokens, n_heads * d_kv) -> the same shape."""
        layer = self._stack.layers[index]
        n_keys = len(words[0].keys)
        prefix = self._prefix_keys[index]
        # (n_words, n_seen, 2 * n_heads * d_kv): keys and values of the prefix, then those in sight of the word
        seen = queries.new_empty(len(words), len(prefix) + n_keys, prefix.shape[-1])
        seen[:, : len(prefix)] = prefix
        for place, word in enumerate(words):
            seen[place, len(prefix) :] = word.keys.rows
        keys, values = seen.chunk(2, -1)
        places = torch.tensor([word.positions for word in words], device=queries.device)
        key_places = torch.tensor(
            [(*range(len(prefix)), *word.keys.positions) for word in words], device=queries.device
        )
        distances = (key_places[:, None] - places[:, :, None]).clamp_(-self._farthest, self._farthest)
        bias = self._biases[index][:, distances + self._farthest].transpose(0, 1)
        # heads of all words in one dimension: with two, torch takes a way whose sums depend on how threads share it
        attended = scaled_dot_product_attention(
            _by_heads(queries, layer.n_heads),
            _by_heads(keys, layer.n_heads),
            _by_heads(values, layer.n_heads),
            attn_mask=bias.flatten(0, 1),
            scale=layer.scale,
        )
        return attended.view(len(words), layer.n_heads, *attended.shape[1:]).transpose(1, 2).flatten(2)

    def _tokens(self, ids: Sequence[int], words: Sequence[int], positions: Sequence[int]) -> Tokens:
        embedded = self._stack.embed(torch.tensor(list(ids), dtype=torch.long, device=self._biases[0].device), None)
        return Tokens(embedded, tuple(words), tuple(positions))


def keys_in_sight(key_words: Sequence[int], word: int, look_ahead: int, left_words: int) -> slice:
    """Return which keys a word of a layer sees, beside the prefix: of `left_words` before it to `look_ahead` behind it.

    key_words: of each key its word, ascending.  The same as `t5.delay.keys_in_sight` says of whole texts.
    """
    return slice(bisect_left(key_words, word - left_words), bisect_right(key_words, word + look_ahead))


def _keys_and_values(layer: EncoderLayer, read: Any) -> torch.Tensor:
    return torch.cat([layer.keys(read), layer.values(read)], -1)


def _by_heads(rows: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(n_words, n_rows, n_heads * d_kv) -> (n_words * n_heads, n_rows, d_kv)."""
    return rows.reshape(*rows.shape[:2], n_heads, -1).transpose(1, 2).flatten(0, 1)


def _shape(sight: _Sight) -> tuple[int, int]:
    """Return by what words are computed in one call: as many tokens that see as many keys."""
    return len(sight.rows), len(sight.keys)


def _count(words: Sequence[int], last_word: int) -> int:
    """Return how many tokens from the first on belong to the prefix, or to words up to this one."""
    return bisect_right(words, max(last_word, PREFIX))


def _word_ends(tokens: Tokens) -> Tokens:
    """Return the last token of each word, whose state stands for the word; none of the prefix."""
    ends = list[int]()
    for index, word in enumerate(tokens.words):
        is_last = index + 1 == len(tokens) or tokens.words[index + 1] != word
        if is_last and word != PREFIX:
            ends.append(index)
    words = tuple(tokens.words[end] for end in ends)
    return Tokens(tokens.rows[ends], words, tuple(tokens.positions[end] for end in ends))
