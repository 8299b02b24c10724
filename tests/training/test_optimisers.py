"""Rates of parameters and schedules, and parameters that stay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.training.config import SCHEDULES, LossConfig, OptimConfig, TrainConfig
from t5punct.training.loop.objective import Objective
from t5punct.training.loop.run import build_schedule, freeze
from t5punct.training.loop.train import build, take_step, train


def test_a_factor_multiplies_the_rates_of_the_parameters_that_it_names(config: TrainConfig) -> None:
    optim = replace(config.optim, warmup_steps=0)

    def rates_by_name(factors: dict[str, float]) -> dict[str, float]:
        run = build(replace(config, optim=replace(optim, factors=factors)))
        groups = run.optimiser.param_groups
        rate_of = {id(value): float(group["lr"]) for group in groups for value in group["params"]}
        return {name: rate_of[id(value)] for name, value in run.objective.named_parameters()}

    plain, faster = rates_by_name({}), rates_by_name({"decoder.": 4.0})
    assert {name: faster[name] / plain[name] for name in plain} == pytest.approx(
        {name: 4.0 if "decoder." in name else 1.0 for name in plain}
    )
    assert any("decoder." in name for name in plain)


@pytest.mark.parametrize("setting", [{"factors": {"no.such.part": 2.0}}, {"frozen": ["no.such.part"]}])
def test_a_part_that_no_parameter_has_in_its_name_is_refused(config: TrainConfig, setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"{next(iter(setting))} (of )?'no\.such\.part'; expected part of a param"):
        build(replace(config, optim=replace(config.optim, **setting)))


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_rises_to_the_rate_and_works_to_the_end(name: str) -> None:
    config = OptimConfig(lr=1.0, schedule=name, warmup_steps=2)
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule, rates = build_schedule(config, optimiser, 8, n_done=0), []
    for _ in range(8):
        optimiser.step()
        schedule.step()
        rates.append(optimiser.param_groups[0]["lr"])
    assert max(rates) == pytest.approx(1.0)
    assert all(0 <= rate <= 1 for rate in rates)
    resumed = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    build_schedule(config, resumed, 8, n_done=5)
    assert resumed.param_groups[0]["lr"] == pytest.approx(rates[4])


def test_frozen_parameters_stay(config: TrainConfig) -> None:
    config = replace(config, optim=replace(config.optim, frozen=["words", "encoder.block.0"]))
    before = {name: value.clone() for name, value in build(config).objective.named_parameters()}
    torch.manual_seed(config.seed)
    train(config)
    after = dict(build(replace(config, resume=True)).objective.named_parameters())
    stayed = {name for name in before if torch.equal(before[name], after[name])}
    assert stayed == {name for name in before if "shared" in name or "encoder.block.0" in name}


@pytest.mark.parametrize("name", ["small", "multi"])
def test_what_every_model_reads_words_with_has_one_name(name: str) -> None:
    objective = Objective(models.load(name), LossConfig(tagger_weight=1.0))
    freeze(objective, ["words"])
    stayed = {key for key, value in objective.network.named_parameters() if not value.requires_grad}
    assert "shared.weight" in stayed
    assert all(key.startswith(("shared.", "encoder.embeddings.")) for key in stayed)


def test_of_the_embeddings_only_the_tasks_own_learn_and_the_others_do_not_decay(config: TrainConfig) -> None:
    optim = replace(config.optim, embeddings="task", lr=1e-2, weight_decay=0.5)
    run = build(replace(config, optim=optim))
    rows, own = run.model.network.get_input_embeddings().weight, list(run.model.tokenizer.task_ids)
    norm = run.model.network.encoder.final_layer_norm.weight
    before, norm_before = rows.detach().clone(), norm.detach().clone()
    for batch, _ in zip(run.loader, range(3), strict=False):
        take_step(run, batch)
    words = [index for index in range(len(rows)) if index not in own]
    assert torch.equal(rows[words], before[words])
    assert not torch.equal(rows[own], before[own])
    assert not torch.equal(norm, norm_before)
    decays = {group["weight_decay"] for group in run.optimiser.param_groups}
    assert decays == {0.0, 0.5}, "all else does"
