"""The encoder end to end gives the states that transformers gives, for every kind of T5 and of encoder that we run."""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import TINY_SHAPE, t5_network
from tiny_encoders import FAMILIES

from t5punct.t5.encoder import Encoder

SHAPE: dict[str, Any] = {
    "vocab_size": 50, "d_model": TINY_SHAPE.d_model, "d_kv": 8, "num_heads": 3, "d_ff": 24, "num_layers": 3,
    "dropout_rate": 0.0,
}  # fmt: skip
KINDS = {"t5": {}, "t5 v1.1": {"feed_forward_proj": "gated-gelu"}, "mt5": {}, "umt5": {}}
OTHERS: dict[str, tuple[Any, Any]] = {
    name: (family.network, family.shape(vocab_size=50)) for name, family in FAMILIES.items() if family.has_layers
}


@cache
def _encoder(kind: str) -> Any:
    """Return an encoder.  Shared: copy it before it is changed."""
    torch.manual_seed(1)
    if kind in OTHERS:
        make, config = OTHERS[kind]
        encoder = make(config).eval()
    else:
        encoder = t5_network(kind.split(maxsplit=1)[0], **SHAPE, **KINDS[kind]).eval().encoder
    for value in encoder.parameters():
        torch.nn.init.normal_(value, std=0.4)
    return encoder


def _batch(lengths: list[int], seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    width = max(lengths) + seed % 2  # sometimes a column of padding alone
    mask = (torch.arange(width) < torch.tensor(lengths)[:, None]).long()
    return torch.randint(3, 50, mask.shape, generator=generator) * mask, mask


@pytest.mark.parametrize("kind", [*KINDS, *OTHERS])
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 9))
@torch.inference_mode()
def test_states_are_those_of_transformers(kind: str, lengths: list[int], seed: int) -> None:
    encoder, (ids, mask) = _encoder(kind), _batch(lengths, seed)
    expected = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    states = Encoder(encoder).states(ids, mask)
    assert states.shape == expected.shape
    assert torch.allclose(states[mask.bool()], expected[mask.bool()], atol=2e-5)
    assert not states[~mask.bool()].any()


def test_bfloat16_stays_bfloat16() -> None:
    encoder, (ids, mask) = deepcopy(_encoder("umt5")).to(torch.bfloat16), _batch([9, 5, 9], 0)
    with torch.inference_mode():
        states, expected = (
            Encoder(encoder).states(ids, mask),
            encoder(input_ids=ids, attention_mask=mask).last_hidden_state,
        )
    assert states.dtype is torch.bfloat16
    assert torch.nn.functional.cosine_similarity(states[mask.bool()], expected[mask.bool()], dim=-1).min() > 0.99
