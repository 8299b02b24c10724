"""Span corruption: nothing is lost, and as much is left out as was asked for."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.training.spans import SpanConfig, corrupted

SENTINELS = list(range(-1, -101, -1))
CONFIGS = st.builds(SpanConfig, share=st.just(1.0), corrupt=st.floats(0.01, 0.99), mean_tokens=st.floats(1.0, 9.0))


def _restored(source: tuple[int, ...], target: tuple[int, ...]) -> list[int]:
    """The source with what the target says in place of each sentinel."""
    runs: dict[int, list[int]] = {}
    for token in target:
        if token < 0:
            runs[token] = []
        else:
            runs[next(reversed(runs))].append(token)
    assert [token for token in source if token < 0] == list(runs) == SENTINELS[: len(runs)]
    assert all(runs.values())
    return [piece for token in source for piece in (runs[token] if token < 0 else [token])]


@given(st.integers(2, 300), CONFIGS, st.integers(0, 9))
def test_source_and_target_together_are_the_text(n_tokens: int, config: SpanConfig, seed: int) -> None:
    found = corrupted(range(n_tokens), config, random.Random(seed), SENTINELS)
    assert _restored(found.source, found.target) == list(range(n_tokens))
    assert found.source[0] == 0


def test_as_much_is_left_out_as_was_asked_for_in_runs_of_the_asked_length() -> None:
    found = corrupted(range(400), SpanConfig(1.0, corrupt=0.15, mean_tokens=3.0), random.Random(1), SENTINELS)
    n_spans = sum(token < 0 for token in found.target)
    assert (len(found.target) - n_spans, n_spans) == (60, 20)


def test_where_runs_lie_is_random_by_seed() -> None:
    def source(seed: int) -> tuple[int, ...]:
        return corrupted(range(60), SpanConfig(1.0), random.Random(seed), SENTINELS).source

    assert source(1) == source(1)
    assert len({source(seed) for seed in range(20)}) > 15


def test_few_sentinels_leave_fewer_runs() -> None:
    found = corrupted(range(100), SpanConfig(1.0, corrupt=0.5, mean_tokens=1.0), random.Random(1), SENTINELS[:3])
    assert sum(token < 0 for token in found.source) == 3


@pytest.mark.parametrize(
    "values",
    [
        {"share": 1.5},
        {"share": float("nan")},
        {"corrupt": 0.0},
        {"corrupt": 1.0},
        {"mean_tokens": 0.5},
        {"mean_tokens": float("inf")},
    ],
)
def test_values_that_make_no_sense_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"check data\.spans"):
        SpanConfig(**values)
