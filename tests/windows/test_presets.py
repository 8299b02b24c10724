"""Presets hold the values of the papers they are named after, and do what those papers do."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.config import as_yaml
from t5punct.errors import ConfigError
from t5punct.windows.plan import plan_windows
from t5punct.windows.presets import DEFAULT_PRESET, FAMILIES, PRESETS, list_presets, load_preset


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
    assert DEFAULT_PRESET in PRESETS


def _nguyen(n_words: int, chunk: int = 30, overlap: int = 15, min_words_cut: int = 10) -> list[tuple[int, int]]:
    """For each slot, the chunk that it is taken from and its place there (Nguyen 2019).

    Chunks overlap; in an overlap the earlier chunk's last `min_words_cut` words are cut, and what is left of the
    overlap is cut from the beginning of the later chunk.
    """
    starts = [0]
    while starts[-1] + chunk < n_words:
        starts.append(starts[-1] + chunk - overlap)
    taken = []
    for number, start in enumerate(starts):
        words = list(range(start, min(n_words, start + chunk)))
        if number:
            words = words[overlap - min_words_cut :]
        if number < len(starts) - 1:
            words = words[:-min_words_cut]
        taken += [(number, word) for word in words]
    return taken


@given(st.integers(1, 200))
def test_overlapped_chunk_keeps_exactly_the_slots_that_nguyen_merges(n_words: int) -> None:
    windows = plan_windows(n_words, load_preset("overlapped-chunk").windows)
    kept = [(number, slot) for number, w in enumerate(windows) for slot in range(w.keep_start, w.keep_stop)]
    assert kept == _nguyen(n_words)
    assert [slot for _, slot in kept] == list(range(n_words))


@given(st.integers(1, 120), st.integers(0, 12))
def test_realtime_decides_each_slot_once_with_exactly_its_lookahead(n_words: int, lookahead: int) -> None:
    windows = list(plan_windows(n_words, load_preset(f"realtime-{lookahead}").windows))
    seen = {slot: w.stop - slot - 1 for w in windows for slot in range(w.keep_start, w.keep_stop)}
    assert sum(w.keep_stop - w.keep_start for w in windows) == len(seen) == n_words
    assert all(ahead == lookahead or w_end == n_words for ahead, w_end in ((a, s + a + 1) for s, a in seen.items()))
    assert all(w.stop - w.start == min(w.stop, 32) for w in windows)


@given(st.integers(1, 150), st.sampled_from([2, 4, 8, 16]))
def test_multi_prediction_gives_the_first_slots_as_many_votes_as_the_others(n_words: int, k: int) -> None:
    windows = list(plan_windows(n_words, load_preset(f"multi-prediction-{k}").windows))
    votes = [sum(w.keep_start <= slot < w.keep_stop for w in windows) for slot in range(n_words)]
    assert set(votes[: windows[-1].start]) <= {k}
    assert all(vote >= 1 for vote in votes)


@pytest.mark.parametrize("name", list_presets())
def test_a_preset_can_be_written_down_and_read_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(as_yaml(load_preset(name)), encoding="utf-8")
    assert load_preset(str(path)) == load_preset(name)
    path.write_text("windows: {windo: 3}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"unknown setting 'windows.windo'"):
        load_preset(str(path))


@pytest.mark.parametrize("name", ["best", "mask-combine", "mask-combine-x", "none-2", "realtime--1"])
def test_an_unknown_preset_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(ConfigError, match=f"preset '{name}'; expected one of {', '.join(PRESETS)}, .*presets"):
        load_preset(name)


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_that_do_not_fit_are_refused(family: str) -> None:
    with pytest.raises(ConfigError):
        load_preset(f"{family}-999")
