"""Everything that a run needs, loaded or made: `run = build(config)`; with `resume`, as the last checkpoint has it.

`run.model` is what is trained, `run.state` where it stands.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import load_file
from torch import nn

from ... import model as models
from ...config import check
from ...t5.weights import quiet_transformers, weights_fingerprint
from .. import checkpoint
from ..checkpoint import TrainState
from ..config import OptimConfig, TrainConfig, ValidationConfig
from ..examples.batches import BatchSampler, chunks_fingerprint, load_data, load_split
from ..examples.example import ChunkExamples
from ..starting_model import check_suitable, make_starting_model
from ..tensors import PlainModel, add_adapters, check_sharded, restore_tensors
from .objective import Objective
from .progress import tracker_settings
from .validation import Validator

_log = logging.getLogger(__name__)

# processes wait for so long while the first one validates and saves; if it ends, launchers end them
_WAIT = timedelta(hours=12)
_BETAS = 0.9, 0.98  # of AdamW
# parts of the names of word embeddings, and of what a BERT adds to them before its first layer: positions, a norm
_WORDS = ("shared", "encoder.embeddings")


@dataclass
class Run:
    """The live objects of a run; `checkpoint` says which of them are saved."""

    config: TrainConfig
    accelerator: Any
    model: models.Model
    objective: Any  # as accelerate has wrapped it; so are the optimiser and the loader
    optimiser: Any
    schedule: Any
    sampler: BatchSampler
    loader: Any
    n_steps: int
    state: TrainState
    validator: Validator | None
    plain: PlainModel
    saved: TrainState | None = None  # the state of the last checkpoint; None before the first


def build(config: TrainConfig) -> Run:
    """Load or make everything that a run needs; with `resume`, as the last checkpoint has it."""
    accelerator = _accelerator(config)
    saved = None  # the position of the checkpoint to go on from
    if config.resume:
        with accelerator.main_process_first():
            saved = checkpoint.read_state(Path(config.output))
        checkpoint.check_resumed(config)
    model = make_starting_model(config)
    validator = None
    if config.validation.every_steps != 0:
        rows = load_split(config.data.path, "validation")
        if rows is not None or config.validation != ValidationConfig():  # by default a run without text has none
            validator = Validator(config, rows)
    sampler, loader = load_data(config, model, accelerator.num_processes)
    examples = cast(ChunkExamples, loader.dataset)
    parent = weights_fingerprint(model.network) if config.lora.r else ""
    data = chunks_fingerprint(examples.rows)
    state = TrainState(processes=accelerator.num_processes, data=data, parent=parent)
    model = _ready_model(config, model, examples, accelerator)
    plain = PlainModel(model, config.lora, accelerator)
    objective = _make_objective(config, model)
    if model.tagger is not None and objective.tagger is None and accelerator.is_main_process:
        _log.warning("the tagger is dropped: without training (loss.tagger_weight=0) it would not fit the new encoder")
    model = replace(model, tagger=objective.tagger)
    optimiser = build_optimiser(objective, config.optim)
    steps_per_epoch = math.ceil(len(sampler) / (accelerator.num_processes * config.optim.accumulation_steps))
    n_steps = config.optim.max_steps or steps_per_epoch * config.optim.epochs
    if config.optim.schedule != "constant" and config.optim.warmup_steps >= n_steps and accelerator.is_main_process:
        _log.warning(
            "a warm-up of %s steps in a run of %s: the learning rate never reaches optim.lr; expected a warm-up that "
            "is shorter than the run; lower optim.warmup_steps", config.optim.warmup_steps, n_steps,
        )  # fmt: skip
    objective, loader, optimiser = accelerator.prepare(objective, loader, optimiser)
    run = Run(
        config, accelerator, model, objective, optimiser, schedule=None, sampler=sampler, loader=loader,
        n_steps=n_steps, state=state, validator=validator, plain=plain,
    )  # fmt: skip
    if saved is not None:  # the weights are loaded already
        checkpoint.check_same_run(saved, run.state, config)
        run.state = saved
        tensors = load_file(Path(config.output) / checkpoint.OPTIMISER_FILE)
        # last, as making a model draws random numbers
        restore_tensors(tensors, accelerator.unwrap_model(run.objective), run.optimiser, accelerator)
    # only now is it known how many steps are done
    run.schedule = build_schedule(config.optim, run.optimiser.optimizer, n_steps, run.state.step)
    return run


def _accelerator(config: TrainConfig) -> Any:
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration, InitProcessGroupKwargs, set_seed

    accelerator = Accelerator(
        cpu=not torch.accelerator.is_available(),  # if not set, several CPU processes do not find each other
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
    """Return the model with its odds of unmarked slots, set up for this machine; log what does not suit the data."""
    if config.data.questions.share:
        model = model.with_task(classifies=True, unmarked_odds=examples.unmarked_odds())
    if not config.resume:
        for warning in check_suitable(examples, config.init_from):
            if accelerator.is_main_process:
                _log.warning("%s", warning)
    network: Any = model.network
    network.decoder.set_attn_implementation("eager")  # as in EncoderT5
    if accelerator.device.type == "cpu":  # with gradients a quarter faster there than fused attention
        with quiet_transformers():  # of MPNet, which has eager attention only
            network.set_attn_implementation("eager")
    if config.gradient_checkpointing:
        # older versions of transformers have the second name
        enable = getattr(network, "activation_checkpointing_enable", None) or network.gradient_checkpointing_enable
        enable({"use_reentrant": False})
    return model


def _make_objective(config: TrainConfig, model: models.Model) -> Objective:
    """Return the objective, in which only the parameters that are trained require gradients."""
    if config.lora.r:
        add_adapters(model.network, config.lora)
    objective = Objective(model, config.loss).train()
    if objective.tagger is not None:
        objective.tagger.requires_grad_(True)  # a loaded one requires no gradients
    for part in config.optim.frozen:
        alternatives = _WORDS if part == "words" else (part,)
        frozen = [
            parameter for name, parameter in objective.named_parameters()
            if any(alternative in name for alternative in alternatives)
        ]  # fmt: skip
        check(frozen, f"frozen {part!r}", expected="part of a parameter's name", fix="check optim.frozen")
        for parameter in frozen:
            parameter.requires_grad_(False)
    # Of the embeddings only those of the task's own tokens learn.  Otherwise an encoder soon loses what it knows of
    # rare words: whenever a word comes, Adam moves its row by the whole rate.
    weight: torch.Tensor = model.network.shared.weight
    if config.optim.embeddings == "task" and weight.requires_grad:
        mask = torch.zeros(len(weight), 1, device=weight.device)  # 1 for the rows that learn
        mask[list(model.tokenizer.task_ids)] = 1.0
        weight.register_hook(lambda gradient: gradient * mask)  # type: ignore[no-untyped-call]
    return objective


def build_optimiser(objective: nn.Module, config: OptimConfig) -> torch.optim.AdamW:
    """Return AdamW for the parameters that are trained, with one group for each rate.

    Raises ConfigError if nothing is trained, and for a part in `factors` that no parameter has in its name.
    """
    parameters = {name: value for name, value in objective.named_parameters() if value.requires_grad}
    check(parameters, "nothing to train", expected="parameters that are not frozen", fix="check optim.frozen")
    for part in config.factors:
        is_known = any(part in name for name in parameters)
        check(is_known, f"factors of {part!r}", expected="part of a parameter's name", fix="check optim.factors")
    parameters_by_rate = defaultdict[float, list[nn.Parameter]](list)
    for name, value in parameters.items():
        factor = next((factor for part, factor in config.factors.items() if part in name), 1.0)
        parameters_by_rate[factor * config.lr].append(value)
    groups = [{"params": values, "lr": lr} for lr, values in parameters_by_rate.items()]
    return torch.optim.AdamW(groups, lr=config.lr, betas=_BETAS, weight_decay=0.0, fused=True)


def build_schedule(config: OptimConfig, optimiser: torch.optim.Optimizer, n_steps: int, n_done: int) -> Any:
    """Return the schedule of the learning rate over a run's steps, after the `n_done` steps of earlier processes."""
    from transformers import get_scheduler

    schedule = get_scheduler(config.schedule, optimiser, config.warmup_steps, n_steps)
    with warnings.catch_warnings():
        # torch warns of a schedule that is stepped before its optimiser
        warnings.filterwarnings("ignore", ".*lr_scheduler.step.*", UserWarning)
        for _ in range(n_done):
            schedule.step()
    return schedule
