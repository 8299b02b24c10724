"""Controllable time delay: which token of an encoder may see which, layer by layer (CT-Transformer; Chen 2020).

In: the word that each token belongs to, and a `Delay`.  Out: masks, and the states of an encoder under them.

Layer k sees l_k words to the right, and l_1 + .. + l_n = L.  To the left each layer sees `left_words` words.

- Words are the unit: a token sees all tokens of the words that its word may see, its own word's later pieces too.
- Prefix tokens (the style) are seen by all, and see the prefix only: they are the same in every text.
- A pause token belongs to the word after it: a stream knows of a silence when that word begins.
- The end of text is seen by nobody: it would tell the last L words that no others follow.  So are padding, and pauses
  after the last word.

>>> Delay(4).look_aheads(6), Delay(3, layers=(4, 1)).look_aheads(6)
((0, 1, 1, 0, 1, 1), (0, 1, 0, 0, 2, 0))
>>> token_words(Source((7, 11, 12, 13, 1), word_ends=(2, 3), n_prefix=1)) == (PREFIX, 0, 0, 1, NOBODY)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch.nn.functional import dropout

from ..config import check
from .encoder import Encoder
from .tokenization import Source

LEFT_WORDS = 32  # how many words a layer sees to the left by default
PREFIX = -1  # the word of prefix tokens
MOST_WORDS = 100_000  # a delay of more is as good as none
NOBODY = 1 << 30  # the word of tokens that no word sees; far from every real one


@dataclass(frozen=True, slots=True)
class Delay:
    """How many words the encoder sees to the right, all layers together (L), and to the left, in each layer.

    `layers`: those that look ahead, in the order in which they get one word more, again and again; empty: all, evenly.
    """

    words: int
    left_words: int = LEFT_WORDS
    layers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check(
            0 <= self.words <= MOST_WORDS and 1 <= self.left_words <= MOST_WORDS,
            f"a delay of {self.words} words with {self.left_words} to the left",
            expected=f"0 to {MOST_WORDS}, and 1 to {MOST_WORDS}", fix="check the delay",
        )  # fmt: skip

    def look_aheads(self, n_layers: int) -> tuple[int, ...]:
        """Return the words that each layer sees to the right, the first layer first; their sum is `words`."""
        if self.layers:
            turns = [self.layers[word % len(self.layers)] for word in range(self.words)]
            return tuple(turns.count(layer) for layer in range(n_layers))
        shares = [self.words * n_below // n_layers for n_below in range(n_layers + 1)]
        return tuple(upper - lower for lower, upper in pairwise(shares))


def token_words(source: Source) -> tuple[int, ...]:
    """Return the word that each token belongs to, from 0; `PREFIX` and `NOBODY` for those that belong to none."""
    words = [PREFIX] * source.n_prefix
    start = source.n_prefix
    for word, end in enumerate(source.word_ends):
        words += [word] * (end + 1 - start)
        start = end + 1
    return (*words, *(NOBODY,) * (len(source.ids) - start))


def keys_in_sight(query_words: torch.Tensor, key_words: torch.Tensor, look_ahead: int, left_words: int) -> torch.Tensor:
    """Return which keys a layer's queries see, by the words that both belong to.

    query_words: int64 (.., n_queries); key_words: int64 (.., n_keys).  Gives bool (.., n_queries, n_keys).
    """
    queries = query_words[..., :, None]
    keys = key_words[..., None, :]
    near = (keys <= queries + look_ahead) & (keys >= queries - left_words)
    return (keys == PREFIX) | (near & (queries != PREFIX))


def delayed_states(encoder: Any, input_ids: torch.Tensor, words: torch.Tensor, delay: Delay) -> torch.Tensor:
    """Return the states of an encoder whose layers see what a delay lets them see; in training mode with dropout.

    input_ids, words: int64 (n_batch, n_source); `words`: what `token_words` gives, and `NOBODY` where padded.  Gives
    (n_batch, n_source, d_model).  Raises ModelError for an encoder with absolute positions only.
    """
    stack = Encoder(encoder)
    stack.check_delay()
    n_source = input_ids.shape[1]
    hidden = stack.embed(input_ids, None)  # None: the mean position, where the encoder has absolute ones
    places = torch.arange(n_source, device=input_ids.device)
    # a layer has a bias for each distance in tokens, from `farthest` to the left to `farthest` to the right
    bias_columns = (places - places[:, None]).clamp(-stack.farthest, stack.farthest) + stack.farthest
    look_aheads = delay.look_aheads(len(stack.layers))
    masks = dict[int, torch.Tensor]()  # added to attention's logits, (n_batch, 1, n_source, n_source)
    for look_ahead in look_aheads:
        in_sight = keys_in_sight(words, words, look_ahead, delay.left_words)[:, None]
        masks[look_ahead] = torch.zeros(in_sight.shape, device=in_sight.device).masked_fill(~in_sight, float("-inf"))
    for layer, look_ahead, biases in zip(stack.layers, look_aheads, stack.position_biases(), strict=True):
        inputs = layer.read(hidden)
        maps = (layer.queries, layer.keys, layer.values)  # each gives (n_batch, n_heads, n_source, d_kv)
        queries, keys, values = (part(inputs).unflatten(-1, (layer.n_heads, -1)).transpose(1, 2) for part in maps)
        # going backwards on a CPU, this is a quarter faster than torch's own attention with dropout
        logits = queries @ keys.transpose(-1, -2) * layer.scale + (biases[:, bias_columns] + masks[look_ahead])
        weights = dropout(logits.float().softmax(-1).type_as(logits), layer.attention_dropout)
        hidden = layer.finish(hidden, (weights @ values).transpose(1, 2).flatten(2))
    return stack.finish(hidden)
