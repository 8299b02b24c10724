"""The training loop: one process or many, by `accelerate`.

In: a `TrainConfig`.  Out: checkpoints in `output`, the last of them a usable model; their losses in
`OUTPUT.log.jsonl` beside it.

`train(TrainConfig(output="runs/demo", init_from="t5-small", data=DataConfig(path="prepared/data")))` fine-tunes.
"""

from __future__ import annotations

import logging
import math
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import config as settings
from .. import model as models
from ..errors import ConfigError, InputError
from ..t5.task import TaskConfig
from .batches import BatchSampler, collate
from .checkpoint import (
    TrainState,
    check_output,
    clear_leftovers,
    find_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from .config import TrainConfig
from .data.prepare import PrepareConfig
from .delays import check_layers, drawn
from .donor import with_decoder_of
from .examples import ChunkExamples, CopyExamples
from .fitting import fitted
from .lock import alone
from .new_marks import as_learned
from .objective import Losses, Objective
from .optimisers import build_optimisers, freeze, freeze_words
from .progress import Progress
from .resuming import check_resumed
from .suitability import check_case, check_suitable, check_tokenizer
from .teacher import Teacher
from .validation import Validator

if TYPE_CHECKING:
    import torch

_log = logging.getLogger(__name__)


@dataclass
class Run:
    """The live objects of a run; `checkpoint` says which of them are saved."""

    config: TrainConfig
    accelerator: Any
    model: models.Model
    objective: Any
    optimisers: list[Any]
    schedules: list[Any]
    sampler: BatchSampler
    loader: Any
    n_steps: int
    state: TrainState
    validator: Validator | None


def train(config: TrainConfig) -> Path:
    """Train, and return the folder of the final model."""
    output = Path(config.output)
    check_output(config)
    with alone(output) as is_first:
        if is_first:
            clear_leftovers(output)
        _train(build(config), config, output)
    return output


def _train(run: Run, config: TrainConfig, output: Path) -> None:
    with Progress(output, run.n_steps, run.state, show=run.accelerator.is_main_process) as progress:
        while run.state.step < run.n_steps:
            run.loader.dataset.epoch = run.state.epoch
            run.sampler.set_position(run.state.epoch, run.state.batch * run.accelerator.num_processes)
            for batch in run.loader:
                losses = _step(run, batch)
                if losses is None:
                    continue
                _check_finite(losses, run.state.step)
                progress.update(run.state, losses, run.optimisers[0].param_groups[0]["lr"], config.log_every_steps)
                if _due(run.state.step, config.validation.every_steps):
                    _validate(run, progress)
                if _due(run.state.step, config.checkpoint_every_steps):
                    progress.report()
                    _save(run)
                if run.state.step >= run.n_steps:
                    break
            else:
                run.state = replace(run.state, epoch=run.state.epoch + 1, batch=0)
    _save(run)


def build(config: TrainConfig) -> Run:
    """Load or make everything that a run needs; with `resume`, as in the last checkpoint."""
    import torch
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration, set_seed

    accelerator = Accelerator(
        cpu=not torch.accelerator.is_available(),  # else several CPU processes do not find each other
        mixed_precision=config.mixed_precision,
        gradient_accumulation_steps=config.optim.accumulation_steps,
        dataloader_config=DataLoaderConfiguration(even_batches=False),
    )
    set_seed(config.seed)
    if config.resume:
        with accelerator.main_process_first():
            find_checkpoint(Path(config.output))
        check_resumed(config)
    model = _model(config)
    validator = _validator(config)
    sampler, loader = _data(config, model, accelerator.num_processes)
    if config.data.questions.share and isinstance(loader.dataset, ChunkExamples):
        model = model.with_task(classifies=True, unmarked_odds=loader.dataset.unmarked_odds())
    if isinstance(loader.dataset, ChunkExamples) and not config.resume:
        for warning in check_suitable(loader.dataset, config.init_from or str(config.tokenizer)):
            if accelerator.is_main_process:
                _log.warning("%s", warning)
        model = fitted(model, loader.dataset, config.fit)
    if accelerator.device.type == "cpu":  # with gradients a quarter faster there than torch's fused attention
        model.network.set_attn_implementation("eager")
    teacher = Teacher(config.teacher, model) if config.teacher.source is not None else None
    objective = Objective(model, config.loss, teacher).train()
    if model.tagger is not None and objective.tagger is None and accelerator.is_main_process:
        _log.warning("the tagger is dropped: without training (loss.tagger_weight=0) it would not fit the new encoder")
    model = replace(model, tagger=objective.tagger)
    freeze(objective, config.optim.frozen)
    if config.optim.embeddings == "task":
        freeze_words(model.network.get_input_embeddings(), model.tokenizer.task_ids)
    optimisers = build_optimisers(objective, config.optim)
    state = load_checkpoint(Path(config.output), objective, optimisers) if config.resume else TrainState()
    per_epoch = -(-len(sampler) // (accelerator.num_processes * config.optim.accumulation_steps))
    n_steps = config.optim.max_steps or config.data.copying.steps or per_epoch * config.optim.epochs
    schedules = [_schedule(config, optimiser, n_steps, state.step) for optimiser in optimisers]
    wrapped, loader, *prepared = accelerator.prepare(objective, loader, *optimisers)
    return Run(config, accelerator, model, wrapped, prepared, schedules, sampler, loader, n_steps, state, validator)


def _schedule(config: TrainConfig, optimiser: torch.optim.Optimizer, n_steps: int, done: int) -> Any:
    """The learning rate over the run's steps, of which `done` are over."""
    from transformers import get_scheduler
    from transformers.trainer_utils import SchedulerType

    names = [kind.value for kind in SchedulerType]
    if config.optim.schedule not in names:
        raise ConfigError(
            f"schedule {config.optim.schedule!r}", expected=f"one of {', '.join(names)}", fix="check optim.schedule"
        )
    schedule = get_scheduler(config.optim.schedule, optimiser, config.optim.warmup_steps, n_steps)
    with warnings.catch_warnings():
        # of a schedule that is stepped before its optimiser: an earlier process has made the optimiser's steps
        warnings.filterwarnings("ignore", ".*lr_scheduler.step.*", UserWarning)
        for _ in range(done):
            schedule.step()
    return schedule


def _model(config: TrainConfig) -> models.Model:
    """The model of the checkpoint, of `init_from`, or a fresh one, with what it will learn of."""
    if config.resume:
        model = models.load(config.output)
    elif config.init_from is not None:
        model = models.load(config.init_from, task=config.task, revision=config.revision)
        check_tokenizer(config, model)
        model = models.with_encoder_layers(model, config.encoder_layers) if config.encoder_layers else model
        model = with_decoder_of(model, config.decoder_from) if config.decoder_from else model
        model = models.with_decoder_layers(model, config.decoder_layers) if config.decoder_layers else model
    else:
        assert config.tokenizer is not None  # noqa: S101  (TrainConfig has checked it)
        model = models.fresh(config.fresh, models.load_tokenizer(config.tokenizer, config.task or TaskConfig()))
    model = as_learned(model, config.data.disfluencies)
    delays = config.data.delays
    if delays.any:
        check_layers(delays, model.network.config.num_layers)
        model = model.with_task(delay_left_words=delays.left_words, delay_layers=delays.layers)
    prepared = _prepared(config.data.path)
    return model.with_task(pause_ms=prepared.pause_ms) if prepared and prepared.pause_ms else model


def _data(
    config: TrainConfig, model: models.Model, n_processes: int
) -> tuple[BatchSampler, torch.utils.data.DataLoader[Any]]:
    import torch

    examples: CopyExamples | ChunkExamples
    copying = config.data.copying
    if copying.steps:
        n_examples = copying.steps * max(1, 2 * config.data.batch_tokens // copying.min_tokens)
        examples = CopyExamples(n_examples, model.tokenizer, copying.n_ids, copying.min_tokens, copying.max_tokens)
    else:
        check_case(config.data.path, _prepared(config.data.path), model.task)
        rows = _rows(config.data.path, "train")
        if rows is None:
            raise InputError(
                f"no examples in {config.data.path}", expected="a split `train` with chunks", fix="prepare more text"
            )
        examples = ChunkExamples(rows, model.tokenizer, config.data)
    sampler = BatchSampler(examples.lengths, config.data.batch_tokens, config.seed, n_processes)
    loader = torch.utils.data.DataLoader(
        examples,
        batch_sampler=sampler,
        collate_fn=collate(model.tokenizer.pad_id),
        num_workers=config.data.workers,
        generator=torch.Generator(),  # its own: after a resume, a restarted epoch must not change dropout's numbers
    )
    return sampler, loader


def _validator(config: TrainConfig) -> Validator | None:
    if not config.validation.every_steps:
        return None
    rows = None if config.data.copying.steps else _rows(config.data.path, "validation")
    return Validator(config.validation, rows, config.data.batch_tokens)


def _prepared(path: str) -> PrepareConfig | None:
    """The settings that a data set was made with, if its folder has them."""
    file = Path(path) / "prepare.yaml"
    return settings.load_plain(PrepareConfig, file) if path and file.is_file() else None


def _rows(path: str, split: str) -> Any:
    """The chunks of one split; None if there are none."""
    from datasets import load_from_disk

    if not (Path(path) / "dataset_dict.json").is_file():
        raise InputError(f"no data set in {path}", expected="a folder made by `t5punct prepare`", fix="prepare first")
    folder = Path(path) / split  # alone: with one empty split `datasets` does not load the other
    if not folder.is_dir():
        return None
    try:
        rows = load_from_disk(str(folder))
    except IndexError:  # what `datasets` raises for a split without rows
        return None
    return rows if len(rows) else None


def _step(run: Run, batch: Any) -> Losses | None:
    """One batch; the losses if it completed an optimiser step."""
    accelerator, optim = run.accelerator, run.config.optim
    with accelerator.accumulate(run.objective):
        batch = batch.to(accelerator.device)
        # each process draws its own, so that a step sees several
        place = run.config.seed, run.state.epoch, run.state.batch, accelerator.process_index
        with accelerator.autocast():
            losses: Losses = run.objective(batch, drawn(run.config.data.delays, *place))
        accelerator.backward(losses.total)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(run.objective.parameters(), optim.clip_norm)
        for optimiser, schedule in zip(run.optimisers, run.schedules, strict=True):
            optimiser.step()
            if accelerator.sync_gradients:
                schedule.step()
            optimiser.zero_grad()
    run.state = run.state.after_batch(batch.n_words * accelerator.num_processes)
    if not accelerator.sync_gradients:
        return None
    run.state = replace(run.state, step=run.state.step + 1)
    return losses


def _check_finite(losses: Losses, step: int) -> None:
    """Raise ConfigError for a loss that is not finite: after it nothing can be learned."""
    loss = losses.total.item()
    if not math.isfinite(loss):
        raise ConfigError(f"loss {loss} in step {step}", expected="a finite loss", fix="lower optim.lr")


def _validate(run: Run, progress: Progress) -> None:
    if run.accelerator.is_main_process and run.validator is not None:
        progress.record(run.validator.line(run.model, run.state.step))
    run.accelerator.wait_for_everyone()


def _save(run: Run) -> None:
    if run.accelerator.is_main_process:
        objective = run.accelerator.unwrap_model(run.objective)
        save_checkpoint(Path(run.config.output), run.model, objective, run.optimisers, run.state, run.config)
    run.accelerator.wait_for_everyone()


def _due(step: int, every: int) -> bool:
    return bool(every) and step % every == 0
