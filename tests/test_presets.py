"""Presets hold the values of the papers they are named after."""

from __future__ import annotations

import pytest

from t5punct.errors import ConfigError
from t5punct.presets import DEFAULT_PRESET, PRESETS, preset


def test_presets_are_plain_values_that_follow_their_papers() -> None:
    none, double = preset("none").windows, preset("double-overlap").windows
    assert (none.mask_left, none.mask_right, none.stride_words) == (0, 0, none.window)
    assert double.stride_words == double.window - double.mask_left - double.mask_right
    for n in (2, 4):
        windows = preset(f"mask-combine-{n}").windows
        assert windows.stride_words == (windows.window - windows.mask_left - windows.mask_right) // n
    assert preset("vote").combine.method == "vote"
    assert DEFAULT_PRESET in PRESETS


def test_an_unknown_preset_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match=f"preset 'best'; expected one of {', '.join(PRESETS)}"):
        preset("best")
