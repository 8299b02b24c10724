"""The data of a run: the chunks of a prepared data set, in resumable batches of about one length."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Sampler

from ...config import check
from ...decoding.inputs import batch_by_length
from ...errors import InputError
from ...model import Model
from ...t5.delay import NOBODY
from ..config import TrainConfig
from ..labels import Labels
from .example import IGNORED, ChunkExamples, Example

_HASHED_CHUNKS = 1000  # about so many, evenly spread: to read all of a large data set takes a while
_POOL_BATCHES = 64  # batches made of one pool of examples, sorted by length


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded examples, as `Example` has them.

    int64 (n_batch, n_source): input_ids, attention_mask, token_words; (n_batch, n_target): targets, next_word_ids,
    decoder_ids; (n_batch, n_words): word_ends, marks, cases, openings, slot_starts.  teacher_codes: uint8 (n_batch,
    n_words, n_codes), all 0 where there is no label; None without a teacher.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    targets: torch.Tensor
    next_word_ids: torch.Tensor
    word_ends: torch.Tensor
    marks: torch.Tensor
    cases: torch.Tensor
    token_words: torch.Tensor
    decoder_ids: torch.Tensor
    openings: torch.Tensor
    slot_starts: torch.Tensor
    n_words: int
    teacher_codes: torch.Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: dict[str, Any] = {name: value.to(device) for name, value in values.items() if torch.is_tensor(value)}
        return replace(self, **moved)


class BatchSampler(Sampler[list[int]]):
    """Batches of example indices under a budget of tokens, shuffled again in each epoch.

    Several processes take turns.  The last batches are left out if they are fewer than the processes: a process with
    one batch more than the others would wait for them forever.
    """

    def __init__(self, lengths: Sequence[int], batch_tokens: int, seed: int, n_processes: int = 1) -> None:
        """Raises ConfigError if there is not a batch for each process."""
        self.lengths = lengths
        self.batch_tokens = batch_tokens
        self.seed = seed
        self.n_processes = n_processes
        self.set_position(epoch=0)

    def __len__(self) -> int:
        return len(self._remaining)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._remaining)

    def set_position(self, epoch: int, start_batch: int = 0) -> None:
        """Choose the epoch, and how many of its batches to skip, as they were seen before a resume.

        The batches are in random order, each of examples of about one length from a random pool.
        """
        rng = random.Random(f"{self.seed} {epoch}")
        order = list(range(len(self.lengths)))
        rng.shuffle(order)
        mean_length = max(1.0, sum(self.lengths) / max(1, len(self.lengths)))
        n_pool = max(1, int(_POOL_BATCHES * self.batch_tokens / mean_length))
        batches = list[list[int]]()
        for start in range(0, len(order), n_pool):
            pool = order[start : start + n_pool]
            for batch in batch_by_length([self.lengths[index] for index in pool], self.batch_tokens):
                batches.append([pool[place] for place in batch])
        rng.shuffle(batches)
        mistake = f"a data set of {len(batches)} batches for {self.n_processes} processes"
        fix = "lower data.batch_tokens, prepare more text or launch fewer processes"
        check(not batches or len(batches) >= self.n_processes, mistake, expected="a batch for each", fix=fix)
        self._remaining = batches[start_batch : len(batches) - len(batches) % self.n_processes]


def make_collator(pad_id: int) -> Callable[[Sequence[Example]], Batch]:
    """Return a function that pads examples into a batch; `IGNORED` stands where there is no loss."""
    padding = {
        "input_ids": pad_id, "token_words": NOBODY, "targets": IGNORED, "next_word_ids": IGNORED,
        "decoder_ids": IGNORED, "word_ends": 0, "marks": IGNORED, "cases": IGNORED, "openings": IGNORED,
        "slot_starts": 0,
    }  # fmt: skip

    def make(examples: Sequence[Example]) -> Batch:
        padded = dict[str, torch.Tensor]()
        for name, value in padding.items():
            rows = [list(getattr(example, name)) for example in examples]
            width = max(map(len, rows))
            padded[name] = torch.tensor([row + [value] * (width - len(row)) for row in rows], dtype=torch.long)
        n_words = padded["word_ends"].shape[1]
        # the teacher's codes have a byte for each class of marks and each case (`labels`)
        n_codes = max((len(code) for example in examples for code in example.teacher_codes), default=0)
        teacher_codes = None
        if n_codes:
            codes = bytearray()
            for example in examples:
                row = b"".join(code.ljust(n_codes, b"\0") for code in example.teacher_codes)
                codes += row.ljust(n_words * n_codes, b"\0")
            teacher_codes = torch.frombuffer(codes, dtype=torch.uint8).view(len(examples), n_words, n_codes)
        lengths = torch.tensor([len(example.input_ids) for example in examples])
        return Batch(
            **padded,
            attention_mask=(torch.arange(int(lengths.max())) < lengths[:, None]).long(),
            n_words=sum(len(example.word_ends) for example in examples),
            teacher_codes=teacher_codes,
        )

    return make


def load_data(config: TrainConfig, model: Model, n_processes: int) -> tuple[BatchSampler, DataLoader[Any]]:
    """Return the sampler of a run's batches, and the loader that makes them.

    Raises InputError for a data set without chunks or labels, and ConfigError for labels of another data set.
    """
    rows = load_train(config.data.path)
    labels = None
    if config.data.labels is not None:
        labels = Labels(config.data.labels, model.task.mark_classes)
        labels.check_data(chunks_fingerprint(rows), len(rows))
    examples = ChunkExamples(rows, model.tokenizer, config.data, config.seed, labels)
    sampler = BatchSampler(examples.lengths, config.data.batch_tokens, config.seed, n_processes)
    loader = DataLoader(
        examples,
        batch_sampler=sampler,
        collate_fn=make_collator(model.tokenizer.pad_id),
        num_workers=config.data.workers,
        generator=torch.Generator(),  # its own, since restarting an epoch after a resume must not change dropout
    )
    return sampler, loader


def chunks_fingerprint(rows: Any) -> str:
    """Return a hash of the number of chunks and of an even sample of them, to know a data set by."""
    sample = rows[:: max(1, len(rows) // _HASHED_CHUNKS)]
    return hashlib.sha256(json.dumps([len(rows), sample], sort_keys=True).encode()).hexdigest()[:16]


def load_train(path: str) -> Any:
    """Return the chunks to train on.  Raises InputError if there are none."""
    rows = load_split(path, "train")
    expected = "a split `train` with chunks"
    check(rows is not None, f"no examples in {path}", expected=expected, fix="prepare more text", kind=InputError)
    return rows


def load_split(path: str, split: str) -> Any:
    """Return the chunks of one split; None if there are none.  Raises InputError if the folder has no data set."""
    from datasets import load_from_disk

    if not (Path(path) / "dataset_dict.json").is_file():
        raise InputError(f"no data set in {path}", expected="a folder made by `t5punct prepare`", fix="prepare first")
    folder = Path(path) / split
    if not any(folder.glob("*.arrow")):  # a split without rows, which `datasets` does not load
        return None
    rows = load_from_disk(str(folder))
    return rows if len(rows) else None
