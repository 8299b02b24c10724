"""A tagger is fitted on frozen states before the first step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from chunk_rows import batch_of
from datasets import load_from_disk

from t5punct import model as models
from t5punct.model import Model
from t5punct.training.config import FitConfig, LossConfig, TrainConfig
from t5punct.training.examples.example import IGNORED, ChunkExamples
from t5punct.training.loop.objective import Objective
from t5punct.training.loop.train import build
from t5punct.training.start import fitting
from t5punct.training.start.fitting import fit_tagger


@pytest.fixture
def examples(tiny_model: Model, tiny_data: Path) -> ChunkExamples:
    return ChunkExamples(load_from_disk(str(tiny_data))["train"], tiny_model.tokenizer)


def test_a_fitted_tagger_knows_more_than_the_shares_of_classes(tiny_model: Model, examples: ChunkExamples) -> None:
    tagger = fit_tagger(tiny_model, examples, n_words=2000)
    batch = batch_of(tiny_model, examples.rows)
    with torch.no_grad():
        fitted = Objective(replace(tiny_model, tagger=tagger), LossConfig(tagger_weight=1.0))(batch)
    marks = batch.marks[batch.marks != IGNORED]
    shares = torch.bincount(marks).float() / len(marks)
    entropy = -float((shares[shares > 0] * shares[shares > 0].log()).sum())
    assert float(fitted.tags) < 0.98 * entropy, "where marks stand in this text is drawn by lot"


def test_a_tagger_is_fitted_on_as_many_words_as_are_asked_for(
    tiny_model: Model, examples: ChunkExamples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words, not tokens; at most one chunk more."""
    seen, fit = list[int](), fitting._fit

    def counted(head: torch.nn.Linear, states: torch.Tensor, classes: torch.Tensor) -> None:
        seen.append(len(states))
        fit(head, states, classes)

    monkeypatch.setattr(fitting, "_fit", counted)
    fit_tagger(tiny_model, examples, n_words=300)
    assert len(seen) == 2, "one head for marks, one for case"
    assert all(300 <= n_words < 300 + 64 for n_words in seen)


def test_a_run_fits_before_its_first_step_and_keeps_a_tagger_that_is_there(config: TrainConfig, tmp_path: Path) -> None:
    fitting_config = replace(config, fit=FitConfig(tagger_words=500))
    fitted = build(fitting_config).model
    plain = build(replace(config, output=str(tmp_path / "plain"))).model
    for name, weights in plain.network.state_dict().items():
        assert torch.equal(fitted.network.state_dict()[name], weights), "the network stays as it is"
    assert fitted.tagger is not None and plain.tagger is not None
    assert not torch.equal(fitted.tagger.marks.weight, plain.tagger.marks.weight)
    models.save(fitted, tmp_path / "tagged")
    begun = build(replace(fitting_config, init_from=str(tmp_path / "tagged"), tokenizer=None, fit=FitConfig(300))).model
    assert begun.tagger is not None
    assert torch.equal(begun.tagger.marks.weight, fitted.tagger.marks.weight)
