"""The training loop: one process or many, by `accelerate`.

`train(TrainConfig(output="runs/demo", init_from="small", data=DataConfig(path="prepared/data")))` fine-tunes a model.
Then the folder `output` has the last checkpoint, which is a usable model, and `OUTPUT.log.jsonl` beside it the losses.

An interrupt (Ctrl-C) or a termination ends a run after the step that it falls in, and the run is saved.
"""

from __future__ import annotations

import logging
import math
import signal
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, cast

import torch
from safetensors.torch import load_file
from torch import nn

from ...config import check
from ...model import Model
from ...t5.weights import quiet_transformers, weights_fingerprint
from ..checkpoint import (
    OPTIMISER_FILE,
    TrainState,
    check_output,
    check_resumed,
    check_same_run,
    read_state,
    save_checkpoint,
)
from ..config import OptimConfig, TrainConfig, ValidationConfig
from ..examples.batches import BatchSampler, chunks_fingerprint, load_data, load_split
from ..examples.example import ChunkExamples
from ..lock import is_first, lock_folder
from ..starting_model import check_suitable, make_starting_model
from ..tensors import PlainModel, add_adapters, collect_tensors, restore_tensors
from .objective import Losses, Objective
from .progress import RunLog, tracker_settings
from .validation import Validator, deciding_score, is_stale, update_best

_log = logging.getLogger(__name__)
_log.addFilter(lambda _: is_first())  # of several processes only the first one tells its user
LARGEST_NORM = 1.0  # of a step's gradients
_TIMES_A_RUN, _LONGEST_INTERVAL = 10, 1000  # of validations and checkpoints, where the config says nothing
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
    model: Model
    objective: Any  # as accelerate has wrapped it; so are the optimiser and the loader
    optimiser: Any
    schedule: Any
    sampler: BatchSampler
    loader: Any
    n_steps: int
    state: TrainState
    validator: Validator | None
    to_plain_model: PlainModel
    saved: TrainState | None = None  # the state of the last checkpoint; None before the first


def train(config: TrainConfig) -> Path:
    """Train, and return the folder of the model.  Raises KeyboardInterrupt once an interrupted run is saved."""
    output = Path(config.output)
    with lock_folder(output):
        check_output(config)
        run = build(config)
        with RunLog(config, run.n_steps, run.state, run.accelerator) as progress:
            is_complete = take_steps(run, progress)
        _save(run)
        if not is_complete:
            _log.warning(
                "stopped after step %s of %s, saved in %s; resume=true goes on", run.state.step, run.n_steps, output
            )
            raise KeyboardInterrupt
    return output


def build(config: TrainConfig) -> Run:
    """Load or make everything that a run needs; with `resume`, as the last checkpoint has it."""
    accelerator = _accelerator(config)
    saved = None  # the position of the checkpoint to go on from
    if config.resume:
        with accelerator.main_process_first():
            saved = read_state(Path(config.output))
        check_resumed(config)
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
    objective = _make_objective(config, model)
    plain = PlainModel(objective, config.lora, accelerator)
    if model.tagger is not None and objective.tagger is None:
        _log.warning("the tagger is dropped: without training (loss.tagger_weight=0) it would not fit the new encoder")
    model = replace(model, tagger=objective.tagger)
    optimiser = build_optimiser(objective, config.optim)
    steps_per_epoch = math.ceil(len(sampler) / (accelerator.num_processes * config.optim.accumulation_steps))
    n_steps = config.optim.max_steps or steps_per_epoch * config.optim.epochs
    if config.optim.schedule != "constant" and config.optim.warmup_steps >= n_steps:
        _log.warning(
            "a warm-up of %s steps in a run of %s: the learning rate never reaches optim.lr; expected a warm-up that "
            "is shorter than the run; lower optim.warmup_steps", config.optim.warmup_steps, n_steps,
        )  # fmt: skip
    objective, loader, optimiser = accelerator.prepare(objective, loader, optimiser)
    if saved is not None:  # the weights are loaded already
        check_same_run(saved, state, config)
        state = saved
        tensors = load_file(Path(config.output) / OPTIMISER_FILE)
        # last, as making a model draws random numbers
        restore_tensors(tensors, accelerator.unwrap_model(objective), optimiser, accelerator)
    # only now is it known how many steps are done
    schedule = build_schedule(config.optim, optimiser.optimizer, n_steps, state.step)
    return Run(
        config, accelerator, model, objective, optimiser, schedule, sampler, loader, n_steps, state, validator, plain
    )


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
    if accelerator.distributed_type == "FSDP":
        fix = "use configs/accelerate-fsdp.yaml, or no --config_file for whole weights on each device"
        check(accelerator.is_fsdp2, "FSDP of version 1", expected="fsdp_version: 2 in accelerate's config", fix=fix)
        mistake = f"optim.embeddings {config.optim.embeddings} with FSDP"
        expected = "all: the other needs whole matrices"
        check(config.optim.embeddings == "all", mistake, expected=expected, fix=fix)
    set_seed(config.seed)
    return accelerator


