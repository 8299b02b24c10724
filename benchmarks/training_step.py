"""What a training step is made of, and what each choice of it buys: words a second, and the share of matrix speed.

    python benchmarks/training_step.py --config configs/train-3-read.yaml init_from=bundled data.delays.words=[null]

Matrix speed is what this machine reaches on one large product, in the precision and with the threads of the step: the
operations of a step's products (torch's flop counter, forward and backward), divided by its time, are compared with it.
Every variant takes the same batches, in turns, so that other work on the machine hits all alike; the first round does
not count.  Times of the parts are medians.  `--compile` adds torch.compile, which takes minutes to begin.
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
from training_loop import batches_of

from t5punct import config as settings
from t5punct.training.config import TrainConfig, ValidationConfig
from t5punct.training.loop.run import Run, build


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=8, help="optimiser steps of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    options, overrides = parser.parse_known_args()
    torch.set_num_threads(options.threads)
    config = settings.load(TrainConfig, options.config, overrides)
    with tempfile.TemporaryDirectory() as folder:
        config = replace(
            config, output=f"{folder}/run", validation=ValidationConfig(), checkpoint_every_steps=0, report_to=None
        )
        run = build(config)
        # accelerate's wrapper computes in the config's precision, whatever a variant asks for
        run.objective = run.accelerator.unwrap_model(run.objective, keep_fp32_wrapper=False)
        batches: list[Any] = batches_of(run, options.steps)
        operations = sum(_operations(run, batch) for batch in batches)
        steps_of: dict[Variant, list[Step]] = {variant: [] for variant in (*VARIANTS, *[COMPILED] * options.compile)}
        for number in range(options.rounds + 1):
            for variant in steps_of:
                taken = _steps(run, variant, batches)
                steps_of[variant] += taken if number else []
    print(table(steps_of, batches, operations, options.rounds))


def table(steps_of: dict[Variant, list[Step]], batches: list[Any], operations: int, n_rounds: int) -> str:
    """The speeds of each variant; operations are those of the first, whatever a variant computes besides."""
    n_words = sum(batch.n_words for batch in batches)
    real = sum(int(batch.attention_mask.sum()) for batch in batches) / sum(batch.input_ids.numel() for batch in batches)
    speeds = {kind: matrix_speed(kind) for kind in (torch.bfloat16, torch.float32)}
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
    """A step on each batch."""
    run.model.network.set_attn_implementation(variant.attention)
    sampled = run.config.loss.sampled_pieces if variant.sampled else None
    run.objective.config = replace(run.config.loss, sampled_pieces=sampled)
    for optimiser in run.optimisers:
        for group in optimiser.optimizer.param_groups:
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
        torch.nn.utils.clip_grad_norm_(run.objective.parameters(), run.config.optim.clip_norm)
        for optimiser in run.optimisers:
            optimiser.optimizer.step()
            optimiser.optimizer.zero_grad()

    return Step(_seconds(forward), _seconds(backward), _seconds(update))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
