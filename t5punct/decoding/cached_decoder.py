"""The decoder over one batch of windows, pass after pass, computing only what changed and only what is asked for.

In: for each window, its tokens that are not settled, and where a state is wanted.  Out: those states.

The windows have different numbers of open tokens.  Everything that looks at one token alone (most of the work) runs on
all open tokens end to end, without padding; attention needs a row for each window.  Keys and values are stored at the
place of their token, so a pass overwrites those that it computes again:

    settled  w e l l | t h i s        end to end  t h i s k n o w        a row each  t h i s
             w e | k n o w                                                           k n o w

The last layer computes queries and states only where a state is wanted.  The layers are those of transformers' T5, mT5
and umT5, called one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch.nn.functional import pad, scaled_dot_product_attention

from ..errors import ModelError
from ..model import Model
from ..t5.encoder import position_buckets
from ..t5.inference import InferenceT5
from ..t5.int8_linear import rounded_for
from ..t5.word_memory import embed_targets

_SPARE_TOKENS = 32  # room for marks that drafts gain, so that the cache seldom grows


@dataclass(frozen=True, slots=True)
class Ragged:
    """Tokens of several windows end to end, and the way to one row a window and back.

    rows, positions: int64 (n_tokens,), each token's window and its place there; padded: int64 (n_batch, n_longest),
    each window's tokens by their index here, and any index where it has no more; places: int64 (n_tokens,), where
    each token stands in the flattened `padded`.
    """

    rows: torch.Tensor
    positions: torch.Tensor
    padded: torch.Tensor
    places: torch.Tensor

    @classmethod
    def of(cls, positions: Sequence[Sequence[int]], device: torch.device) -> Ragged:
        """Put tokens end to end; positions: of each window, the places of its tokens there.

        Of `[[7, 8], [2, 3, 4]]`: rows 0 0 1 1 1, positions 7 8 2 3 4, padded [[0, 1, 2], [2, 3, 4]], places 0 1 3 4 5
        """
        lengths = torch.tensor([len(row) for row in positions])
        n_tokens = int(lengths.sum())
        n_longest = int(lengths.max())
        begins = lengths.cumsum(0) - lengths  # (n_batch,), the index of each window's first token
        rows = torch.repeat_interleave(lengths)
        padded = (begins[:, None] + torch.arange(n_longest)).clamp(max=n_tokens - 1)
        index_in_window = torch.arange(n_tokens) - begins[rows]
        places = rows * n_longest + index_in_window
        flat_positions = torch.tensor(list(chain.from_iterable(positions)))
        return cls(rows.to(device), flat_positions.to(device), padded.to(device), places.to(device))


@dataclass(slots=True)
class KeysValues:
    """The keys and values of one layer's attention; both (n_batch, n_keys, n_heads * d_kv)."""

    keys: torch.Tensor
    values: torch.Tensor

    def attend(
        self, attention: Any, normed: torch.Tensor, tokens: Ragged, bias: torch.Tensor, n_keys: int | None = None
    ) -> torch.Tensor:
        """Return what T5's attention, which has no scaling, adds to the tokens' states, (n_tokens, d_model).

        normed: their states behind the layer's norm, (n_tokens, d_model); n_keys: only so many keys, the first ones,
        are seen (None: all).
        """

        def split_heads(rows: torch.Tensor) -> torch.Tensor:
            """(n_batch, n_places, n_heads * d_kv) -> (n_batch, n_heads, n_places, d_kv)"""
            return rows.reshape(*rows.shape[:2], attention.n_heads, -1).transpose(1, 2)

        queries = split_heads(attention.q(normed)[tokens.padded])
        keys = split_heads(self.keys[:, :n_keys])
        values = split_heads(self.values[:, :n_keys])
        attended = scaled_dot_product_attention(queries, keys, values, attn_mask=bias, scale=1.0)
        joined = attended.transpose(1, 2).flatten(2)  # (n_batch, n_longest, n_heads * d_kv)
        end_to_end = joined.flatten(0, 1)[tokens.places]  # (n_tokens, n_heads * d_kv)
        return attention.o(end_to_end)


