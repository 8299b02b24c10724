"""A joined model has the one model's encoder and tagger to the bit, under the other's decoder."""

from pathlib import Path

import pytest
import torch
from join_base import main

from t5punct import model as models


def test_the_start_of_base_joins_encoder_and_decoder_of_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["join_base.py", "base", str(tmp_path / "start")])
    main()
    start, base, large = (models.load(name) for name in (tmp_path / "start", "base", "large"))
    weights = start.network.state_dict()
    for part, model in (("encoder.", base), ("decoder.", large), ("memory.", large), ("shared.", large)):
        own = {name: weight for name, weight in model.network.state_dict().items() if name.startswith(part)}
        assert own and all(torch.equal(weights[name], weight) for name, weight in own.items()), part
    assert start.tagger is not None and base.tagger is not None
    assert torch.equal(start.tagger.marks.weight, base.tagger.marks.weight)
