"""Layers that are computed again going backwards give the same losses and gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from tiny import TINY_SHAPE

from t5punct.t5.delay import Delay
from t5punct.training.config import LossConfig, TrainConfig
from t5punct.training.loop.train import Run, build


def backwards(run: Run, delay: Delay | None) -> tuple[list[float], dict[str, torch.Tensor], int]:
    """The losses and gradients of the first batch, and how often the encoder's last layer was computed."""
    calls: list[int] = []
    layer: Any = run.model.network.get_encoder().block[-1].layer[0]
    handle = layer.register_forward_pre_hook(lambda *_: calls.append(1))
    torch.manual_seed(5)  # the dropout of the second computation must be that of the first
    losses = run.objective(next(iter(run.loader)), delay)
    losses.total.backward()
    handle.remove()
    gradients = {name: value.grad for name, value in run.objective.named_parameters() if value.grad is not None}
    return [float(loss.detach()) for loss in (losses.total, losses.text, losses.tags)], gradients, len(calls)


@pytest.mark.parametrize("delay", [None, Delay(2, 4)], ids=["whole context", "delay"])
def test_losses_and_gradients_are_the_same_and_layers_run_twice(config: TrainConfig, delay: Delay | None) -> None:
    config = replace(config, fresh=replace(TINY_SHAPE, dropout_rate=0.1), loss=LossConfig(tagger_weight=0.5))
    losses, gradients, n_calls = backwards(build(config), delay)
    again, found, n_calls_again = backwards(build(replace(config, gradient_checkpointing=True)), delay)
    assert again == pytest.approx(losses)
    assert gradients.keys() == found.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-6)
    assert n_calls_again == 2 * n_calls
