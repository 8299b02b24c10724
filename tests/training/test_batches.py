"""Batches of about one length, in an order by seed; `benchmarks/seen.py` names the chunks that a run was fed."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from accelerate.data_loader import BatchSamplerShard
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.t5.delay import NOBODY
from t5punct.training.checkpoint import STATE_FILE, read_state
from t5punct.training.config import TrainConfig
from t5punct.training.examples.batches import BatchSampler, make_collator
from t5punct.training.examples.example import IGNORED, ChunkExamples, Example
from t5punct.training.loop.train import train

LENGTHS = st.lists(st.integers(1, 60), max_size=200)
Sources = Callable[[Path], Iterable[str]]


@given(LENGTHS, st.integers(1, 200), st.integers(0, 5))
def test_batches_keep_the_budget_and_hold_each_example_once(lengths: list[int], budget: int, seed: int) -> None:
    sampler = BatchSampler(lengths, budget, seed)
    batches = list(sampler)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert len(sampler) == len(batches)
    for batch in batches:
        padded = len(batch) * max(lengths[index] for index in batch)
        assert padded <= budget or len(batch) == 1  # an example above the budget is a batch of its own


@given(LENGTHS, st.integers(0, 3), st.integers(0, 9))
def test_a_position_resumes_exactly(lengths: list[int], epoch: int, start: int) -> None:
    whole, resumed = BatchSampler(lengths, 100, 1), BatchSampler(lengths, 100, 1)
    whole.set_position(epoch)
    batches = list(whole)
    start = min(start, len(batches))
    resumed.set_position(epoch, start)
    assert list(resumed) == batches[start:]
    assert len(resumed) == len(batches) - start


def test_the_order_is_random_by_seed_and_epoch() -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        sampler = BatchSampler(list(range(1, 200)), 300, seed)
        sampler.set_position(epoch)
        return list(sampler)

    assert order(1, 0) == order(1, 0)
    assert len({str(order(seed, epoch)) for seed in (1, 2) for epoch in (0, 1)}) == 4
    widths = [max(batch) for batch in order(1, 0)]
    assert widths != sorted(widths)  # batches of one length do not follow one another


def test_batches_hold_examples_of_about_the_same_length() -> None:
    lengths = [1 + (7 * index) % 60 for index in range(600)]
    batches = list(BatchSampler(lengths, 240, 1))
    padded = sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)
    assert padded < 1.1 * sum(lengths)


def test_collate_pads_and_masks() -> None:
    first = Example((5, 6, 7, 1), (5, 8, 6, 7, 1), (5, 6, 6, IGNORED, 1), (1, 2), (1, 0), (1, 0), (0, 0, 1, NOBODY))
    second = Example((5, 1), (5, 1), (IGNORED, IGNORED), (0,), marks=(3,), cases=(2,), token_words=(NOBODY, NOBODY))
    batch = make_collator(pad_id=0)([first, second])
    assert batch.input_ids.tolist() == [[5, 6, 7, 1], [5, 1, 0, 0]]
    assert batch.attention_mask.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert batch.labels.tolist() == [[5, 8, 6, 7, 1], [5, 1, IGNORED, IGNORED, IGNORED]]
    assert batch.next_word_ids.tolist() == [[5, 6, 6, IGNORED, 1], [IGNORED] * 5]
    assert batch.word_ends.tolist() == [[1, 2], [0, 0]]
    assert batch.marks.tolist() == [[1, 0], [3, IGNORED]]
    assert batch.cases.tolist() == [[1, 0], [2, IGNORED]]
    assert batch.token_words.tolist() == [[0, 0, 1, NOBODY], [NOBODY] * 4]
    assert batch.n_words == 3
    assert {tensor.dtype for tensor in (batch.input_ids, batch.attention_mask, batch.labels)} == {torch.int64}
    moved = batch.to(torch.device("meta"))
    assert (moved.labels.device.type, moved.marks.device.type, moved.n_words) == ("meta", "meta", 3)


@given(LENGTHS, st.integers(1, 4), st.integers(0, 2), st.integers(0, 3))
def test_every_process_gets_as_many_batches(lengths: list[int], n_processes: int, epoch: int, start: int) -> None:
    alone, several = BatchSampler(lengths, 60, 1), BatchSampler(lengths, 60, 1, n_processes)
    alone.set_position(epoch)
    several.set_position(epoch)
    if 0 < len(alone) < n_processes:
        with pytest.raises(ConfigError, match=f"{len(alone)} batches for {n_processes} processes; .*data.batch_tokens"):
            len(several)
        return
    assert len(several) == len(alone) - len(alone) % n_processes
    assert list(several) == list(alone)[: len(several)]
    several.set_position(epoch, min(start * n_processes, len(several)))  # as a resume has it
    shards = [
        list(BatchSamplerShard(several, n_processes, process, even_batches=False)) for process in range(n_processes)
    ]
    assert {len(shard) for shard in shards} == {len(several) // n_processes}


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> Sources:
    """What `benchmarks/seen.py` says of a run."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("seen").sources  # type: ignore[no-any-return]


def test_the_chunks_of_a_run_are_named(config: TrainConfig, sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    fed = Counter[str]()
    get_example = ChunkExamples.__getitem__

    def get_and_note(examples: ChunkExamples, index: int) -> Example:
        fed.update(examples.sources([index]))
        return get_example(examples, index)

    monkeypatch.setattr(ChunkExamples, "__getitem__", get_and_note)
    folder = train(replace(config, seed=2, optim=replace(config.optim, max_steps=2)))
    alone = list(sources(folder))
    assert alone
    assert Counter(alone) <= fed, "a loader reads a little ahead"
    state = replace(read_state(folder), processes=2, batch=1)
    (folder / STATE_FILE).write_text(json.dumps(asdict(state)), encoding="utf-8")
    assert list(sources(folder)) == alone, "one batch of each of two processes is two batches"
    settings = folder / "train.yaml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("seed: 2", "seed: 1"), encoding="utf-8")
    assert not Counter(alone) <= Counter(sources(folder)), "else every seed would do"
