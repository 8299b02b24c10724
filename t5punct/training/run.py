"""Everything that a run needs, loaded or made.

In: a `TrainConfig`.  Out: a `Run`; with `resume`, as the last checkpoint has it.

`run = build(config)`; `run.model` is what is trained, `run.state` where it stands.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import model as models
from .batches import BatchSampler
from .checkpoint import TrainState, find_checkpoint, load_checkpoint
from .config import TrainConfig
from .examples import ChunkExamples
from .fitting import fitted
from .loading import data, rows_of
from .objective import Objective
from .optimisers import build_optimisers, freeze, freeze_words
from .resuming import check_resumed
from .schedule import learning_rate
from .selection import score_of
from .start import starting_model
from .teacher import Teacher
from .validation import Validator

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
    saved: TrainState | None = None  # where it stood at its last checkpoint


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
    model = starting_model(config)
    validator = _validator(config)
    sampler, loader = data(config, model, accelerator.num_processes)
    if config.data.questions.share and isinstance(loader.dataset, ChunkExamples):
        model = model.with_task(classifies=True, unmarked_odds=loader.dataset.unmarked_odds())
    if isinstance(loader.dataset, ChunkExamples) and not config.resume:
        model = fitted(model, loader.dataset, config.fit)
    if accelerator.device.type == "cpu":  # with gradients a quarter faster there than torch's fused attention
        model.network.set_attn_implementation("eager")
    if config.gradient_checkpointing:
        model.network.gradient_checkpointing_enable({"use_reentrant": False})
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
    schedules = [learning_rate(config.optim, optimiser, n_steps, state.step) for optimiser in optimisers]
    wrapped, loader, *prepared = accelerator.prepare(objective, loader, *optimisers)
    return Run(config, accelerator, model, wrapped, prepared, schedules, sampler, loader, n_steps, state, validator)


def _validator(config: TrainConfig) -> Validator | None:
    if not config.validation.every_steps:
        return None
    rows = None if config.data.copying.steps else rows_of(config.data.path, "validation")
    return Validator(config.validation, rows, config.data.batch_tokens, score_of(config))
