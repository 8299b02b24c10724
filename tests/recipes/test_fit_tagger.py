"""A tagger fitted on the states of an encoder."""

from dataclasses import replace
from pathlib import Path

import fit_tagger as recipe
import pytest
import torch
from chunk_rows import batch_of
from datasets import load_from_disk
from fit_tagger import fit_tagger
from from_encoder import from_encoder
from tiny_encoders import save_tiny_encoder
from transformers import AutoModel

from t5punct import model as models
from t5punct.model import Model
from t5punct.training.config import LossConfig
from t5punct.training.examples.example import IGNORED, ChunkExamples
from t5punct.training.loop.objective import Objective


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


def test_main__model_that_the_run_would_start_from(tiny_data: Path, tmp_path: Path) -> None:
    encoder = save_tiny_encoder(tmp_path / "encoder", "roberta")
    models.save(from_encoder(encoder), tmp_path / "model")
    config = Path(__file__).parents[2] / "configs" / "from-encoder-1-tag.yaml"
    settings = [f"init_from={tmp_path / 'model'}", f"data.path={tiny_data}", f"output={tmp_path / 'start'}"]
    recipe.main(["--config", str(config), "--words", "200", *settings])
    start = models.load(tmp_path / "start")
    whole = AutoModel.from_pretrained(encoder)
    assert start.tagger is not None
    name = "encoder.layer.0.attention.self.query.weight"
    assert torch.equal(start.network.encoder.state_dict()[name], whole.state_dict()[name])
