"""The delayed encoder, word by word: a new word costs one column, and no state is computed twice (`t5/delay.py`).

In: the memories of some streams, and the tokens of the words that came.  Out: their new memories, which have the states
of the words that became final.

In each layer a word's key and value are computed as soon as the layer below has its state.  Its own state is computed
once all words have come that the layer looks ahead to.  With look-aheads of 0, 1 and 1 words, the fifth word of a text
has this effect (w: computed before, W: computed now, -: waits for more words):

    layer 3  w w W - -        the third word's state is final
    layer 2  w w w W -
    layer 1  w w w w W

A layer keeps keys and values of as many words as it sees to the left, and those of the prefix.
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


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one stream, in order.

    rows: (n_tokens, n_channels), their states, or (n_tokens, 2 * n_heads * d_kv), their keys and values in one layer;
    words: of each token the index of its word in the stream, or PREFIX; positions: of each token its index in the
    stream, the prefix included.
    """

    rows: torch.Tensor
    words: tuple[int, ...]
    positions: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    def part(self, start: int, stop: int | None = None) -> Tokens:
        return Tokens(self.rows[start:stop], self.words[start:stop], self.positions[start:stop])

    def then(self, more: Tokens) -> Tokens:
        return Tokens(torch.cat([self.rows, more.rows]), self.words + more.words, self.positions + more.positions)

    def with_rows(self, rows: torch.Tensor) -> Tokens:
        """Return the same tokens with other rows."""
        return Tokens(rows, self.words, self.positions)


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """What one layer remembers of one stream: its keys and values but the prefix's, and inputs that wait for words."""

    keys: Tokens
    waiting: Tokens


