"""Training batches: examples grouped by length under a token budget.

In: examples and their lengths.  Out: padded tensors.

A batch of windows of about the same length, `BatchSampler(lengths, batch_tokens=4096, seed=1)`, wastes little on
padding; the order of batches is random, the same for the same seed and epoch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch.utils.data import Sampler

from ...decoding.batching import batch_by_length
from ...errors import ConfigError
from ...t5.delay import NOBODY
from .example import Example
from .history import IGNORED

_POOL_BATCHES = 64  # batches whose examples are sorted by length together


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded examples.

    input_ids, attention_mask: int64 (n_batch, n_source); labels, next_word_ids: int64 (n_batch, n_target), IGNORED
    where padded or not asked for; written: likewise, what the decoder reads (see `history`); word_ends, marks, cases:
    int64 (n_batch, n_words), marks and cases IGNORED where padded; token_words: int64 (n_batch, n_source), the word
    that each source token belongs to, NOBODY where padded; taught: uint8 (n_batch, n_words, n_codes), the teacher's
    codes (see `labels`), all 0 where it has said nothing, None without labels; slot_starts: int64 (n_batch, n_words),
    the target token at which a word's marks begin, 0 where it has no code; openings: like marks, None for a task
    without opening marks.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    labels: torch.Tensor
    next_word_ids: torch.Tensor
    word_ends: torch.Tensor
    marks: torch.Tensor
    cases: torch.Tensor
    token_words: torch.Tensor
    written: torch.Tensor
    n_words: int
    taught: torch.Tensor | None = None
    slot_starts: torch.Tensor | None = None
    openings: torch.Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: dict[str, Any] = {name: value.to(device) for name, value in values.items() if torch.is_tensor(value)}
        return replace(self, **moved)


class BatchSampler(Sampler[list[int]]):
    """Batches of example indices under a budget of tokens, shuffled again in each epoch, resumable.

    Several processes take turns.  Batches at the end that do not suffice for all of them are left out: a process with
    one batch more than the others would wait for them forever.
    """

    def __init__(self, lengths: Sequence[int], batch_tokens: int, seed: int, n_processes: int = 1) -> None:
        self.lengths, self.batch_tokens, self.seed, self.n_processes = lengths, batch_tokens, seed, n_processes
        self.epoch = self.start_batch = 0
        self._batches: list[list[int]] | None = None

    def set_position(self, epoch: int, start_batch: int = 0) -> None:
        """Choose the epoch, and how many of its batches to skip (they were seen before a resume)."""
        self.epoch, self.start_batch, self._batches = epoch, start_batch, None

    def __len__(self) -> int:
        return len(self._plan()) - self.start_batch

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._plan()[self.start_batch :])

    def _plan(self) -> list[list[int]]:
        if self._batches is None:
            rng = random.Random(f"{self.seed} {self.epoch}")
            order = list(range(len(self.lengths)))
            rng.shuffle(order)
            mean = max(1.0, sum(self.lengths) / max(1, len(self.lengths)))
            pool = max(1, int(_POOL_BATCHES * self.batch_tokens / mean))
            batches = [
                [indices[place] for place in batch]
                for start in range(0, len(order), pool)
                for indices in [order[start : start + pool]]
                for batch in batch_by_length([self.lengths[index] for index in indices], self.batch_tokens)
            ]
            rng.shuffle(batches)
            if 0 < len(batches) < self.n_processes:
                raise ConfigError(
                    f"a data set of {len(batches)} batches for {self.n_processes} processes",
                    expected="a batch for each",
                    fix="lower data.batch_tokens, prepare more text or launch fewer processes",
                )
            self._batches = batches[: len(batches) - len(batches) % self.n_processes]
        return self._batches


def make_collator(pad_id: int) -> Callable[[Sequence[Example]], Batch]:
    """Return a function that pads examples into a batch."""

    def pad(rows: Sequence[tuple[int, ...]], value: int, width: int = 0) -> torch.Tensor:
        width = max(width, *map(len, rows))
        return torch.tensor([[*row, *(value,) * (width - len(row))] for row in rows], dtype=torch.long)

    def make(examples: Sequence[Example]) -> Batch:
        openings = [example.openings for example in examples]
        labels = pad([example.target for example in examples], IGNORED)
        taught, n_words = _taught(examples), max(len(example.word_ends) for example in examples)
        starts = [example.slot_starts for example in examples]
        return Batch(
            pad([example.source for example in examples], pad_id),
            pad([(1,) * len(example.source) for example in examples], 0),
            labels,
            pad([example.next_word_ids for example in examples], IGNORED, labels.shape[1]),
            pad([example.word_ends for example in examples], 0),
            pad([example.marks for example in examples], IGNORED),
            pad([example.cases for example in examples], IGNORED),
            pad([example.token_words for example in examples], NOBODY),
            pad([example.written for example in examples], IGNORED),
            n_words=sum(len(example.word_ends) for example in examples),
            taught=taught,
            slot_starts=None if taught is None else pad(starts, 0, n_words),
            openings=pad(openings, IGNORED) if any(openings) else None,
        )

    return make


def _taught(examples: Sequence[Example]) -> torch.Tensor | None:
    """Return the teacher's codes of a batch, uint8 (n_batch, n_words, n_codes); None if it has said nothing of any
    word.
    """
    n_codes = max((len(code) for example in examples for code in example.taught), default=0)
    if not n_codes:
        return None
    codes = torch.zeros(len(examples), max(len(example.word_ends) for example in examples), n_codes, dtype=torch.uint8)
    for row, example in enumerate(examples):
        for word, code in enumerate(example.taught):
            if code:
                codes[row, word] = torch.frombuffer(bytearray(code), dtype=torch.uint8)
    return codes
