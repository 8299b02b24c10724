"""The training loop: one process or many, by `accelerate`.

`train(TrainConfig(output="runs/demo", init_from="small", data=DataConfig(path="prepared/data")))` fine-tunes a model.
Then the folder `output` has the last checkpoint, which is a usable model, and `OUTPUT.log.jsonl` beside it the losses.

An interrupt (Ctrl-C) or a termination ends a run after the step that it falls in, and the run is saved.
"""

from __future__ import annotations

import logging
import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Any

import torch

from ...config import check
from ..checkpoint import check_output, save_checkpoint
from ..config import TrainConfig
from ..lock import lock_folder
from ..tensors import collect_tensors
from .objective import Losses
from .progress import RunLog
from .run import Run, build
from .validation import deciding_score, is_stale, update_best

_log = logging.getLogger(__name__)
LARGEST_NORM = 1.0  # of a step's gradients
_TIMES_A_RUN, _LONGEST_INTERVAL = 10, 1000  # of validations and checkpoints, where the config says nothing


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
            if run.accelerator.is_main_process:
                _log.warning(
                    "stopped after step %s of %s, saved in %s; resume=true goes on", run.state.step, run.n_steps, output
                )
            raise KeyboardInterrupt
    return output


def take_steps(run: Run, progress: RunLog) -> bool:
    """Take the steps that are left, with validations and checkpoints; return whether no interrupt ended them early."""
    accelerator = run.accelerator
    with noting_interrupts(show=accelerator.is_main_process) as interrupt:
        while not _is_over(run):
            run.loader.dataset.epoch = run.state.epoch
            run.sampler.set_position(run.state.epoch, run.state.batch * accelerator.num_processes)
            for batch in run.loader:
                losses = take_step(run, batch)
                if losses is None:
                    continue
                _finish_step(run, losses.on_cpu(), progress)
                # processes must end after the same step, so each asks whether any of them was interrupted
                is_interrupted = torch.tensor(float(interrupt.is_set()), device=accelerator.device)
                if accelerator.reduce(is_interrupted, "sum").item() or _is_over(run):
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
        batch = batch.to(accelerator.device)
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
    """Measure the model, and return whether it is the best so far.  The first process measures, for all."""
    from accelerate.utils import broadcast_object_list

    assert run.validator is not None  # noqa: S101  (made where steps are validated)
    model = run.plain(run.model, run.objective, to_use=True)
    scores = run.validator.line(model, run.state.step) if run.accelerator.is_main_process else None
    (scores,) = broadcast_object_list([scores])
    line = {"step": run.state.step, "words": run.state.words, **scores}
    progress.record(line)
    run.state = update_best(run.state, line, deciding_score(run.config))
    if is_stale(run.state, run.config.validation.patience) and run.accelerator.is_main_process:
        best = f"{run.state.score} {run.state.best} of step {run.state.best_step}"
        _log.info("stopped at step %s: nothing better than %s", run.state.step, best)
    return run.state.best_step == run.state.step


def _save(run: Run) -> None:
    """Write a checkpoint, unless the last one has this state."""
    if run.saved == run.state:
        return
    accelerator = run.accelerator
    tensors = collect_tensors(accelerator.unwrap_model(run.objective), run.optimiser, accelerator)
    model = run.plain(run.model, run.objective)
    if accelerator.is_main_process:
        save_checkpoint(Path(run.config.output), model, tensors, run.state, run.config)
    accelerator.wait_for_everyone()
    run.saved = run.state


@contextmanager
def noting_interrupts(*, show: bool) -> Iterator[Event]:
    """Let the first interrupt or termination set the event that is yielded; a second one ends the process, as usual.

    A signal that is ignored (`nohup`), or has a handler of somebody else's, keeps that.  show: whether this process
    tells its user.
    """
    interrupt = Event()
    usual_handlers: dict[int, Any] = {}  # of the signals that are noted

    def restore_handlers() -> None:
        for number, handler in usual_handlers.items():
            signal.signal(number, handler)

    def note(number: int, frame: object) -> None:
        restore_handlers()
        interrupt.set()
        if show:
            with suppress(RuntimeError):  # where the interrupt falls into a write to the same stream
                _log.warning("interrupted: the run ends after this step and is saved; once more, and it ends at once")

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            is_usual = signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL)
            if is_usual and current_thread() is main_thread():  # others cannot have handlers
                usual_handlers[number] = signal.signal(number, note)
        yield interrupt
    finally:
        restore_handlers()
