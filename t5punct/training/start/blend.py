"""A blend of two models: the weights between a fine-tuned one and the one that it began with.

In: two models of one shape and vocabulary, and a share.  Out: a model with the weights
`share * tuned + (1 - share) * start` (WiSE-FT, Wortsman 2022, equation 1), and the tuned one's task.

Half way, a fine-tuned model keeps most of what it has learned and forgets a quarter as much of what it knew before
(docs/results/finetune.md).  `blend_models(tuned, start, 1.0)` is the tuned one, `blend_models(tuned, start, 0.0)` the
start.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...errors import ConfigError
from ...model import Model, same_tokenizer


def blend_models(tuned: Model, start: Model, share: float) -> Model:
    """Blend two models, in float32, and return the third; `share` is the tuned one's, 0 to 1.

    Raises ConfigError for another share, and for models of other shapes, vocabularies or marks.
    """
    if not 0.0 <= share <= 1.0:
        raise ConfigError(f"blend share {share}", expected="0 to 1", fix="check --blend-share")
    if not _shapes(tuned) == _shapes(start) or not same_tokenizer(tuned.tokenizer, start.tokenizer):
        raise ConfigError(
            f"blend with {start.name}, a model of another shape, vocabulary or marks",
            expected=f"the model that {tuned.name} began with",
            fix="name it as its train.yaml does in init_from",
        )
    network, tagger = copy.deepcopy(tuned.network), copy.deepcopy(tuned.tagger)
    network.load_state_dict(_between(start.network.state_dict(), tuned.network.state_dict(), share))
    if tagger is not None and start.tagger is not None:
        tagger.load_state_dict(_between(start.tagger.state_dict(), tagger.state_dict(), share))
    return replace(tuned, network=network, tagger=tagger)


def _shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shape of each weight, the tagger's among them."""
    parts = [model.network.state_dict(), model.tagger.state_dict() if model.tagger is not None else {}]
    return {f"{number} {name}": tuple(value.shape) for number, part in enumerate(parts) for name, value in part.items()}


def _between(start: Mapping[str, Any], tuned: Mapping[str, Any], share: float) -> dict[str, Any]:
    return {name: start[name].float().lerp(value.float(), share) for name, value in tuned.items()}
