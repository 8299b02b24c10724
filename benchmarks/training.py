"""What a training run costs: its loop beside a bare one, and what a step is made of.

    python benchmarks/training.py loop --config configs/finetune.yaml data.path=data init_from=google-t5/t5-small
    python benchmarks/training.py step --config configs/large-3-read.yaml init_from=large data.delays.words=[null]

Whatever is compared takes the same batches, in turns, so that other work on the machine hits all alike; the first round
does not count.  Checkpoints and validation are left out: how often they come is the config's choice.

`loop`: words a second of the training loop, and of a bare forward-backward-step loop that has its batches ready in
memory; both speeds and their ratio, the median of the rounds.

`step`: words a second and the share of matrix speed, which is what this machine reaches on one large product, in the
precision and with the threads of the step: the operations of a step's products (torch's flop counter, forward and
backward), divided by its time, are compared with it.  Times of the parts are medians.  Some variants by name:
`--variants fp32` where the processor only emulates bf16, or "torch.compile", which takes minutes to begin.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from t5punct import config as settings
from t5punct.cli.process import keep_freed_memory
from t5punct.training.config import TrainConfig, ValidationConfig
from t5punct.training.loop.progress import RunLog
from t5punct.training.loop.train import LARGEST_NORM, Run, build, take_steps


@dataclass(frozen=True)
class Variant:
    """How a step is taken; the defaults are what training does on a CPU with bf16."""

    name: str
    attention: str = "eager"
    sampled: bool = True  # the loss over the config's `sampled_pieces`, not over all
    fused: bool = True  # the optimiser
    precision: torch.dtype = torch.bfloat16
    compiled: bool = False


VARIANTS = (
    Variant("as it is"),
    Variant("torch's fused attention", attention="sdpa"),
    Variant("the loss over all pieces", sampled=False),
    Variant("an optimiser that is not fused", fused=False),
    Variant("fp32", precision=torch.float32),
)
COMPILED = Variant("torch.compile", compiled=True)


@dataclass(frozen=True)
class Step:
    """Seconds of one step's parts."""

    forward: float
    backward: float
    update: float

    @property
    def total(self) -> float:
        return self.forward + self.backward + self.update


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=["loop", "step"])
    parser.add_argument("--config", type=Path, default=None)
    parser.add_argument("--steps", type=int, default=8, help="optimiser steps of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    names = [variant.name for variant in (*VARIANTS, COMPILED)]
    parser.add_argument("--variants", nargs="+", choices=names, default=names[:-1], help="ways to take a step")
    options, overrides = parser.parse_known_args()
    torch.set_num_threads(options.threads)
    keep_freed_memory()  # as the command does
    config = settings.load(TrainConfig, options.config, overrides)
    with tempfile.TemporaryDirectory() as folder:
        optim = replace(config.optim, max_steps=options.steps * (options.rounds + 1))
        config = replace(
            config,
            output=f"{folder}/run",
            optim=optim,
            validation=ValidationConfig(every_steps=0),
            checkpoint_every_steps=0,
            report_to=None,
            resume=False,
        )
        print(compare_loops(config, options) if options.study == "loop" else compare_steps(config, options))


def compare_loops(config: TrainConfig, options: argparse.Namespace) -> str:
    """Return words a second of both loops; a round before the others warms up."""
    ours, bare, speeds = build(config), build(config), []
    for _ in range(options.rounds + 1):
        batches = batches_of(bare, options.steps * config.optim.accumulation_steps)
        speeds.append((_loop(ours, options.steps), _bare(bare, batches)))
    loop, plain, ratio = (
        statistics.median(of(*pair) for pair in speeds[1:])
        for of in (lambda loop, _: loop, lambda _, plain: plain, lambda loop, plain: loop / plain)
    )
    return f"loop {loop:.0f} words/s, bare {plain:.0f} words/s, ratio {ratio:.3f} (median of {options.rounds} rounds)"


def _loop(run: Run, n_steps: int) -> float:
    """Return the training loop for so many steps, as `train` runs it."""
    words, until = run.state.words, run.state.step + n_steps
    started = time.perf_counter()
    run.n_steps = until
    with RunLog(run.config, run.n_steps, run.state, run.accelerator) as progress:
        take_steps(run, progress)
    return (run.state.words - words) / (time.perf_counter() - started)


def batches_of(run: Run, n_batches: int) -> list[Any]:
    """Return the batches that the training loop will take next."""
    batches: list[Any] = []
    while len(batches) < n_batches:
        run.loader.dataset.epoch = run.state.epoch
        run.sampler.set_position(run.state.epoch, run.state.batch)
        for indices in run.sampler:  # not by the loader: accelerate counts who iterates over one
            batch = run.loader.collate_fn([run.loader.dataset[index] for index in indices])
            batches.append(batch)
            run.state = replace(run.state, batch=run.state.batch + 1, words=run.state.words + batch.n_words)
            if len(batches) == n_batches:
                return batches
        run.state = replace(run.state, epoch=run.state.epoch + 1, batch=0)
    return batches


def _bare(run: Run, batches: list[Any]) -> float:
    """Forward, backward and step, and no more than that."""
    n_words, accumulated = 0, run.config.optim.accumulation_steps
    parameters = list(run.objective.parameters())
    started = time.perf_counter()
    for number, batch in enumerate(batches, start=1):
        with run.accelerator.autocast():
            losses = run.objective(batch.to(run.accelerator.device))
        (losses.total / accumulated).backward()
        n_words += batch.n_words
        if number % accumulated == 0:
            torch.nn.utils.clip_grad_norm_(parameters, LARGEST_NORM)
            run.optimiser.optimizer.step()
            run.optimiser.optimizer.zero_grad()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return n_words / (time.perf_counter() - started)


def compare_steps(config: TrainConfig, options: argparse.Namespace) -> str:
    """Return a table of each variant's speed."""
    run = build(config)
    # accelerate's wrapper computes in the config's precision, whatever a variant asks for
    run.objective = run.accelerator.unwrap_model(run.objective, keep_fp32_wrapper=False)
    batches = batches_of(run, options.steps)
    operations = sum(_operations(run, batch) for batch in batches)
    steps_of: dict[Variant, list[Step]] = {
        variant: [] for variant in (*VARIANTS, COMPILED) if variant.name in options.variants
    }
    for number in range(options.rounds + 1):
        for variant in steps_of:
            taken = _steps(run, variant, batches)
            steps_of[variant] += taken if number else []
    return table(steps_of, batches, operations, options.rounds)


def table(steps_of: dict[Variant, list[Step]], batches: list[Any], operations: int, n_rounds: int) -> str:
    """Return the speeds of each variant; operations are those of the first, whatever a variant computes besides."""
    n_words = sum(batch.n_words for batch in batches)
    real = sum(int(batch.attention_mask.sum()) for batch in batches) / sum(batch.input_ids.numel() for batch in batches)
    speeds = {kind: matrix_speed(kind) for kind in {variant.precision for variant in steps_of}}
    shown = ", ".join(f"{kind} {speed / 1e9:.0f}" for kind, speed in speeds.items())
    lines = [
        f"{len(batches)} batches, {n_words:,} words, {real:.0%} of the tokens are not padding; matrix speed in",
        f"thousand million operations a second: {shown}",
        "",
        "| step | words/s | of matrix speed | forward, s | backward, s | update, s |",
        f"|{' --- |' * 6}",
    ]
    for variant, steps in steps_of.items():
        seconds = sum(step.total for step in steps) / n_rounds
        share = operations / seconds / speeds[variant.precision]
        medians = (statistics.median(getattr(step, part) for step in steps) for part in Step.__dataclass_fields__)
        parts = " | ".join(f"{part:.3f}" for part in medians)
        lines.append(f"| {variant.name} | {n_words / seconds:,.0f} | {share:.0%} | {parts} |")
    return "\n".join(lines)


def matrix_speed(precision: torch.dtype, size: int = 2048) -> float:
    """Operations a second of the fastest of some large products."""
    left, right = (torch.randn(size, size).to(precision) for _ in range(2))
    return 2.0 * size**3 / min(_seconds(lambda: left @ right) for _ in range(8))


def _operations(run: Run, batch: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        run.objective(batch).total.backward()
    run.objective.zero_grad()
    return int(counter.get_total_flops())


def _steps(run: Run, variant: Variant, batches: list[Any]) -> list[Step]:
    """Return a step on each batch."""
    run.model.network.set_attn_implementation(variant.attention)
    sampled = run.config.loss.sampled_pieces if variant.sampled else None
    run.objective.config = replace(run.config.loss, sampled_pieces=sampled)
    for group in run.optimiser.optimizer.param_groups:
        group["fused"] = variant.fused
    objective = torch.compile(run.objective, dynamic=True) if variant.compiled else run.objective
    return [_step(run, objective, batch, variant.precision) for batch in batches]


def _step(run: Run, objective: Any, batch: Any, precision: torch.dtype) -> Step:
    losses: list[torch.Tensor] = []

    def forward() -> None:
        with torch.autocast("cpu", precision) if precision != torch.float32 else nullcontext():
            losses.append(objective(batch).total)

    def backward() -> None:
        losses[0].backward()  # type: ignore[no-untyped-call]

    def update() -> None:
        torch.nn.utils.clip_grad_norm_(run.objective.parameters(), LARGEST_NORM)
        run.optimiser.optimizer.step()
        run.optimiser.optimizer.zero_grad()

    return Step(_seconds(forward), _seconds(backward), _seconds(update))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
