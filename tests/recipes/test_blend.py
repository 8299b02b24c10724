"""A blend lies between two models, weight by weight; a joined model has one's encoder under the other's decoder."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from blend import blend_models, main
from join_base import main as join

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model


@pytest.fixture(scope="module")
def pair(tagged_model: Model) -> tuple[Model, Model]:
    """A model, and one that was trained on from it."""
    torch.manual_seed(1)
    tuned = blend_models(tagged_model, tagged_model, 1.0)  # a copy
    with torch.no_grad():
        for part in (tuned.network, tuned.tagger):
            for value in part.parameters():
                value.add_(torch.randn_like(value))
    return tagged_model, tuned


def weights(model: Model) -> dict[str, torch.Tensor]:
    return model.network.state_dict() | {f"tagger {name}": value for name, value in model.tagger.state_dict().items()}


def test_strangers_are_refused(pair: tuple[Model, Model]) -> None:
    start, tuned = pair
    for other in (replace(start, tagger=None), models.load("small")):
        with pytest.raises(ConfigError, match=r"of another shape, vocabulary or marks; expected the model"):
            blend_models(tuned, other, 0.5)
    with pytest.raises(ConfigError, match=r"blend share 1.5; expected 0 to 1"):
        blend_models(tuned, start, 1.5)


def test_main__folder_of_the_blend_whose_weights_lie_between(pair: tuple[Model, Model], tmp_path: Path) -> None:
    for model, name in zip(pair, ("start", "tuned"), strict=True):
        models.save(model, tmp_path / name)
    (tmp_path / "tuned" / "train.yaml").write_text("output: runs/x\n")
    main([*(str(tmp_path / name) for name in ("tuned", "start", "made")), "--share", "0.25"])
    before, after, written = (weights(model) for model in (*pair, models.load(tmp_path / "made")))
    assert written.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in written)
    for name, value in written.items():
        torch.testing.assert_close(value, 0.75 * before[name] + 0.25 * after[name])
    assert (tmp_path / "made" / "train.yaml").read_text() == "output: runs/x\n"


@pytest.mark.long
def test_the_start_of_base_joins_encoder_and_decoder_of_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["join_base.py", "base", str(tmp_path / "start")])
    join()
    start, base, large = (models.load(name) for name in (tmp_path / "start", "base", "large"))
    weights = start.network.state_dict()
    for part, model in (("encoder.", base), ("decoder.", large), ("memory.", large), ("shared.", large)):
        own = {name: weight for name, weight in model.network.state_dict().items() if name.startswith(part)}
        assert own and all(torch.equal(weights[name], weight) for name, weight in own.items()), part
    assert start.tagger is not None and base.tagger is not None
    assert torch.equal(start.tagger.marks.weight, base.tagger.marks.weight)
