"""A decoder from another checkpoint: what is taken, what stays, and donors that do not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.task import style_token
from t5punct.training.donor import with_decoder_of
from t5punct.training.fewer_layers import with_encoder_layers


@pytest.fixture
def donor(tiny_model: Model, tmp_path: Path) -> str:
    """The tiny model with all weights turned round."""
    import copy

    network = copy.deepcopy(tiny_model.network)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.neg_()
    models.save(replace(tiny_model, network=network).with_task(unmarked_odds=7.0), tmp_path / "donor")
    return str(tmp_path / "donor")


def test_the_decoder_is_the_donors_and_the_encoder_stays(tiny_model: Model, donor: str) -> None:
    made, task_ids = with_decoder_of(tiny_model, donor), set(tiny_model.tokenizer.task_ids)
    styles = {int(tiny_model.tokenizer.tokenizer.convert_tokens_to_ids(style_token(name))) for name in made.task.styles}
    new, old = made.network.state_dict(), tiny_model.network.state_dict()
    for name, value in new.items():
        if name.startswith("encoder.block"):
            assert torch.equal(value, old[name]), name
        if name.startswith("decoder.block"):
            assert torch.equal(value, -old[name]), name
    rows = new["shared.weight"]
    taken = {row for row in range(len(rows)) if torch.equal(rows[row], -old["shared.weight"][row])}
    assert taken == task_ids - styles
    assert made.task.unmarked_odds == 7.0


def test_a_donor_of_another_shape_or_task_is_refused(tiny_model: Model, donor: str, tmp_path: Path) -> None:
    models.save(with_encoder_layers(tiny_model, [0]), tmp_path / "thin")
    with pytest.raises(ConfigError, match=r"thin, a model of another shape or task; expected the shape, tokenizer"):
        with_decoder_of(tiny_model, str(tmp_path / "thin"))
    with pytest.raises(ConfigError, match="a model of another shape or task"):
        with_decoder_of(tiny_model.with_task(marks=",."), donor)
