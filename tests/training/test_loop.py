"""Runs: what a step is, what is learned at which rate, what a model knows in the end; settings that cannot work."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from command import Invoke
from datasets import Dataset, DatasetDict
from left_by_runs import log_lines, weights
from safetensors.torch import load_file
from transformers import BertConfig

from t5punct import config as settings
from t5punct import model as models
from t5punct.errors import ConfigError, T5PunctError
from t5punct.t5.task import TaskConfig
from t5punct.text.spelling_table import SpellingTable, read_table, write_table
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, QuestionConfig, TrainConfig
from t5punct.training.data.prepare import PrepareConfig
from t5punct.training.loop import train as loop
from t5punct.training.loop.train import Run, build, take_step, train


def with_optim(config: TrainConfig, **changes: Any) -> TrainConfig:
    return replace(config, optim=replace(config.optim, **changes))


def parameters_of(run: Run) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in run.objective.named_parameters()}


def take(run: Run, n_steps: int) -> None:
    for batch, _ in zip(run.loader, range(n_steps), strict=False):
        take_step(run, batch)


def test_a_run_logs_its_losses_and_leaves_a_model(config: TrainConfig) -> None:
    folder = train(with_optim(config, max_steps=8))
    log = log_lines(folder)
    assert [line["step"] for line in log] == [2, 4, 6, 8]
    losses = ["text_loss", "slot_loss", "tag_loss", "case_loss", "teacher_loss"]
    assert list(log[0]) == ["step", "words", *losses, "lr", "words_per_second"]
    assert log[-1]["text_loss"] < log[0]["text_loss"]
    assert log[-1]["words"] > log[0]["words"] > 0
    assert log[-1]["lr"] < config.optim.lr
    assert models.load(folder).task == TaskConfig()


def test_the_same_seed_trains_the_same_model_and_another_another(config: TrainConfig, tmp_path: Path) -> None:
    first, same, other = (
        weights(train(replace(config, output=str(tmp_path / f"run{n}"), seed=seed))) for n, seed in enumerate((1, 1, 2))
    )
    assert first == same != other


def test_epochs_see_every_example_once_each(config: TrainConfig) -> None:
    twice = replace(config, optim=OptimConfig(epochs=2), log_every_steps=1)
    run = build(twice)
    n_words = sum(run.loader.dataset.rows["n_words"])
    assert run.n_steps == 2 * len(run.sampler)
    folder = train(twice)
    assert len(log_lines(folder)) == run.n_steps
    assert json.loads((folder / "state.json").read_text())["words"] == 2 * n_words


def test_accumulated_batches_are_one_step_with_their_mean_gradient_of_norm_1_at_most(config: TrainConfig) -> None:
    optim = OptimConfig(lr=1e-2, warmup_steps=0, schedule="constant", accumulation_steps=2, max_steps=1)
    run = build(replace(config, optim=optim))
    batches = [batch for batch, _ in zip(run.loader, range(2), strict=False)]
    named, before, seen = dict(run.objective.named_parameters()), parameters_of(run), dict[str, torch.Tensor]()
    for batch in batches:
        run.objective(batch).total.backward()
    expected = {name: parameter.grad / 2 for name, parameter in named.items()}
    run.objective.zero_grad()
    run.optimiser.optimizer.register_step_pre_hook(
        lambda *_: seen.update({name: value.grad.clone() for name, value in named.items()})
    )
    assert take_step(run, batches[0]) is None
    assert all(torch.equal(value, before[name]) for name, value in named.items())
    assert take_step(run, batches[1]) is not None
    assert (run.state.step, run.state.batch) == (1, 2)
    norm = torch.cat([gradient.flatten() for gradient in expected.values()]).norm()
    assert norm > 1
    for name, gradient in expected.items():
        torch.testing.assert_close(seen[name], gradient / norm, rtol=1e-4, atol=1e-6)
    assert any(not torch.equal(value, before[name]) for name, value in named.items())


def test_a_factor_multiplies_the_rates_of_the_parameters_that_it_names(config: TrainConfig) -> None:
    def rates_by_name(factors: dict[str, float]) -> dict[str, float]:
        run = build(with_optim(config, warmup_steps=0, factors=factors))
        groups = run.optimiser.param_groups
        rate_of = {id(value): float(group["lr"]) for group in groups for value in group["params"]}
        return {name: rate_of[id(value)] for name, value in run.objective.named_parameters()}

    plain, faster = rates_by_name({}), rates_by_name({"decoder.": 4.0})
    wanted = {name: 4.0 if "decoder." in name else 1.0 for name in plain}
    assert {name: faster[name] / plain[name] for name in plain} == pytest.approx(wanted)
    assert {1.0, 4.0} == {*wanted.values()}


def test_frozen_parameters_stay(config: TrainConfig) -> None:
    config = with_optim(config, frozen=["words", "encoder.block.0"])
    before = parameters_of(build(config))
    torch.manual_seed(config.seed)
    train(config)
    after = parameters_of(build(replace(config, resume=True)))
    stayed = {name for name in before if torch.equal(before[name], after[name])}
    assert stayed == {name for name in before if "shared" in name or "encoder.block.0" in name}


def test_of_the_embeddings_only_the_tasks_own_learn(config: TrainConfig) -> None:
    run = build(with_optim(config, embeddings="task", lr=1e-2))
    rows, own = run.model.network.shared.weight, list(run.model.tokenizer.task_ids)
    norm = run.model.network.encoder.final_layer_norm.weight
    before, norm_before = rows.detach().clone(), norm.detach().clone()
    take(run, 3)
    words = [index for index in range(len(rows)) if index not in own]
    assert torch.equal(rows[words], before[words])
    assert not torch.equal(rows[own], before[own])
    assert not torch.equal(norm, norm_before)


POSSIBLE = ("data.path=x", "init_from=y")
MISTAKES = {
    "mixed_precision=fp16": "mixed_precision 'fp16'; expected one of no, bf16",
    "data.path=''": "no training data; expected data.path=FOLDER; run `t5punct prepare` first",
    "init_from=''": "no model to start from; expected init_from=FOLDER or NAME",
    "optim.schedule=wavy": "schedule 'wavy'; expected one of .*cosine.*; check optim.schedule",
    "loss.text_weight=0": "no loss; expected a text_weight or tagger_weight above 0",
    "data.labels=z": "data.labels or data.delays without a tagger's loss",
    "data.delays.words=[-1]": "a delay of -1 words",
    "data.disfluencies.rates.repeet=0.1": r"data\.disfluencies\.rates\.repeet; expected one of repeat, filler",
    "data.noise.rates.delete=-0.1": r"data.noise.rates.delete -0.1; expected 0 to 1; set data.noise.rates.delete",
    "optim.lr=nan": "optim.lr nan; expected 0 or more; set optim.lr",
    "data.disfluencies.share=1.5": "data.disfluencies.share 1.5; expected 0 to 1",
    "task=5": "setting 'task': Cannot assign int to Dict",
    "tsk.marks=x": "unknown setting 'tsk'; expected one like task.",
}


@pytest.mark.parametrize("override", MISTAKES)
def test_a_mistake_in_the_settings_is_one_clear_line(override: str) -> None:
    settings.load(TrainConfig, overrides=POSSIBLE)
    with pytest.raises(ConfigError, match=MISTAKES[override]):
        settings.load(TrainConfig, overrides=[*POSSIBLE, override])


def test_a_bare_no_is_what_yaml_reads_as_false_and_means_no(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mixed_precision: no\n")
    assert settings.load(TrainConfig, tmp_path / "mine.yaml", POSSIBLE).mixed_precision == "no"
    loaded = settings.load(TrainConfig, overrides=[*POSSIBLE, "mixed_precision=bf16", "mixed_precision=no"])
    assert loaded.mixed_precision == "no"
    settings.save(loaded, tmp_path / "saved.yaml")
    assert settings.load(TrainConfig, tmp_path / "saved.yaml") == loaded


def test_a_mistake_that_a_run_finds_is_one_line(config: TrainConfig, tmp_path: Path) -> None:
    BertConfig().save_pretrained(tmp_path / "bert")
    (tmp_path / "talks.txt").write_text("We know.")
    empty = Dataset.from_dict({name: [] for name in ("source", "target", "style", "n_words")})
    DatasetDict(train=empty).save_to_disk(str(tmp_path / "empty"))
    mistakes = {
        r"nothing to train; expected parameters that are not frozen; check optim\.frozen":
            with_optim(config, frozen=[""]),
        r"frozen 'no\.such\.part'; expected part of a parameter's name; check optim\.frozen":
            with_optim(config, frozen=["no.such.part"]),
        r"factors of 'no\.such\.part'; expected part of a parameter's name; check optim\.factors":
            with_optim(config, factors={"no.such.part": 2.0}),
        r"no data set in .*talks.txt; expected a folder made by `t5punct prepare`; prepare first":
            replace(config, data=replace(config.data, path=str(tmp_path / "talks.txt"))),
        r"no examples in .*empty; expected a split `train` with chunks; prepare more text":
            replace(config, data=DataConfig(str(tmp_path / "empty"))),
        r"unknown setting 'task.mrks'; expected one like task.marks, .*": replace(config, task={"mrks": "x"}),
        r".*bert holds a bert; expected .*; make a model of it first \(recipes/from_encoder.py\), or name another one":
            replace(config, init_from=str(tmp_path / "bert")),
        r"no model folder .*nothing; expected a T5 folder or hub id \(OWNER/NAME\), or one of base, .*; check the name":
            replace(config, init_from=str(tmp_path / "nothing")),
        r"revision v2 of the folder .*; expected a hub id; drop revision": replace(config, revision="v2"),
    }  # fmt: skip
    for line, mistaken in mistakes.items():
        with pytest.raises(T5PunctError) as caught:
            train(mistaken)
        assert re.fullmatch(line, str(caught.value)), caught.value


def copied(data: Path, target: Path, **changes: Any) -> DataConfig:
    """A copy of a data set that says something else of how it was prepared."""
    shutil.copytree(data, target)
    prepared = settings.load(PrepareConfig, data / "prepare.yaml")
    settings.save(replace(prepared, **changes), target / "prepare.yaml")
    return DataConfig(str(target), batch_tokens=600)


def test_uncased_data_is_for_an_uncased_task(config: TrainConfig, tiny_data: Path, tmp_path: Path) -> None:
    config = replace(config, data=copied(tiny_data, tmp_path / "uncased", cased=False))
    with pytest.raises(ConfigError, match=r"uncased prepared without capitals, .*; set task.cased=false or prepare"):
        build(config)
    assert not build(replace(config, task={"cased": False})).model.task.cased
    (tmp_path / "uncased/prepare.yaml").unlink()  # a set from elsewhere says nothing
    build(config)


def test_a_model_says_what_its_training_taught_it(config: TrainConfig, tiny_data: Path, tmp_path: Path) -> None:
    questions = replace(config.data, questions=QuestionConfig(share=0.5, l_max=2))
    task = models.load(train(replace(config, data=questions, output=str(tmp_path / "asked")))).task
    assert task.classifies and task.pause_ms is None
    assert task.unmarked_odds > 2, "slots without marks were asked about a fifth as often"
    silent = copied(tiny_data, tmp_path / "silent", pause_ms=300)
    later = replace(config, init_from=str(tmp_path / "asked"), data=silent, output=str(tmp_path / "later"))
    assert models.load(train(later)).task == replace(task, pause_ms=300), "and it keeps what it knew"


def test_a_model_has_the_spellings_of_its_parent_and_of_its_data(
    config: TrainConfig, tiny_data: Path, tmp_path: Path, invoke: Invoke
) -> None:
    parent, config = tmp_path / "parent", replace(config, data=copied(tiny_data, tmp_path / "data"))
    models.save(replace(build(config).model, spellings=SpellingTable(("IOS", "eBay"))), parent)
    write_table(SpellingTable(("iOS", "I")), tmp_path / "data")
    folder = train(replace(config, init_from=str(parent)))
    assert read_table(folder).forms == ("I", "eBay", "iOS")
    assert invoke("export", folder, "-o", tmp_path / "shared")[0] == 0
    assert models.load(tmp_path / "shared").spellings == read_table(folder)
    assert (tmp_path / "shared/spellings.txt").read_text() == "I\neBay\niOS\n"
    assert read_table(train(replace(config, output=str(tmp_path / "scratch")))).forms == ("I", "iOS")


def test_a_loss_that_is_no_number_ends_the_run_and_leaves_the_last_checkpoint(config: TrainConfig) -> None:
    wild = with_optim(config, lr=1e30, warmup_steps=0, max_steps=20)
    with pytest.raises(ConfigError, match=r"loss (nan|inf) in step \d+; expected a finite loss; lower optim.lr"):
        train(wild)
    assert not Path(config.output).exists()
    with pytest.raises(ConfigError, match=r"; expected (a finite loss|finite weights); lower optim.lr"):
        train(replace(wild, checkpoint_every_steps=1))
    kept = load_file(Path(config.output) / "model.safetensors")
    assert all(tensor.isfinite().all() for tensor in kept.values())


def test_weights_that_the_last_step_broke_are_not_saved(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaking(run: Run, batch: object) -> object:
        losses = take_step(run, batch)
        with torch.no_grad():
            run.model.network.shared.weight[3, 3] = float("nan")
        return losses

    monkeypatch.setattr(loop, "take_step", breaking)
    with pytest.raises(ConfigError, match=r"weights that are not finite after step 1; expected finite weights; lower"):
        train(with_optim(config, max_steps=1))
    assert not Path(config.output).exists()


def test_a_tagger_that_is_not_trained_is_left_out_and_that_is_said(
    config: TrainConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = train(config)
    assert models.load(first).tagger is not None
    later = replace(config, init_from=str(first), output=str(tmp_path / "later"))
    assert models.load(train(later)).tagger is not None
    assert not caplog.records
    assert models.load(train(replace(later, loss=LossConfig(), output=str(tmp_path / "plain")))).tagger is None
    (record,) = caplog.records
    assert record.getMessage().startswith("the tagger is dropped: without training (loss.tagger_weight=0)")


def test_a_warm_up_that_outlasts_the_run_is_said(config: TrainConfig, caplog: pytest.LogCaptureFixture) -> None:
    build(with_optim(config, warmup_steps=3))
    build(with_optim(config, warmup_steps=9, schedule="constant"))  # it has none
    assert not caplog.records
    build(with_optim(config, warmup_steps=9))
    (record,) = caplog.records
    said = "a warm-up of 9 steps in a run of 4: the learning rate never reaches optim.lr;"
    assert record.getMessage().startswith(said)