@dataclass(frozen=True, slots=True)
class _Sight:
    """One word whose state in a layer can be computed now, and the keys that it sees beside the prefix's.

    rows: the indices of the word's tokens among all ready tokens of all streams; positions: as in `Tokens`.
    """

    rows: range
    positions: tuple[int, ...]
    keys: Tokens

    def shape(self) -> tuple[int, int]:
        """Return the word's numbers of tokens and keys."""
        return len(self.rows), len(self.keys)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of a stream: an immutable value of bounded size."""

    layers: tuple[LayerMemory, ...]
    n_words: int  # heard so far
    n_tokens: int  # heard so far, and those of the prefix
    # the last tokens of the words whose states became final when the newest words were read, and of the word before
    final: Tokens
    owner: tuple[object, ...]  # equal for encoders that can go on with each other's memories


class StreamEncoder:
    """A model's encoder with a delay, which reads streams word by word."""

    def __init__(self, model: Model, delay: Delay, style: str | None = None) -> None:
        network: Any = model.network
        self._stack = Encoder(network.encoder)
        self._stack.check_delay()
        self.delay = delay
        n_layers = len(self._stack.layers)
        self._look_aheads = delay.look_aheads(n_layers)  # of each layer, in words
        self._words_waited = list(accumulate(self._look_aheads))  # how many words each layer's output lags behind
        # How many of a stream's last words a memory can be computed from again
        n_deciding = 1 + delay.words  # the word whose slot is decided next, and those that it waits for
        n_before = 1  # on its slot the capital of that word depends
        n_reached = delay.left_words * n_layers  # their states depend on them: each layer reaches on from the one below
        n_of_silence = 1  # this word tells whether a silence precedes the first of them
        self.n_remembered_words = n_deciding + n_before + n_reached + n_of_silence
        source = model.tokenizer.source([], style)
        prefix = source.ids[: source.n_prefix]  # the tokens of the style, which stand before all words
        self.n_prefix = len(prefix)
        self._farthest = self._stack.farthest  # tokens; all greater distances have the same bias
        self.owner = (network.encoder, delay, prefix)  # what memories depend on, see `Memory`
        with torch.inference_mode():
            self._biases = self._stack.position_biases()
            no_tokens = self._embed([], [], [])
            first_layer = self._stack.layers[0]
            # no rows, of the shape and type of a layer's keys and values
            no_keys = no_tokens.with_rows(_keys_and_values(first_layer, first_layer.read(no_tokens.rows)))
            layers = (LayerMemory(no_keys, waiting=no_tokens),) * n_layers
            self._empty_memory = Memory(layers, n_words=0, n_tokens=0, final=no_tokens, owner=self.owner)
            # of each layer, the keys and values of the prefix, which all words see; none while the prefix is read
            self._prefix_keys = [no_keys.rows] * n_layers
            if prefix:
                tokens = self._embed(prefix, [PREFIX] * self.n_prefix, range(self.n_prefix))
                [prefix_memory] = self._read_tokens([self._empty_memory], [tokens], text_ends=False)
                self._prefix_keys = [layer.keys.rows for layer in prefix_memory.layers]

    def begin(self, n_words: int = 0, n_tokens: int = 0) -> Memory:
        """Return the memory of a stream that has heard some words, of `n_tokens` tokens, and remembers none of them."""
        return replace(self._empty_memory, n_words=n_words, n_tokens=self.n_prefix + n_tokens)

    @torch.inference_mode()
    def read(self, memories: Sequence[Memory], words: Sequence[Sequence[Word]]) -> list[Memory]:
        """Return the streams' memories after each has heard more words, given as tokens."""
        heard = list[Memory]()
        incoming = list[Tokens]()
        for memory, new_words in zip(memories, words, strict=True):
            ids = list[int]()
            words_of_ids = list[int]()
            for index, word in enumerate(new_words, start=memory.n_words):
                ids += word
                words_of_ids += [index] * len(word)
            n_tokens = memory.n_tokens + len(ids)
            incoming.append(self._embed(ids, words_of_ids, range(memory.n_tokens, n_tokens)))
            heard.append(replace(memory, n_words=memory.n_words + len(new_words), n_tokens=n_tokens))
        return self._read_tokens(heard, incoming, text_ends=False)

    @torch.inference_mode()
    def tails(self, memories: Sequence[Memory]) -> list[Tokens]:
        """Return the states that words which are not final have if the streams end here.  Memories do not change."""
        nothing = self._embed([], [], [])
        tails = list[Tokens]()
        for memory in self._read_tokens(memories, [nothing] * len(memories), text_ends=True):
            # `final` has the states of all words now, as the text ends; those that were final before are left out
            n_final = _n_tokens_to(memory.final.words, memory.n_words - 1 - self.delay.words)
            tails.append(memory.final.part(n_final))
        return tails

    def _read_tokens(self, memories: Sequence[Memory], incoming: Sequence[Tokens], *, text_ends: bool) -> list[Memory]:
        """Run each stream's new tokens up through the layers, and return the streams' new memories.

        A token waits at a layer until all words were heard that the layer looks ahead to, or until the text ends.
        """
        if not memories:
            return []
        new_layers: list[list[LayerMemory]] = [[] for _ in memories]
        for index, layer in enumerate(self._stack.layers):
            layer_memories = self._add_inputs(layer, [memory.layers[index] for memory in memories], incoming)
            ready = list[Tokens]()
            for memory, layer_memory, layers in zip(memories, layer_memories, new_layers, strict=True):
                waiting = layer_memory.waiting
                last_ready_word = memory.n_words - 1 - self._words_waited[index]
                n_ready = len(waiting) if text_ends else _n_tokens_to(waiting.words, last_ready_word)
                ready.append(waiting.part(0, n_ready))
                layers.append(LayerMemory(layer_memory.keys, waiting.part(n_ready)))
            incoming = self._states(index, layer_memories, ready)  # the next layer's inputs
        new_memories = list[Memory]()
        for memory, layers, outputs in zip(memories, new_layers, incoming, strict=True):
            # the state of a word's last token stands for the word
            last_tokens = {word: index for index, word in enumerate(outputs.words) if word != PREFIX}
            ends = list(last_tokens.values())
            rows = self._stack.finish(outputs.rows[ends])
            final = Tokens(rows, tuple(last_tokens), tuple(outputs.positions[end] for end in ends))
            word_before = memory.final.part(-1)
            new_memories.append(replace(memory, layers=tuple(layers), final=word_before.then(final)))
        return new_memories

    def _add_inputs(
        self, layer: EncoderLayer, memories: Sequence[LayerMemory], incoming: Sequence[Tokens]
    ) -> list[LayerMemory]:
        """Return a layer's memories of the streams, with the keys of new inputs; these wait there.

        Keys that neither the waiting words nor later ones see are dropped.
        """
        rows = torch.cat([tokens.rows for tokens in incoming])
        if not len(rows):
            return list(memories)
        keys = _keys_and_values(layer, layer.read(rows)).split_with_sizes([len(tokens) for tokens in incoming])
        new_memories = list[LayerMemory]()
        for memory, inputs, key_rows in zip(memories, incoming, keys, strict=True):
            if len(inputs):
                waiting = memory.waiting.then(inputs)
                last_unseen_word = waiting.words[0] - self.delay.left_words - 1
                n_unseen = _n_tokens_to(memory.keys.words, last_unseen_word)  # the prefix's keys stand elsewhere
                keys_in_sight = memory.keys.part(n_unseen).then(inputs.with_rows(key_rows))
                new_memories.append(LayerMemory(keys_in_sight, waiting))
            else:
                new_memories.append(memory)
        return new_memories

    def _states(self, index: int, memories: Sequence[LayerMemory], ready: Sequence[Tokens]) -> list[Tokens]:
        """Return the outputs of layer `index` for each stream's inputs that wait for no more words."""
        hidden = torch.cat([tokens.rows for tokens in ready])
        if not len(hidden):
            return list(ready)
        sights = list[_Sight]()
        n_rows = 0  # of the streams before
        for memory, tokens in zip(memories, ready, strict=True):
            start = 0
            for word, tokens_of_word in groupby(tokens.words):
                stop = start + len(list(tokens_of_word))
                rows = range(n_rows + start, n_rows + stop)
                # as `t5.delay.keys_in_sight` has it for whole texts
                first_key = bisect_left(memory.keys.words, word - self.delay.left_words)
                end_of_keys = bisect_right(memory.keys.words, word + self._look_aheads[index])
                sights.append(_Sight(rows, tokens.positions[start:stop], memory.keys.part(first_key, end_of_keys)))
                start = stop
            n_rows += start
        layer = self._stack.layers[index]
        queries = layer.queries(layer.read(hidden))
        attended = torch.empty_like(queries)
        # One call has words of as many tokens and keys, and no key that a word does not see.  So a word's sums do not
        # depend on what is read with it: masked keys would change their order, and int8 amplifies a last digit.
        for _, alike in groupby(sorted(sights, key=_Sight.shape), key=_Sight.shape):
            sights_alike = list(alike)
            rows_of_words = torch.tensor([sight.rows for sight in sights_alike], device=queries.device)
            attended[rows_of_words] = self._attend(index, queries[rows_of_words], sights_alike)
        states = layer.finish(hidden, attended).split_with_sizes([len(tokens) for tokens in ready])
        return [tokens.with_rows(part) for tokens, part in zip(ready, states, strict=True)]

    def _attend(self, index: int, queries: torch.Tensor, words: Sequence[_Sight]) -> torch.Tensor:
        """Return attention's results for words of one shape, of the shape of queries: (n_words, n_tokens, n_inner)."""
        layer = self._stack.layers[index]
        prefix = self._prefix_keys[index]
        # (n_words, n_keys, 2 * n_heads * d_kv): keys and values of the prefix, then those that the word sees
        rows = [rows for word in words for rows in (prefix, word.keys.rows)]
        seen = torch.cat(rows).view(len(words), -1, prefix.shape[-1])
        keys, values = seen.chunk(2, -1)
        positions = torch.tensor([word.positions for word in words], device=queries.device)
        key_positions = [(*range(len(prefix)), *word.keys.positions) for word in words]
        distances = torch.tensor(key_positions, device=queries.device)[:, None] - positions[:, :, None]
        columns = distances.clamp_(-self._farthest, self._farthest) + self._farthest
        bias = self._biases[index][:, columns].transpose(0, 1)
        # words and heads are one dimension, (n_words * n_heads, ...): with two, torch takes a kernel whose sums depend
        # on the number of threads
        attended = scaled_dot_product_attention(
            _by_heads(queries, layer.n_heads),
            _by_heads(keys, layer.n_heads),
            _by_heads(values, layer.n_heads),
            attn_mask=bias.flatten(0, 1),
            scale=layer.scale,
        )
        return attended.view(len(words), layer.n_heads, *attended.shape[1:]).transpose(1, 2).flatten(2)

    def _embed(self, ids: Sequence[int], words: Sequence[int], positions: Sequence[int]) -> Tokens:
        embedded = self._stack.embed(torch.tensor(list(ids), dtype=torch.long, device=self._biases[0].device), None)
        return Tokens(embedded, tuple(words), tuple(positions))


def _keys_and_values(layer: EncoderLayer, read: Any) -> torch.Tensor:
    return torch.cat([layer.keys(read), layer.values(read)], -1)


def _by_heads(rows: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(n_words, n_rows, n_heads * d_kv) -> (n_words * n_heads, n_rows, d_kv)."""
    return rows.reshape(*rows.shape[:2], n_heads, -1).transpose(1, 2).flatten(0, 1)


def _n_tokens_to(words: Sequence[int], last_word: int) -> int:
    """Count the tokens of the prefix and of words up to this one.  words: of each token its word, ascending."""
    return bisect_right(words, max(last_word, PREFIX))