class CachedDecoder:
    """The decoder of one batch, with the keys and values computed so far."""

    def __init__(self, model: Model, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> None:
        """input_ids, attention_mask: int64 (n_batch, n_source)."""
        network: Any = model.network
        self._decoder = network.decoder
        self._start_id = model.start_id
        self.encoded = model.encode(input_ids, attention_mask)  # (n_batch, n_source, d_model)
        remembered = model.remember(self.encoded, input_ids)
        attentions = [block.layer[1].EncDecAttention for block in self._decoder.block]
        rounded = rounded_for(attentions[0].k, remembered)  # once for all, if they multiply in int8
        self._sources = [KeysValues(attention.k(rounded), attention.v(rounded)) for attention in attentions]
        zeros = torch.zeros_like(attention_mask, dtype=self.encoded.dtype)
        self._source_mask = zeros.masked_fill(attention_mask == 0, float("-inf"))[:, None, None]
        empty = self._sources[0].keys[:, :0]
        self._targets = [KeysValues(empty, empty) for _ in attentions]
        self._biases: list[torch.Tensor] = []  # of each layer, (n_places, n_heads, n_places)
        self._memory = getattr(network, "memory", None)  # the module `WordMemory` of a network that copies
        self._embeddings = network.shared
        # how many words' tokens stand before each place of the target, for a decoder that copies
        self._n_words = torch.zeros(len(self.encoded), 1, dtype=torch.long, device=self.encoded.device)

    def states(
        self, tokens: Sequence[Sequence[int]], n_settled: Sequence[int], wanted: Sequence[Sequence[int]]
    ) -> torch.Tensor:
        """Return all windows' states at `wanted` positions, (n_wanted, d_model); that at position t predicts token t.

        `tokens` of each window begin with the last settled one, if there is any; all from there on are computed.
        """
        inputs = list[int]()  # of all windows: at position t token t - 1, at position 0 the start
        spans = list[range]()  # of each window, the positions that are computed
        offsets = list[int]()  # of each window, what makes a position in it an index in `inputs`
        for row, settled in zip(tokens, n_settled, strict=True):
            read = row[:-1] if settled else (self._start_id, *row[:-1])
            inputs += read
            spans.append(range(settled, settled + len(read)))
            offsets.append(len(inputs) - spans[-1].stop)
        n_places = max(span.stop for span in spans)
        self._make_room(n_places)
        device = self.encoded.device
        computed = Ragged.of(spans, device)
        asked = Ragged.of(wanted, device)
        asked_indices = asked.positions + torch.tensor(offsets, device=device)[asked.rows]  # among those computed
        hidden = self._embed(torch.tensor(inputs, device=device), computed)
        queried = computed
        for index, block in enumerate(self._decoder.block):
            self_layer, cross_layer, feed_layer = block.layer
            attention = self_layer.SelfAttention
            normed = self_layer.layer_norm(hidden)
            rounded = rounded_for(attention.k, normed)
            target = self._targets[index]
            target.keys[computed.rows, computed.positions] = attention.k(rounded)
            target.values[computed.rows, computed.positions] = attention.v(rounded)
            if index == len(self._decoder.block) - 1:  # no layer reads the other states
                hidden = hidden[asked_indices]
                normed = normed[asked_indices]
                queried = asked
            bias = self._biases[index][..., :n_places][queried.positions[queried.padded]].transpose(1, 2)
            hidden = hidden + target.attend(attention, normed, queried, bias, n_places)
            normed = cross_layer.layer_norm(hidden)
            source = self._sources[index]
            hidden = hidden + source.attend(cross_layer.EncDecAttention, normed, queried, self._source_mask)
            hidden = hidden + feed_layer.DenseReluDense(feed_layer.layer_norm(hidden))
        return self._decoder.final_layer_norm(hidden)

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all windows but these."""
        windows = torch.tensor(rows, device=self.encoded.device)
        self._source_mask = self._source_mask[windows]
        self._n_words = self._n_words[windows]
        for attended in (*self._sources, *self._targets):
            attended.keys, attended.values = attended.keys[windows], attended.values[windows]

    def _embed(self, ids: torch.Tensor, tokens: Ragged) -> torch.Tensor:
        """Return the decoder's input (n_tokens, d_model) of ids, int64 (n_tokens,)."""
        if self._memory is None:
            return self._embeddings(ids)
        is_word = self._memory.are_words(ids).long()
        first = tokens.padded[tokens.rows, 0]  # of each token, the index of the first token of its window here
        n_before_first = self._n_words[tokens.rows, tokens.positions[first]]  # words' tokens that are settled
        n_upto = is_word.cumsum(0)
        n_words = n_before_first + n_upto - (n_upto - is_word)[first]
        self._n_words[tokens.rows, tokens.positions + 1] = n_words
        return self._memory.embed_targets(ids, n_words, self._embeddings)

    def _make_room(self, n_tokens: int) -> None:
        """Lengthen keys and values for windows of `n_tokens` tokens, and compute the position biases anew."""
        n_before = self._targets[0].keys.shape[1]
        if n_tokens <= n_before:
            return
        n_places = n_tokens + _SPARE_TOKENS
        behind_last_key = (0, 0, 0, n_places - n_before)  # `pad` counts dimensions from the last one
        for target in self._targets:
            target.keys = pad(target.keys, behind_last_key)
            target.values = pad(target.values, behind_last_key)
        n_counts = n_places + 1  # the words before token t + 1 are counted with token t
        self._n_words = pad(self._n_words, (0, n_counts - self._n_words.shape[1]))
        attentions = [block.layer[0].SelfAttention for block in self._decoder.block]
        self._biases = [_causal_bias(attentions[0], n_places)]
        for attention in attentions[1:]:
            if attention.has_relative_attention_bias:  # each layer of a umT5 has one
                self._biases.append(_causal_bias(attention, n_places))
            else:  # all layers of a T5 share the first one's
                self._biases.append(self._biases[0])


def _causal_bias(attention: Any, n_places: int) -> torch.Tensor:
    """Return a layer's position biases (n_queries, n_heads, n_keys) of `n_places` places: -inf for later keys."""
    table = attention.relative_attention_bias
    places = torch.arange(n_places, device=table.weight.device)
    distances = places - places[:, None]  # (n_queries, n_keys)
    every_distance = torch.arange(1 - n_places, n_places, device=places.device)
    farthest = attention.relative_attention_max_distance
    biases = table(position_buckets(every_distance, table.num_embeddings, farthest, both_sides=False))
    bias: torch.Tensor = biases[distances + n_places - 1]  # row 0 is for the least distance, 1 - n_places
    return bias.masked_fill((distances > 0)[..., None], float("-inf")).transpose(1, 2).contiguous()


@torch.inference_mode()
def output_scale(model: Model) -> float:
    """Return the factor by which the model multiplies the result of its output layer.

    T5 v1.0 scales by d_model ** -0.5 and v1.1 does not; the config key that says so differs between model classes
    and releases, so it is measured on one token.
    """
    network: Any = model.network
    if isinstance(network, InferenceT5):
        return network.output_scale
    was_training = network.training
    network.eval()  # dropout would hide it
    start = torch.tensor([[model.start_id]], device=model.device)
    # not by output_hidden_states=True, for which transformers hooks functions into the network that cannot be pickled
    states_of_source = network.encoder(input_ids=start).last_hidden_state
    memory = model.remember(states_of_source, start)
    embedded = embed_targets(network, start)
    states = network.decoder(inputs_embeds=embedded, encoder_hidden_states=memory, use_cache=False).last_hidden_state
    plain = network.lm_head(states).double().flatten()
    expected = network(input_ids=start, decoder_input_ids=start, use_cache=False).logits.double().flatten()
    network.train(was_training)
    scale = float(expected @ plain / (plain @ plain))  # least squares
    if not torch.allclose(plain * scale, expected, rtol=1e-2, atol=1e-2 * float(expected.abs().max())):
        raise ModelError(
            f"{model.name}: an output layer that is not linear", expected="a T5", fix="use --decoder generate"
        )
    return scale
