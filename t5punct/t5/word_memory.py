"""Words and positions for a decoder that copies: what it reads beside the encoder's states, and where it stands.

In: the encoder's states and the token ids that it read.  Out: what the decoder's cross-attention reads.
In: the token ids written so far.  Out: the decoder's input embeddings.

The states of a BERT hardly tell which token stands where, and a decoder that reads nothing else learns to guess words.
So the decoder reads, for source token j,

    M_j = scale * s_j + shift + A c_j + P p_n(j)

with s_j the state, c_j a code of the token, made of its embedding, and n(j) the number of words' tokens before it.
Behind target token t its input is

    e_t + Q p_n(t)

with n(t) the number of words' tokens written so far, marks and case tokens not counted.  The target has the words of
the source, token for token, so the token to be written next is the one with the same number.  A style, a silence or a
question is no word, and has its state alone.  All maps are learned; `recipes/copier.py` says where they begin.

The code of a token is the inverse of its mapped embedding u: u / mean(u^2).  The product with u is then the same for
every token, however long its embedding is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

D_POSITION = 64
_LEAST_SQUARE = 0.05  # keeps the inverse of a tiny embedding finite


class WordMemory(nn.Module):
    """Maps of states, words and positions; `silent_ids` are the tokens that are no words, of sources and of targets."""

    def __init__(self, d_model: int, d_code: int, silent_ids: Sequence[int]) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d_model))
        self.shift = nn.Parameter(torch.zeros(d_model))
        self.code = nn.Linear(d_model, d_code)
        self.words = nn.Linear(d_code, d_model, bias=False)  # A
        self.source_positions = nn.Linear(D_POSITION, d_model, bias=False)  # P
        self.target_positions = nn.Linear(D_POSITION, d_model, bias=False)  # Q
        self._silent_ids = tuple(silent_ids)

    def forward(self, states: torch.Tensor, input_ids: torch.Tensor, embeddings: nn.Embedding) -> torch.Tensor:
        """Return the memory (n_batch, n_source, d_model).

        states: (n_batch, n_source, d_model); input_ids: int64 (n_batch, n_source); embeddings: of all tokens.
        """
        is_word = self.are_words(input_ids)
        n_before = is_word.cumsum(-1) - is_word.long()  # words' tokens before each token
        words = self.words(self.codes(embeddings(input_ids)))  # A c_j
        positions = self.source_positions(position_codes(n_before, words.dtype))  # P p_n(j)
        return states * self.scale + self.shift + (words + positions) * is_word[..., None]

    def embed_targets(self, target_ids: torch.Tensor, n_words: torch.Tensor, embeddings: nn.Embedding) -> torch.Tensor:
        """Return the decoder's input (.., d_model) of tokens, int64 (..), each behind n_words words' tokens, int64."""
        embedded = embeddings(target_ids)
        return embedded + self.target_positions(position_codes(n_words, embedded.dtype))

    def are_words(self, ids: torch.Tensor) -> torch.Tensor:
        return ~torch.isin(ids, ids.new_tensor(self._silent_ids))

    def codes(self, embedded: torch.Tensor) -> torch.Tensor:
        """Return codes (.., d_code) of embeddings (.., d_model)."""
        mapped: torch.Tensor = self.code(embedded)
        return mapped / (mapped.pow(2).mean(-1, keepdim=True) + _LEAST_SQUARE)


def frequencies() -> torch.Tensor:
    """Return the angles, in radians, by which one position differs from the next, float32 (D_POSITION / 2,).

    They are spread so that two positions up to 512 apart have at most 0.3 of a position's product with itself.
    """
    n_waves = D_POSITION // 2
    return math.pi * ((torch.arange(n_waves) + 0.5) / n_waves) ** 1.5


def position_codes(positions: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return cosines, then sines, (.., D_POSITION), of positions, int64 (..) (as in Vaswani 2017, section 3.5)."""
    angles = positions[..., None] * frequencies().to(positions.device)  # in float32, whatever the network computes in
    return torch.cat([angles.cos(), angles.sin()], -1).to(dtype)


def embed_targets(network: Any, target_ids: torch.Tensor) -> torch.Tensor:
    """Return a decoder's input (n_batch, n_target, d_model) of targets from their start, int64 (n_batch, n_target)."""
    embeddings = network.shared
    memory = getattr(network, "memory", None)
    if memory is None:
        return embeddings(target_ids)
    return memory.embed_targets(target_ids, memory.are_words(target_ids).cumsum(-1), embeddings)


def memory_of(config: Any) -> WordMemory | None:
    """Return the memory that a network's config names, not trained; None where the decoder reads states alone."""
    if getattr(config, "d_code", None) is None:
        return None
    return WordMemory(config.d_model, config.d_code, config.silent_ids)
