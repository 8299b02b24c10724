"""Join the start of `base`: the lower layers, embeddings and decoder of `large` under the upper layers that `base` had.

In: a model of as many layers as `base` shall have, whose upper layers and tagger stay.  Out: a model to train on.

    python recipes/join_base.py runs/parent/base runs/base-start

What comes from `large` and is frozen in training need not be shipped twice: `t5punct export --shared-with large`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from t5punct import model as models
from t5punct.t5.layers import blocks_of
from t5punct.training.start.starting_model import with_encoder_layers

SHARED_LAYERS = 3  # of `large`, from the first one on


def main() -> None:
    """Read the two models, and write the joined one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("upper", help="the model whose upper layers and tagger stay")
    parser.add_argument("output", help="the folder of the joined model")
    parser.add_argument("--lower", default="large", help="the model of which all else is taken")
    arguments = parser.parse_args()
    upper = models.load(arguments.upper)
    layers = blocks_of(upper.network.encoder)
    joined = with_encoder_layers(models.load(arguments.lower), range(len(layers)))
    blocks = blocks_of(joined.network.encoder)
    for index in range(SHARED_LAYERS, len(layers)):
        blocks[index].load_state_dict(layers[index].state_dict())
    models.save(replace(joined, tagger=upper.tagger), arguments.output)


if __name__ == "__main__":
    main()
