"""Plans against a plan made by brute force, and the counting promises of Minixhofer 2021, section 3."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.windows import Window, WindowConfig, over, plan

quick = settings(max_examples=200, deadline=None)


@st.composite
def configs(draw: st.DrawFn) -> WindowConfig:
    left, right, free = draw(st.integers(0, 6)), draw(st.integers(0, 6)), draw(st.integers(1, 12))
    stride = draw(st.none() | st.integers(1, free))
    return WindowConfig(left + right + free, stride, left, right, draw(st.integers(1, free)))


def brute_force(n_words: int, config: WindowConfig) -> list[Window]:
    """Every window start there is; stop after the first window that reaches the end; then apply the masks."""
    windows = []
    for start in range(0, n_words, config.stride_words):
        seen = [word for word in range(n_words) if start <= word < start + config.window]
        first, last = start == 0, seen[-1] == n_words - 1
        kept = [
            word
            for place, word in enumerate(seen)
            if (first or place >= config.mask_left) and (last or place < config.window - config.mask_right)
        ]
        windows.append(Window(seen[0], seen[-1] + 1, kept[0], kept[-1] + 1))
        if last:
            break
    return windows


def votes_by_slot(n_words: int, config: WindowConfig) -> Counter[int]:
    return Counter(slot for window in plan(n_words, config) for slot in range(window.keep_start, window.keep_stop))


@quick
@given(st.integers(0, 60), configs())
def test_a_plan_equals_the_one_made_by_brute_force(n_words: int, config: WindowConfig) -> None:
    assert list(plan(n_words, config)) == brute_force(n_words, config)


@quick
@given(st.integers(0, 120), configs())
def test_every_slot_gets_a_vote_and_no_other_slot_does(n_words: int, config: WindowConfig) -> None:
    assert sorted(votes_by_slot(n_words, config)) == list(range(n_words))


@quick
@given(st.integers(0, 200), configs())
def test_every_slot_away_from_the_edges_gets_n_votes(n_words: int, config: WindowConfig) -> None:
    config = WindowConfig(config.window, None, config.mask_left, config.mask_right, config.overlap)
    votes = votes_by_slot(n_words, config)
    reach = (config.overlap - 1) * config.stride_words
    middle = range(config.mask_left + reach, n_words - config.mask_right - reach)
    assert all(votes[slot] >= config.overlap for slot in middle)


@quick
@given(st.integers(0, 120), configs())
def test_a_kept_slot_has_the_masks_words_of_context_except_at_the_edges(n_words: int, config: WindowConfig) -> None:
    for window in plan(n_words, config):
        assert window.keep_start == 0 or window.keep_start - window.start == config.mask_left
        assert window.keep_stop == n_words or window.stop - window.keep_stop == config.mask_right


def test_the_stride_of_figure_1_in_minixhofer_2021_is_5() -> None:
    config = WindowConfig(window=20, mask_left=3, mask_right=6, overlap=2)
    assert config.stride_words == 5
    assert [(w.start, w.keep_start, w.keep_stop) for w in plan(30, config)] == [(0, 0, 14), (5, 8, 19), (10, 13, 30)]


@pytest.mark.parametrize(("overlap", "stride"), [(1, 75), (2, 37), (4, 18), (75, 1)])
def test_the_stride_is_the_floor_of_the_unmasked_words_over_n(overlap: int, stride: int) -> None:
    assert WindowConfig(120, mask_left=30, mask_right=15, overlap=overlap).stride_words == stride


def test_a_plan_is_lazy_for_a_million_words() -> None:
    windows = plan(1_000_000, WindowConfig(64, mask_left=12, mask_right=8))
    assert iter(windows) is windows
    assert list(islice(windows, 2)) == [Window(0, 64, 0, 56), Window(44, 108, 56, 100)]


def test_no_words_need_no_windows() -> None:
    assert list(plan(0, WindowConfig())) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"window": 0}, "a window of 0 words"),
        ({"window": 8, "mask_left": 4, "mask_right": 4}, "masks of 4 and 4; expected masks of 0 or more that leave"),
        ({"mask_left": -1}, "masks of -1 and 0"),
        (
            {"window": 8, "overlap": 9},
            "9 votes a slot; expected 1 to 8, .*; raise --window, set --stride or take another",
        ),
        ({"overlap": 0}, "0 votes a slot"),
        ({"window": 8, "mask_left": 2, "stride": 7}, "a stride of 7 words; expected 1 to 6"),
        ({"stride": 0}, "a stride of 0 words"),
    ],
)
def test_a_plan_that_would_leave_slots_undecided_is_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        WindowConfig(**values)


@quick
@given(st.integers(0, 60), configs())
def test_a_window_comes_with_its_words_and_the_last_says_so(n_words: int, config: WindowConfig) -> None:
    words = [str(number) for number in range(n_words)]
    views = list(over(iter(words), config))
    assert [view.window for view in views] == list(plan(n_words, config))
    assert all(list(view.words) == words[view.window.start : view.window.stop] for view in views)
    assert [view.is_last for view in views] == [False] * (len(views) - 1) + [True] * bool(words)


def test_no_more_than_a_window_and_one_words_are_read_ahead() -> None:
    read = []
    config = WindowConfig(64, mask_left=12, mask_right=8)
    for view in islice(over((read.append(n) or n for n in range(10**6)), config), 3):
        assert len(read) == view.window.stop + 1


def test_a_stride_takes_the_place_of_the_votes_wanted() -> None:
    assert WindowConfig(3, stride=1, overlap=4).stride_words == 1
