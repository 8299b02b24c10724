"""The memory of a decoder: an encoder's states with the words beside them, so that the decoder can copy.

In: the encoder's states, and the token ids that it read.  Out: what the decoder's cross-attention reads.

The states of a BERT hardly tell which token stands where, since it normalises behind each sublayer: from the tenth
layer of MPNet a linear map finds 61 % of the tokens.  A decoder that reads nothing else learns to guess words.  So the
memory is

    M_j = scale * s_j + shift + A c_j + B c_(j-1) + C (c_(j-2) + r c_(j-3) + r^2 c_(j-4) ..)

with s_j the state of token j, c_j a code of the token, made of its embedding, and r = 1/2.  The tokens before are those
of words: a style, a silence or a question has its state alone.  The word before the first is the token that opens the
decoder's input.  All maps are learned; `training/start/copier` says where they begin.

The code of a token is the inverse of its mapped embedding u: u / mean(u^2).  The product with u is then the same for
every token, however long its embedding is, and so is how sure the decoder is of a word that it has found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

N_BEFORE = 8  # words in the third part
FADE = 0.5
_LEAST_SQUARE = 0.05  # keeps the inverse of a tiny embedding finite


class WordMemory(nn.Module):
    """Maps of states and words; `silent_ids` are the tokens that are no words, `start_id` opens the decoder's input."""

    def __init__(self, d_model: int, d_code: int, silent_ids: Sequence[int], start_id: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d_model))
        self.shift = nn.Parameter(torch.zeros(d_model))
        self.code = nn.Linear(d_model, d_code)
        self.words = nn.Linear(3 * d_code, d_model, bias=False)  # A, B, C side by side
        self._silent_ids, self._start_id = tuple(silent_ids), start_id

    def forward(self, states: torch.Tensor, input_ids: torch.Tensor, embeddings: nn.Embedding) -> torch.Tensor:
        """Return the memory (n_batch, n_source, d_model).

        states: (n_batch, n_source, d_model); input_ids: int64 (n_batch, n_source); embeddings: those of the tokens.
        """
        is_word = ~torch.isin(input_ids, input_ids.new_tensor(self._silent_ids))
        codes = self.codes(embeddings(input_ids))  # (n_batch, n_source, d_code)
        start = self.codes(embeddings(input_ids.new_tensor(self._start_id)))
        latest, *earlier = (_take(codes, start, places) for places in self._places_before(is_word))
        shares = FADE ** torch.arange(N_BEFORE, dtype=codes.dtype, device=codes.device)
        faded = torch.stack(earlier, -1) @ (shares / shares.norm())
        words = self.words(torch.cat([codes, latest, faded], -1)) * is_word[..., None]
        memory: torch.Tensor = states * self.scale + self.shift + words
        return memory

    def codes(self, embedded: torch.Tensor) -> torch.Tensor:
        """Return codes (.., d_code) of embeddings (.., d_model)."""
        mapped: torch.Tensor = self.code(embedded)
        codes: torch.Tensor = mapped / (mapped.pow(2).mean(-1, keepdim=True) + _LEAST_SQUARE)
        return codes

    def _places_before(self, is_word: torch.Tensor) -> Iterator[torch.Tensor]:
        """The places of the latest words before each token, the nearest first, int64 (n_batch, n_source).

        -1 where the decoder's first token stands, before all words, and -2 before that.
        """
        n_source = is_word.shape[1]
        own = torch.arange(n_source, device=is_word.device).expand_as(is_word)
        upto = torch.where(is_word, own, -1).cummax(1).values
        before = torch.cat([torch.full_like(upto[:, :1], -1), upto[:, :-1]], 1)
        places = before
        for _ in range(1 + N_BEFORE):
            yield places
            places = torch.where(places >= 0, before.gather(1, places.clamp(min=0)), -2)


def memory_of(config: Any) -> WordMemory | None:
    """Return the memory that a network's config names, not trained; None where the decoder reads states alone."""
    if getattr(config, "d_code", None) is None:
        return None
    return WordMemory(config.d_model, config.d_code, config.silent_ids, config.decoder_start_token_id)


def _take(codes: torch.Tensor, start: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The codes at some places (n_batch, n_source); that of the decoder's first token at -1, zeros before it."""
    taken = codes.gather(1, places.clamp(min=0)[..., None].expand(-1, -1, codes.shape[-1]))
    taken = torch.where((places >= 0)[..., None], taken, start)
    return taken * (places > -2)[..., None]
