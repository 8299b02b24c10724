"""Adapters: what they train, what is saved, and that a run with them can be resumed."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.training.config import LoraConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop.train import build, train

pytest.importorskip("peft")


@pytest.fixture
def adapted(config: TrainConfig, tiny_model: models.Model, tmp_path: Path) -> TrainConfig:
    models.save(tiny_model, tmp_path / "base")
    return replace(
        config, init_from=str(tmp_path / "base"), lora=LoraConfig(r=3),
        optim=OptimConfig(lr=1e-2, warmup_steps=0, max_steps=6), validation=ValidationConfig(every_steps=3),
    )  # fmt: skip


def test_only_adapters_and_the_tagger_learn(adapted: TrainConfig) -> None:
    run = build(replace(adapted, optim=replace(adapted.optim, embeddings="task")))
    encoder = build(replace(adapted, loss=LossConfig(text_weight=0, tagger_weight=1.0)))
    for learner, part in ((run, "lora_"), (encoder, ".encoder.")):
        learning = {name for name, value in learner.objective.named_parameters() if value.requires_grad}
        assert learning and all(part in name or name.startswith("tagger.") for name in learning)


def test_what_is_saved_is_a_model_like_any_other_and_writes_what_was_trained(adapted: TrainConfig) -> None:
    folder = train(adapted)
    base, saved = models.load(adapted.init_from), models.load(folder)
    state, before = saved.network.state_dict(), base.network.state_dict()
    assert state.keys() == before.keys()
    changed = {name for name in state if not torch.equal(state[name], before[name])}
    assert changed and {name.split(".")[-2] for name in changed} <= {"q", "k", "v", "o", "wi", "wo"}
    assert models.load(folder / "best").tagger is not None
    run = build(replace(adapted, resume=True))
    merged = build(replace(adapted, init_from=str(folder), lora=LoraConfig(), output=f"{folder}2"))
    batch = next(iter(run.loader))
    with torch.no_grad():
        trained, again = (each.objective.eval()(batch) for each in (run, merged))
    assert float(again.text) == pytest.approx(float(trained.text), rel=1e-4)
    assert float(again.tags) == pytest.approx(float(trained.tags), rel=1e-4)


def test_six_steps_are_three_and_three_on_the_same_weights(adapted: TrainConfig, tmp_path: Path) -> None:
    parted = replace(adapted, output=str(tmp_path / "parted"), optim=replace(adapted.optim, schedule="constant"))
    whole = train(replace(parted, output=str(tmp_path / "whole")))
    train(replace(parted, optim=replace(parted.optim, max_steps=3)))
    torch.manual_seed(99)
    resumed = train(replace(parted, resume=True))
    for name in ("model", "tagger", "optimiser"):
        wanted, tensors = (load_file(folder / f"{name}.safetensors") for folder in (whole, resumed))
        assert wanted.keys() == tensors.keys()
        for key, tensor in wanted.items():
            torch.testing.assert_close(tensors[key], tensor, rtol=0.0, atol=1e-6)
    start = models.load(adapted.init_from)
    with torch.no_grad():
        start.network.shared.weight.add_(0.1)
    models.save(start, Path(adapted.init_from))
    with pytest.raises(ConfigError, match=r"other weights in .*base than the adapters were trained on; .*; put the"):
        build(replace(parted, resume=True))


def test_names_of_no_layers_are_refused(adapted: TrainConfig) -> None:
    with pytest.raises(ConfigError, match=r"lora.target_modules qkv; expected names of linear layers"):
        build(replace(adapted, lora=LoraConfig(r=2, target_modules=["qkv"])))
