"""Free generation: it ends; where it goes wrong in some windows, the words stay, and the others' votes make good."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from t5punct.decoding import generate as module
from t5punct.decoding.align import AlignConfig
from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.errors import ConfigError
from t5punct.model import Model, bundled_folder, load
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.marks import Case
from t5punct.windows.plan import WindowConfig


def prefer(model: Model, weights: dict[int, float]) -> None:
    """Add to the logits of some tokens."""

    def add(_: Any, __: Any, logits: torch.Tensor) -> torch.Tensor:
        for token, weight in weights.items():
            logits[..., token] += weight
        return logits

    model.network.lm_head.register_forward_hook(add)


@pytest.mark.parametrize("beams", [1, 2])
def test_a_decoder_that_would_end_at_once_goes_on(beams: int) -> None:
    model = load(bundled_folder("small"))
    words = "so i said yes and then we went to the other side of the river where they live".split()
    prefer(model, {model.tokenizer.eos_id: 1000.0})
    short, text = generate_texts(model, [WindowInput.of(["no"]), WindowInput.of(words)], DecodingConfig(beams=beams))
    said = re.findall(r"[a-z]+", text.lower())
    assert short == "" and len(words) - 8 <= len(said) < len(words) and said == words[: len(said)]


@pytest.mark.parametrize(("style", "most"), [("talk", 1), ("chat", 3)])
def test_a_decoder_of_stops_and_capitals_alone_goes_on(style: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, written = load(bundled_folder("small")), list[list[int]]()
    stop, capitals = model.tokenizer.mark_ids["."][0], model.tokenizer.case_ids[Case.CAPITALISED]
    prefer(model, {model.tokenizer.eos_id: -1000.0, stop: 1000.0} | dict.fromkeys(capitals, 500.0))
    monkeypatch.setattr(model.tokenizer, "decode", lambda ids: written.append(ids) or "")
    generate_texts(model, [WindowInput.of("so i said yes".split())], DecodingConfig(style=style))
    kinds = "".join("." if token == stop else "^" if token in capitals else "a" for token in written[0])
    assert {*re.findall(r"[.^]+(?=a)", kinds)} == {"." * most + "^"}, "a word follows"


def test_the_default_model_writes_the_words_of_a_lecture() -> None:
    path = Path(__file__).parents[1] / "data" / "lecture.txt"
    words = re.findall(r"[a-z']+", path.read_text(encoding="utf-8").lower())[:40]
    text = generate_texts(load(bundled_folder("large")), [WindowInput.of(words)], DecodingConfig("generate"))[0]
    assert re.findall(r"[a-z']+", text.lower()) == words


def test_windows_that_aligned_badly_are_counted_and_lose_their_vote(tiny_model: Model) -> None:
    config = PunctuatorConfig(WindowConfig(4, 2), decoding=DecodingConfig("generate"), align=AlignConfig(0.9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "generate_texts", lambda model, windows, config: ["rubbish"] * len(windows))
        punctuator = Punctuator(tiny_model, config)
        punctuator.punctuate("we know that right and you")
    assert (punctuator.alignment.windows, punctuator.alignment.distrusted) == (2, 2)
    assert generate_texts(tiny_model, []) == []


DIFFERENT_LENGTHS = [WindowInput.of(words.split()) for words in ("we know that right", "hello", "no no no 🙂 ok")]
SAME_LENGTH = [WindowInput.of(words.split()) for words in ("we know that right", "right that we know")]


@pytest.mark.parametrize(("beams", "windows"), [(1, DIFFERENT_LENGTHS), (3, SAME_LENGTH)])
def test_a_batch_gives_the_texts_of_single_windows(tiny_model: Model, beams: int, windows: list[WindowInput]) -> None:
    """Of a model without tokens for capitals, whose marks are one token each."""
    model, config = tiny_model.with_task(marks=",."), DecodingConfig("generate", beams)
    together = generate_texts(model, windows, config)
    assert together == [generate_texts(model, [window], config)[0] for window in windows]


def test_impossible_settings_are_said() -> None:
    with pytest.raises(ConfigError, match="decoder 'beam'; expected one of auto, slots, tagger, generate"):
        DecodingConfig("beam")
    with pytest.raises(ConfigError, match="beams 0; expected 1 to 64"):
        DecodingConfig(beams=0)
