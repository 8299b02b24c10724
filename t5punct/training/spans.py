"""Span corruption, T5's own pre-training: runs of tokens are left out and must be written (Raffel 2020, section 3.3.4).

In: the tokens of a punctuated text, without the end.  Out: a source with a sentinel for each run that was left out, and
a target of the same sentinels, each followed by its run.

>>> config = SpanConfig(share=1.0, corrupt=0.4, mean_tokens=2.0)
>>> corrupted([10, 11, 12, 13, 14], config, random.Random(1), sentinels=[90, 91])
Corrupted(source=(10, 90, 13, 14), target=(90, 11, 12))
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..errors import ConfigError


@dataclass(frozen=True)
class SpanConfig:
    """How many examples are for pre-training, and how much of their text is left out."""

    share: float = 0.0  # of all examples; 0 has none
    corrupt: float = 0.15  # of an example's tokens
    mean_tokens: float = 3.0  # of a run that is left out

    def __post_init__(self) -> None:
        if not (0 <= self.share <= 1 and 0 < self.corrupt < 1 and 1 <= self.mean_tokens < math.inf):
            raise ConfigError(
                f"spans of share {self.share}, corrupt {self.corrupt}, mean_tokens {self.mean_tokens}",
                expected="a share of 0 to 1, corrupt between 0 and 1, mean_tokens of 1 or more",
                fix="check data.spans",
            )


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A pre-training example in tokens, both sides without their end."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def corrupted(ids: Sequence[int], config: SpanConfig, rng: random.Random, sentinels: Sequence[int]) -> Corrupted:
    """Leave runs of random length out of two or more tokens, anywhere after the first."""
    n_left_out = min(max(1, round(config.corrupt * len(ids))), len(ids) - 1)
    n_spans = min(max(1, round(n_left_out / config.mean_tokens)), len(ids) - n_left_out, len(sentinels))
    kept = _parts(len(ids) - n_left_out + 1, n_spans + 1, rng)  # 1 more, as the last one, after all runs, may be empty
    left_out = _parts(n_left_out, n_spans, rng)
    source: list[int] = []
    target: list[int] = []
    start = 0
    for n_kept, n_out, sentinel in zip(kept, left_out, sentinels, strict=False):
        source += [*ids[start : start + n_kept], sentinel]
        target += [sentinel, *ids[start + n_kept : start + n_kept + n_out]]
        start += n_kept + n_out
    return Corrupted((*source, *ids[start:]), tuple(target))


def _parts(total: int, n_parts: int, rng: random.Random) -> list[int]:
    """A total as a sum of `n_parts` numbers of 1 or more; all such sums are equally likely."""
    cuts = sorted(rng.sample(range(1, total), n_parts - 1))
    return [end - start for start, end in pairwise([0, *cuts, total])]
