"""Runs: what a step is, what is learned at which rate, and settings and data that cannot work."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import accelerate
import pytest
import torch
from command import Invoke
from datasets import Dataset, DatasetDict
from left_by_runs import log_lines
from safetensors.torch import load_file

from t5punct import config as settings
from t5punct import model as models
from t5punct.errors import ConfigError, InputError, ModelError
from t5punct.t5.task import TaskConfig
from t5punct.text.spelling_table import SpellingTable, read_table, write_table
from t5punct.training.config import SCHEDULES, DataConfig, LossConfig, OptimConfig, QuestionConfig, TrainConfig
from t5punct.training.data.prepare import PrepareConfig
from t5punct.training.loop import train as loop
from t5punct.training.loop.objective import Objective
from t5punct.training.loop.run import build_schedule, freeze
from t5punct.training.loop.train import Run, build, take_step, train


def weights(run: Run) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in run.model.network.named_parameters()}


def test_a_run_logs_its_losses_and_leaves_a_model(config: TrainConfig) -> None:
    folder = train(replace(config, optim=replace(config.optim, max_steps=8)))
    log = log_lines(folder)
    assert [line["step"] for line in log] == [2, 4, 6, 8]
    losses = ["text_loss", "slot_loss", "tag_loss", "case_loss", "teacher_loss"]
    assert list(log[0]) == ["step", "words", *losses, "lr", "words_per_second"]
    assert log[-1]["text_loss"] < log[0]["text_loss"]
    assert log[-1]["words"] > log[0]["words"] > 0
    assert log[-1]["lr"] < config.optim.lr
    assert models.load(folder).task == TaskConfig()


def test_the_same_seed_trains_the_same_model_and_another_another(config: TrainConfig, tmp_path: Path) -> None:
    folders = [train(replace(config, output=str(tmp_path / f"run{n}"), seed=seed)) for n, seed in enumerate((1, 1, 2))]
    first, same, other = ((folder / "model.safetensors").read_bytes() for folder in folders)
    assert first == same != other


def test_processes_wait_while_the_first_one_validates(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """NCCL's own limit is ten minutes; a validation or a checkpoint of a large model takes longer."""
    waits = list[timedelta]()
    start = accelerate.Accelerator.__init__

    def note_and_start(accelerator: accelerate.Accelerator, **options: Any) -> None:
        waits.extend(handler.timeout for handler in options["kwargs_handlers"])
        start(accelerator, **options)

    monkeypatch.setattr(accelerate.Accelerator, "__init__", note_and_start)
    build(config)
    assert waits == [timedelta(hours=12)]


def test_epochs_see_every_example_once_each(config: TrainConfig) -> None:
    run = build(replace(config, optim=OptimConfig(epochs=2)))
    n_words = sum(run.loader.dataset.rows["n_words"])
    assert run.n_steps == 2 * len(run.sampler)
    folder = train(replace(config, optim=OptimConfig(epochs=2), log_every_steps=1))
    assert len(log_lines(folder)) == run.n_steps
    assert json.loads((folder / "state.json").read_text())["words"] == 2 * n_words


def test_accumulated_batches_are_one_step_with_their_mean_gradient(config: TrainConfig) -> None:
    optim = OptimConfig(lr=1e-2, warmup_steps=0, schedule="constant", clip_norm=1e9, accumulation_steps=2, max_steps=1)
    run = build(replace(config, optim=optim))
    batches = [batch for batch, _ in zip(run.loader, range(2), strict=False)]
    before = weights(run)
    expected = {}
    for batch in batches:
        run.objective(batch).total.backward()
    for name, parameter in run.model.network.named_parameters():
        expected[name] = parameter.grad.detach().clone() / 2
    run.objective.zero_grad()

    seen = {}
    inner = run.optimiser.optimizer
    inner.register_step_pre_hook(
        lambda *_: seen.update({name: value.grad.clone() for name, value in run.model.network.named_parameters()})
    )
    assert take_step(run, batches[0]) is None
    assert all(torch.equal(value, before[name]) for name, value in weights(run).items())
    assert take_step(run, batches[1]) is not None
    assert (run.state.step, run.state.batch) == (1, 2)
    for name, gradient in expected.items():
        torch.testing.assert_close(seen[name], gradient, rtol=1e-4, atol=1e-6)
    assert any(not torch.equal(value, before[name]) for name, value in weights(run).items())


def test_a_run_in_which_all_is_frozen_is_refused(config: TrainConfig) -> None:
    with pytest.raises(ConfigError, match=r"nothing to train; .*; check optim\.frozen"):
        build(replace(config, optim=replace(config.optim, frozen=[""])))


