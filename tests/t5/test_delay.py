"""The delayed encoder against one that is computed token by token, and what its states may depend on."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import t5_network
from tiny_encoders import FAMILIES

from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.delay import NOBODY, PREFIX, Delay, delayed_states, token_words

N_LAYERS = 3
few = settings(max_examples=12)


def encoder_of(kind: str) -> Any:
    """An encoder of three layers with lively random weights: T5, umT5 (a position bias in each layer) or MPNet."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(3)
        if kind == "mpnet":
            family = FAMILIES[kind]
            encoder = family.network(family.shape(vocab_size=40), add_pooling_layer=False).eval()
            for value in encoder.parameters():
                value.add_(torch.randn_like(value) / 4)
            return encoder
        encoder = t5_network(
            kind, vocab_size=40, d_model=32, d_kv=4, num_heads=2, d_ff=24, num_layers=N_LAYERS, dropout_rate=0.0,
            relative_attention_num_buckets=8, relative_attention_max_distance=12, feed_forward_proj="gated-gelu",
        ).eval().encoder  # fmt: skip
        for name, value in encoder.named_parameters():
            value.mul_(6.0 if "relative" in name else 2.0 if "SelfAttention" in name else 1.0)
    return encoder


ENCODERS = {kind: encoder_of(kind) for kind in ("t5", "umt5", "mpnet")}


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Token ids, and the word of each: a prefix, words of 1 to 3 tokens, the end."""
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=9))
    words = [PREFIX] * draw(st.integers(0, 2)) + [word for word, n in enumerate(lengths) for _ in range(n)] + [NOBODY]
    return draw(st.lists(st.integers(2, 39), min_size=len(words), max_size=len(words))), words


delays = st.builds(Delay, st.integers(0, 5), st.integers(1, 4), st.sampled_from([(), (2, 0), (1,)]))


@torch.no_grad()
def states_of(kind: str, ids: list[int], words: list[int], delay: Delay) -> torch.Tensor:
    return delayed_states(ENCODERS[kind], torch.tensor([ids]), torch.tensor([words]), delay)[0]


def sees(query: int, key: int, look_ahead: int, left_words: int) -> bool:
    """The rule of the module's docstring, once more."""
    if key == PREFIX or query == PREFIX:
        return key == PREFIX
    if NOBODY in (query, key):
        return query == key
    return query - left_words <= key <= query + look_ahead


def attended(
    hidden: torch.Tensor, projections: Sequence[Any], bias: torch.Tensor, words: list[int], look_ahead: int, left: int,
    scale: float = 1.0,
) -> torch.Tensor:  # fmt: skip
    """What each token gathers, head by head, with explicit loops; bias: (n_heads, n_source, n_source)."""
    queries, keys, values = (project(hidden).view(len(words), len(bias), -1) for project in projections)
    rows = []
    for token, word in enumerate(words):
        seen = [k for k, other in enumerate(words) if sees(word, other, look_ahead, left)]
        for head in range(len(bias)):
            logits = [queries[token, head] @ keys[k, head] / scale + bias[head, token, k] for k in seen]
            rows.append(torch.stack(logits).softmax(0) @ values[seen, head])
    return torch.cat(rows).view(len(words), -1)


@torch.no_grad()
def mpnet_by_hand(encoder: Any, ids: list[int], words: list[int], delay: Delay) -> torch.Tensor:
    """As `by_hand`, of MPNet: the norm behind each sublayer, logits scaled, one bias, the mean position for all."""
    place = encoder.embeddings.position_embeddings.weight[2:].mean(0)
    hidden = encoder.embeddings.LayerNorm(encoder.embeddings.word_embeddings(torch.tensor(ids)) + place)
    bias = encoder.encoder.compute_position_bias(hidden[None])[0]
    for layer, look_ahead in zip(encoder.encoder.layer, delay.look_aheads(N_LAYERS), strict=True):
        own = layer.attention.attn
        rows = attended(hidden, (own.q, own.k, own.v), bias, words, look_ahead, delay.left_words, 8**0.5)
        hidden = layer.attention.LayerNorm(hidden + own.o(rows))
        hidden = layer.output(layer.intermediate(hidden), hidden)
    return hidden


