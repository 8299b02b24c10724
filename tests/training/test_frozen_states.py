"""States of a frozen encoder are computed once."""

from __future__ import annotations

import torch

from t5punct.training.loop.frozen_states import FrozenStates

IDS = torch.tensor([[5, 6, 7, 2], [5, 6, 2, 0], [8, 2, 0, 0]])
MASK = (IDS != 0).long()


class Encoder:
    """States that say which token stands where; counts the rows that it is asked for."""

    def __init__(self) -> None:
        self.n_rows = 0

    def __call__(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        self.n_rows += len(input_ids)
        positions = torch.arange(input_ids.shape[1]).expand_as(input_ids)
        return torch.stack([input_ids, positions, attention_mask], -1).float()


def test_each_source_is_encoded_once_and_its_states_stay_the_same() -> None:
    encoder, states = Encoder(), FrozenStates(max_tokens=100)
    first = states.encode(encoder, IDS, MASK)
    again = states.encode(encoder, IDS[[2, 0]], MASK[[2, 0]])
    assert encoder.n_rows == 3
    real = MASK.bool()
    assert torch.equal(first[real], Encoder()(IDS, MASK)[real])
    assert torch.equal(again[1], first[0])
    assert torch.equal(again[0, :2], first[2, :2])


def test_what_there_is_no_room_for_is_encoded_each_time() -> None:
    encoder, states = Encoder(), FrozenStates(max_tokens=6)
    first = states.encode(encoder, IDS, MASK)  # of 4, 3 and 2 tokens: the second has no room
    again = states.encode(encoder, IDS, MASK)
    assert encoder.n_rows == 4
    assert torch.equal(first, again)