def test_a_norm_of_0_never_clips(config: TrainConfig) -> None:
    """The rule of all the others would leave no gradient."""
    models = []
    for clip_norm in (0.0, 1e9):
        run = build(replace(config, optim=replace(config.optim, clip_norm=clip_norm)))
        for batch, _ in zip(run.loader, range(2), strict=False):
            take_step(run, batch)
        models.append(run.model.network.shared.weight.detach().clone())
    assert torch.equal(*models)
    assert not torch.equal(models[0], build(config).model.network.shared.weight)


POSSIBLE = ("data.path=x", "tokenizer=y")
CONTRADICTIONS = {
    "mixed_precision=fp16": "mixed_precision 'fp16'; expected no or bf16; T5 overflows in fp16",
    "data.path=''": "no training data; expected data.path=FOLDER; run `t5punct prepare` first",
    "tokenizer=null": "neither init_from nor tokenizer; expected one of them",
    "encoder_layers=[0]": "encoder_layers .* of nothing; expected a model to start from; set init_from",
    "revision=main": "revision main of nothing; expected a model to start from; set init_from",
    "lora.r=2": "lora.r with random weights",
    "optim.schedule=wavy": "schedule 'wavy'; expected one of .*cosine.*; check optim.schedule",
    "optim.factors={decoder.: 0}": "a rate of 0.0 times lr for decoder.",
    "loss.text_weight=0": "no loss; expected a text_weight or tagger_weight above 0",
    "loss={text_weight: 0, tagger_weight: 1, slot_weight: 1}": "a loss of slots without one of text",
    "data.labels=z": "data.labels without a tagger's loss",
    "data.delays.words=[2]": "data.delays without a tagger's loss",
    "data.delays.words=[-1]": "a delay of -1 words",
    "data.disfluencies.rates.repeet=0.1": r"data\.disfluencies\.rates\.repeet; expected one of repeat, filler",
    "data.noise.rates={substitute: 0.6, delete: 0.6}": "substitutes 0.6 and deletes 0.6; expected at most 1 together",
    "validation.score=f1": "validation.score 'f1'; expected one of micro_f1, macro_f1, loss, tag_loss",
    "validation={every_steps: 1, score: micro_f1}": "score micro_f1 without a file; .*; set validation.file",
    "validation={every_steps: 1, score: tag_loss}": "score tag_loss without a tagger's loss",
    "validation={every_steps: 0, patience: 3}": "patience 3 without validations; .*; set validation.every_steps",
    "validation={every_steps: 0, file: z}": "validation.file z without validations; .*every_steps above 0",
}


@pytest.mark.parametrize("override", CONTRADICTIONS)
def test_settings_that_contradict_each_other_are_refused(override: str) -> None:
    with pytest.raises(ConfigError, match=CONTRADICTIONS[override]):
        settings.load(TrainConfig, overrides=[*POSSIBLE, override])


IMPOSSIBLE = [
    "fresh.feed_forward_proj=foo", "fresh.d_model=0", "fresh.d_model=-4", "fresh.num_layers=0",
    "fresh.dropout_rate=1", "data.workers=-1", "data.batch_tokens=0", "optim.accumulation_steps=0", "optim.epochs=0",
    "optim.lr=-1", "optim.lr=nan", "optim.warmup_steps=-1", "optim.max_steps=-1",
    "loss.tagger_weight=-1", "loss.label_smoothing=1", "validation.every_steps=-1",
    "checkpoint_every_steps=-1", "log_every_steps=0", "seed=-1", "report.max_words=-1", "data.disfluencies.share=1.5",
    "data.disfluencies.rates.repeat=-0.1", "data.disfluencies.rates.filler=nan", "data.noise.share=1.5",
    "data.noise.rates.delete=-0.1", "data.questions.l_max=-1",
    "data.styles.talk=-1", "lora.r=-1",
]  # fmt: skip


@pytest.mark.parametrize("override", IMPOSSIBLE)
def test_an_impossible_value_is_one_clear_line(override: str) -> None:
    name = override.split("=", maxsplit=1)[0].removesuffix(".talk")
    settings.load(TrainConfig, overrides=POSSIBLE)
    with pytest.raises(ConfigError, match=rf"^{name} .*; expected .*; \w+|; expected .*; set {name}$") as caught:
        settings.load(TrainConfig, overrides=[*POSSIBLE, override])
    assert not caught.value.found.startswith("setting")  # the check's own words, not a conversion's


