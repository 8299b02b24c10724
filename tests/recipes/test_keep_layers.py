"""Some layers of an encoder, as the start of a smaller model."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from from_encoder import from_encoder
from keep_layers import main, with_encoder_layers
from tiny import TINY_SHAPE, t5_network
from tiny_encoders import save_tiny_encoder

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model


def test_main__layers_of_a_model_and_of_an_encoder_which_stays_one(folder: str, tmp_path: Path) -> None:
    main([folder, str(tmp_path / "kept"), "1"])
    assert models.load(tmp_path / "kept").network.config.num_layers == 1
    bert = save_tiny_encoder(tmp_path / "bert", "bert")
    main([str(bert), str(tmp_path / "shallow"), "0", "2"])
    whole, shallow = (from_encoder(path) for path in (bert, tmp_path / "shallow"))
    assert shallow.network.config.num_layers == 2
    states = [model.network.encoder.encoder.layer[index].state_dict() for model, index in ((whole, 2), (shallow, 1))]
    assert all(torch.equal(value, states[1][name]) for name, value in states[0].items())
    with pytest.raises(ConfigError, match=r"encoder layers \[7\]; expected some of 0 to 2"):
        main([str(bert), str(tmp_path / "none"), "7"])


def test_a_tagger_stays_with_the_layer_that_it_reads(tagged_model: Model) -> None:
    shallow = with_encoder_layers(tagged_model, [1])
    assert tagged_model.network.config.num_layers == 2, "the model itself stays"
    assert shallow.tagger is tagged_model.tagger and with_encoder_layers(tagged_model, [0]).tagger is None
    for layers in ([2], [1, 0], [0, 0], [-1]):
        with pytest.raises(ConfigError, match="some of 0 to 1"):
            with_encoder_layers(tagged_model, layers)


@pytest.mark.parametrize("kind", ["t5", "umt5"])
def test_a_model_without_its_first_layer_keeps_its_positions(tagged_model: Model, tmp_path: Path, kind: str) -> None:
    """Of a T5 only the first layer has position biases; an umT5 has some in each."""
    shape = {**asdict(TINY_SHAPE), "num_layers": 3, "vocab_size": tagged_model.network.config.vocab_size}
    torch.manual_seed(2)
    network = t5_network(kind, **shape, pad_token_id=0).eval()
    shallow = with_encoder_layers(replace(tagged_model, network=network, tagger=None), [1, 2])
    index = 0 if kind == "t5" else 1
    wanted = network.encoder.block[index].layer[0].SelfAttention.relative_attention_bias.weight
    assert torch.equal(shallow.network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight, wanted)
    models.save(shallow, tmp_path)
    ids = torch.tensor([[5, 6, 7, 8, 5, 6, 1]])
    states = [model.encode(ids, torch.ones_like(ids)) for model in (shallow, models.load(tmp_path))]
    assert torch.allclose(states[0], states[1], atol=1e-6)
