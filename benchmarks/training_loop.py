"""What the training loop costs: its words a second beside those of a bare forward-backward-step loop, in one run.

    python benchmarks/training_loop.py --config configs/finetune.yaml data.path=prepared/ted init_from=t5-small

Both train the same model on the same batches, in turns, so that other work on the machine hits both alike.  The bare
loop has its batches ready in memory; the training loop loads and logs them.  Checkpoints and validation are left out:
how often they come is the config's choice.  Prints both speeds and their ratio, the median of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from t5punct import config as settings
from t5punct.training.config import TrainConfig, ValidationConfig
from t5punct.training.loop.progress import RunLog
from t5punct.training.loop.train import Run, build, take_steps


@dataclass(frozen=True)
class Speeds:
    """Words a second of one round."""

    loop: float
    bare: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--config", type=Path, default=None)
    parser.add_argument("--steps", type=int, default=50, help="optimiser steps of a round")
    parser.add_argument("--rounds", type=int, default=7)
    options, overrides = parser.parse_known_args()
    config = settings.load(TrainConfig, options.config, overrides)
    config = replace(config, validation=ValidationConfig(), checkpoint_every_steps=0, report_to=None, resume=False)
    rounds = measure(config, options.steps, options.rounds)
    ratio = statistics.median(speeds.loop / speeds.bare for speeds in rounds)
    loop, bare = (statistics.median(getattr(speeds, name) for speeds in rounds) for name in ("loop", "bare"))
    print(f"loop {loop:.0f} words/s, bare {bare:.0f} words/s, ratio {ratio:.3f} (median of {len(rounds)} rounds)")


def measure(config: TrainConfig, n_steps: int, n_rounds: int) -> list[Speeds]:
    """So many rounds of both loops; a round before them warms up and does not count."""
    rounds = []
    optim = replace(config.optim, max_steps=n_steps * (n_rounds + 1))
    with tempfile.TemporaryDirectory() as folder:
        config = replace(config, output=f"{folder}/run", optim=optim)
        ours, bare = build(config), build(config)
        for _ in range(n_rounds + 1):
            batches = batches_of(bare, n_steps * optim.accumulation_steps)
            rounds.append(Speeds(_loop(ours, n_steps, Path(config.output)), _bare(bare, batches)))
    return rounds[1:]


def _loop(run: Run, n_steps: int, output: Path) -> float:
    """The training loop for so many steps, as `train` runs it."""
    words, until = run.state.words, run.state.step + n_steps
    started = time.perf_counter()
    run.n_steps = until
    with RunLog(output, run.n_steps, run.state, show=True, track=run.accelerator.log) as progress:
        take_steps(run, progress)
    return (run.state.words - words) / (time.perf_counter() - started)


def batches_of(run: Run, n_batches: int) -> list[object]:
    """The batches that the training loop will take next."""
    batches: list[object] = []
    while len(batches) < n_batches:
        run.loader.dataset.epoch = run.state.epoch
        run.sampler.set_position(run.state.epoch, run.state.batch)
        for indices in run.sampler:  # not by the loader: accelerate counts who iterates over one
            batch = run.loader.collate_fn([run.loader.dataset[index] for index in indices])
            batches.append(batch)
            run.state = run.state.after_batch(batch.n_words)
            if len(batches) == n_batches:
                return batches
        run.state = replace(run.state, epoch=run.state.epoch + 1, batch=0)
    return batches


def _bare(run: Run, batches: list[object]) -> float:
    """Forward, backward and step, and no more than that."""
    n_words, accumulated = 0, run.config.optim.accumulation_steps
    parameters = list(run.objective.parameters())
    started = time.perf_counter()
    for number, batch in enumerate(batches, start=1):
        with run.accelerator.autocast():
            losses = run.objective(batch.to(run.accelerator.device))  # type: ignore[attr-defined]
        (losses.total / accumulated).backward()
        n_words += batch.n_words  # type: ignore[attr-defined]
        if number % accumulated == 0:
            torch.nn.utils.clip_grad_norm_(parameters, run.config.optim.clip_norm)
            for optimiser in run.optimisers:
                optimiser.optimizer.step()
                optimiser.optimizer.zero_grad()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return n_words / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
