"""Sequences of many lengths -> batches of about equal lengths, under a budget of tokens.

In: lengths.  Out: lists of indices.  Memory grows with the padded size of a batch, so that size is bounded.

>>> list(batch_by_length([9, 2, 8, 3], batch_tokens=18))
[[1, 3], [2, 0]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batch_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield batches from short to long: each holds at most `batch_tokens`, as padded, or a single sequence."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
