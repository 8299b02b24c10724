"""What a person sees of a run: a bar with loss, words per second and time left, and a log.

A line of `OUTPUT.log.jsonl`, beside the output: {"step": 50, "words": 102400, "text_loss": 6.1, "slot_loss": 0.0,
"tag_loss": 0.7, "lr": 0.001, "words_per_second": 2900.0}.  `lr` is `optim.lr` as scheduled; the speed is that of the
steps, without validation and saving.  accelerate's trackers (TensorBoard, Weights & Biases ..) get every line, too.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from ...config import check
from ...text.io.files import writing
from ..checkpoint import TrainState, flatten_settings
from ..config import TrainConfig
from .objective import Losses

_log = logging.getLogger(__name__)
_SPEED_PERIOD_S = 600.0  # the time left follows from the steps of so many last seconds
_LOGGED = {  # fields of `Losses`, and their names in the log
    "text": "text_loss", "slots": "slot_loss", "tags": "tag_loss", "cases": "case_loss", "teacher": "teacher_loss",
}  # fmt: skip


def log_of(output: Path) -> Path:
    """Return the path of a run's log: beside the run's folder, which checkpoints replace."""
    output = output.absolute()  # `.` has no name
    return output.with_name(output.name + ".log.jsonl")


class RunLog:
    """Writes the log of a run and moves its bar, in the first process; a line is the mean of the steps since the last.

    A new run begins a new log; a resumed run goes on after the last step of its checkpoint.  accelerate's trackers get
    every line, and before them the settings by their dotted names.
    """

    def __init__(self, config: TrainConfig, n_steps: int, state: TrainState, accelerator: Any) -> None:
        self.path = log_of(Path(config.output))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.accelerator = accelerator
        self.is_main = accelerator.is_main_process
        plain = {
            name: value if isinstance(value, bool | int | float | str) else str(value)
            for name, value in flatten_settings(asdict(config)).items()
        }
        run_name = {"wandb": {"name": Path(config.output).name}}
        accelerator.init_trackers("t5punct", config=plain, init_kwargs=run_name)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[status]}"), TimeRemainingColumn())
        console = Console(stderr=True)
        # after `--quiet` only errors are logged
        is_hidden = not (self.is_main and console.is_terminal and _log.isEnabledFor(logging.WARNING))
        self.bar = Bar(*columns, console=console, disable=is_hidden, speed_estimate_period=_SPEED_PERIOD_S)
        self.bar.add_task("train", total=n_steps, completed=state.step, status="")
        if self.is_main:
            _shorten(self.path, state.step)
        self._losses = list[Losses]()  # of the steps since the last line
        self._line_time = time.perf_counter()  # of the last line, moved on by pauses
        self._line_words = state.words
        self._state = state
        self._lr = 0.0

    def __enter__(self) -> RunLog:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.report()
        self.bar.stop()
        for tracker in self.accelerator.trackers:
            tracker.finish()

    def update(self, state: TrainState, losses: Losses, lr: float, every: int) -> None:
        """Count one step; after `every` steps, log their mean."""
        self._state = state
        self._lr = lr
        self._losses.append(losses)
        self.bar.update(TaskID(0), completed=state.step)
        if len(self._losses) >= every:
            self.report()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock while a run validates or saves, whose time does not count in its words a second."""
        start_time = time.perf_counter()
        yield
        self._line_time += time.perf_counter() - start_time

    def report(self) -> None:
        """Log the mean of the steps since the last line, if any.  A checkpoint comes after it: its log is complete."""
        if not self._losses:
            return
        state = self._state
        now = time.perf_counter()
        line: dict[str, float | int] = {"step": state.step, "words": state.words}
        for name, logged in _LOGGED.items():
            line[logged] = round(sum(float(getattr(losses, name)) for losses in self._losses) / len(self._losses), 4)
        line["lr"] = self._lr
        line["words_per_second"] = round((state.words - self._line_words) / (now - self._line_time), 1)
        self._losses = []
        self._line_time = now
        self._line_words = state.words
        self.record(line)
        status = f"loss {line['text_loss']:.3f} {line['tag_loss']:.3f}  {line['words_per_second']:.0f} words/s"
        self.bar.update(TaskID(0), status=status)

    def record(self, line: dict[str, float | int]) -> None:
        """Log, print and track a line, of steps or of a validation; other processes than the first do nothing."""
        if not self.is_main:
            return
        self.accelerator.log({name: value for name, value in line.items() if name != "step"}, step=line["step"])
        with self.path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(line) + "\n")
        untrained = [name for name in _LOGGED.values() if not line.get(name)]  # absent, or of weight 0
        left_out = ("step", "words", "words_per_second", *untrained)
        task = self.bar.tasks[0]
        printed = [f"step {line['step']} of {task.total}"]
        printed += [f"{name} {value:.4g}" for name, value in line.items() if name not in left_out]
        if "words_per_second" in line:  # not that of a validation
            printed.append(f"{line['words_per_second']:.0f} words/s")
            if task.time_remaining is not None:
                printed.append(f"{timedelta(seconds=task.time_remaining)} left")
        _log.info("%s", ", ".join(printed))


def _shorten(path: Path, step: int) -> None:
    """Remove the lines of a log after a step, and what follows half a line, which a crash leaves."""
    if not path.is_file():
        return
    lines = list[str]()
    with suppress(ValueError, KeyError, TypeError):  # half a line
        for line in path.read_text(encoding="utf-8").splitlines():
            if json.loads(line)["step"] > step:
                break
            lines.append(line + "\n")
    with writing(path) as handle:  # whole or not at all, so that a crash leaves the old log
        handle.writelines(lines)


def tracker_settings(config: TrainConfig) -> dict[str, Any]:
    """Return accelerate's settings for trackers.  Raises ConfigError for one that is not installed."""
    if not config.report_to:
        return {}
    from accelerate.tracking import get_available_trackers
    from accelerate.utils import ProjectConfiguration

    names = [name.strip() for name in config.report_to.split(",")]
    installed = [kind.value for kind in get_available_trackers()]
    expected = f"trackers of accelerate that are installed: {', '.join(installed) or 'none is'}"
    fix = "check the names, or install them"
    check(set(names) <= set(installed), f"report_to {config.report_to}", expected=expected, fix=fix)
    return {"log_with": names, "project_config": ProjectConfiguration(logging_dir=f"{Path(config.output)}.trackers")}