@torch.no_grad()
def by_hand(encoder: Any, ids: list[int], words: list[int], delay: Delay) -> torch.Tensor:
    """Token by token and head by head; (n_source, d_model)."""
    if not hasattr(encoder, "block"):
        return mpnet_by_hand(encoder, ids, words, delay)
    first = encoder.block[0].layer[0].SelfAttention
    hidden = encoder.embed_tokens(torch.tensor(ids))
    for block, look_ahead in zip(encoder.block, delay.look_aheads(len(encoder.block)), strict=True):
        own, normed = block.layer[0].SelfAttention, block.layer[0].layer_norm(hidden)
        bias = (own if own.has_relative_attention_bias else first).compute_bias(len(ids), len(ids))[0]
        rows = attended(normed, (own.q, own.k, own.v), bias, words, look_ahead, delay.left_words)
        hidden = block.layer[1](hidden + own.o(rows))
    return encoder.final_layer_norm(hidden)


@pytest.mark.parametrize("kind", ENCODERS)
@few
@given(text=texts(), delay=delays)
def test_it_equals_an_encoder_token_by_token(kind: str, text: tuple[list[int], list[int]], delay: Delay) -> None:
    assert torch.allclose(states_of(kind, *text, delay), by_hand(ENCODERS[kind], *text, delay), atol=1e-4)


def reached(kind: str, ids: list[int], words: list[int], delay: Delay, word: int) -> set[int]:
    """The words whose embeddings have a gradient from a word's states."""
    embeddings = ENCODERS[kind].get_input_embeddings()
    rows = embeddings(torch.tensor([ids])).detach().requires_grad_(True)
    hook = embeddings.register_forward_hook(lambda *_: rows)
    states = delayed_states(ENCODERS[kind], torch.tensor([ids]), torch.tensor([words]), delay)[0]
    hook.remove()
    chosen = torch.tensor([owner == word for owner in words])
    (gradient,) = torch.autograd.grad((states[chosen] * torch.randn(32)).sum(), rows)
    return {owner for owner, row in zip(words, gradient[0], strict=True) if bool(row.abs().sum() > 0)}


@pytest.mark.parametrize("kind", ENCODERS)
@few
@given(text=texts(), delay=delays, data=st.data())
def test_gradients_reach_exactly_the_words_that_the_delay_lets_a_word_see(
    kind: str, text: tuple[list[int], list[int]], delay: Delay, data: st.DataObject
) -> None:
    ids, words = text
    last = max(word for word in words if word != NOBODY)
    word = data.draw(st.integers(0, last))
    seen = reached(kind, ids, words, delay, word)
    first = max(0, word - delay.left_words * N_LAYERS)
    assert seen - {PREFIX} == set(range(first, min(word + delay.words, last) + 1)), "no more, and no less"
    assert (PREFIX in seen) == (PREFIX in words)


def test_padding_changes_nothing_and_impossible_delays_are_refused() -> None:
    first, other = ([5, 6, 7, 8, 1], [PREFIX, 0, 1, 1, NOBODY]), ([9, 3, 1], [PREFIX, 0, NOBODY])
    ids, words = torch.tensor([first[0], [*other[0], 0, 0]]), torch.tensor([first[1], [*other[1], NOBODY, NOBODY]])
    with torch.no_grad():
        both = delayed_states(ENCODERS["umt5"], ids, words, Delay(2, 3))
    assert torch.allclose(both[0][:4], states_of("umt5", *first, Delay(2, 3))[:4], atol=1e-5)
    assert torch.allclose(both[1][:2], states_of("umt5", *other, Delay(2, 3))[:2], atol=1e-5)
    assert bool(both.isfinite().all()), "padding sees itself"
    for delay in ({"words": -1}, {"words": 1, "left_words": 0}):
        with pytest.raises(ConfigError, match="a delay of"):
            Delay(**delay)


@given(st.integers(0, 40), st.integers(1, 12), st.permutations(range(4)))
def test_the_layers_look_ahead_by_all_of_the_delay_together(words: int, n_layers: int, order: list[int]) -> None:
    even = Delay(words).look_aheads(n_layers)
    assert (len(even), sum(even)) == (n_layers, words) and max(even) - min(even) <= 1
    chosen = Delay(words, layers=tuple(order[:3])).look_aheads(4)
    assert sum(chosen) == words and chosen[order[3]] == 0


def test_a_source_says_which_word_a_token_belongs_to(tiny_model: Model) -> None:
    """A silence belongs to the word after it, for a stream knows of it then; what follows the last word to none."""
    hearing = tiny_model.with_task(pause_ms=280).tokenizer
    source = hearing.source(["we", "know", "that"], "talk", pauses=[False, True, True])
    words = token_words(source)
    assert len(words) == len(source.ids) and words.index(0) == source.n_prefix > 0
    pauses = [place for place, token in enumerate(source.ids) if token == hearing.pause_ids[0]]
    assert [words[place] for place in pauses] == [2, NOBODY]
    assert [words[end] for end in source.word_ends] == [0, 1, 2]
    assert words[-1] == NOBODY