def _ready_model(config: TrainConfig, model: Model, examples: ChunkExamples, accelerator: Any) -> Model:
    """Return the model with its odds of unmarked slots, set up for this machine; log what does not suit the data."""
    if config.data.questions.share:
        model = model.with_task(classifies=True, unmarked_odds=examples.unmarked_odds())
    if not config.resume:
        for warning in check_suitable(examples, config.init_from):
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


def _make_objective(config: TrainConfig, model: Model) -> Objective:
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
    parameters = {name: parameter for name, parameter in objective.named_parameters() if parameter.requires_grad}
    check(parameters, "nothing to train", expected="parameters that are not frozen", fix="check optim.frozen")
    for part in config.factors:
        is_known = any(part in name for name in parameters)
        check(is_known, f"factors of {part!r}", expected="part of a parameter's name", fix="check optim.factors")
    parameters_by_rate = defaultdict[float, list[nn.Parameter]](list)
    for name, parameter in parameters.items():
        factor = next((factor for part, factor in config.factors.items() if part in name), 1.0)
        parameters_by_rate[factor * config.lr].append(parameter)
    groups = [{"params": of_rate, "lr": lr} for lr, of_rate in parameters_by_rate.items()]
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


def take_steps(run: Run, progress: RunLog) -> bool:
    """Take the steps that are left, with validations and checkpoints; return whether no interrupt ended them early."""
    accelerator = run.accelerator
    with noting_interrupts(accelerator.set_trigger):
        while not _is_over(run):
            run.loader.dataset.epoch = run.state.epoch
            run.sampler.set_position(run.state.epoch, run.state.batch * accelerator.num_processes)
            for batch in run.loader:
                losses = take_step(run, batch)
                if losses is None:  # the optimiser's step has more batches
                    continue
                _finish_step(run, losses.on_cpu(), progress)
                # processes must end after the same step, so each asks whether any of them was interrupted
                if accelerator.check_trigger() or _is_over(run):
                    return _is_over(run)
            run.state = replace(run.state, epoch=run.state.epoch + 1, batch=0)
    return True


def _is_over(run: Run) -> bool:
    return run.state.step >= run.n_steps or is_stale(run.state, run.config.validation.patience)


def _finish_step(run: Run, losses: Losses, progress: RunLog) -> None:
    """Log a step's losses, validate and save where it is due.  Raises ConfigError for a loss that is not finite."""
    config = run.config
    step = run.state.step
    loss = losses.total.item()
    check(math.isfinite(loss), f"loss {loss} in step {step}", expected="a finite loss", fix="lower optim.lr")
    # `optim.lr` as scheduled; parameters with one of `optim.factors` have other rates
    lr = config.optim.lr * float(run.schedule.lr_lambdas[0](run.schedule.last_epoch))
    progress.update(run.state, losses, lr, config.log_every_steps)
    is_best = False
    if run.validator is not None and is_due(step, config.validation.every_steps, run.n_steps):
        with progress.paused():
            is_best = validate(run, progress)
    if is_best or is_due(step, config.checkpoint_every_steps, run.n_steps):
        progress.report()
        with progress.paused():
            _save(run)


