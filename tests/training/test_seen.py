"""`benchmarks/seen.py` names exactly the chunks that a run was fed, by its seed and its number of processes."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from t5punct.training.checkpoint.checkpoint import STATE_FILE, read_state
from t5punct.training.config import TrainConfig
from t5punct.training.examples.example import ChunkExamples, Example
from t5punct.training.loop.train import train

ROOT = Path(__file__).parents[2]


def test_the_chunks_of_a_run_are_named(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    sources = importlib.import_module("seen").sources
    fed = Counter[str]()
    get_example = ChunkExamples.__getitem__

    def get_and_note(examples: ChunkExamples, index: int) -> Example:
        fed.update(examples.sources([index]))
        return get_example(examples, index)

    monkeypatch.setattr(ChunkExamples, "__getitem__", get_and_note)
    folder = train(replace(config, seed=2, optim=replace(config.optim, max_steps=2)))
    named = Counter[str](sources(folder))
    assert named
    assert named <= fed, "a loader reads a little ahead"
    assert not named <= Counter(sources(_as_of_seed(folder, 1))), "else every seed would do"


def test_each_process_was_fed_its_own_batches(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    sources = importlib.import_module("seen").sources
    folder = train(replace(config, optim=replace(config.optim, max_steps=2)))
    alone = list(sources(folder))
    state = replace(read_state(folder), processes=2, batch=1)
    (folder / STATE_FILE).write_text(json.dumps(asdict(state)), encoding="utf-8")
    assert list(sources(folder)) == alone, "one batch of each of two is two batches"


def _as_of_seed(folder: Path, seed: int) -> Path:
    path = folder / "train.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("seed: 2", f"seed: {seed}"), encoding="utf-8")
    return folder
