"""Everything that a run needs, loaded or made.

In: a `TrainConfig`.  Out: a `Run`; with `resume`, as the last checkpoint has it.

`run = build(config)`; `run.model` is what is trained, `run.state` where it stands.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from safetensors.torch import load_file

from ... import model as models
from ...t5.weights import without_advice
from ..checkpoint import (
    OPTIMISER_FILE,
    TrainState,
    check_data,
    check_processes,
    check_resumed,
    check_same_base,
    find_checkpoint,
    read_state,
)
from ..config import TrainConfig
from ..examples.batches import BatchSampler
from ..examples.example import ChunkExamples
from ..examples.loading import chunks_fingerprint, load_data, load_split
from ..start.copier import with_copier
from ..start.lora import add_adapters
from ..start.starting_model import check_suitable, make_starting_model
from ..tensors import PlainModel, check_sharded, restore_random_state, restore_tensors
from .objective import Objective
from .optimisers import build_optimiser, build_schedule, freeze, freeze_words
from .progress import tracker_settings
from .validation import Validator, deciding_score

_log = logging.getLogger(__name__)

# the first process validates and saves while the others wait; one that ends takes all with it, as launchers see to
_WAIT = timedelta(hours=12)


@dataclass
class Run:
    """The live objects of a run; `checkpoint` says which of them are saved."""

    config: TrainConfig
    accelerator: Any
    model: models.Model
    objective: Any
    optimiser: Any
    schedule: Any
    sampler: BatchSampler
    loader: Any
    n_steps: int
    state: TrainState
    validator: Validator | None
    plain: PlainModel
    saved: TrainState | None = None  # where it stood at its last checkpoint


def build(config: TrainConfig) -> Run:
    """Load or make everything that a run needs; with `resume`, as in the last checkpoint."""
    accelerator = _accelerator(config)
    if config.resume:
        with accelerator.main_process_first():
            find_checkpoint(Path(config.output))
        check_resumed(config)
    model = make_starting_model(config)
    validator = _validator(config)
    sampler, loader = load_data(config, model, accelerator.num_processes)
    examples = cast(ChunkExamples, loader.dataset)
    state = TrainState(processes=accelerator.num_processes, data=chunks_fingerprint(examples))
    model = _ready_model(config, model, examples, accelerator)
    plain = PlainModel(model, config.lora, accelerator)
    objective = _objective(config, model)
    if model.tagger is not None and objective.tagger is None and accelerator.is_main_process:
        _log.warning("the tagger is dropped: without training (loss.tagger_weight=0) it would not fit the new encoder")
    model = replace(model, tagger=objective.tagger)
    optimiser = build_optimiser(objective, config.optim)
    per_epoch = -(-len(sampler) // (accelerator.num_processes * config.optim.accumulation_steps))
    n_steps = config.optim.max_steps or per_epoch * config.optim.epochs
    if config.optim.schedule != "constant" and config.optim.warmup_steps >= n_steps and accelerator.is_main_process:
        _log.warning(
            "a warm-up of %s steps in a run of %s: the learning rate never reaches optim.lr; expected a warm-up that "
            "is shorter than the run; lower optim.warmup_steps",
            config.optim.warmup_steps,
            n_steps,
        )
    wrapped, loader, prepared = accelerator.prepare(objective, loader, optimiser)
    run = Run(config, accelerator, model, wrapped, prepared, None, sampler, loader, n_steps, state, validator, plain)
    if config.resume:
        _resume(run)
    run.schedule = build_schedule(config.optim, prepared.optimizer, n_steps, run.state.step)
    return run


def _accelerator(config: TrainConfig) -> Any:
    import torch
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration, InitProcessGroupKwargs, set_seed

    accelerator = Accelerator(
        cpu=not torch.accelerator.is_available(),  # else several CPU processes do not find each other
        mixed_precision=config.mixed_precision,
        gradient_accumulation_steps=config.optim.accumulation_steps,
        dataloader_config=DataLoaderConfiguration(even_batches=False),
        kwargs_handlers=[InitProcessGroupKwargs(timeout=_WAIT)],
        **tracker_settings(config),
    )
    check_sharded(accelerator, config.optim)
    set_seed(config.seed)
    return accelerator


def _ready_model(config: TrainConfig, model: models.Model, examples: ChunkExamples, accelerator: Any) -> models.Model:
    """The model with what is fitted and noted before the first step, set up for this machine."""
    if config.data.questions.share:
        model = model.with_task(classifies=True, unmarked_odds=examples.unmarked_odds())
    if not config.resume:
        for warning in check_suitable(examples, config.init_from or str(config.tokenizer)):
            if accelerator.is_main_process:
                _log.warning("%s", warning)
        if config.fit.copier_words:
            model = with_copier(model, examples, config.decoder, config.fit.copier_words)
    network: Any = model.network
    if accelerator.device.type == "cpu":  # with gradients a quarter faster there than torch's fused attention
        with without_advice():  # MPNet has only this one
            network.set_attn_implementation("eager")
    if config.gradient_checkpointing:
        # the second name is that of older versions of transformers
        enable = getattr(network, "activation_checkpointing_enable", None) or network.gradient_checkpointing_enable
        enable({"use_reentrant": False})
    return model


def _objective(config: TrainConfig, model: models.Model) -> Objective:
    """What is minimised; only what is to be trained requires gradients."""
    if config.lora.r:
        add_adapters(model.network, config.lora)
    objective = Objective(model, config.loss).train()
    if objective.tagger is not None:
        objective.tagger.requires_grad_(True)  # one that was loaded does not
    freeze(objective, config.optim.frozen)
    if config.optim.embeddings == "task":
        freeze_words(model.network.get_input_embeddings(), model.tokenizer.task_ids)
    return objective


def _resume(run: Run) -> None:
    """Go on where the last checkpoint stands; its weights are already loaded."""
    folder, accelerator = Path(run.config.output), run.accelerator
    state = read_state(folder)
    check_processes(state.processes, accelerator.num_processes)
    check_data(state.data, run.state.data, run.config.data.path)
    tensors = load_file(folder / OPTIMISER_FILE)
    restore_tensors(tensors, accelerator.unwrap_model(run.objective), run.optimiser)
    run.state = replace(state, processes=accelerator.num_processes, data=run.state.data)
    if run.config.lora.r:
        model = run.plain(run.model, run.objective)
        if accelerator.is_main_process:
            check_same_base(model.network, folder)
    restore_random_state(tensors, accelerator.process_index)  # last: making a model draws numbers


def _validator(config: TrainConfig) -> Validator | None:
    """What a run is validated with; None where that is not wanted, or nothing asks for it and there is nothing."""
    validation = config.validation
    if validation.every_steps == 0:
        return None
    rows = load_split(config.data.path, "validation")
    is_asked = any((validation.every_steps, validation.file, validation.score, validation.patience))
    if rows is None and not is_asked:
        return None
    return Validator(validation, rows, config.data.batch_tokens, deciding_score(config), config.loss.decoder)
