"""The delayed encoder, word by word: a new word costs one column, and no state is computed twice (`t5/delay.py`).

In: what is remembered of some streams, and the tokens of the words that came.  Out: what is remembered now, with the
states of the words that became final.

In each layer a word's key and value are computed when the layer below is done with it, and its state once the words
that the layer looks ahead to have come.  With look-aheads of 0, 1 and 1 words, the fifth word of a text moves:

    layer 3  w w W - -        final is the third word
    layer 2  w w w W -        its own words, and those that wait below
    layer 1  w w w w W        W is computed now, w is remembered, - has to wait

Keys and values are kept as far as the layer sees to the left, those of the prefix always.  What looks at one token
alone, most of the work, runs on the columns of all streams end to end; attention runs stream by stream.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Any

import torch

from ..model import Model
from ..t5.delay import PREFIX, Delay
from ..t5.layers import EncoderLayer, attend, encoder_layers

Word = Sequence[int]  # the tokens of one word


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

    def then(self, *more: Tokens) -> Tokens:
        return Tokens(
            torch.cat([self.rows, *(part.rows for part in more)]),
            sum((part.words for part in more), self.words),
            sum((part.positions for part in more), self.positions),
        )

    def with_rows(self, rows: torch.Tensor) -> Tokens:
        """Return other rows of the same tokens."""
        return Tokens(rows, self.words, self.positions)


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """One layer of one stream: `keys` with their values (n_keys, n_heads * d_kv), and inputs that wait for words."""

    keys: Tokens
    values: torch.Tensor
    waiting: Tokens


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

    @property
    def n_cached(self) -> int:
        """How many keys and waiting inputs are held, all layers together."""
        return sum(len(layer.keys) + len(layer.waiting) for layer in self.layers)


class ColumnEncoder:
    """A model's encoder with a delay, ready to read streams."""

    def __init__(self, model: Model, delay: Delay, style: str | None = None) -> None:
        network: Any = model.network
        encoder = network.get_encoder()
        self._stack, self.delay = encoder_layers(encoder), delay
        self._stack.check_delay()
        self._look_aheads = delay.look_aheads(len(self._stack.layers))
        self._below = [0, *accumulate(self._look_aheads)]  # the words that each layer's input has waited for
        source = model.tokenizer.source([], style)
        self._prefix = source.ids[: source.n_prefix]
        self._farthest = self._stack.farthest  # tokens; from there on all are equally far
        with torch.inference_mode():
            self._biases = self._stack.biases() if self._stack.biases else []
        self._start: Memory | None = None
        self._owner = (encoder, delay, self._prefix)

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

    @torch.inference_mode()
    def begin(self, n_words: int = 0, n_tokens: int = 0) -> Memory:
        """Return the memory of a stream that has heard so many words, of so many tokens, and remembers none of them."""
        if self._start is None:
            nothing, first = self._tokens([], [], []), self._stack.layers[0]
            keys = nothing.with_rows(first.keys(first.read(nothing.rows)))
            layers = (LayerMemory(keys, keys.rows, nothing),) * len(self._look_aheads)
            blank = Memory(layers, 0, 0, nothing, self._owner)
            prefix = self._tokens(self._prefix, [PREFIX] * self.n_prefix, range(self.n_prefix))
            (start,) = self._read_columns([blank], [prefix], whole=False) if self._prefix else [blank]
            self._start = replace(start, n_tokens=self.n_prefix)
        return replace(self._start, n_words=n_words, n_tokens=self.n_prefix + n_tokens)

    @torch.inference_mode()
    def read(self, memories: Sequence[Memory], words: Sequence[Sequence[Word]]) -> list[Memory]:
        """Return the streams' memories once each has heard these words."""
        heard, incoming = [], []
        for memory, new in zip(memories, words, strict=True):
            ids = [token for word in new for token in word]
            owners = [memory.n_words + index for index, word in enumerate(new) for _ in word]
            incoming.append(self._tokens(ids, owners, range(memory.n_tokens, memory.n_tokens + len(ids))))
            n_words, n_tokens = memory.n_words + len(new), memory.n_tokens + len(ids)
            heard.append(replace(memory, n_words=n_words, n_tokens=n_tokens))
        return self._read_columns(heard, incoming, whole=False)

    @torch.inference_mode()
    def tails(self, memories: Sequence[Memory]) -> list[Tokens]:
        """Return the states of words that are not final yet, as if the streams ended here; what is remembered stays."""
        nothing = self._tokens([], [], [])
        ended = self._read_columns(memories, [nothing] * len(memories), whole=True)
        return [
            stream_end.final.part(slice(_count(stream_end.final, memory.n_words - 1 - self.delay.words), None))
            for stream_end, memory in zip(ended, memories, strict=True)
        ]

    def _read_columns(self, memories: Sequence[Memory], incoming: Sequence[Tokens], *, whole: bool) -> list[Memory]:
        """Take tokens up through the layers as far as they can go; all that wait too, if these are the `whole`."""
        if not memories:
            return []
        layers: list[list[LayerMemory]] = [[] for _ in memories]
        for index, layer in enumerate(self._stack.layers):
            known = [memory.layers[index] for memory in memories]
            bounds = [memory.n_words - 1 - self._below[index + 1] for memory in memories]  # of words with all in sight
            keyed = self._add_inputs(layer, known, incoming)
            parts = [_split(memory.waiting, len(memory.waiting) if whole else _count(memory.waiting, bound))
                     for memory, bound in zip(keyed, bounds, strict=True)]  # fmt: skip
            incoming = self._states(index, keyed, [ready for ready, _ in parts])
            for held, memory, (_, waiting) in zip(layers, keyed, parts, strict=True):
                held.append(LayerMemory(memory.keys, memory.values, waiting))
        finals = [tokens.with_rows(self._stack.finish(tokens.rows)) for tokens in map(_word_ends, incoming)]
        return [
            replace(memory, layers=tuple(held), final=memory.final.part(slice(-1, None)).then(final))
            for memory, held, final in zip(memories, layers, finals, strict=True)
        ]

    def _add_inputs(
        self, layer: EncoderLayer, known: Sequence[LayerMemory], incoming: Sequence[Tokens]
    ) -> list[LayerMemory]:
        """What a layer remembers of streams, with keys and values of new inputs, which wait behind those that do."""
        rows = torch.cat([tokens.rows for tokens in incoming])
        if not len(rows):
            return list(known)
        sizes, read = [len(tokens) for tokens in incoming], layer.read(rows)
        keys, values = layer.keys(read).split_with_sizes(sizes), layer.values(read).split_with_sizes(sizes)
        return [
            self._add_to(memory, tokens, key, value) if len(tokens) else memory
            for memory, tokens, key, value in zip(known, incoming, keys, values, strict=True)
        ]

    def _add_to(self, memory: LayerMemory, inputs: Tokens, keys: torch.Tensor, values: torch.Tensor) -> LayerMemory:
        """One layer of one stream with new inputs, without the keys that no input sees any more."""
        waiting, prefix = memory.waiting.then(inputs), slice(self.n_prefix)
        seen = slice(_count(memory.keys, waiting.words[0] - self.delay.left_words - 1), None)
        return LayerMemory(
            memory.keys.part(prefix).then(memory.keys.part(seen), inputs.with_rows(keys)),
            torch.cat([memory.values[prefix], memory.values[seen], values]),
            waiting,
        )

    def _states(self, index: int, layers: Sequence[LayerMemory], ready: Sequence[Tokens]) -> list[Tokens]:
        """What a layer makes of the inputs whose time has come."""
        rows, layer = torch.cat([tokens.rows for tokens in ready]), self._stack.layers[index]
        if not len(rows):
            return list(ready)
        sizes = [len(tokens) for tokens in ready]
        queries = layer.queries(layer.read(rows)).split_with_sizes(sizes)
        attended = [
            self._attend(index, query, tokens, memory)
            for query, tokens, memory in zip(queries, ready, layers, strict=True)
        ]
        rows = layer.feed(layer.absorb(rows, torch.cat(attended)))
        return [tokens.with_rows(part) for tokens, part in zip(ready, rows.split_with_sizes(sizes), strict=True)]

    def _attend(self, index: int, queries: torch.Tensor, tokens: Tokens, memory: LayerMemory) -> torch.Tensor:
        """Attention of one stream: (n_tokens, n_heads * d_kv) -> the same shape.

        A word meets the keys in its sight and no others, so its sums are the same whatever is read with it.  Hidden
        keys would change the order of a sum, and rounding to int8 makes much of a last digit.
        """
        attended, start = [queries[:0]], 0
        for word, tokens_of_word in groupby(tokens.words):
            part = slice(start, start + len(list(tokens_of_word)))
            attended.append(self._attend_word(index, word, queries[part], tokens.positions[part], memory))
            start = part.stop
        return torch.cat(attended)

    def _attend_word(
        self, index: int, word: int, queries: torch.Tensor, positions: Sequence[int], memory: LayerMemory
    ) -> torch.Tensor:
        """Attention of the tokens of one word, all of which see the same keys."""
        layer = self._stack.layers[index]
        part = keys_in_sight(memory.keys.words, word, self._look_aheads[index], self.delay.left_words)
        seen, values = memory.keys.part(slice(part.stop)), memory.values[: part.stop]
        if part.start > self.n_prefix:
            prefix, rest = slice(self.n_prefix), slice(part.start, None)
            seen, values = seen.part(prefix).then(seen.part(rest)), torch.cat([values[prefix], values[rest]])
        key_places, places = (torch.tensor(at, device=queries.device) for at in (seen.positions, positions))
        distances = (key_places - places[:, None]).clamp_(-self._farthest, self._farthest)
        query, key, value = (
            rows.view(len(rows), layer.n_heads, -1).transpose(0, 1) for rows in (queries, seen.rows, values)
        )
        bias = self._biases[index][:, distances + self._farthest]
        attended = attend(query, key, value, bias, layer.scale)  # (n_heads, n_tokens, d_kv)
        return attended.transpose(0, 1).flatten(1)

    def _tokens(self, ids: Sequence[int], words: Sequence[int], positions: Sequence[int]) -> Tokens:
        embedded = self._stack.embed(torch.tensor(list(ids), dtype=torch.long, device=self._biases[0].device), None)
        return Tokens(embedded, tuple(words), tuple(positions))


def keys_in_sight(key_words: Sequence[int], word: int, look_ahead: int, left_words: int) -> slice:
    """Return which keys a layer's queries see beside those of the prefix, by their words, which ascend.

    The same as `t5.delay.keys_in_sight` says of whole texts.
    """
    return slice(bisect_left(key_words, max(0, word - left_words)), bisect_right(key_words, word + look_ahead))


def _count(tokens: Tokens, last_word: int) -> int:
    """How many tokens from the first on belong to the prefix, or to words up to this one."""
    return bisect_right(tokens.words, max(last_word, PREFIX))


def _split(tokens: Tokens, n_tokens: int) -> tuple[Tokens, Tokens]:
    return tokens.part(slice(n_tokens)), tokens.part(slice(n_tokens, None))


def _word_ends(tokens: Tokens) -> Tokens:
    """The last token of each word."""
    ends = [
        place
        for place, (word, next_word) in enumerate(pairwise((*tokens.words, None)))
        if word not in (next_word, PREFIX)
    ]
    words, positions = (tuple(column[end] for end in ends) for column in (tokens.words, tokens.positions))
    return Tokens(tokens.rows[ends], words, positions)