def is_due(step: int, every: int | None, n_steps: int) -> bool:
    """Return whether something is due; every: 0 is never, None each tenth of a run, each 1,000 steps of a long one."""
    if every is None:
        every = min(_LONGEST_INTERVAL, max(1, n_steps // _TIMES_A_RUN))
    return every > 0 and step % every == 0


def take_step(run: Run, batch: Any) -> Losses | None:
    """Learn from a batch.  Return its losses on this process if it completes an optimiser step, else None."""
    accelerator = run.accelerator
    state = run.state
    with accelerator.accumulate(run.objective):
        # each process draws its own delay, so that a step sees several
        delay = run.config.data.delays.draw(run.config.seed, state.epoch, state.batch, accelerator.process_index)
        with accelerator.autocast():
            losses: Losses = run.objective(batch, delay)
        accelerator.backward(losses.total)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(run.objective.parameters(), LARGEST_NORM)
        run.optimiser.step()
        if accelerator.sync_gradients:
            run.schedule.step()
        run.optimiser.zero_grad()
    run.state = replace(
        state, step=state.step + accelerator.sync_gradients, batch=state.batch + 1,
        words=state.words + batch.n_words * accelerator.num_processes,
    )  # fmt: skip
    return losses if accelerator.sync_gradients else None


def validate(run: Run, progress: RunLog) -> bool:
    """Measure the model, log its scores, and note the best; return whether this is the best so far.

    The first process measures, and tells the others.
    """
    from accelerate.utils import broadcast_object_list

    assert run.validator is not None  # noqa: S101  (made where steps are validated)
    model = run.to_plain_model(run.model, run.objective, to_use=True)  # with whole weights, also of FSDP and adapters
    scores = run.validator.measure(model, run.state.step) if run.accelerator.is_main_process else None
    (scores,) = broadcast_object_list([scores])
    line = {"step": run.state.step, "words": run.state.words, **scores}
    progress.record(line)
    run.state = update_best(run.state, line, deciding_score(run.config))
    # `_is_over` ends the run after this step
    if is_stale(run.state, run.config.validation.patience):
        best = f"{run.state.score} {run.state.best} of step {run.state.best_step}"
        _log.info("stopped at step %s: nothing better than %s", run.state.step, best)
    return run.state.best_step == run.state.step


def _save(run: Run) -> None:
    """Write a checkpoint, unless the last one has this state."""
    if run.saved == run.state:
        return
    accelerator = run.accelerator
    tensors = collect_tensors(accelerator.unwrap_model(run.objective), run.optimiser, accelerator)
    model = run.to_plain_model(run.model, run.objective)
    if accelerator.is_main_process:
        save_checkpoint(Path(run.config.output), model, tensors, run.state, run.config)
    accelerator.wait_for_everyone()
    run.saved = run.state


@contextmanager
def noting_interrupts(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """Call a function at the first interrupt or termination; a second one ends the process, as usual.

    A signal that is ignored (`nohup`), or has a handler of somebody else's, keeps that.
    """
    usual_handlers: dict[int, Any] = {}  # of the signals that are noted

    def restore_handlers() -> None:
        for number, handler in usual_handlers.items():
            signal.signal(number, handler)

    def note(number: int, frame: object) -> None:
        restore_handlers()
        on_interrupt()
        with suppress(RuntimeError):  # where the interrupt falls into a write to the same stream
            _log.warning("interrupted: the run ends after this step and is saved; once more, and it ends at once")

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            is_usual = signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL)
            if is_usual and current_thread() is main_thread():  # others cannot have handlers
                usual_handlers[number] = signal.signal(number, note)
        yield
    finally:
        restore_handlers()
