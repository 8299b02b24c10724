"""The next best marks of a slot: named where they are asked for, and only if they can be written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from t5punct import punctuator as module
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import Alternative, Decision, RenderConfig, written_alternatives
from t5punct.text.words import split

TEXT = "we know that - is this right? yes it is and we know the U.S. too"


def test_fewer_than_none_are_refused() -> None:
    with pytest.raises(ConfigError, match="-1 alternatives; expected 0 or more"):
        RenderConfig(alternatives=-1)


@pytest.mark.parametrize("decoder", ["slots", "tagger", "generate"])
def test_alternatives_change_nothing_else(tagged_model: Model, decoder: str) -> None:
    config = PunctuatorConfig(decoding=DecodingConfig(decoder))
    without = Punctuator(tagged_model, config).annotate(TEXT)
    found = Punctuator(tagged_model, replace(config, render=RenderConfig(alternatives=2))).annotate(TEXT)
    assert tuple(replace(word, alternatives=()) for word in found) == without
    assert all(len(word.alternatives) <= 2 for word in found)
    if decoder != "generate":  # a single text votes for one label each time
        assert any(len(word.alternatives) == 2 for word in found)
    for word in found:
        chances = [word.confidence, *(one.probability for one in word.alternatives)]
        assert sum(chances) <= 1 + 1e-6
        assert word.label not in [one.label for one in word.alternatives] or word.text == "-"


def test_who_does_not_ask_does_not_pay(tiny_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "rank_runners_up", None)
    assert all(word.alternatives == () for word in Punctuator(tiny_model).annotate(TEXT))
    assert all("alternatives" not in word.as_dict() for word in Punctuator(tiny_model).annotate(TEXT))
    with pytest.raises(TypeError):
        Punctuator(tiny_model, PunctuatorConfig(render=RenderConfig(alternatives=1))).annotate(TEXT)


@pytest.mark.parametrize(
    ("text", "config", "named"),
    [
        ("know", RenderConfig(), [".", ","]),
        ("know;", RenderConfig(), [".", ","]),
        ("know;", RenderConfig(keep_marks=True), []),
        ("know", RenderConfig(keep_marks=True), [".", ","]),
        (":)", RenderConfig(), []),
        ("U.S", RenderConfig(), [","]),  # U.S. would be another word
    ],
)
def test_only_what_can_be_written_is_named(text: str, config: RenderConfig, named: list[str]) -> None:
    decision = Decision("", Case.LOWER, 0.5, 1.0, alternatives=(Alternative(".", 0.3), Alternative(",", 0.2)))
    found = written_alternatives(split(text).words[0], decision, config, Alphabet())
    assert [one.label for one in found] == named
