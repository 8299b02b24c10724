"""The training loop: one process or many, by `accelerate`.

In: a `TrainConfig`.  Out: checkpoints in `output`, the last of them a usable model; their losses in
`OUTPUT.log.jsonl` beside it.

An interrupt (Ctrl-C) ends a run after the step that it falls in; the run is saved.

`train(TrainConfig(output="runs/demo", init_from="small", data=DataConfig(path="prepared/data")))` fine-tunes.
"""

from __future__ import annotations

import logging
import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ...errors import ConfigError
from ..checkpoint import check_output, clear_leftovers, save_checkpoint
from ..config import TrainConfig
from ..lock import lock_folder
from ..tensors import collect_tensors
from .objective import Losses
from .optimisers import scheduled_rate
from .progress import RunLog, tracking
from .run import Run, build
from .validation import deciding_score, is_stale, update_best

_log = logging.getLogger(__name__)
_TIMES_A_RUN, _LONGEST_INTERVAL = 10, 1000  # of validations and checkpoints, where the config says nothing


def train(config: TrainConfig) -> Path:
    """Train, and return the folder of the final model."""
    output = Path(config.output)
    check_output(config)
    with lock_folder(output) as is_first:
        if is_first:
            clear_leftovers(output)
        run = build(config)
        show, track = run.accelerator.is_main_process, run.accelerator.log
        with tracking(run.accelerator, config):
            with RunLog(output, run.n_steps, run.state, show=show, track=track) as progress:
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
    with noting_interrupts(show=run.accelerator.is_main_process) as interrupt:
        for _ in iter_steps(run, progress):
            if _is_interrupted(run, interrupt):
                return _is_over(run)
    return True


def iter_steps(run: Run, progress: RunLog) -> Iterator[int]:
    """Take the steps that are left one by one, and yield their numbers."""
    config = run.config
    validate_every = interval(config.validation.every_steps, run.n_steps) if run.validator is not None else 0
    save_every = interval(config.checkpoint_every_steps, run.n_steps)
    while not _is_over(run):
        run.loader.dataset.epoch = run.state.epoch
        run.sampler.set_position(run.state.epoch, run.state.batch * run.accelerator.num_processes)
        for batch in run.loader:
            losses = take_step(run, batch)
            if losses is None:
                continue
            losses = losses.on_cpu()
            _check_finite(losses, run.state.step)
            progress.update(run.state, losses, scheduled_rate(config.optim, run.schedule), config.log_every_steps)
            is_best = False
            if _due(run.state.step, validate_every):
                with progress.paused():
                    is_best = validate(run, progress)
            if is_best or _due(run.state.step, save_every):
                progress.report()
                with progress.paused():
                    _save(run)
            yield run.state.step
            if _is_over(run):
                break
        else:
            run.state = replace(run.state, epoch=run.state.epoch + 1, batch=0)


def _is_over(run: Run) -> bool:
    """Whether all steps are done, or validation has found nothing better for too long."""
    return run.state.step >= run.n_steps or is_stale(run.state, run.config.validation.patience)


def take_step(run: Run, batch: Any) -> Losses | None:
    """Take a batch; return its losses, those on this process, if it completed an optimiser step."""
    accelerator, optim = run.accelerator, run.config.optim
    with accelerator.accumulate(run.objective):
        batch = batch.to(accelerator.device)
        # each process draws its own, so that a step sees several
        place = run.config.seed, run.state.epoch, run.state.batch, accelerator.process_index
        with accelerator.autocast():
            losses: Losses = run.objective(batch, run.config.data.delays.draw(*place))
        accelerator.backward(losses.total)
        if accelerator.sync_gradients and optim.clip_norm:
            accelerator.clip_grad_norm_(run.objective.parameters(), optim.clip_norm)
        run.optimiser.step()
        if accelerator.sync_gradients:
            run.schedule.step()
        run.optimiser.zero_grad()
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


def validate(run: Run, progress: RunLog) -> bool:
    """Measure the model, and return whether it is the best so far.  All processes get what the first one measured."""
    from accelerate.utils import broadcast_object_list

    assert run.validator is not None  # noqa: S101  (made where steps are validated)
    model = run.plain(run.model, run.objective, to_use=True)
    lines = [run.validator.line(model, run.state.step) if run.accelerator.is_main_process else None]
    line = {"step": run.state.step, "words": run.state.words, **broadcast_object_list(lines)[0]}
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


@dataclass
class Interrupt:
    """Whether this process was interrupted; one of several processes may be so alone."""

    is_noted: bool = False


@contextmanager
def noting_interrupts(*, show: bool) -> Iterator[Interrupt]:
    """Note an interrupt instead of raising KeyboardInterrupt; `show` is for the process that says so.

    Signals reach the main thread only, and one that is ignored (`nohup`) or handled by others stays so.
    """
    interrupt = Interrupt()
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield interrupt
        return

    def note(number: int, frame: object) -> None:
        signal.signal(number, usual)
        interrupt.is_noted = True
        if show:
            with suppress(RuntimeError):  # where the interrupt falls into a write to the same stream
                _log.warning("interrupted: the run ends after this step and is saved; once more, and it ends at once")

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, usual)


def _is_interrupted(run: Run, interrupt: Interrupt) -> bool:
    """Whether any process of the run was interrupted: all must end after the same step."""
    noted = torch.tensor(float(interrupt.is_noted), device=run.accelerator.device)
    return bool(run.accelerator.reduce(noted, "sum").item())


def interval(every: int | None, n_steps: int) -> int:
    """Return after how many steps something is due: as the config says, else a tenth of the run, 1,000 at most."""
    return min(_LONGEST_INTERVAL, max(1, n_steps // _TIMES_A_RUN)) if every is None else every


def _due(step: int, every: int) -> bool:
    return bool(every) and step % every == 0
