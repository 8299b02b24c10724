"""Plans against a plan made by brute force, and the counting promises of Minixhofer 2021, section 3."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.config import as_yaml
from t5punct.errors import ConfigError
from t5punct.windows.plan import MOST_WORDS, Window, WindowConfig, iter_pools, views_of
from t5punct.windows.presets import DEFAULT_PRESET, FAMILIES, PRESETS, list_presets, load_preset

quick = settings(max_examples=200, deadline=None)


@st.composite
def configs(draw: st.DrawFn) -> WindowConfig:
    left, right, free = draw(st.integers(0, 6)), draw(st.integers(0, 6)), draw(st.integers(1, 12))
    stride = draw(st.none() | st.integers(1, free))
    lead_in = draw(st.just(0) | st.integers(left, left + free - 1))
    return WindowConfig(left + right + free, stride, left, right, draw(st.integers(1, free)), lead_in)


def brute_force(n_words: int, config: WindowConfig) -> list[Window]:
    """Every window start there is; stop after the first window that reaches the end; then apply the masks."""
    windows = []
    for start in range(-config.lead_in, n_words, config.stride_words):
        seen = [word for word in range(n_words) if start <= word < start + config.window]
        if not seen:  # of a document that ends before its first window begins to be seen
            break
        first, last = start == 0 and not config.lead_in, seen[-1] == n_words - 1
        kept = [
            word
            for word in seen
            if (first or word >= start + config.mask_left)
            and (last or word < start + config.window - config.mask_right)
        ]
        windows.append(Window(seen[0], seen[-1] + 1, kept[0], kept[-1] + 1))
        if last:
            break
    return windows


def plan_windows(n_words: int, config: WindowConfig) -> list[Window]:
    return [view.window for view in views_of(range(n_words), config)]


@quick
@given(st.integers(0, 60), configs())
def test_a_plan_equals_brute_force_and_its_windows_know_their_words(n_words: int, config: WindowConfig) -> None:
    windows = plan_windows(n_words, config)
    assert windows == brute_force(n_words, config)
    assert {slot for window in windows for slot in range(window.keep_start, window.keep_stop)} == {*range(n_words)}
    for window in windows:
        short = config.lead_in and window.start == 0  # it begins before the document
        assert short or window.keep_start == 0 or window.keep_start - window.start == config.mask_left
        assert window.keep_stop == n_words or window.stop - window.keep_stop == config.mask_right
    words = [str(number) for number in range(n_words)]
    views = views_of(words, config)
    assert [view.window for view in views] == windows
    assert all(list(view.words) == words[view.window.start : view.window.stop] for view in views)
    assert [view.is_last for view in views] == [False] * (len(views) - 1) + [True] * bool(words)
    for view, later in zip(views, [*views[1:], None][: len(views)], strict=True):
        assert view.n_settled == (n_words if later is None else later.window.keep_start)


def test_strides_are_those_of_figure_1_in_minixhofer_2021_and_the_floor_of_the_unmasked_words_over_n() -> None:
    config = WindowConfig(window=20, mask_left=3, mask_right=6, overlap=2)
    assert config.stride_words == 5
    starts = [(w.start, w.keep_start, w.keep_stop) for w in plan_windows(30, config)]
    assert starts == [(0, 0, 14), (5, 8, 19), (10, 13, 30)]
    for overlap, stride in ((1, 75), (2, 37), (4, 18), (75, 1)):
        assert WindowConfig(120, mask_left=30, mask_right=15, overlap=overlap).stride_words == stride
    assert WindowConfig(3, stride=1, overlap=4).stride_words == 1, "one that is given takes its place"
    assert WindowConfig(MOST_WORDS).stride_words == MOST_WORDS
    assert plan_windows(0, WindowConfig()) == []


@pytest.mark.parametrize(("values", "message"), [
    ({"window": MOST_WORDS + 1}, "a window of"), ({"window": 0}, "a window of 0 words"),
    ({"window": 8, "mask_left": 4, "mask_right": 4}, "masks of 4 and 4; expected masks of 0 or more that leave"),
    ({"mask_left": -1}, "masks of -1 and 0"),
    ({"window": 8, "overlap": 9}, "9 votes a slot; expected 1 to 8, .*; raise window, set stride or take another"),
    ({"overlap": 0}, "0 votes a slot"),
    ({"window": 8, "mask_left": 2, "stride": 7}, "a stride of 7 words; expected 1 to 6"),
    ({"stride": 0}, "a stride of 0 words"),
    ({"window": 8, "mask_left": 3, "lead_in": 2}, "a lead-in of 2 words; expected 0, or 3 to 7"),
    ({"window": 8, "mask_right": 3, "lead_in": 5}, "a lead-in of 5 words; expected 0, or 1 to 4"),
])  # fmt: skip
def test_a_plan_that_would_leave_slots_undecided_is_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        WindowConfig(**values)


@quick
@given(st.lists(st.integers(0, 60), max_size=8), configs(), st.integers(1, 80))
def test_a_pool_is_closed_as_soon_as_it_holds_enough(lengths: list[int], config: WindowConfig, least: int) -> None:
    views = [view for n_words in lengths for view in views_of(range(n_words), config)]
    pools = list(iter_pools(iter(views), least, lambda view: len(view.words)))
    assert [view for pool in pools for view in pool] == views
    sizes = [[len(view.words) for view in pool] for pool in pools]
    enough = [min(least, 2**number * least / 16) for number in range(len(sizes))]  # the first are smaller
    assert all(sum(held) >= n for held, n in zip(sizes[:-1], enough, strict=False))
    assert all(sum(held[:-1]) < n for held, n in zip(sizes, enough, strict=True))
    steady = [
        sum(len(view.words) for view in pool)
        for pool in iter_pools(views, least, lambda view: len(view.words), is_growing=False)
    ]
    assert all(n_words >= least for n_words in steady[:-1])


# -- presets hold the values of the papers they are named after, and do what those papers do


def test_presets_are_plain_values_that_follow_their_papers() -> None:
    none, double = load_preset("side-by-side").windows, load_preset("double-overlap").windows
    assert (none.mask_left, none.mask_right, none.stride_words) == (0, 0, none.window)
    assert double.stride_words == double.window - double.mask_left - double.mask_right
    for n in (1, 2, 3, 4):
        masked, unmasked = load_preset(f"mask-combine-{n}").windows, load_preset(f"unmasked-{n}").windows
        assert masked.stride_words == (masked.window - masked.mask_left - masked.mask_right) // n
        assert (unmasked.mask_left, unmasked.mask_right, unmasked.stride_words) == (0, 0, unmasked.window // n)
        assert masked.mask_left > 0 < masked.mask_right
    single = load_preset("mask-combine-1")
    assert replace(single, windows=replace(single.windows, window=double.window)) == load_preset("double-overlap")
    assert load_preset("vote").combine.method == "vote"
    # Nguyen 2019: chunks of 30 words, of whose overlap of 15 the earlier one loses its last 10, the later its first 5
    chunks = plan_windows(45, load_preset("overlapped-chunk").windows)
    assert [(w.start, w.stop, w.keep_start, w.keep_stop) for w in chunks] == [(0, 30, 0, 20), (15, 45, 20, 45)]
    assert DEFAULT_PRESET in PRESETS


@given(st.integers(1, 120), st.integers(0, 12))
def test_realtime_decides_each_slot_once_with_exactly_its_lookahead(n_words: int, lookahead: int) -> None:
    windows = plan_windows(n_words, load_preset(f"realtime-{lookahead}").windows)
    seen = {slot: w.stop - slot - 1 for w in windows for slot in range(w.keep_start, w.keep_stop)}
    assert sum(w.keep_stop - w.keep_start for w in windows) == len(seen) == n_words
    assert all(ahead == lookahead or w_end == n_words for ahead, w_end in ((a, s + a + 1) for s, a in seen.items()))
    assert all(w.stop - w.start == min(w.stop, 32) for w in windows)


@given(st.integers(1, 150), st.sampled_from([2, 4, 8, 16]))
def test_multi_prediction_gives_the_first_slots_as_many_votes_as_the_others(n_words: int, k: int) -> None:
    windows = plan_windows(n_words, load_preset(f"multi-prediction-{k}").windows)
    votes = [sum(w.keep_start <= slot < w.keep_stop for w in windows) for slot in range(n_words)]
    assert set(votes[: windows[-1].start]) <= {k}
    assert all(vote >= 1 for vote in votes)


@pytest.mark.parametrize("name", list_presets())
def test_a_preset_can_be_written_down_and_read_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(as_yaml(load_preset(name)), encoding="utf-8")
    assert load_preset(str(path)) == load_preset(name)


@pytest.mark.parametrize("name", ["best", "mask-combine", "mask-combine-x", "none-2", "realtime--1"])
def test_an_unknown_preset_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(ConfigError, match=f"preset '{name}'; expected one of {', '.join(PRESETS)}, .*presets"):
        load_preset(name)


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_that_do_not_fit_are_refused(family: str) -> None:
    with pytest.raises(ConfigError):
        load_preset(f"{family}-999")
