"""The training loop: one process or many, by `accelerate`.

`train(TrainConfig(output="runs/demo", init_from="small", data=DataConfig(path="prepared/data")))` fine-tunes: it leaves
checkpoints in `output`, the last of them a usable model; their losses in `OUTPUT.log.jsonl` beside it.

An interrupt (Ctrl-C) or a termination ends a run after the step that it falls in; the run is saved.
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
from ..checkpoint import check_output, clear_leftovers, save_checkpoint
from ..config import TrainConfig
from ..lock import lock_folder
from ..tensors import collect_tensors
from .objective import Losses
from .progress import RunLog, tracking
from .run import Run, build
from .validation import deciding_score, is_stale, update_best

_log = logging.getLogger(__name__)
LARGEST_NORM = 1.0  # of a step's gradients
_TIMES_A_RUN, _LONGEST_INTERVAL = 10, 1000  # of validations and checkpoints, where the config says nothing


def train(config: TrainConfig) -> Path:
    """Train, and return the folder of the final model."""
    output = Path(config.output)
    check_output(config)
    with lock_folder(output) as is_first:
        if is_first:
            clear_leftovers(output)
        run = build(config)
        show = run.accelerator.is_main_process
        with tracking(run.accelerator, config):
            with RunLog(output, run.n_steps, run.state, show=show, track=run.accelerator.log) as progress:
                is_complete = take_steps(run, progress)
            _save(run)
        if not is_complete:
            if is_first:
                _log.warning(
                    "stopped after step %s of %s, saved in %s; resume=true goes on", run.state.step, run.n_steps, output
                )
            raise KeyboardInterrupt
    return output


def take_steps(run: Run, progress: RunLog) -> bool:
    """Take all steps that are left, with the validations and checkpoints that fall between them.

    Gives whether all were taken: an interrupt ends them early.
    """
    config = run.config
    validate_every = interval(config.validation.every_steps, run.n_steps) if run.validator is not None else 0
    save_every = interval(config.checkpoint_every_steps, run.n_steps)
    with noting_interrupts(show=run.accelerator.is_main_process) as interrupt:
        while not _is_over(run):
            run.loader.dataset.epoch = run.state.epoch
            run.sampler.set_position(run.state.epoch, run.state.batch * run.accelerator.num_processes)
            for batch in run.loader:
                losses = take_step(run, batch)
                if losses is None:
                    continue
                step = run.state.step
                losses = losses.on_cpu()
                loss = losses.total.item()  # after one that is not finite nothing can be learned
                mistake = f"loss {loss} in step {step}"
                check(math.isfinite(loss), mistake, expected="a finite loss", fix="lower optim.lr")
                # groups of parameters with a factor have other rates
                lr = config.optim.lr * float(run.schedule.lr_lambdas[0](run.schedule.last_epoch))
                progress.update(run.state, losses, lr, config.log_every_steps)
                is_best = False
                if validate_every and step % validate_every == 0:
                    with progress.paused():
                        is_best = validate(run, progress)
                if is_best or (save_every and step % save_every == 0):
                    progress.report()
                    with progress.paused():
                        _save(run)
                # of any process: all must end after the same step
                noted = torch.tensor(float(interrupt.is_set()), device=run.accelerator.device)
                if run.accelerator.reduce(noted, "sum").item() or _is_over(run):
                    return _is_over(run)
            run.state = replace(run.state, epoch=run.state.epoch + 1, batch=0)
    return True


def _is_over(run: Run) -> bool:
    """Return whether all steps are done, or validation has found nothing better for too long."""
    return run.state.step >= run.n_steps or is_stale(run.state, run.config.validation.patience)


def take_step(run: Run, batch: Any) -> Losses | None:
    """Take a batch; return its losses, those on this process, if it completed an optimiser step."""
    accelerator = run.accelerator
    state = run.state
    with accelerator.accumulate(run.objective):
        batch = batch.to(accelerator.device)
        # each process draws its own, so that a step sees several
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
    words = state.words + batch.n_words * accelerator.num_processes
    step = state.step + accelerator.sync_gradients
    run.state = replace(state, step=step, batch=state.batch + 1, words=words)
    return losses if accelerator.sync_gradients else None


def validate(run: Run, progress: RunLog) -> bool:
    """Measure the model, and return whether it is the best so far.  All processes get what the first one measured."""
    from accelerate.utils import broadcast_object_list

    assert run.validator is not None  # noqa: S101  (made where steps are validated)
    model = run.plain(run.model, run.objective, to_use=True)
    measured = run.validator.line(model, run.state.step) if run.accelerator.is_main_process else None
    (measured,) = broadcast_object_list([measured])
    line = {"step": run.state.step, "words": run.state.words, **measured}
    progress.record(line)
    run.state = update_best(run.state, line, deciding_score(run.config))
    if is_stale(run.state, run.config.validation.patience) and run.accelerator.is_main_process:
        best = f"{run.state.score} {run.state.best} of step {run.state.best_step}"
        _log.info("stopped at step %s: nothing better than %s", run.state.step, best)
    return run.state.best_step == run.state.step


def _save(run: Run) -> None:
    """Write a checkpoint, if this step has none yet."""
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
    """Note an interrupt or a termination instead of ending at once; `show` is for the process that says so.

    Signals reach the main thread only, and one that is ignored (`nohup`) or handled by others stays so.
    """
    interrupt = Event()
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heeded = [number for number, handler in usual.items() if handler in (signal.default_int_handler, signal.SIG_DFL)]
    if current_thread() is not main_thread():
        heeded = []

    def note(number: int, frame: object) -> None:
        for each in heeded:
            signal.signal(each, usual[each])
        interrupt.set()
        if show:
            with suppress(RuntimeError):  # where the interrupt falls into a write to the same stream
                _log.warning("interrupted: the run ends after this step and is saved; once more, and it ends at once")

    for number in heeded:
        signal.signal(number, note)
    try:
        yield interrupt
    finally:
        for number in heeded:
            signal.signal(number, usual[number])


def interval(every: int | None, n_steps: int) -> int:
    """Return after how many steps something is due: as the config says, else a tenth of the run, 1,000 at most."""
    return min(_LONGEST_INTERVAL, max(1, n_steps // _TIMES_A_RUN)) if every is None else every
