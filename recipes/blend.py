"""Blend two models: take the weights between a fine-tuned one and the one that it began with.

In: two models of one shape and vocabulary, and a share.  Out: a folder with the weights
`share * tuned + (1 - share) * start` (WiSE-FT, Wortsman 2022, equation 1), and the tuned one's task and settings.

    python recipes/blend.py runs/own-text base runs/blend --share 0.5
    t5punct export runs/blend -o my-model

Half way, a fine-tuned model keeps most of what it has learned and forgets a quarter as much of what it knew before
(docs/results/finetune.md).  `blend_models(tuned, start, 1.0)` is the tuned one, `blend_models(tuned, start, 0.0)` the
start.
"""

from __future__ import annotations

import argparse
import copy
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from t5punct import model as models
from t5punct.config import check
from t5punct.errors import T5PunctError
from t5punct.model import Model, tokenizer_fingerprint
from t5punct.training.checkpoint import TRAIN_FILE


def blend_models(tuned: Model, start: Model, share: float) -> Model:
    """Blend two models, in float32, and return the third; `share` is the tuned one's, 0 to 1.

    Raises ConfigError for another share, and for models of other shapes, vocabularies or marks.
    """
    check(0.0 <= share <= 1.0, f"blend share {share}", expected="0 to 1", fix="check --share")
    fingerprints = {tokenizer_fingerprint(model.tokenizer) for model in (tuned, start)}
    check(
        _shapes(tuned) == _shapes(start) and len(fingerprints) == 1,
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
    """Return the shape of each weight, the tagger's among them."""
    parts = [model.network.state_dict(), model.tagger.state_dict() if model.tagger is not None else {}]
    return {f"{number} {name}": tuple(value.shape) for number, part in enumerate(parts) for name, value in part.items()}


def _between(start: Mapping[str, Any], tuned: Mapping[str, Any], share: float) -> dict[str, Any]:
    return {name: start[name].float().lerp(value.float(), share) for name, value in tuned.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the blend."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tuned", help="a folder or hub id")
    parser.add_argument("start", help="the model that it began with")
    parser.add_argument("output", type=Path)
    parser.add_argument("--share", type=float, default=0.5, help="of the tuned one's weights, 0 to 1")
    options = parser.parse_args(arguments)
    tuned = models.load(options.tuned)
    blend = blend_models(tuned, models.load(options.start, task=tuned.task), options.share)
    models.save(blend, options.output)
    settings = models.find(options.tuned) / TRAIN_FILE  # for the card, which names parents and corpora
    if settings.is_file():
        shutil.copy(settings, options.output)


if __name__ == "__main__":
    try:
        main()
    except T5PunctError as error:
        raise SystemExit(str(error)) from None
