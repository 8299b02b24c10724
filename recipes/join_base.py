"""Join the start of `base`: the encoder and the tagger that it had, under the decoder of `large`.

In: a model with lower layers of `large`'s encoder.  Out: a model to train on, whose decoder copies already.

    python recipes/join_base.py runs/parent/base runs/base-start

The decoder reads codes of words beside the states (`t5/word_memory.py`), so it copies over any states of its width.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from keep_layers import with_encoder_layers

from t5punct import model as models
from t5punct.model import Model
from t5punct.t5.encoder import blocks_of


def join_models(encoder: Model, decoder: Model) -> Model:
    """Return a model with the encoder and tagger of one, and all else of the other."""
    layers = range(len(blocks_of(encoder.network.encoder)))
    joined = with_encoder_layers(decoder, layers)
    joined.network.encoder.load_state_dict(encoder.network.encoder.state_dict())
    return replace(joined, tagger=encoder.tagger)


def main() -> None:
    """Read the two models, and write the joined one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder", help="the model whose encoder and tagger are taken")
    parser.add_argument("output", help="the folder of the joined model")
    parser.add_argument("--decoder", default="large", help="the model whose decoder is taken")
    arguments = parser.parse_args()
    joined = join_models(models.load(arguments.encoder), models.load(arguments.decoder))
    models.save(joined, arguments.output)


if __name__ == "__main__":
    main()
