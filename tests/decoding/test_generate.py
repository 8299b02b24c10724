"""Free generation: one text a window, the same alone as in a batch."""

from __future__ import annotations

import pytest

from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.errors import ConfigError
from t5punct.model import Model

WINDOWS = [WindowInput.of(words.split()) for words in ("we know that right", "hello", "no no no 🙂 ok")]
SAME_LENGTH = [WindowInput.of(words.split()) for words in ("we know that right", "right that we know")]


@pytest.mark.parametrize(("beams", "windows"), [(1, WINDOWS), (3, SAME_LENGTH)])
def test_a_batch_gives_the_texts_of_single_windows(tiny_model: Model, beams: int, windows: list[WindowInput]) -> None:
    config = DecodingConfig("generate", beams)
    together = generate_texts(tiny_model, windows, config)
    assert together == [generate_texts(tiny_model, [window], config)[0] for window in windows]


def test_no_windows_give_no_texts(tiny_model: Model) -> None:
    assert generate_texts(tiny_model, []) == []


def test_impossible_settings_are_said() -> None:
    with pytest.raises(ConfigError, match="decoder 'beam'; expected one of slots, generate"):
        DecodingConfig("beam")
    with pytest.raises(ConfigError, match="0 beams"):
        DecodingConfig(beams=0)