def test_a_bare_no_is_what_yaml_reads_as_false_and_means_no(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mixed_precision: no\n")
    assert settings.load(TrainConfig, tmp_path / "mine.yaml", POSSIBLE).mixed_precision == "no"
    loaded = settings.load(TrainConfig, overrides=[*POSSIBLE, "mixed_precision=bf16", "mixed_precision=no"])
    assert loaded.mixed_precision == "no"
    settings.save(loaded, tmp_path / "saved.yaml")
    assert settings.load(TrainConfig, tmp_path / "saved.yaml") == loaded


def test_uncased_data_is_for_an_uncased_task(config: TrainConfig, tiny_data: Path, tmp_path: Path) -> None:
    uncased = tmp_path / "uncased"
    shutil.copytree(tiny_data, uncased)
    prepared = settings.load(PrepareConfig, tiny_data / "prepare.yaml")
    settings.save(replace(prepared, cased=False), uncased / "prepare.yaml")
    config = replace(config, data=DataConfig(str(uncased)))
    with pytest.raises(ConfigError, match=r"uncased prepared without capitals, .*; set task.cased=false or prepare"):
        build(config)
    assert not build(replace(config, task={"cased": False})).model.task.cased
    (uncased / "prepare.yaml").unlink()  # a set from elsewhere says nothing
    build(config)


def test_no_tokenizer_and_an_empty_data_set_are_refused(config: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no tokenizer folder .*nowhere; expected a T5 folder or hub id"):
        train(replace(config, tokenizer=str(tmp_path / "nowhere")))
    empty = Dataset.from_dict({name: [] for name in ("source", "target", "style", "n_words")})
    DatasetDict(train=empty).save_to_disk(str(tmp_path / "empty"))
    with pytest.raises(InputError, match=r"no examples in .*empty; expected a split `train` with chunks"):
        train(replace(config, data=DataConfig(str(tmp_path / "empty"))))


def test_a_model_says_what_its_training_taught_it(config: TrainConfig, tiny_data: Path, tmp_path: Path) -> None:
    questions = QuestionConfig(share=0.5, l_max=2)
    asked = replace(config, data=replace(config.data, questions=questions), output=str(tmp_path / "asked"))
    task = models.load(train(asked)).task
    assert task.classifies
    assert task.unmarked_odds > 2, "slots without marks were asked about a fifth as often"
    assert task.pause_ms is None

    data = tmp_path / "silent"
    shutil.copytree(tiny_data, data)
    settings.save(replace(settings.load(PrepareConfig, data / "prepare.yaml"), pause_ms=300), data / "prepare.yaml")
    later = replace(
        config, init_from=str(tmp_path / "asked"), data=DataConfig(str(data), 600), output=str(tmp_path / "later")
    )
    learned = models.load(train(later)).task
    assert learned == replace(task, pause_ms=300), "and it keeps what it knew"


def test_a_model_has_the_spellings_of_its_parent_and_of_its_data(
    config: TrainConfig, tiny_data: Path, tmp_path: Path, invoke: Invoke
) -> None:
    data, parent = tmp_path / "data", tmp_path / "parent"
    shutil.copytree(tiny_data, data)
    models.save(replace(build(config).model, spellings=SpellingTable(("IOS", "eBay"))), parent)
    write_table(SpellingTable(("iOS", "I")), data)
    folder = train(replace(config, init_from=str(parent), tokenizer=None, data=DataConfig(str(data), 600)))
    assert read_table(folder).forms == ("I", "eBay", "iOS")
    assert invoke("export", folder, "-o", tmp_path / "shared")[0] == 0
    assert models.load(tmp_path / "shared").spellings == read_table(folder)
    assert (tmp_path / "shared/spellings.txt").read_text() == "I\neBay\niOS\n"
    scratch = train(replace(config, output=str(tmp_path / "scratch"), data=DataConfig(str(data), 600)))
    assert read_table(scratch).forms == ("I", "iOS")


def test_a_loss_that_is_no_number_ends_the_run_and_leaves_the_last_checkpoint(config: TrainConfig) -> None:
    wild = replace(config, optim=replace(config.optim, lr=1e30, warmup_steps=0, max_steps=20))
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
    single_step = replace(config, optim=replace(config.optim, max_steps=1))
    with pytest.raises(ConfigError, match=r"weights that are not finite after step 1; expected finite weights; lower"):
        train(single_step)
    assert not Path(config.output).exists()


def test_a_tagger_that_is_not_trained_is_left_out_and_that_is_said(
    config: TrainConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = train(config)
    assert models.load(first).tagger is not None
    later = replace(config, init_from=str(first), tokenizer=None, output=str(tmp_path / "later"))
    assert models.load(train(later)).tagger is not None
    assert not caplog.records
    plain = replace(later, loss=LossConfig(), output=str(tmp_path / "plain"))
    assert models.load(train(plain)).tagger is None
    (record,) = caplog.records
    assert record.getMessage().startswith("the tagger is dropped: without training (loss.tagger_weight=0)")


def test_a_warm_up_that_outlasts_the_run_is_said(config: TrainConfig, caplog: pytest.LogCaptureFixture) -> None:
    build(replace(config, optim=replace(config.optim, warmup_steps=3)))
    build(replace(config, optim=replace(config.optim, warmup_steps=9, schedule="constant")))  # it has none
    assert not caplog.records
    build(replace(config, optim=replace(config.optim, warmup_steps=9)))
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "a warm-up of 9 steps in a run of 4: the learning rate never reaches optim.lr;"
    )


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
