"""A blend lies between two models, weight by weight, and refuses what was never one of the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from command import Invoke

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.tagger import Tagger
from t5punct.training.report.card import CARD
from t5punct.training.start.blend import blend_models


@pytest.fixture(scope="module")
def pair(tiny_model: Model) -> tuple[Model, Model]:
    """A model, and one that was trained on from it."""
    torch.manual_seed(1)
    start = replace(tiny_model, tagger=Tagger(tiny_model.network.config.d_model, tiny_model.task.marks))
    tuned = blend_models(start, start, 1.0)  # a copy
    with torch.no_grad():
        for part in (tuned.network, tuned.tagger):
            assert part is not None
            for value in part.parameters():
                value.add_(torch.randn_like(value))
    return start, tuned


def weights(model: Model) -> dict[str, torch.Tensor]:
    assert model.tagger is not None
    return dict(model.network.state_dict()) | {
        f"tagger {name}": value for name, value in model.tagger.state_dict().items()
    }


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_every_weight_lies_between_and_the_two_models_stay(pair: tuple[Model, Model], share: float) -> None:
    start, tuned = pair
    before, after = ({name: value.clone() for name, value in weights(model).items()} for model in pair)
    blended = weights(blend_models(tuned, start, share))
    assert blended.keys() == after.keys()
    for name, value in blended.items():
        torch.testing.assert_close(value, (1 - share) * before[name] + share * after[name])
        assert torch.equal(weights(start)[name], before[name]) and torch.equal(weights(tuned)[name], after[name])
    assert any(not torch.equal(before[name], after[name]) for name in blended)


def test_strangers_are_refused(pair: tuple[Model, Model]) -> None:
    start, tuned = pair
    for other in (replace(start, tagger=None), models.load("small")):
        with pytest.raises(ConfigError, match=r"of another shape, vocabulary or marks; expected the model"):
            blend_models(tuned, other, 0.5)
    with pytest.raises(ConfigError, match=r"blend share 1.5; expected 0 to 1"):
        blend_models(tuned, start, 1.5)


def test_the_command_writes_a_blend_and_says_so_in_its_card(
    pair: tuple[Model, Model], tmp_path: Path, invoke: Invoke
) -> None:
    start, tuned = pair
    models.save(start, tmp_path / "start")
    models.save(tuned, tmp_path / "tuned")
    output, blend = tmp_path / "made", ("--blend", tmp_path / "start", "--blend-share", "0.25")
    assert invoke("export", tmp_path / "tuned", "-o", output, "--dtype", "float32", *blend)[0] == 0
    expected, written = weights(blend_models(tuned, start, 0.25)), weights(models.load(output))
    for name, value in written.items():
        torch.testing.assert_close(value, expected[name])
    card = (output / CARD).read_text(encoding="utf-8")
    assert "A blend: 0.25 of the weights are the run's, 0.75 those of start." in card
    assert "scored before it was blended" in card
