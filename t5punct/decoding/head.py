"""Logits of a few tokens instead of the whole vocabulary.

In: decoder states and, for each, the ids of a handful of tokens.  Out: those tokens' logits.

A slot offers about ten tokens; a T5's output matrix has 8,000 to 250,000 rows.
"""

from __future__ import annotations

from typing import Any

import torch

from ..errors import ModelError
from ..model import Model
from ..t5.inference.modules import InferenceT5

NO_TOKEN = -1  # fills up rows with fewer tokens; its logit is minus infinity


class CandidateHead:
    """The output layer of a T5, row by row."""

    def __init__(self, model: Model) -> None:
        self._weight: torch.Tensor = model.network.get_output_embeddings().weight  # (n_vocabulary, d_model)
        self._scale = output_scale(model)

    def logits(self, states: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """Return logits, float32 (n, n_candidates), for states (n, d_model) and ids int64 (n, n_candidates)."""
        distinct, places = torch.unique(ids.clamp(min=0), return_inverse=True)
        # one product with the batch's distinct candidates is faster than gathering rows for each state
        logits = (states @ self._weight[distinct].T).float() * self._scale  # (n, n_distinct)
        return logits.gather(1, places).masked_fill(ids == NO_TOKEN, float("-inf"))


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
    # the network could return its states itself, but then it adds functions to itself that cannot be pickled
    encoded = network.encoder(input_ids=start).last_hidden_state
    states = network.decoder(input_ids=start, encoder_hidden_states=encoded, use_cache=False).last_hidden_state
    plain = network.get_output_embeddings()(states).double().flatten()
    expected = network(input_ids=start, decoder_input_ids=start, use_cache=False).logits.double().flatten()
    network.train(was_training)
    scale = float(expected @ plain / (plain @ plain))
    if not torch.allclose(plain * scale, expected, rtol=1e-2, atol=1e-2 * float(expected.abs().max())):
        raise ModelError(
            f"{model.name}: an output layer that is not linear", expected="a T5", fix="use --decoder generate"
        )
    return scale
